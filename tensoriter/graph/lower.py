"""Lowering: from a graph with concrete shapes to a plan for arrays of one layout.

Everything that depends on dtypes, shapes and strides is decided here, once: loops, walks, the strides of
results, where temporaries lie. NumPy is asked about layouts, with arrays whose memory is not there.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tensoriter.core.instructions import is_own, result_strides, stand_in
from tensoriter.core.op import Op
from tensoriter.core.plan import Program
from tensoriter.graph import reference
from tensoriter.graph.graph import Graph, Node
from tensoriter.graph.joins import Join, joins_of, places_along
from tensoriter.graph.layouts import callable_of, dense_strides, layout_by_example
from tensoriter.graph.memory import place_temporaries
from tensoriter.graph.passes.buffers import unneeded_inputs
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
from tensoriter.graph.shapes import reduced_axes

BOOL, INTP = np.dtype(bool), np.dtype(np.intp)
FLAGS = ("divide", "over", "under", "invalid")


def lower(graph: Graph, arrays: Sequence[np.ndarray]) -> Plan:
    """A plan of the graph for array arguments laid out as these, whose values do not matter."""
    lowering = Lowering([np.asarray(array) for array in arrays])
    lowering.joins = joins_of(graph)
    lowering.lower_nodes(graph)
    results = [lowering.result(node) for node in graph.outputs]
    arena_bytes = place_temporaries(lowering.buffers, lowering.instructions, [entry[1] for entry in results])
    program = None
    if not lowering.careful:
        buffers = [(buffer.kind, buffer.array, buffer.value) for buffer in lowering.buffers]
        program = Program(buffers, lowering.instructions, results, arena_bytes)
    return Plan(
        graph, lowering.buffers, lowering.instructions, results, arena_bytes, program, lowering.watches
    )


class Lowering:
    """The plan as far as it is written, and the place of each node's result (a list for several)."""

    def __init__(self, arrays: Sequence[np.ndarray]) -> None:
        self.buffers: list[Buffer] = []
        self.instructions: list[Instruction] = []
        self.values: dict[Node, Any] = {}
        self.joins: dict[Node, Join] = {}
        self.joined: dict[Node, Place] = {}  # where concatenations lie that have begun to be written
        self.handles: tuple[int, ...] = ()
        self.over: dict[Node, int] = {}
        self.silent = False
        self.careful = False  # a run has always something to say
        self.watches = False
        for array in arrays:
            self.new_place(INPUT, array.dtype, array.shape, array.strides, array.flags.aligned)

    def new_place(
        self,
        kind: int,
        dtype: np.dtype,
        shape: tuple[int, ...],
        strides: tuple[int, ...] | None = None,
        aligned: bool = True,
    ) -> Place:
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

    def lower_nodes(self, graph: Graph) -> None:
        """Writes what computes the nodes of a graph, or of the body of a node."""
        self.note_unneeded(graph)
        for node in graph:
            if node.kind != "constant" and node not in self.values:
                self.begin(node)
                self.values[node] = LOWER[node.kind](self, node)

    def note_unneeded(self, graph: Graph) -> None:
        """Notes which inputs may be written over, whatever passes have done since that was planned."""
        for node, numbers in unneeded_inputs(graph).items():
            if node.attributes.get("over") in numbers:
                self.over[node] = node.attributes["over"]

    def value(self, node: Node) -> Any:
        """The place of a node's result; a constant gets one when it is first wanted."""
        if node.kind == "constant" and node not in self.values:
            self.values[node] = self.constant(reference.apply(node, []))
        return self.values[node]

    # ------------------------------------------------------------ element-wise

    def loop(
        self,
        op: str,
        function: Op | str,
        types: tuple[np.dtype, ...],
        inputs: list[Place],
        outputs: list[Place],
    ) -> None:
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

    def joined_place(self, node: Node) -> Place | None:
        """Where rows that a node takes lie in what they are joined to, if they are."""
        join = self.joins.get(node)
        if join is None:
            return None
        if join.node not in self.joined:
            self.joined[join.node] = self.new_place(TEMPORARY, join.node.dtype, join.node.shape)
        length = node.shape[join.node.attributes["axis"]]
        return part_of(self.joined[join.node], join.node, join.start, length)

    def laid_out(self, place: Place, strides: tuple[int, ...]) -> Place:
        """The same values with these strides."""
        if place.array.size == 0 or place.array.strides == strides:
            return place
        target = self.new_place(TEMPORARY, place.array.dtype, place.array.shape, strides)
        self.copy(place, target)
        return target

    def operand(self, node: Node, dtype: np.dtype | None) -> Place:
        """An input of a node; a constant of one value in that dtype, which is what the loop reads."""
        if node.kind != "constant" or node.shape or dtype is None:
            place: Place = self.value(node)
            return place
        value = converted(node, dtype)
        if value is None:  # the cast has something to say, each time
            self.careful = True
            value = np.zeros((), dtype)
        return self.constant(value)

    def written_over(
        self, source: Place, target: Place, function: Op | str, types: tuple[np.dtype, ...]
    ) -> Place:
        """`target`, in the memory of `source` where that is a temporary laid out alike and the loop is ours.

        What others do where operands share memory is not known: NumPy's fmax gives another zero.
        """
        buffer = self.buffers[source.buffer]
        if (
            buffer.kind != TEMPORARY
            or source.array is not buffer.array
            or target.array.ndim == 0
            or layout_of(source.array) != layout_of(target.array)
            or not is_own(function, types)
        ):
            return target
        self.buffers.pop()
        return Place(source.buffer, source.array)

    # ------------------------------------------------------------ results

    def result(self, node: Node) -> tuple[int, int, np.ndarray]:
        """How a result is handed out: (kind, buffer, stand-in)."""
        place: Place = self.value(node)
        buffer = self.buffers[place.buffer]
        if node.is_scalar:
            if place.array.ndim > 0 or buffer.kind == OBJECT:
                raise AssertionError("a scalar's value lies in a buffer of its own")
            return SCALAR, place.buffer, place.array
        if buffer.kind == TEMPORARY:
            buffer.kind = RESULT
        return WHOLE if place.array is buffer.array else VIEW, place.buffer, place.array


