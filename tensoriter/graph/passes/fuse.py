"""Fusion: element-wise nodes of one shape that depend on one another become one node, run block by block.

What one of them computes and the next one reads stays in the first cache, so that a chain over large arrays
reads each input once and writes each output once.
"""

from __future__ import annotations

import math
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
    fused = {}
    for members in Runs(graph).members():
        run = FusedRun(graph, members)
        fused.update(dict.fromkeys(members, run))
    new: dict[Node, Node] = {}
    nodes: list[Node] = []
    for node in in_order(graph, fused):
        if isinstance(node, FusedRun):
            node.write(new, nodes)
        else:
            new[node] = node.with_inputs(tuple([new[x] for x in node.inputs]))
            nodes.append(new[node])
    inputs, outputs = ([new[node] for node in part] for part in (graph.inputs, graph.outputs))
    return replace(graph, nodes=nodes, inputs=inputs, outputs=outputs)


def is_elementwise(node: Node) -> bool:
    """Whether a node can be a part of a run: one result, computed element by element from inputs of its shape
    and single values."""
    if node.kind == "ufunc":
        if len(node.attributes["types"]) - len(node.inputs) != 1 or node.attributes.get("checked"):
            return False
    elif node.kind not in ("where", "cast"):
        return False
    if node.attributes.get("order", "K") != "K" or math.prod(node.shape) < 2:
        return False
    return all(x.shape == node.shape or math.prod(x.shape) == 1 for x in node.inputs)


class Run:
    """Nodes that may be computed together.

    arrays : what they read
    direct : runs of which they read a node
    outside : runs that they need by way of nodes that are in no run
    part_of : the run that this one has become a part of
    """

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self.arrays: set[Node] = set()
        self.direct: set[Run] = set()
        self.outside: set[Run] = set()
        self.part_of: Run | None = None

    def whole(self) -> Run:
        """The run that this one is a part of by now."""
        run = self
        while run.part_of is not None:
            run = run.part_of
        return run

    def needs(self, other: Run) -> bool:
        """Whether this run depends on the other by way of something that is in neither."""
        met = {self}
        waiting = [run.whole() for run in self.outside]
        waiting += [run for run in (run.whole() for run in self.direct) if run is not other]
        while waiting:
            run = waiting.pop()
            if run is other:
                return True
            if run not in met:
                met.add(run)
                waiting += [needed.whole() for needed in run.direct | run.outside]
        return False


class Runs:
    """Which run each node belongs to, as far as the graph has been read."""

    def __init__(self, graph: Graph) -> None:
        self.first: dict[Node, Run] = {}  # the run that was made for a node
        self.needed: dict[Node, set[Run]] = {}  # by nodes that are in no run
        self.readers: dict[Node, list[Run]] = {}  # of what is in no run
        for node in graph:
            self.take(node)

    def members(self) -> list[list[Node]]:
        """The nodes of each run that has several."""
        runs = dict.fromkeys(run.whole() for run in self.first.values())
        return [run.nodes for run in runs if len(run.nodes) > 1]

    def take(self, node: Node) -> None:
        """Puts a node into the runs of its inputs, which become one, or into a new one."""
        outside = {run for x in node.inputs for run in self.needed.get(x, ())}
        direct = {self.first[x] for x in node.inputs if x in self.first}
        if not is_elementwise(node):
            self.needed[node] = outside | direct
            return
        run = self.first[node] = Run()
        run.nodes.append(node)
        run.outside, run.direct = outside, direct
        arrays = [x for x in node.inputs if x.shape == node.shape and x not in self.first]
        run.arrays.update(arrays)
        candidates = [*direct, *(other for x in arrays for other in self.readers.get(x, ()))]
        for other in dict.fromkeys(other.whole() for other in candidates):
            run = join(run, other.whole())
        for x in arrays:
            self.readers.setdefault(x, []).append(run)


def join(run: Run, other: Run) -> Run:
    """One run of both, where they are of one shape, not too large, and neither needs the other by way of what
    is in neither; otherwise `run`."""
    if run is other or run.nodes[0].shape != other.nodes[0].shape:
        return run
    if len(run.nodes) + len(other.nodes) > MOST_NODES or len(run.arrays | other.arrays) > MOST_ARRAYS:
        return run
    if run.needs(other) or other.needs(run):
        return run
    other.nodes += run.nodes
    other.arrays |= run.arrays
    other.direct |= run.direct
    other.outside |= run.outside
    run.part_of = other
    other.direct = {needed for needed in other.direct if needed.whole() is not other}
    return other


def in_order(graph: Graph, fused: dict[Node, FusedRun]) -> list[Node | FusedRun]:
    """Nodes and runs, each behind what it needs, otherwise in the order of the graph."""
    done: set[Node | FusedRun] = set()
    found: list[Node | FusedRun] = []
    waiting: list[tuple[Node | FusedRun, bool]] = [
        (fused.get(node, node), False) for node in reversed(graph.nodes)
    ]
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
            inner[x] = (
                x
                if x.kind == "constant"
                else Node("input", "input", (), x.dtype, x.shape, x.is_scalar, position)
            )
        for node in self.members:
            inner[node] = node.with_inputs(tuple([inner[x] for x in node.inputs]))
        body = Graph(
            list(inner.values()),
            [inner[x] for x in self.inputs if x.kind != "constant"],
            [inner[x] for x in self.outputs],
        )
        first = self.outputs[0]
        handles = tuple(dict.fromkeys(handle for node in self.members for handle in node.handles))
        fused = Node(
            "fused",
            ", ".join(node.op for node in self.members),
            tuple(outer),
            first.dtype,
            first.shape,
            False,
            {"body": body},
            handles,
        )
        nodes.append(fused)
        if len(self.outputs) == 1:
            new[first] = fused
            return
        for k, node in enumerate(self.outputs):
            new[node] = Node(
                "item", node.op, (fused,), node.dtype, node.shape, False, {"index": k}, node.handles
            )
            nodes.append(new[node])
