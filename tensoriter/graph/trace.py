"""Tracing: a function runs once on stand-ins, and each operation on them becomes a node."""

from __future__ import annotations

import enum
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import FrameType
from typing import Any

import numpy as np

from tensoriter.core.checked import is_on as is_checked
from tensoriter.graph.containers import Template, items_of, map_leaves
from tensoriter.graph.debug import DebugInfoRecorder
from tensoriter.graph.graph import Graph, Node
from tensoriter.graph.shapes import shape_of

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
NUMERIC = frozenset("?bBhHiIlLqQefdgFDG")
_FIXED = (
    type(None), bool, int, float, complex, str, bytes, np.generic, np.ndarray, np.dtype, type, enum.Enum,
)  # fmt: skip


def code_of(dtype: np.dtype[Any]) -> str:
    """A name for the dtype. Unlike dtypes themselves, those of two C types of one size are not equal: what
    is remembered under one shall not answer for the other."""
    return dtype.char if dtype.isnative else f"{dtype.byteorder}{dtype.char}"


def dtype_of(code: str) -> np.dtype[Any]:
    """The dtype of that name."""
    return np.dtype(code[-1]).newbyteorder(code[0]) if len(code) > 1 else np.dtype(code)


class CaptureError(TypeError):
    """What a function does cannot be captured. The text names the line of the function."""


class Trace:
    """What is known while a function is being traced.

    specialised : what beside dtypes and ranks the trace depends on, so that it may be used only where that
        is the same: 'shapes' if the function has read one, 'errstate' if it has set one
    """

    def __init__(self, name: str) -> None:
        self.graph = Graph([], [], [], name)
        self.recorder = DebugInfoRecorder()
        self.specialised: set[str] = set()
        self.error: CaptureError | None = None
        self.is_open = True
        self.root: FrameType | None = None
        self._arrays: dict[int, Node] = {}
        self._errors = np.geterr(), np.geterrcall()

    # ------------------------------------------------------------ nodes

    def add(self, kind: str, op: str, inputs: Sequence[Node], dtype: np.dtype[Any], is_scalar: bool = False,
            /, **attributes: Any) -> Node:
        """A new node, of the shape that follows from its inputs."""
        node = Node(kind, op, tuple(inputs), dtype, (), is_scalar, attributes)
        try:
            node.shape = shape_of(node, inputs)
        except Exception:
            self.specialised.add("shapes")  # other shapes may do, and who catches this goes another way
            raise
        if kind in ("ufunc", "call", "reduce"):
            self._note_modes(attributes)
        self.append(node)
        return node

    def append(self, node: Node) -> None:
        """Takes the node in, with a handle of where the function is now."""
        node.handles = (self.recorder.next_debug_handle(node, self._where()),)
        self.graph.nodes.append(node)

    def _note_modes(self, attributes: dict[str, Any]) -> None:
        """What holds for this node alone: an errstate that the function has set, checked integers."""
        errors = np.geterr(), np.geterrcall()
        if errors != self._errors:
            attributes["errstate"] = {**errors[0], "call": errors[1]}
            self.specialised.add("errstate")
        if is_checked():
            attributes["checked"] = True

    def constant(self, value: Any, dtype: np.dtype[Any], weak: bool = False) -> Node:
        """A node for a number."""
        node = Node("constant", "constant", (), dtype, (), True, {"value": value, "weak": weak})
        self.append(node)
        return node

    def array(self, array: np.ndarray) -> Node:
        """The node for an array of the program: its memory is read anew in each run."""
        if type(array) is not np.ndarray:
            self.refuse(f"takes part in it: an array of the subclass {type(array).__name__}")
        if array.dtype.char not in NUMERIC:
            self.refuse(f"takes part in it: an array of dtype {array.dtype}")
        node = self._arrays.get(id(array))
        if node is None:
            attributes = {"value": array, "weak": False}
            node = Node("constant", "constant", (), array.dtype, array.shape, False, attributes)
            self._arrays[id(array)] = node  # the node keeps the array alive, and so its id its own
            self.append(node)
        return node

    def cast(self, node: Node, dtype: np.dtype[Any], casting: str = "same_kind") -> Node:
        """The node in that dtype: itself where it is of it."""
        if code_of(node.dtype) == code_of(dtype):
            return node
        return self.add("cast", "cast", [node], dtype, node.is_scalar, casting=casting)

    def own(self, value: Any) -> Node:
        """The node of a stand-in, which must be one of this trace's."""
        if value._trace is not self or not self.is_open:
            self.refuse("a stand-in of another trace, or of one that is over, is used",
                        "a captured function must not keep its arguments or results")
        return value._node

    # ------------------------------------------------------------ places

    def _where(self) -> list[FrameType]:
        """The frames of the function and of those that it has called, outermost first."""
        frames = []
        frame: FrameType | None = sys._getframe(2)
        while frame is not None and frame is not self.root:
            if not frame.f_code.co_filename.startswith(_PACKAGE):
                frames.append(frame)
            frame = frame.f_back
        frames.reverse()
        return frames

    def refuse(self, what: str, hint: str = "") -> Any:
        """Raises a CaptureError that names the line: 'FILE, line N, in F: WHAT'."""
        frames = self._where()
        place = ""
        if frames:
            frame = frames[-1]
            code = frame.f_code
            place = f'File "{code.co_filename}", line {frame.f_lineno}, in {code.co_name}: '
        error = CaptureError(f"{place}{what}{'; ' + hint if hint else ''}")
        if self.error is None:
            self.error = error  # so that a function which catches it is not captured halfway
        raise error


