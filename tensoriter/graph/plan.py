"""Plan: what a graph is lowered to for operands of one layout, for people to read, run, and keep."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tensoriter.core.op import Op
from tensoriter.core.plan import Program, wants_care
from tensoriter.graph import reference
from tensoriter.graph.graph import Graph

# Kinds of buffers and of results, by the numbers that the core gives them.
INPUT, CONSTANT, TEMPORARY, RESULT, OBJECT = range(5)
BUFFER_KINDS = ("input", "constant", "temporary", "result", "call's result")
WHOLE, VIEW, SCALAR = range(3)


@dataclass(slots=True)
class Place:
    """Where an operand lies. `array` has its dtype, shape and strides, but no memory (see `stand_in`).

    In a run, an operand moves on from block to block, is a temporary that holds one block (local), or a
    single value (neither).
    """

    buffer: int
    array: np.ndarray = field(repr=False)  # a look at its values would end the process
    scalar: bool = False
    moves: bool = False
    local: bool = False


@dataclass(slots=True)
class Buffer:
    """Memory that instructions read and write; `array` is what lies at its beginning, a stand-in as in Place.

    value : a constant's array; a temporary's place in the arena, in bytes
    first, last : the instructions that write it first and use it last
    """

    kind: int
    array: np.ndarray = field(repr=False)
    value: Any = None
    first: int = -1
    last: int = -1

    @property
    def nbytes(self) -> int:
        return self.array.nbytes


@dataclass(slots=True)
class Instruction:
    """One step of a plan.

    kind : 'loop' (element-wise), 'run' (loops block by block), 'take' (rows), 'call' (Python), 'group' (tasks
        side by side) or 'task' (instructions one after the other)
    function : of a loop an op, 'where' or 'cast'; of a call what is called
    types : of a loop, inputs first
    nin : how many of the places are read; the others are written
    size : elements of the walk
    block : of a run, and of the loops in it, how many elements a block has
    body : of a run, its loops; of a group, its tasks; of a task, its instructions
    silent : no floating-point flag that it raises counts
    """

    kind: str
    op: str
    function: Op | str | Callable[..., Any] | None
    types: tuple[np.dtype, ...]
    nin: int
    places: list[Place]
    size: int
    block: int = 0
    body: list[Instruction] = field(default_factory=list)
    options: dict[str, Any] = field(default_factory=dict)
    handles: tuple[int, ...] = ()
    silent: bool = False


@dataclass(slots=True, repr=False)
class Plan:
    """What `lower` makes of a graph for arrays of one layout: run it with `plan(*arrays)`, keep
    it with `save` or pickle.

    graph : what it was lowered from, with concrete shapes
    buffers, instructions : see there
    results : (kind, buffer, stand-in) of each
    arena_bytes : memory for temporaries, kept between runs
    program : what runs in the core; None where every run has to go node by node
    watches : whether floating-point flags matter whatever the errstate, as a node has its own
    """

    graph: Graph
    buffers: list[Buffer]
    instructions: list[Instruction]
    results: list[tuple[int, int, np.ndarray]]
    arena_bytes: int
    program: Program | None
    watches: bool = False

    def __call__(self, *arrays: Any, out: Any = None) -> Any:
        """The results for these array arguments, in the order in which the function has them: a single one by
        itself, several as a tuple; `out` is an array or a tuple of arrays (or None) for them likewise.

        The arrays have the dtypes and shapes that the plan was made for (ValueError if they have not). Where
        they are laid out otherwise, another plan is made for this call.
        """
        if out is not None and not isinstance(out, tuple):
            out = (out,)
        if len(arrays) != len(self.graph.inputs) or (out is not None and len(out) != len(self.results)):
            raise ValueError(
                f"the plan takes {len(self.graph.inputs)} arrays and has {len(self.results)} results"
            )
        results = self.fitted(arrays).run(arrays, out)
        return results[0] if len(results) == 1 else tuple(results)

    def fitted(self, arrays: Sequence[Any]) -> Plan:
        """This plan, or another one of its graph where arrays of its shapes are laid out otherwise."""
        fits = True
        for k, array in enumerate(map(np.asarray, arrays)):
            like = self.buffers[k].array
            if array.dtype != like.dtype or array.shape != like.shape:
                raise ValueError(
                    f"array {k} must be {layout_text(like)}, not {array.dtype}{list(array.shape)}"
                )
            fits = fits and array.strides == like.strides and array.flags.aligned == like.flags.aligned
        if fits:
            return self
        from tensoriter.graph.lower import lower

        return lower(self.graph, arrays)

    def save(self, file: str | os.PathLike[str], *, debug: bool = True) -> None:
        """Writes the plan to a file for `tensoriter.load_plan`; without debug information if not `debug`.

        TypeError if it has an op that another process does not find by name, such as one of `Op.from_loops`.
        """
        from tensoriter.graph.saved import save_plan

        save_plan(self, file, debug)

    def __reduce__(self) -> Any:
        from tensoriter.graph.saved import parts_of, plan_of

        debug = self.graph.debug.to_data() if self.graph.debug is not None else None
        return plan_of, (*parts_of(self), debug)

    def run(self, arrays: Sequence[Any], out: Sequence[Any] | None = None) -> list[Any]:
        """The list of results, for arguments laid out as the plan was made for (else ValueError)."""
        given = [np.asarray(array) for array in arrays]
        for place, (_, _, like) in zip(out or (), self.results, strict=bool(out)):
            check_place(like, place)
        if self.program is None or wants_care():
            return self.run_by_node(given, out)
        results, flags = self.program(given, None if out is None else list(out))
        return self.finish(given, out, results, flags)

    def finish(
        self,
        arrays: Sequence[np.ndarray],
        out: Sequence[np.ndarray | None] | None,
        results: list[Any] | None,
        flags: int,
    ) -> list[Any]:
        """The results of a run that raised these floating-point flags, or that failed (None): as they are if
        nobody wants to know, else computed again the careful way. Then they are written where they belong."""
        if results is None or (flags and (self.watches or is_watched(flags))):
            return self.run_by_node(arrays, out)
        return results if out is None else written(results, out)

    def run_by_node(self, arrays: Sequence[np.ndarray], out: Sequence[np.ndarray | None] | None) -> list[Any]:
        """The careful way: each node by NumPy, which warns and raises where that is due."""
        results = reference.rerun(self.graph, arrays)
        return results if out is None else written(results, out)

    def __repr__(self) -> str:
        return f"<plan of {self.graph.name or 'a graph'}: {len(self.instructions)} instructions>"

    def __str__(self) -> str:
        lines = [
            f"plan of {self.graph.name or 'a graph'}: {len(self.instructions)} instructions, "
            f"{self.arena_bytes:,} bytes of temporaries"
        ]
        for number, instruction in enumerate(self.instructions):
            first, *body = self.sentences_of(instruction)
            lines += [f"{number:4d}  {first}", *(f"      {sentence}" for sentence in body)]
        lines.append("buffers")
        for number, buffer in enumerate(self.buffers):
            place = f" at {buffer.value:,}" if buffer.kind == TEMPORARY else ""
            lines.append(
                f"{number:4d}  {BUFFER_KINDS[buffer.kind]:<14}{layout_text(buffer.array):<28}"
                f"{buffer.nbytes:>14,} bytes{place}"
            )
        return "\n".join(lines)

    def sentences(self) -> list[str]:
        """A line for each instruction, those within another one indented."""
        return [sentence for instruction in self.instructions for sentence in self.sentences_of(instruction)]

    def sentences_of(self, instruction: Instruction) -> list[str]:
        """A line for the instruction, and one for each within it."""
        within = [sentence for inner in instruction.body for sentence in self.sentences_of(inner)]
        return [self.describe(instruction), *(f"    {sentence}" for sentence in within)]

    def describe(self, instruction: Instruction) -> str:
        """One instruction in one line."""
        if instruction.kind == "run":
            loops = f"run of {len(instruction.body)} loops on {instruction.size:,} elements"
            return f"{loops}, {instruction.block:,} a block"
        if instruction.kind == "group":
            return f"group of {len(instruction.body)} tasks, side by side"
        if instruction.kind == "task":
            return f"task {instruction.op}"
        operands = [f"b{place.buffer}" for place in instruction.places]
        inputs, outputs = ", ".join(operands[: instruction.nin]), ", ".join(operands[instruction.nin :])
        types = "".join(dtype.char for dtype in instruction.types)
        return (
            f"{instruction.op} {types}".rstrip() + f" ({inputs}) -> {outputs}  {instruction.size:,} elements"
        )


def layout_text(array: np.ndarray) -> str:
    """dtype and shape, and strides where they are not those of C order."""
    text = f"{array.dtype}{list(array.shape)}"
    return text if array.flags.c_contiguous else f"{text} strides {array.strides}"


def is_watched(flags: int) -> bool:
    """Whether the errstate of this moment is anything but 'ignore' for one of these floating-point flags (by
    NumPy's numbers)."""
    state = np.geterr()
    names = ("divide", "over", "under", "invalid")
    return any(flags >> bit & 1 and state[name] != "ignore" for bit, name in enumerate(names))


def written(results: Sequence[Any], places: Sequence[Any]) -> list[Any]:
    """The results, those with a place written into it (unless they were computed there)."""
    for result, place in zip(results, places, strict=True):
        check_place(np.asarray(result), place)
    given = [place for place in places if place is not None]
    results = [  # what is a view of a place, as of an argument, shall not change while others are written
        np.copy(result)
        if result is not target and any(np.may_share_memory(result, place) for place in given)
        else result
        for result, target in zip(results, places, strict=True)
    ]
    written = []
    for result, place in zip(results, places, strict=True):
        if place is not None and place is not result:
            np.copyto(place, result)
        written.append(result if place is None else place)
    return written


def check_place(result: np.ndarray, place: Any) -> None:
    """Raises unless a result like this can be written there."""
    if place is None:
        return
    if not isinstance(place, np.ndarray):
        raise TypeError(f"out must hold arrays, not {type(place).__name__}")
    if place.dtype != result.dtype or place.shape != result.shape:
        raise ValueError(
            f"out must have the result's dtype and shape, {result.dtype}{list(result.shape)}, "
            f"not {place.dtype}{list(place.shape)}"
        )
    if not place.flags.writeable:
        raise ValueError("output array is read-only")
