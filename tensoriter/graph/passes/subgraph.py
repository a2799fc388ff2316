"""Subgraphs: sets of nodes that one node takes the place of.

A `SubgraphProperty` says what that node is, its `SubgraphSelector` which nodes belong together; `partition`
searches the graph and puts the nodes in. The division of work is that of MXNet's subgraph interface.
"""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable

from tensoriter.graph.graph import Graph, Node


class SubgraphSelector(ABC):
    """Which nodes belong together. One selector serves a whole search, `reset` before each start."""

    @abstractmethod
    def select(self, node: Node) -> bool:
        """Whether a subgraph may be searched for from this node, which becomes its first candidate."""

    def select_input(self, node: Node, input_node: Node) -> bool:
        """Whether `input_node`, an input of the candidate `node`, is a candidate, too."""
        return False

    def select_output(self, node: Node, output_node: Node) -> bool:
        """Whether `output_node`, which has the candidate `node` as an input, is a candidate, too."""
        return False

    def filter(self, candidates: list[Node]) -> list[Node]:
        """Those of the candidates (in the graph's order) that are to be one subgraph: none rejects it."""
        return candidates

    def reset(self) -> None:  # noqa: B027
        """Forgets the last search; a selector without a memory has nothing to do."""


class SubgraphProperty(ABC):
    """A kind of subgraph: how to find one, and what takes its place."""

    @abstractmethod
    def create_selector(self, graph: Graph) -> SubgraphSelector:
        """A selector for a search through this graph."""

    @abstractmethod
    def create_node(self, body: Graph, inputs: tuple[Node, ...]) -> Node:
        """The node that computes `body` from `inputs`, one for each input of the body."""

    def accepts(self, graph: Graph, nodes: list[Node]) -> bool:
        """Whether these nodes may become one. It has been checked that this makes no cycle."""
        return True

    def connect_outputs(self, node: Node, outputs: list[Node]) -> list[Node]:
        """What stands for each output of the subgraph from now on: an item of the node."""
        return [
            Node("item", output.op, (node,), output.dtype, output.shape, output.is_scalar,
                 {"index": index}, output.handles)
            for index, output in enumerate(outputs)
        ]  # fmt: skip


properties: dict[str, Callable[[], SubgraphProperty]] = {}


def register(name: str) -> Callable[[Callable[[], SubgraphProperty]], Callable[[], SubgraphProperty]]:
    """Decorates a property (anything that makes one when called) so that `properties[name]` is it.

    ValueError for a name that is taken.
    """

    def enter(make: Callable[[], SubgraphProperty]) -> Callable[[], SubgraphProperty]:
        if name in properties:
            raise ValueError(f"there is a subgraph property {name!r} already")
        properties[name] = make
        return make

    return enter


# ---------------------------------------------------------------- the search


def partition(graph: Graph, subgraphs: SubgraphProperty) -> Graph:
    """The graph with each subgraph that is found replaced by one node; `graph` itself stays as it is.

    From each node in the graph's order candidates are collected both ways, along inputs and outputs. What
    is found is put in before the search goes on, so that two subgraphs cannot depend on each other in turns.
    """
    started: set[Node] = set()
    while True:
        chosen = next_subgraph(graph, subgraphs, started)
        if not chosen:
            return graph
        graph, now = contract(graph, chosen, subgraphs)
        started = {now[node] for node in started}


def next_subgraph(graph: Graph, subgraphs: SubgraphProperty, started: set[Node]) -> list[Node]:
    """The nodes of the first subgraph that is found from a node that is not among the started."""
    selector = subgraphs.create_selector(graph)
    consumers = consumers_of(graph)
    place = {node: k for k, node in enumerate(graph.nodes)}
    for node in graph.nodes:
        if node in started:
            continue
        started.add(node)
        selector.reset()
        if not selector.select(node):
            continue
        candidates = sorted(search(node, selector, consumers), key=place.__getitem__)
        chosen = selector.filter(list(candidates))
        if not set(chosen) <= set(candidates):
            raise ValueError(f"{type(selector).__name__}.filter returned nodes that were no candidates")
        chosen = sorted(set(chosen), key=place.__getitem__)
        if chosen and not makes_cycle(graph, chosen) and subgraphs.accepts(graph, chosen):
            return chosen
    return []


