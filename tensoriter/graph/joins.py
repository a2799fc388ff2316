"""Joins: rows that are taken only to be concatenated are written where they are to lie at once.

So an embedding's look-ups need neither memory of their own nor a copy, and as tasks of a group they do all of
the work that there is.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from tensoriter.graph.graph import Graph, Node


@dataclass(frozen=True)
class Join:
    """A concatenation, and from where on along its axis the rows of one input lie."""

    node: Node
    start: int


def joins_of(graph: Graph) -> dict[Node, Join]:
    """The joins of the takes (in the graph or in its groups) whose results go into one, and nowhere else."""
    uses: dict[Node, int] = {}
    for node in graph:
        for used in node.inputs:
            uses[used] = uses.get(used, 0) + 1
    for node in graph.outputs:
        uses[node] = uses.get(node, 0) + 1
    joins: dict[Node, Join] = {}
    for node in graph:
        if node.kind == "concatenate" and node.attributes["axis"] is not None:
            sources = [made_by(x) for x in node.inputs]
            if all(map(is_of_rows, sources)) and all(x.dtype == node.dtype for x in sources):
                starts = places_along(node)
                for x, source, start in zip(node.inputs, sources, starts, strict=True):
                    if uses[x] == 1:
                        joins[source] = Join(node, start)
    return joins


def made_by(node: Node) -> Node:
    """The node whose result this is: of an item of a group, the one in its body."""
    if node.kind == "item" and node.inputs[0].kind == "group":
        made: Node = node.inputs[0].attributes["body"].outputs[node.attributes["index"]]
        return made
    return node


def is_of_rows(node: Node) -> bool:
    """Whether the node takes rows, one by one: then it has them in C order, as what they are joined to."""
    return node.kind == "take" and node.attributes["axis"] == 0 and len(node.inputs[1].shape) == 1


def places_along(node: Node) -> list[int]:
    """Where the inputs of a concatenation begin."""
    axis = node.attributes["axis"]
    starts = [0]
    for x in node.inputs[:-1]:
        starts.append(starts[-1] + (math.prod(x.shape) if axis is None else x.shape[axis]))
    return starts
