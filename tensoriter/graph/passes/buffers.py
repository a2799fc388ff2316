"""In-place buffer planning: results that may be written over an input that nobody needs any more."""

from __future__ import annotations

from dataclasses import replace

from tensoriter.graph.graph import Graph, Node

# Whose results lie in memory of their own.
OWNERS = frozenset(("ufunc", "where", "cast", "take", "concatenate", "item", "fused"))


def reuse_buffers(graph: Graph) -> Graph:
    """The graph with an attribute `over` on nodes that may be written over one of their inputs: which one.

    An input may be written over if it is a temporary of the result's shape and item size that has no views,
    and this is its last use. Lowering does so where the layouts agree and the loop is one that can.

    >>> import numpy as np
    >>> from tensoriter.graph.trace import trace
    >>> graph = trace(lambda x, y: (x + y) * 2, (np.ones(3), np.ones(3))).graph
    >>> [node.attributes.get("over") for node in reuse_buffers(graph)]
    [None, None, None, None, 0]
    """
    unneeded = unneeded_inputs(graph)

    def choose(node: Node, inputs: tuple[Node, ...]) -> Node:
        attributes = {name: value for name, value in node.attributes.items() if name != "over"}
        if unneeded[node]:
            attributes["over"] = unneeded[node][0]
        elif node.kind == "fused":
            attributes["body"] = reuse_buffers(attributes["body"])
        elif "over" not in node.attributes:
            return node.with_inputs(inputs)
        return replace(node, inputs=inputs, attributes=attributes)

    return graph.rebuilt(choose)


def unneeded_inputs(graph: Graph) -> dict[Node, list[int]]:
    """For each node which of its inputs, by number, its result may be written over."""
    last: dict[Node, Node] = {}
    for node in graph:
        for x in node.inputs:
            last[x] = node
    kept = set(graph.outputs) | {x for node in graph if node.kind in ("view", "item") for x in node.inputs}
    found: dict[Node, list[int]] = {}
    for node in graph:
        single = node.kind == "where" or (node.kind == "ufunc" and node.attributes["function"].nout == 1)
        found[node] = [
            k
            for k, x in enumerate(node.inputs)
            if single and last[x] is node and x not in kept and fits(x, node)
        ]
    return found


def fits(x: Node, node: Node) -> bool:
    """Whether the node's result has the place that x has."""
    return x.kind in OWNERS and x.shape == node.shape and x.dtype.itemsize == node.dtype.itemsize
