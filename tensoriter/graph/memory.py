"""Where temporaries lie: two that are not needed at the same time may lie in the same place."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tensoriter.graph.plan import TEMPORARY, Buffer, Instruction, Place

LINE = 64  # bytes: buffers start on cache lines
GAP_FROM = 2048  # bytes
# Buffers a multiple of 4,096 bytes apart hinder each other: CPUs take a load of the one for a load of what is
# being stored in the other. An odd number of lines between them keeps them from it.
GAP = 3 * LINE


def all_places(instruction: Instruction) -> Iterator[Place]:
    """The operands of an instruction, and of those in it."""
    yield from instruction.places
    for inner in instruction.body:
        yield from all_places(inner)


def note_uses(buffers: list[Buffer], instructions: list[Instruction]) -> int:
    """Sets `first` and `last` of each buffer, counting the loops of runs one by one; returns how many steps
    there are. What lies in a run's blocks is needed from loop to loop, everything else for the whole run, and
    all that is in a group as long as it lasts."""
    step = 0
    for instruction in instructions:
        start = step
        if instruction.kind == "group":
            for place in all_places(instruction):
                note_use(buffers[place.buffer], step, step)
            step += 1
            continue
        for part in instruction.body or [instruction]:
            for place in part.places:
                if place.local:
                    note_use(buffers[place.buffer], step, step)
            step += 1
        for part in instruction.body or [instruction]:
            for place in part.places:
                if not place.local:
                    note_use(buffers[place.buffer], start, step - 1)
    return step


def note_use(buffer: Buffer, first: int, last: int) -> None:
    """The buffer is needed from the one step to the other."""
    buffer.first = first if buffer.first < 0 else buffer.first
    buffer.last = max(buffer.last, last)


def place_temporaries(buffers: list[Buffer], instructions: list[Instruction], results: Iterable[int]) -> int:
    """Gives each temporary its place; how many bytes they take together. `results` are buffers, too.

    First fit, the earliest first: what is placed before and is still needed bounds the gaps.
    """
    end = note_uses(buffers, instructions)
    for number in results:
        buffers[number].last = end
    placed: list[tuple[int, int, Buffer]] = []  # (start, end, buffer), by start
    total = 0
    for buffer in buffers:
        buffer.value = 0 if buffer.kind == TEMPORARY else buffer.value
    for buffer in sorted(
        (b for b in buffers if b.kind == TEMPORARY and b.last >= 0), key=lambda buffer: buffer.first
    ):
        size = -(-max(buffer.nbytes, 1) // LINE) * LINE + (GAP if buffer.nbytes >= GAP_FROM else 0)
        start = 0
        for other_start, other_end, other in placed:
            if other.last < buffer.first:
                continue
            if start + size <= other_start:
                break
            start = max(start, other_end)
        buffer.value = start
        placed.append((start, start + size, buffer))
        placed.sort(key=lambda entry: entry[0])
        total = max(total, start + size)
    return total
