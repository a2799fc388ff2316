"""Fusion: element-wise nodes of one shape that depend on one another become one node, run block by block.

What one of them computes and the next one reads stays in the first cache, so that a chain over large arrays
reads each input once and writes each output once.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace

from tensoriter.graph.graph import Graph, Node

MOST_NODES = 128  # of one run
MOST_ARRAYS = 24  # that one run reads or writes: more streams than a CPU follows


def fuse(graph: Graph) -> Graph:
    """The graph with runs of element-wise nodes as nodes of kind 'fused'.

    >>> import numpy as np
    >>> from tensoriter.graph.trace import trace
    >>> graph = trace(lambda x, y: (x + y) * x, (np.ones(3), np.ones(3))).graph
    >>> [node.op for node in fuse(graph)]
    ['input', 'input', 'add, multiply']
    """
    runs = Runs(graph)
    for node in graph:
        runs.take(node)
    fused = {run: FusedRun(graph, run.nodes) for run in set(runs.of.values()) if len(run.nodes) > 1}
    new: dict[Node, Node] = {}
    nodes: list[Node] = []
    for node in in_order(graph, {member: one for run, one in fused.items() for member in run.nodes}):
        if isinstance(node, FusedRun):
            node.write(new, nodes)
        else:
            new[node] = node.with_inputs(tuple([new[x] for x in node.inputs]))
            nodes.append(new[node])
    inputs, outputs = ([new[node] for node in part] for part in (graph.inputs, graph.outputs))
    return replace(graph, nodes=nodes, inputs=inputs, outputs=outputs)


def is_elementwise(node: Node) -> bool:
    """Whether a node can be a part of a run: one result, computed element by element from inputs of its shape and
    single values."""
    if node.kind == "ufunc":
        if len(node.attributes["types"]) - len(node.inputs) != 1 or node.attributes.get("checked"):
            return False
    elif node.kind not in ("where", "cast"):
        return False
    if node.attributes.get("order", "K") != "K" or math.prod(node.shape) < 2:
        return False
    return all(x.shape == node.shape or math.prod(x.shape) == 1 for x in node.inputs)


class Run:
    """Nodes that may be computed together, the arrays that they read, and the runs that they need."""

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self.arrays: set[Node] = set()
        self.needs: set[Run] = set()

    def reaches(self, other: Run) -> bool:
        """Whether this run depends on the other."""
        met: set[Run] = set()
        waiting = [self]
        while waiting:
            run = waiting.pop()
            if other in run.needs:
                return True
            waiting += run.needs - met
            met |= run.needs
        return False


class Runs:
    """Which run each node belongs to, as far as the graph has been read."""

    def __init__(self, graph: Graph) -> None:
        self.of: dict[Node, Run] = {}
        self.needs: dict[Node, set[Run]] = {}      # of nodes outside of runs
        self.readers: dict[Node, list[Run]] = {}   # of inputs of runs

    def take(self, node: Node) -> None:
        """Puts a node into the runs of its inputs, which become one, or into a new one."""
        needs = {run for x in node.inputs for run in self.needs_of(x)}
        if not is_elementwise(node):
            self.needs[node] = needs
            return
        run = Run()
        self.add(run, node, needs)
        for x in node.inputs:
            for other in [self.of[x]] if x in self.of else list(self.readers.get(x, ())):
                if other is not run and self.may_join(run, other):
                    run = self.join(run, other)
        for x in node.inputs:
            if x.shape == node.shape:
                readers = self.readers.setdefault(x, [])
                if run not in readers:
                    readers.append(run)

    def needs_of(self, node: Node) -> Iterable[Run]:
        return [self.of[node]] if node in self.of else self.needs.get(node, ())

    def add(self, run: Run, node: Node, needs: set[Run]) -> None:
        run.nodes.append(node)
        run.needs |= needs - {run}
        run.arrays |= {x for x in node.inputs if x not in self.of and x.shape == node.shape}
        self.of[node] = run

    def may_join(self, run: Run, other: Run) -> bool:
        """Whether two runs may be one: of one shape, not too large, and neither needs the other by way of nodes
        outside of both."""
        if (run.nodes[0].shape != other.nodes[0].shape or len(run.nodes) + len(other.nodes) > MOST_NODES
                or len(run.arrays | other.arrays) > MOST_ARRAYS):
            return False
        return not self.is_between(run, other) and not self.is_between(other, run)

    def is_between(self, run: Run, other: Run) -> bool:
        """Whether `run` needs `other` by way of something that is in neither."""
        outside = [x for node in run.nodes for x in node.inputs if self.of.get(x) not in (run, other)]
        return any(needed is other or needed.reaches(other) for x in outside for needed in self.needs_of(x))

    def join(self, run: Run, other: Run) -> Run:
        """One run of both, the other's nodes first; what stood for the one stands for the other."""
        other.nodes += run.nodes
        other.arrays |= run.arrays
        other.needs = (other.needs | run.needs) - {run, other}
        for node in run.nodes:
            self.of[node] = other
        for needs in [*self.needs.values(), *(one.needs for one in set(self.of.values()))]:
            if run in needs:
                needs.discard(run)
                needs.add(other)
        other.needs.discard(other)
        for readers in self.readers.values():
            if run in readers:
                readers.remove(run)
                if other not in readers:
                    readers.append(other)
        return other


