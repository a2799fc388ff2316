"""Lowering: from a graph with concrete shapes to a plan for arrays of one layout.

Everything that depends on dtypes, shapes and strides is decided here, once: loops, walks, the strides of
results, where temporaries lie. NumPy is asked about layouts, with arrays whose memory is not there.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tensoriter.core.op import Op
from tensoriter.core.plan import Program, result_strides, stand_in
from tensoriter.graph.graph import Graph, Node
from tensoriter.graph.layouts import callable_of, layout_by_example
from tensoriter.graph.memory import place_temporaries
from tensoriter.graph.plan import (
    CONSTANT,
    INPUT,
    OBJECT,
    RESULT,
    SCALAR,
    TEMPORARY,
    VIEW,
    WHOLE,
    Buffer,
    Instruction,
    Place,
    Plan,
)

BOOL, INTP = np.dtype(bool), np.dtype(np.intp)
FLAGS = ("divide", "over", "under", "invalid")


def lower(graph: Graph, arrays: Sequence[np.ndarray]) -> Plan:
    """A plan of the graph for array arguments laid out as these, whose values do not matter."""
    lowering = Lowering([np.asarray(array) for array in arrays])
    for node in graph:
        lowering.begin(node)
        lowering.values[node] = LOWER[node.kind](lowering, node)
    results = [lowering.result(node) for node in graph.outputs]
    arena_bytes = place_temporaries(lowering.buffers, lowering.instructions, [entry[1] for entry in results])
    program = None
    if not lowering.careful:
        buffers = [(buffer.kind, buffer.array, buffer.value) for buffer in lowering.buffers]
        program = Program(buffers, lowering.instructions, results, arena_bytes)
    return Plan(graph, lowering.buffers, lowering.instructions, results, arena_bytes, program, lowering.watches)


class Lowering:
    """The plan as far as it is written, and the place of each node's result (several where it has several)."""

    def __init__(self, arrays: Sequence[np.ndarray]) -> None:
        self.buffers: list[Buffer] = []
        self.instructions: list[Instruction] = []
        self.values: dict[Node, Any] = {}
        self.handles: tuple[int, ...] = ()
        self.silent = False
        self.careful = False    # a run has always something to say
        self.watches = False
        for array in arrays:
            self.new_place(INPUT, array.dtype, array.shape, array.strides, array.flags.aligned)

    def new_place(self, kind: int, dtype: np.dtype, shape: tuple[int, ...],
                  strides: tuple[int, ...] | None = None, aligned: bool = True) -> Place:
        """A buffer of its own."""
        array = stand_in(len(self.buffers), dtype, shape, strides, aligned)
        self.buffers.append(Buffer(kind, array))
        return Place(len(self.buffers) - 1, array)

    def constant(self, value: Any) -> Place:
        """A buffer that holds this value."""
        array = np.asarray(value)
        self.buffers.append(Buffer(CONSTANT, array, array))
        return Place(len(self.buffers) - 1, array, scalar=not isinstance(value, np.ndarray))

    def begin(self, node: Node) -> None:
        """Notes what holds for the node's instructions."""
        self.handles = node.handles
        errors = node.attributes.get("errstate")
        self.silent = errors is not None and all(errors[kind] == "ignore" for kind in FLAGS)
        self.watches |= errors is not None and not self.silent
        self.careful |= bool(node.attributes.get("checked"))

    def emit(self, instruction: Instruction) -> None:
        """Appends an instruction."""
        instruction.handles = self.handles
        instruction.silent = self.silent
        self.instructions.append(instruction)

    # ------------------------------------------------------------ element-wise

    def loop(self, op: str, function: Op | str, types: tuple[np.dtype, ...], inputs: list[Place],
             outputs: list[Place]) -> None:
        """Emits a loop over the shape that the inputs broadcast to."""
        size = outputs[0].array.size
        if size > 0:
            self.emit(Instruction("loop", op, function, types, len(inputs), [*inputs, *outputs], size))

    def copy(self, source: Place, target: Place) -> None:
        """Emits a copy, which casts where the dtypes differ."""
        types = (source.array.dtype.newbyteorder("="), target.array.dtype)
        self.loop("copy", "cast", types, [source], [target])

    def as_contiguous(self, place: Place, dtype: np.dtype) -> Place:
        """The same values in C order in that dtype, without a copy where they lie so."""
        flags = place.array.flags
        if place.array.dtype == dtype and flags.c_contiguous and flags.aligned and dtype.isnative:
            return place
        target = self.new_place(TEMPORARY, dtype, place.array.shape)
        self.copy(place, target)
        return target

    def operand(self, node: Node, dtype: np.dtype | None) -> Place:
        """An input of a node; a constant of one value in that dtype, which is what the loop reads."""
        place: Place = self.values[node]
        if node.kind != "constant" or place.array.ndim > 0 or dtype is None or place.array.dtype == dtype:
            return place
        value = converted(node, dtype)
        if value is None:       # the cast has something to say, each time
            self.careful = True
            value = np.zeros((), dtype)
        return self.constant(value)

    # ------------------------------------------------------------ results

    def result(self, node: Node) -> tuple[int, int, np.ndarray]:
        """How a result is handed out: (kind, buffer, stand-in)."""
        place: Place = self.values[node]
        buffer = self.buffers[place.buffer]
        if node.is_scalar:
            if place.array.ndim > 0 or buffer.kind == OBJECT:
                raise AssertionError("a scalar's value lies in a buffer of its own")
            return SCALAR, place.buffer, place.array
        if buffer.kind == TEMPORARY:
            buffer.kind = RESULT
        return WHOLE if place.array is buffer.array else VIEW, place.buffer, place.array


