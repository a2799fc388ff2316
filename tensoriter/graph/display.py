"""A graph for people: as lines of text, and in the language of Graphviz."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from tensoriter.graph.graph import Graph, Node


def as_text(graph: Graph) -> str:
    """A line for each node: number, op, inputs, dtype and shape, line of the source.

    >>> from tensoriter.graph.trace import trace
    >>> print(as_text(trace(lambda x: 2 * x, (np.ones(3),)).graph))  # doctest: +ELLIPSIS
    <lambda>
      %0  input     x0      float64[3]
      %1  constant  2       float64     ...
      %2  multiply  %1, %0  float64[3]  ...
      return %2
    """
    numbers = {node: f"%{k}" for k, node in enumerate(graph.nodes)}
    rows = [
        (numbers[node], node.op, operands_of(node, numbers), kind_of(node), line_of(graph, node))
        for node in graph.nodes
    ]
    widths = [max(map(len, column), default=0) for column in zip(*rows, strict=True)]
    lines = [graph.name, *("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
                           for row in rows)]
    lines.append("return " + ", ".join(numbers[node] for node in graph.outputs))
    return "\n".join([lines[0].rstrip(), *(f"  {line.rstrip()}" for line in lines[1:])])


def operands_of(node: Node, names: dict[Node, str]) -> str:
    """What the node works on: its inputs by name, then what else says which result it is."""
    if node.kind == "input":
        return f"x{node.attributes['position']}"
    if node.kind == "constant":
        value = node.attributes["value"]
        return "array" if isinstance(value, np.ndarray) and value.ndim else str(value)
    return ", ".join([names[x] for x in node.inputs] + details_of(node))


def details_of(node: Node) -> list[str]:
    """The attributes that are to be seen."""
    given = node.attributes
    if node.kind == "view":
        return [_index_text(given["argument"]) if given["method"] == "index" else str(given["argument"])]
    found = [f"{name}={given[name]}" for name in ("axis", "index") if given.get(name) is not None]
    found += [f"{name}={value}" for name, value in given.get("keywords", {}).items()]
    if given.get("keepdims"):
        found.append("keepdims=True")
    return found


def _index_text(index: tuple[Any, ...]) -> str:
    return f"[{', '.join(map(_part_text, index))}]"


def _part_text(part: Any) -> str:
    if part is Ellipsis:
        return "..."
    if not isinstance(part, slice):
        return str(part)
    bounds = ["" if bound is None else str(bound) for bound in (part.start, part.stop)]
    return ":".join(bounds + ([] if part.step is None else [str(part.step)]))


def kind_of(node: Node) -> str:
    """Its dtype and shape, or only the dtype if NumPy gives a scalar."""
    return f"{node.dtype}" if node.is_scalar else f"{node.dtype}{list(node.shape)}"


def line_of(graph: Graph, node: Node) -> str:
    """Where in the source it was written: file:line."""
    if graph.debug is None:
        return ""
    sources = [graph.debug[handle].source for handle in node.handles if handle in graph.debug]
    places = [f"{os.path.basename(source.file)}:{source.line}" for source in sources]
    return ", ".join(dict.fromkeys(places))


def as_dot(graph: Graph) -> str:
    """The graph as Graphviz reads it.

    >>> from tensoriter.graph.trace import trace
    >>> print(as_dot(trace(lambda x: -x, (np.ones(3),)).graph))
    digraph "<lambda>" {
      node [shape=box];
      n0 [label="x0\\nfloat64[3]", shape=ellipse];
      n1 [label="negative\\nfloat64[3]", peripheries=2];
      n0 -> n1;
    }
    """
    numbers = {node: f"n{k}" for k, node in enumerate(graph.nodes)}
    lines = [f"digraph {_quoted(graph.name)} {{", "  node [shape=box];"]
    for node in graph.nodes:
        shape = ", shape=ellipse" if node.kind in ("input", "constant") else ""
        result = ", peripheries=2" if node in graph.outputs else ""
        lines.append(f"  {numbers[node]} [label={_quoted(label_of(node))}{shape}{result}];")
        lines += [f"  {numbers[x]} -> {numbers[node]};" for x in node.inputs]
    return "\n".join([*lines, "}"])


def label_of(node: Node) -> str:
    """What stands in the node's box."""
    leaf = node.kind in ("input", "constant")
    name = operands_of(node, {}) if leaf else " ".join([node.op, *details_of(node)])
    return f"{name}\n{kind_of(node)}"


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