@dataclass(slots=True)
class Traced:
    """What a trace gives: the graph, the form of the result, and what beside dtypes and ranks it is for."""

    graph: Graph
    template: Template
    specialised: frozenset[str]


def name_of(function: Any) -> str:
    """The function's name, or that of its class."""
    return getattr(function, "__qualname__", type(function).__qualname__)


def trace(function: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any] | None = None) -> Traced:
    """What `function` computes of such arguments: it runs once, on stand-ins for their arrays.

    >>> found = trace(lambda x: {"twice": 2 * x}, (np.ones(3),))
    >>> [node.op for node in found.graph], found.specialised
    (['input', 'constant', 'multiply'], frozenset())
    """
    new = Trace(name_of(function))
    given = map_leaves((tuple(args), kwargs or {}), lambda leaf: _stand_in_for(new, leaf))
    before = _items_within(given)
    new.root = sys._getframe()
    try:
        result = function(*given[0], **given[1])
        template = Template(result, lambda leaf: _position(new, leaf))
    finally:
        new.is_open = False
        new.root = None
    if new.error is not None:
        raise new.error
    if _items_within(given) != before:
        raise CaptureError(f"{new.graph.name} changes a container that it was given: return a new one")
    new.graph.debug = new.recorder.stop_recording()
    return Traced(new.graph, template, frozenset(new.specialised))


def _stand_in_for(new: Trace, leaf: Any) -> Any:
    from tensoriter.graph.stand_in import Memory, StandIn

    if type(leaf) is not np.ndarray and not (isinstance(leaf, np.generic) and leaf.dtype.char in NUMERIC):
        return leaf
    is_scalar = not isinstance(leaf, np.ndarray)
    attributes = {"position": len(new.graph.inputs)}
    node = Node("input", "input", (), leaf.dtype, leaf.shape, is_scalar, attributes)
    new.graph.nodes.append(node)
    new.graph.inputs.append(node)
    return StandIn(new, node, Memory("an argument"))


def _items_within(value: Any) -> list[Any]:
    """The identities of all items of all containers in it."""
    items = items_of(value)
    if items is None:
        return [id(value)]
    return [id(value), *(found for name, item in items for found in (name, _items_within(item)))]


def _position(new: Trace, leaf: Any) -> int | None:
    """Where among the results the leaf stands; None for what is the same in each call."""
    from tensoriter.graph.stand_in import StandIn

    if type(leaf) is StandIn:
        new.graph.outputs.append(new.own(leaf))
        return len(new.graph.outputs) - 1
    if not isinstance(leaf, _FIXED):
        raise CaptureError(f"{new.graph.name} returns a {type(leaf).__name__}, in which arrays are not seen: "
                           "return arrays, numbers or containers of them")
    return None
