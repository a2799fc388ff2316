"""Expressions that stand in a graph more than once."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np

from tensoriter.graph.graph import Graph, Node
from tensoriter.graph.keys import key_of_number
from tensoriter.graph.trace import code_of


def merge_common(graph: Graph) -> Graph:
    """The graph with each expression computed once. Results stay arrays of their own: of two alike that a
    caller gets to see, neither is merged with the other."""
    seen = visible(graph)
    first: dict[Hashable, Node] = {}

    def choose(node: Node, inputs: tuple[Node, ...]) -> Node:
        key = expression(node, inputs)
        known = first.get(key)
        if known is None or (node in seen and known in seen):
            known = node.with_inputs(inputs)
            first.setdefault(key, known)
        if node in seen:
            seen.add(known)
        return known

    return graph.rebuilt(choose)


def visible(graph: Graph) -> set[Node]:
    """The nodes in whose memory a caller finds results: the outputs, and what they are views of."""
    found = set(graph.outputs)
    for node in reversed(graph.nodes):
        if node in found and node.kind == "view" and not node.is_scalar:
            found.update(node.inputs)
    return found


def expression(node: Node, inputs: tuple[Node, ...]) -> Hashable:
    """What two nodes have in common if they compute the same. Inputs have nothing in common, nor have
    functions that give memory which is not filled."""
    if node.kind == "input" or node.op == "empty_like":
        return node
    attributes = tuple([(name, value_key(value)) for name, value in node.attributes.items()])
    return node.kind, node.op, inputs, code_of(node.dtype), node.is_scalar, attributes


def value_key(value: Any) -> Hashable:
    """A key that is equal only for what is the same: numbers by type and bits, arrays by identity.

    >>> value_key(0.0) == value_key(-0.0), value_key(1) == value_key(True)
    (False, False)
    """
    number = key_of_number(value)
    if number is not None:
        return number
    if isinstance(value, (tuple, list)):
        return type(value), tuple(map(value_key, value))
    if isinstance(value, dict):
        return dict, tuple([(name, value_key(item)) for name, item in value.items()])
    if isinstance(value, slice):
        return slice, value_key((value.start, value.stop, value.step))
    if isinstance(value, np.generic):
        return type(value), value.tobytes()
    if isinstance(value, np.dtype):
        return np.dtype, code_of(value)
    return "object", id(value)  # which its node keeps alive