def layout_of(array: np.ndarray) -> tuple[np.dtype, tuple[int, ...], tuple[int, ...]]:
    """What two arrays must share for one to take the other's place."""
    return array.dtype, array.shape, array.strides


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


def loop_of(node: Node) -> tuple[Op | str, tuple[np.dtype, ...]]:
    """What an element-wise node runs: an op, 'where' or 'cast', and for which types."""
    if node.kind == "ufunc":
        return node.attributes["function"], tuple(node.attributes["types"])
    if node.kind == "where":
        return "where", (BOOL, node.dtype, node.dtype, node.dtype)
    return "cast", (node.inputs[0].dtype.newbyteorder("="), node.dtype)


def lower_elementwise(lowering: Lowering, node: Node) -> Any:
    function, types = loop_of(node)
    inputs = [lowering.operand(x, dtype) for x, dtype in zip(node.inputs, types, strict=False)]
    strides = result_strides(function, types, len(inputs), [place.array for place in inputs])
    if strides is None:
        return lower_call(lowering, node) if len(types) - len(inputs) == 1 else None
    shape = np.broadcast_shapes(*(place.array.shape for place in inputs))
    outputs = [
        lowering.new_place(TEMPORARY, dtype, shape, own)
        for dtype, own in zip(types[len(inputs) :], strides, strict=True)
    ]
    if node in lowering.over:
        outputs = [lowering.written_over(inputs[lowering.over[node]], outputs[0], function, types)]
    for place in outputs:
        place.scalar = node.is_scalar
    lowering.loop(node.op, function, types, inputs, outputs)
    return outputs[0] if len(outputs) == 1 else outputs


def lower_item(lowering: Lowering, node: Node) -> Place:
    places, index = lowering.value(node.inputs[0]), node.attributes["index"]
    if places is None:
        function = callable_of(node.inputs[0])
        return emit_call(lowering, node, node.inputs[0], lambda *arrays: function(*arrays)[index])
    place: Place = places[index]
    return place


