"""Lowering a fused node to a run: its loops one after the other on each block of elements."""

from __future__ import annotations

import numpy as np

from tensoriter.core.instructions import STREAM_FROM, STREAMING_STORES, is_own, result_strides, stand_in
from tensoriter.graph.graph import Graph, Node
from tensoriter.graph.lower import Lowering, loop_of
from tensoriter.graph.plan import TEMPORARY, Buffer, Instruction, Place

# Of the widest operand in a block: several such lie in L1 (32 KiB on most CPUs) side by side. Where memory is
# what counts, twice as much is a little faster, as reading ahead begins anew in each block.
BLOCK_BYTES = 8192
# Loops that go by vectors meet the ends of blocks where they would go over from one vector to the next.
MULTIPLE = 64


def lower_run(lowering: Lowering, node: Node, body: Graph) -> bool:
    """Writes the fused node as a run. False, with nothing written, where its operands do not lie in one piece
    and in the same order, or one of its nodes has no loop in C."""
    if not lie_alike([lowering.value(x).array for x in body.inputs if x.shape == node.shape]):
        return False
    buffers, instructions = len(lowering.buffers), len(lowering.instructions)
    lowering.note_unneeded(body)
    run = RunWriter(lowering, node, body)
    if all(run.add(member) for member in body if member.kind not in ("input", "constant")):
        lowering.begin(node)
        lowering.emit(Instruction("run", node.op, None, (), 0, [], run.size, run.block, run.loops))
        return True
    del lowering.buffers[buffers:], lowering.instructions[instructions:]
    for member in body:
        if member.kind != "input":
            lowering.values.pop(member, None)
    return False


def lie_alike(arrays: list[np.ndarray]) -> bool:
    """Whether these arrays of one shape lie in one piece each, element for element, ready for a loop."""
    ready = all(array.flags.aligned and array.dtype.isnative for array in arrays)
    return ready and (
        all(array.flags.c_contiguous for array in arrays) or all(array.flags.f_contiguous for array in arrays)
    )


class RunWriter:
    """The loops of a run as far as they are written."""

    def __init__(self, lowering: Lowering, node: Node, body: Graph) -> None:
        self.lowering = lowering
        self.shape = node.shape
        self.outputs = set(body.outputs)
        self.size = int(np.prod(node.shape, dtype=np.intp))
        self.loops: list[Instruction] = []
        self.casts: dict[tuple[Node, np.dtype], Place] = {}
        arrays = [*body.outputs, *(x for x in body.inputs if x.shape == node.shape)]
        self.streams = STREAMING_STORES and sum(x.dtype.itemsize for x in arrays) * self.size >= STREAM_FROM
        widest = max(x.dtype.itemsize for x in body)
        most = (2 if self.streams else 1) * BLOCK_BYTES // widest // MULTIPLE * MULTIPLE
        self.block = min(self.size, most)

    def add(self, node: Node) -> bool:
        """Writes one node; False where that cannot be."""
        lowering = self.lowering
        function, types = loop_of(node)
        inputs = []
        for x, dtype in zip(node.inputs, types, strict=False):
            place = self.operand(x, dtype)
            if place is None:
                return False
            inputs.append(place)
        strides = result_strides(function, types, len(inputs), [place.array for place in inputs])
        if strides is None:
            return False
        over = inputs[lowering.over[node]] if node in lowering.over else None
        if node in self.outputs and not self.streams:
            target = self.result(types[-1], strides[0])
        elif over is not None and over.local and over.array.dtype == types[-1] and is_own(function, types):
            target = over
        else:
            target = self.local(types[-1], strides[0])
        lowering.begin(node)
        self.write(node.op, function, types, [*inputs, target])
        if node in self.outputs and self.streams:
            block, target = target, self.result(types[-1], strides[0])
            self.write("stream", "stream", (types[-1], types[-1]), [block, target])
        lowering.values[node] = target
        return True

    def result(self, dtype: np.dtype, strides: tuple[int, ...]) -> Place:
        """Memory for all elements."""
        target = self.lowering.new_place(TEMPORARY, dtype, self.shape, strides)
        target.moves = True
        return target

    def write(self, op: str, function: object, types: tuple[np.dtype, ...], places: list[Place]) -> None:
        lowering = self.lowering
        self.loops.append(
            Instruction(
                "loop",
                op,
                function,
                types,
                len(places) - 1,
                places,
                self.size,
                self.block,
                handles=lowering.handles,
                silent=lowering.silent,
            )
        )

    def operand(self, node: Node, dtype: np.dtype) -> Place | None:
        """An input in the dtype that the loop reads; None where there is no cast to it in C."""
        place = self.lowering.operand(node, dtype)
        if place.array.size > 1 and not place.moves:
            place = Place(place.buffer, place.array, moves=True)
        if place.array.dtype == dtype:
            return place
        key = node, dtype
        if key not in self.casts:
            types = (place.array.dtype.newbyteorder("="), dtype)
            if result_strides("cast", types, 1, [place.array]) is None:
                return None
            if place.moves:
                self.casts[key] = self.local(dtype, np.empty_like(place.array, dtype).strides)
                self.write("cast", "cast", types, [place, self.casts[key]])
            else:
                self.casts[key] = self.lowering.new_place(TEMPORARY, dtype, place.array.shape)
                self.lowering.copy(place, self.casts[key])
        return self.casts[key]

    def local(self, dtype: np.dtype, strides: tuple[int, ...]) -> Place:
        """A temporary of one block."""
        number = len(self.lowering.buffers)
        self.lowering.buffers.append(Buffer(TEMPORARY, stand_in(number, dtype, (self.block,), None)))
        return Place(number, stand_in(number, dtype, self.shape, strides), moves=True, local=True)
