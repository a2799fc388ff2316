"""Graph and Node: what a captured function computes, before it is lowered to a plan."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np


@dataclass(eq=False, slots=True)
class Node:
    """One operation and its result. Nodes are compared by identity.

    kind : what sort of operation, and so which attributes it has:

        ========== ==================================================== =======================================
        kind       result                                               attributes
        ========== ==================================================== =======================================
        input      an array argument                                    position (among the array arguments)
        constant   an array or number met while tracing                 value; weak (a Python scalar)
        ufunc      an element-wise op of the inputs                     function (an Op); types (of its loop,
                                                                        inputs first, as dtypes)
        item       one output of an op that has several                 index
        where      np.where(condition, x, y)
        cast       the input in another dtype                           casting
        view       the input's memory looked at otherwise               method ('reshape', 'index', 'transpose'),
                                                                        argument
        take       rows of the first input by an index array            axis, mode
        concatenate the inputs one after the other                      axis
        reduce     a reduction over axes                                function ('sum', 'max', 'min', 'mean'),
                                                                        axis, keepdims, and dtype where given
        call       a function of NumPy on whole arrays (matmul)         function (its public name), keywords
        fused      a run of element-wise nodes, block by block          body (a Graph)
        group      independent nodes side by side                       body (a Graph)
        ========== ==================================================== =======================================

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

    def __repr__(self) -> str:
        return f"<Node {self.op} {self.dtype}{list(self.shape)}>"


@dataclass(slots=True)
class Graph:
    """Nodes in an order in which each comes after its inputs, and which of them are the results."""

    nodes: list[Node]
    inputs: list[Node]
    outputs: list[Node]
    name: str = ""

    def __iter__(self) -> Iterator[Node]:
        return iter(self.nodes)

    def __len__(self) -> int:
        return len(self.nodes)