def converted(node: Node, dtype: np.dtype) -> np.ndarray | None:
    """A constant in the dtype that a loop reads; None where the cast raises a floating-point flag."""
    value = node.attributes["value"]
    try:
        with np.errstate(all="raise"):
            return np.array(value, node.dtype).astype(dtype)
    except FloatingPointError:
        return None


# ---------------------------------------------------------------- one function for each kind of node

def lower_input(lowering: Lowering, node: Node) -> Place:
    number = node.attributes["position"]
    return Place(number, lowering.buffers[number].array, node.is_scalar)


def lower_constant(lowering: Lowering, node: Node) -> Place:
    return lowering.constant(node.attributes["value"])


def lower_elementwise(lowering: Lowering, node: Node, function: Op | str, types: tuple[np.dtype, ...],
                      nodes: Sequence[Node]) -> Any:
    inputs = [lowering.operand(x, dtype) for x, dtype in zip(nodes, types, strict=False)]
    strides = result_strides(function, types, len(inputs), [place.array for place in inputs])
    if strides is None:
        return lower_call(lowering, node)
    shape = np.broadcast_shapes(*(place.array.shape for place in inputs))
    outputs = [lowering.new_place(TEMPORARY, dtype, shape, own)
               for dtype, own in zip(types[len(inputs) :], strides, strict=True)]
    for place in outputs:
        place.scalar = node.is_scalar
    lowering.loop(node.op, function, types, inputs, outputs)
    return outputs[0] if len(outputs) == 1 else outputs


def lower_ufunc(lowering: Lowering, node: Node) -> Any:
    types = tuple(np.dtype(dtype) for dtype in node.attributes["types"])
    return lower_elementwise(lowering, node, node.attributes["function"], types, node.inputs)


def lower_where(lowering: Lowering, node: Node) -> Any:
    return lower_elementwise(lowering, node, "where", (BOOL, *[node.dtype] * 3), node.inputs)


def lower_item(lowering: Lowering, node: Node) -> Place:
    place: Place = lowering.values[node.inputs[0]][node.attributes["index"]]
    return place


def lower_cast(lowering: Lowering, node: Node) -> Any:
    source: Place = lowering.values[node.inputs[0]]
    types = (source.array.dtype.newbyteorder("="), node.dtype)
    if result_strides("cast", types, 1, [source.array]) is None:
        return lower_call(lowering, node)
    like = np.empty_like(source.array, node.dtype)      # whose layout is that of astype, not of a ufunc
    target = lowering.new_place(TEMPORARY, node.dtype, like.shape, like.strides)
    target.scalar = node.is_scalar
    lowering.loop(node.op, "cast", types, [source], [target])
    return target


def lower_view(lowering: Lowering, node: Node) -> Place:
    source: Place = lowering.values[node.inputs[0]]
    method, argument = node.attributes["method"], node.attributes["argument"]
    if node.is_scalar:      # a scalar is a copy
        target = lowering.new_place(TEMPORARY, node.dtype, ())
        target.scalar = True
        lowering.copy(Place(source.buffer, VIEWS[method](source.array, argument)), target)
        return target
    array = VIEWS[method](source.array, argument)
    if array is None:
        source = lowering.as_contiguous(source, source.array.dtype.newbyteorder("="))
        array = VIEWS[method](source.array, argument)
    return Place(source.buffer, array)


