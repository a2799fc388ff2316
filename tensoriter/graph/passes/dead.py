"""Nodes whose values nobody uses."""

from __future__ import annotations

from dataclasses import replace

from tensoriter.graph.graph import Graph


def drop_dead(graph: Graph) -> Graph:
    """The graph without the nodes that no result needs; inputs stay. What would go wrong in them alone is
    not noticed then: NumPy warns of it, and so does the graph as it was traced."""
    needed = set(graph.outputs)
    for node in reversed(graph.nodes):
        if node in needed:
            needed.update(node.inputs)
    return replace(graph, nodes=[node for node in graph.nodes if node in needed or node.kind == "input"])