def lower_cast(lowering: Lowering, node: Node) -> Any:
    source: Place = lowering.value(node.inputs[0])
    function, types = loop_of(node)
    if result_strides(function, types, 1, [source.array]) is None:
        return lower_call(lowering, node)
    like = np.empty_like(
        source.array, node.dtype, order=node.attributes.get("order", "K")
    )  # whose layout is that of astype, not of a ufunc
    target = lowering.new_place(TEMPORARY, node.dtype, like.shape, like.strides)
    target.scalar = node.is_scalar
    lowering.loop(node.op, function, types, [source], [target])
    return target


def lower_view(lowering: Lowering, node: Node) -> Place:
    source: Place = lowering.value(node.inputs[0])
    method, argument = node.attributes["method"], node.attributes["argument"]
    if node.is_scalar:  # a scalar is a copy
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
        if hasattr(np, "unstack"):  # NumPy 2.1, from which on there is copy=
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
    source, indices = (lowering.value(x) for x in node.inputs)
    axis, mode = node.attributes["axis"], node.attributes.get("mode", "raise")
    if source.array.shape[axis] == 0:
        return lower_call(lowering, node)  # which refuses
    strides = layout_by_example(node, [source.array, indices.array])
    if not is_taken_as_it_lies(source.array, axis):
        source = lowering.as_contiguous(source, node.dtype)
    evenly_apart = indices.array.ndim == 1 and indices.array.dtype == INTP and indices.array.flags.aligned
    if not evenly_apart:
        indices = lowering.as_contiguous(indices, INTP)
    in_order = strides == dense_strides(range(len(node.shape)), node.shape, node.dtype.itemsize)
    joined = lowering.joined_place(node) if in_order else None
    target = joined or lowering.new_place(TEMPORARY, node.dtype, node.shape)
    outer = math.prod(source.array.shape[:axis])
    chunk = math.prod(source.array.shape[axis + 1 :]) * node.dtype.itemsize
    step = source.array.strides[axis]
    if target.array.size > 0:
        rows = {
            "outer": outer,
            "outer_step": source.array.strides[axis - 1] if axis > 0 else 0,
            "length": source.array.shape[axis],
            "step": step,
            "chunk": chunk,
            "mode": mode,
            "index_step": indices.array.strides[0] if evenly_apart else INTP.itemsize,
            "target_step": target.array.strides[0] if joined else chunk,
        }
        places = [source, indices, target]
        lowering.emit(Instruction("take", node.op, None, (), 2, places, indices.array.size, options=rows))
    return target if joined else lowering.laid_out(target, strides)


def is_taken_as_it_lies(array: np.ndarray, axis: int) -> bool:
    """Whether rows are pieces of memory, evenly apart."""
    row = array[(0,) * axis + (0, ...)] if array.size else array
    return row.flags.c_contiguous and axis <= 1 and array.dtype.isnative and array.flags.aligned


def lower_concatenate(lowering: Lowering, node: Node) -> Place:
    inputs = [lowering.value(x) for x in node.inputs]
    axis = node.attributes["axis"]
    target = lowering.joined.get(node)
    arrays = [  # as they would lie had they not been written here
        stand_in(k, x.array.dtype, x.array.shape, None) if target and x.buffer == target.buffer else x.array
        for k, x in enumerate(inputs)
    ]
    strides = layout_by_example(node, arrays)
    if any(
        result_strides("cast", (x.array.dtype.newbyteorder("="), node.dtype), 1, [x.array]) is None
        for x in inputs
    ):
        return lower_call(lowering, node)
    target = target or lowering.new_place(TEMPORARY, node.dtype, node.shape, strides)
    for place, start in zip(inputs, places_along(node), strict=True):
        if place.buffer != target.buffer:
            lowering.copy(place, part_of(target, node, start, place.array.shape[axis]))
    return lowering.laid_out(target, strides)


