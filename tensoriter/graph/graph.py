"""Graph and Node: what a captured function computes, before it is lowered to a plan."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np


@dataclass(eq=False, slots=True)
class Node:
    """One operation and its result. Nodes are compared by identity.

    kind : what sort of operation, and so which attributes it has:

        =========== ============================================= =========================================
        kind        result                                        attributes
        =========== ============================================= =========================================
        input       an array argument                             position (among the array arguments)
        constant    an array or number met while tracing          value; weak (a Python scalar, to be taken
                                                                  in the node's dtype)
        ufunc       an element-wise op of the inputs              function (an Op); types (of its loop, inputs
                                                                  first, as dtypes); in_place (the input that
                                                                  it was written over: the result has to be
                                                                  of its shape); operator (it is Python's, on
                                                                  NumPy scalars: warnings name it so)
        item        one output of an op that has several          index
        where       np.where(condition, x, y)
        cast        the input in another dtype, or a copy         casting; order of a copy
        view        the input's memory looked at otherwise        method ('reshape', 'index', 'transpose'),
                                                                  argument
        take        rows of the first input by an index array     axis, mode; indexed (written x[i])
        concatenate the inputs one after the other                axis
        reduce      a reduction over axes                         function ('sum', 'max', 'min', 'mean'),
                                                                  axis, keepdims, and dtype where given
        call        a function of NumPy on whole arrays, or       function ('matmul', 'operator.pow'),
                    Python's operator on NumPy scalars            keywords
        fused       a run of element-wise nodes, block by block   body (a Graph)
        group       independent nodes side by side                body (a Graph)
        =========== ============================================= =========================================

        Nodes that can warn have errstate (np.errstate's arguments) and checked (True) as well where the
        function had set these around them.

    op : the name for people: 'add', 'reshape', 'sum', 'input'
    dtype, shape : of the result, for the shapes of the arguments that were traced or planned last
    is_scalar : whether NumPy gives a scalar here, rather than a 0-d array
    handles : the debug handles of the source that it came from; several after fusion, none if unknown
    """

    kind: str
    op: str
    inputs: tuple[Node, ...]
    dtype: np.dtype
    shape: tuple[int, ...]
    is_scalar: bool = False
    attributes: dict[str, Any] = field(default_factory=dict)
    handles: tuple[int, ...] = ()

    def with_inputs(self, inputs: tuple[Node, ...]) -> Node:
        """The same operation on other nodes: itself if they are its own."""
        return self if inputs == self.inputs else replace(self, inputs=inputs)

    def __repr__(self) -> str:
        return f"<Node {self.op} {self.dtype}{list(self.shape)}>"


@dataclass(eq=False, slots=True)
class Graph:
    """Nodes in an order in which each comes after its inputs, and which of them are the results.

    debug : what the nodes' handles stand for (a `tensoriter.graph.debug.DebugMap`), None where it was left
        out

    `print(graph)` shows a line for each node, `to_dot()` is for Graphviz, and `tensoriter graph --plot`
    draws it.
    """

    nodes: list[Node]
    inputs: list[Node]
    outputs: list[Node]
    name: str = ""
    debug: Any = None

    def __iter__(self) -> Iterator[Node]:
        return iter(self.nodes)

    def __len__(self) -> int:
        return len(self.nodes)

    def __str__(self) -> str:
        from tensoriter.graph.display import as_text

        return as_text(self)

    def to_dot(self) -> str:
        """The graph in the language of Graphviz: `dot -Tsvg` draws it."""
        from tensoriter.graph.display import as_dot

        return as_dot(self)

    def rebuilt(self, choose: Callable[[Node, tuple[Node, ...]], Node]) -> Graph:
        """The graph of the nodes that `choose(node, inputs)` gives for each, in turn: `inputs` are those that
        were chosen for the node's own. A node that is chosen more than once stands in the graph once."""
        new: dict[Node, Node] = {}
        for node in self.nodes:
            new[node] = choose(node, tuple([new[x] for x in node.inputs]))
        inputs, outputs = ([new[node] for node in part] for part in (self.inputs, self.outputs))
        return Graph(list(dict.fromkeys(new.values())), inputs, outputs, self.name, self.debug)

    def with_shapes(self, shapes: list[tuple[int, ...]]) -> Graph:
        """The graph for inputs of these shapes, in the order of `inputs`; the ranks are as they were.

        Shapes that do not go together raise what NumPy raises for them.

        >>> from tensoriter.graph.trace import trace
        >>> graph = trace(lambda x, y: x + y, (np.ones(3), np.ones(1))).graph
        >>> graph.with_shapes([(1,), (5,)]).outputs
        [<Node add float64[5]>]
        """
        from tensoriter.graph.shapes import shape_of

        given = dict(zip(self.inputs, shapes, strict=True))

        def choose(node: Node, inputs: tuple[Node, ...]) -> Node:
            shape = given[node] if node in given else shape_of(node, inputs)
            return replace(node, inputs=inputs, shape=shape)

        return self.rebuilt(choose)
