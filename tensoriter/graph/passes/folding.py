"""What does not depend on the inputs."""

from __future__ import annotations

import numpy as np

from tensoriter.graph import reference
from tensoriter.graph.graph import Graph, Node
from tensoriter.graph.passes.common import visible

_MOST_BYTES = 1 << 16  # of a result that is kept: what is larger is computed anew
_FOLDED = ("ufunc", "where", "cast", "view")


def fold_constants(graph: Graph) -> Graph:
    """The graph with what follows from numbers alone computed. Arrays of the program are read in each run,
    since they may change; so is what warns, and what a caller gets as an array of its own."""
    seen = visible(graph)

    def choose(node: Node, inputs: tuple[Node, ...]) -> Node:
        known = None
        if node.kind in _FOLDED and inputs and all(map(is_fixed, inputs)):
            known = constant_of(node, inputs) if node.is_scalar or node not in seen else None
        return known or node.with_inputs(inputs)

    return graph.rebuilt(choose)


def is_fixed(node: Node) -> bool:
    """Whether it is a number that nobody can change."""
    if node.kind != "constant":
        return False
    value = node.attributes["value"]
    return not isinstance(value, np.ndarray) or not value.flags.writeable and value.base is None


def constant_of(node: Node, inputs: tuple[Node, ...]) -> Node | None:
    """A constant that equals the node; None if it warns or fails, which each run shall do."""
    if node.attributes.keys() & {"errstate", "checked"}:
        return None
    values = [reference.apply(x, ()) for x in inputs]
    try:
        with np.errstate(all="raise"):
            value = reference.apply(node, values)
    except Exception:
        return None
    if isinstance(value, tuple) or value.nbytes > _MOST_BYTES:
        return None
    if isinstance(value, np.ndarray):
        value = value.copy()
        value.flags.writeable = False
    return Node("constant", "constant", (), node.dtype, node.shape, node.is_scalar,
                {"value": value, "weak": False}, node.handles)