def in_order(graph: Graph, fused: dict[Node, FusedRun]) -> list[Node | FusedRun]:
    """Nodes and runs, each behind what it needs, otherwise in the order of the graph."""
    done: set[Node | FusedRun] = set()
    found: list[Node | FusedRun] = []
    waiting: list[tuple[Node | FusedRun, bool]] = [(fused.get(node, node), False) for node in reversed(graph.nodes)]
    while waiting:
        item, ready = waiting.pop()
        if item in done:
            continue
        if ready:
            done.add(item)
            found.append(item)
            continue
        waiting.append((item, True))
        waiting += [(fused.get(x, x), False) for x in reversed(item.inputs) if fused.get(x, x) not in done]
    return found


class FusedRun:
    """The members of a run, and what they read and leave."""

    def __init__(self, graph: Graph, members: list[Node]) -> None:
        within = set(members)
        self.members = [node for node in graph if node in within]
        self.inputs = list(dict.fromkeys(x for node in self.members for x in node.inputs if x not in within))
        used = {x for node in graph if node not in within for x in node.inputs} | set(graph.outputs)
        self.outputs = [node for node in self.members if node in used]

    def write(self, new: dict[Node, Node], nodes: list[Node]) -> None:
        """Appends the fused node, and one for each result if there are several."""
        if not self.outputs:
            return
        inner: dict[Node, Node] = {}
        outer = [new[x] for x in self.inputs if x.kind != "constant"]
        for x in self.inputs:
            position = {"position": len([y for y in inner.values() if y.kind == "input"])}
            inner[x] = x if x.kind == "constant" else Node("input", "input", (), x.dtype, x.shape, x.is_scalar, position)
        for node in self.members:
            inner[node] = node.with_inputs(tuple([inner[x] for x in node.inputs]))
        body = Graph(list(inner.values()), [inner[x] for x in self.inputs if x.kind != "constant"],
                     [inner[x] for x in self.outputs])
        first = self.outputs[0]
        handles = tuple(dict.fromkeys(handle for node in self.members for handle in node.handles))
        fused = Node("fused", ", ".join(node.op for node in self.members), tuple(outer), first.dtype, first.shape,
                     False, {"body": body}, handles)
        nodes.append(fused)
        if len(self.outputs) == 1:
            new[first] = fused
            return
        for k, node in enumerate(self.outputs):
            new[node] = Node("item", node.op, (fused,), node.dtype, node.shape, False, {"index": k}, node.handles)
            nodes.append(new[node])