def part_of(target: Place, node: Node, start: int, length: int) -> Place:
    """What one input of a concatenation has of its place."""
    axis = (node.attributes["axis"] or 0) % len(node.shape)
    return Place(target.buffer, target.array[(slice(None),) * axis + (slice(start, start + length),)])


def lower_fused(lowering: Lowering, node: Node) -> Any:
    body = node.attributes["body"]
    for inner, x in zip(body.inputs, node.inputs, strict=True):
        lowering.values[inner] = lowering.value(x)
    from tensoriter.graph.runs import lower_run

    if not lower_run(lowering, node, body):
        lowering.lower_nodes(body)
    places = [lowering.values[x] for x in body.outputs]
    return places[0] if len(places) == 1 else places


def lower_call(lowering: Lowering, node: Node) -> Place:
    """What has no instruction of its own: NumPy does it."""
    lowering.careful |= warns_always(node)
    return emit_call(lowering, node, node, callable_of(node))


# What gives real numbers of complex ones, and discards nothing.
REAL_OF_COMPLEX = ("argmax", "argmin", "argsort", "std", "var", "count_nonzero", "searchsorted")


def warns_always(node: Node) -> bool:
    """Whether a run has a warning to give that is no floating-point flag."""
    of_complex = any(x.dtype.kind == "c" for x in node.inputs) and node.dtype.kind in "fiu"
    if node.kind == "cast" or (of_complex and node.kind in ("reduce", "call")):
        return of_complex and node.op not in REAL_OF_COMPLEX  # an imaginary part is discarded
    name, options = node.attributes.get("function"), node.attributes.get("keywords") or node.attributes
    if name not in ("mean", "var", "std"):
        return False
    over = reduced_axes(options.get("axis"), len(node.inputs[0].shape))
    count = math.prod([node.inputs[0].shape[axis] for axis in over])
    return count <= (options.get("ddof") or 0)


def emit_call(lowering: Lowering, node: Node, of: Node, function: Callable[..., Any]) -> Place:
    """A call of `function`, which makes the result of `node` of the inputs of `of`."""
    inputs = [lowering.value(x) for x in of.inputs if x.kind != "constant"]
    if node.shape == ():
        target = lowering.new_place(TEMPORARY, node.dtype, ())
        target.scalar = node.is_scalar
    else:
        strides = None  # a careful run asks NumPy for everything
        if not lowering.careful:
            strides = layout_by_example(of, [lowering.value(x).array for x in of.inputs])
        target = lowering.new_place(OBJECT, node.dtype, node.shape, strides)
    lowering.emit(
        Instruction("call", node.op, function, (), len(inputs), [*inputs, target], target.array.size)
    )
    return target


def lower_group(lowering: Lowering, node: Node) -> list[Any]:
    """A task for each node of the body. Where one takes Python after all, they run one after the other."""
    body, outside = node.attributes["body"], lowering.instructions
    for inner, outer in zip(body.inputs, node.inputs, strict=True):
        lowering.values[inner] = lowering.value(outer)
    tasks = []
    for inner in body:
        if inner.kind not in ("input", "constant"):
            lowering.begin(inner)
            lowering.instructions = []
            lowering.values[inner] = LOWER[inner.kind](lowering, inner)
            tasks.append(Instruction("task", inner.op, None, (), 0, [], 0, body=lowering.instructions))
    lowering.begin(node)
    lowering.instructions = outside
    steps = [step for task in tasks for step in task.body]
    if any(step.kind == "call" for step in steps):
        outside += steps
    elif steps:
        lowering.emit(Instruction("group", node.op, None, (), 0, [], 0, body=tasks))
    return [lowering.values[inner] for inner in body.outputs]


LOWER: dict[str, Callable[[Lowering, Node], Any]] = {
    "input": lower_input,
    "ufunc": lower_elementwise,
    "item": lower_item,
    "where": lower_elementwise,
    "cast": lower_cast,
    "view": lower_view,
    "take": lower_take,
    "concatenate": lower_concatenate,
    "fused": lower_fused,
    "reduce": lower_call,
    "call": lower_call,
    "group": lower_group,
}
