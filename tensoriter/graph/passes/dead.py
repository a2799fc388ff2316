"""Nodes whose values nobody uses."""

from __future__ import annotations

from dataclasses import replace

from tensoriter.graph.graph import Graph, Node


def drop_dead(graph: Graph) -> Graph:
    """The graph without the nodes that no result needs; inputs stay, and what may raise whatever errstate
    says. What would only warn is not computed, and so does not."""
    needed = set(graph.outputs)
    for node in reversed(graph.nodes):
        if node in needed or node.kind == "input" or may_raise(node):
            needed.add(node)
            needed.update(node.inputs)
    return replace(graph, nodes=[node for node in graph.nodes if node in needed])


def may_raise(node: Node) -> bool:
    """Whether values decide if the node can be computed: an index is out of bounds, an exponent negative."""
    if node.kind == "take":
        return node.attributes["mode"] == "raise"
    return node.op == "power" and node.dtype.kind in "iu"