def index_view(array: np.ndarray, argument: Any) -> np.ndarray:
    """array[argument], a view also where that is a scalar."""
    index = argument if isinstance(argument, tuple) else (argument,)
    if not any(entry is Ellipsis for entry in index):
        index = (*index, Ellipsis)
    view: np.ndarray = array[index]
    return view


def reshape_view(array: np.ndarray, argument: Any) -> np.ndarray | None:
    """The array in another shape; None where that takes a copy."""
    view = array.view()
    try:
        if hasattr(np, "unstack"):      # NumPy 2.1, from which on there is copy=
            return array.reshape(argument, copy=False)
        view.shape = argument
    except (AttributeError, ValueError):
        return None
    return view


VIEWS: dict[str, Callable[[np.ndarray, Any], np.ndarray | None]] = {
    "index": index_view,
    "reshape": reshape_view,
    "transpose": lambda array, argument: array.transpose(argument),
}


def lower_take(lowering: Lowering, node: Node) -> Place:
    source, indices = (lowering.values[x] for x in node.inputs)
    axis, mode = node.attributes["axis"], node.attributes.get("mode", "raise")
    if axis is None:
        source = lowering.as_contiguous(source, node.dtype)
        source = Place(source.buffer, source.array.reshape(-1))
        axis = 0
    axis %= source.array.ndim
    if source.array.shape[axis] == 0:
        return lower_call(lowering, node)       # which refuses
    if not is_taken_as_it_lies(source.array, axis):
        source = lowering.as_contiguous(source, node.dtype)
    indices = lowering.as_contiguous(indices, INTP)
    target = lowering.new_place(TEMPORARY, node.dtype, node.shape)
    target.scalar = node.is_scalar
    outer = math.prod(source.array.shape[:axis])
    chunk = math.prod(source.array.shape[axis + 1 :]) * node.dtype.itemsize
    step = source.array.strides[axis]
    if target.array.size > 0:
        lowering.emit(Instruction(
            "take", node.op, None, (), 2, [source, indices, target], indices.array.size,
            options={"outer": outer, "outer_step": source.array.strides[0] if axis > 0 else 0,
                     "length": source.array.shape[axis], "step": step, "chunk": chunk, "mode": mode}))
    return target


def is_taken_as_it_lies(array: np.ndarray, axis: int) -> bool:
    """Whether rows are pieces of memory, evenly apart."""
    row = array[(0,) * axis + (0, ...)] if array.size else array
    return (row.flags.c_contiguous and axis <= 1 and array.dtype.isnative and array.flags.aligned)


def lower_concatenate(lowering: Lowering, node: Node) -> Place:
    inputs = [lowering.values[x] for x in node.inputs]
    axis = node.attributes["axis"]
    if axis is None:
        inputs = [Place(x.buffer, reshape_view(x.array, -1)) for x in (
            x if reshape_view(x.array, -1) is not None else lowering.as_contiguous(x, x.array.dtype)
            for x in inputs)]
        axis = 0
    strides = layout_by_example(lambda *arrays: np.concatenate(arrays, axis), inputs, node.shape, node.dtype)
    if any(result_strides("cast", (x.array.dtype.newbyteorder("="), node.dtype), 1, [x.array]) is None
           for x in inputs):
        return lower_call(lowering, node)
    target = lowering.new_place(TEMPORARY, node.dtype, node.shape, strides)
    start = 0
    for place in inputs:
        end = start + place.array.shape[axis]
        index = (slice(None),) * (axis % len(node.shape)) + (slice(start, end),)
        lowering.copy(place, Place(target.buffer, target.array[index]))
        start = end
    return target


def lower_call(lowering: Lowering, node: Node) -> Any:
    """What has no instruction of its own: NumPy does it."""
    function = callable_of(node)
    inputs = [lowering.values[x] for x in node.inputs if x.kind != "constant"]
    if node.is_scalar or not node.shape:
        target = lowering.new_place(TEMPORARY, node.dtype, ())
        target.scalar = node.is_scalar
    else:
        strides = layout_by_example(function, inputs, node.shape, node.dtype)
        target = lowering.new_place(OBJECT, node.dtype, node.shape, strides)
    lowering.emit(Instruction("call", node.op, function, (), len(inputs), [*inputs, target], target.array.size))
    return target


LOWER: dict[str, Callable[[Lowering, Node], Any]] = {
    "input": lower_input,
    "constant": lower_constant,
    "ufunc": lower_ufunc,
    "item": lower_item,
    "where": lower_where,
    "cast": lower_cast,
    "view": lower_view,
    "take": lower_take,
    "concatenate": lower_concatenate,
    "reduce": lower_call,
    "call": lower_call,
}