def search(start: Node, selector: SubgraphSelector, consumers: dict[Node, list[Node]]) -> set[Node]:
    """The candidates that are reached from `start`, which is one."""
    found = {start}
    waiting = [start]
    while waiting:
        node = waiting.pop()
        nearby = [other for other in node.inputs if other not in found and selector.select_input(node, other)]
        nearby += [
            other for other in consumers[node] if other not in found and selector.select_output(node, other)
        ]
        found.update(nearby)
        waiting += nearby
    return found


def consumers_of(graph: Graph) -> dict[Node, list[Node]]:
    """For each node those that have it as an input, each once, in the graph's order."""
    consumers: dict[Node, list[Node]] = {node: [] for node in graph.nodes}
    for node in graph.nodes:
        for input_node in dict.fromkeys(node.inputs):
            consumers[input_node].append(node)
    return consumers


def depends_on(graph: Graph, sources: Iterable[Node]) -> set[Node]:
    """The nodes that need one of `sources`, directly or not."""
    origins = set(sources)
    dependent: set[Node] = set()
    for node in graph.nodes:
        if any(other in origins or other in dependent for other in node.inputs):
            dependent.add(node)
    return dependent


def makes_cycle(graph: Graph, nodes: list[Node]) -> bool:
    """Whether these nodes as one would need their own result: by a way out of them and back in."""
    members = set(nodes)
    outside: set[Node] = set()  # nodes that are no members and need one
    for node in graph.nodes:
        if node in members:
            if any(other in outside for other in node.inputs):
                return True
        elif any(other in members or other in outside for other in node.inputs):
            outside.add(node)
    return False


# ---------------------------------------------------------------- putting a node in


def contract(
    graph: Graph, nodes: list[Node], subgraphs: SubgraphProperty
) -> tuple[Graph, dict[Node, Node]]:
    """A graph in which one node stands for `nodes`, and what stands there for each node of the old one. Nodes
    whose inputs change are copied."""
    members = set(nodes)
    needed = dict.fromkeys(other for node in nodes for other in node.inputs if other not in members)
    inputs = [other for other in needed if other.kind != "constant"]  # these the body has itself
    wanted = {other for node in graph.nodes if node not in members for other in node.inputs}
    outputs = [node for node in nodes if node in wanted or node in graph.outputs]
    now: dict[Node, Node] = {}  # what stands for a node of the old graph
    placed: list[Node] = []
    for node in contracted_order(graph, members, inputs):
        if node in members:
            body = body_of(nodes, inputs, outputs)
            group = subgraphs.create_node(body, tuple(now[other] for other in inputs))
            items = subgraphs.connect_outputs(group, outputs)
            now.update(dict.fromkeys(nodes, group))
            now.update(zip(outputs, items, strict=True))
            placed += [group, *items]
        else:
            now[node] = with_inputs(node, tuple(now[other] for other in node.inputs))
            placed.append(now[node])
    inputs_now, outputs_now = ([now[node] for node in ends] for ends in (graph.inputs, graph.outputs))
    return dataclasses.replace(graph, nodes=placed, inputs=inputs_now, outputs=outputs_now), now


def contracted_order(graph: Graph, members: set[Node], inputs: list[Node]) -> list[Node]:
    """The nodes, the first of the members standing for all, each after what it needs; otherwise in the order
    that they have."""
    group = next(node for node in graph.nodes if node in members)
    order: dict[Node, None] = {}
    for start in graph.nodes:
        waiting = [group if start in members else start]
        while waiting:
            node = waiting[-1]
            needs = inputs if node is group else [group if x in members else x for x in node.inputs]
            missing = [other for other in needs if other not in order]
            waiting += missing
            if not missing:
                order[waiting.pop()] = None
    return list(order)


def body_of(nodes: list[Node], inputs: list[Node], outputs: list[Node]) -> Graph:
    """The nodes as a graph of their own, with an input for each of `inputs`, and their constants."""
    now = {
        node: Node("input", "input", (), node.dtype, node.shape, node.is_scalar, {"position": position})
        for position, node in enumerate(inputs)
    }
    entries = list(now.values())
    constants = dict.fromkeys(x for node in nodes for x in node.inputs if x.kind == "constant")
    now.update({node: node for node in constants})
    for node in nodes:
        now[node] = with_inputs(node, tuple(now[other] for other in node.inputs))
    body = [*entries, *constants, *(now[node] for node in nodes)]
    return Graph(body, entries, [now[node] for node in outputs])


def with_inputs(node: Node, inputs: tuple[Node, ...]) -> Node:
    """The node with other inputs: itself where they are the ones it has."""
    return node if inputs == node.inputs else dataclasses.replace(node, inputs=inputs)
