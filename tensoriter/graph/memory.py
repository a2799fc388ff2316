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
    """The operands of an instruction, and of the loops in it."""
    yield from instruction.places
    for loop in instruction.body:
        yield from loop.places


def note_uses(buffers: list[Buffer], instructions: list[Instruction]) -> None:
    """Sets `first` and `last` of each buffer."""
    for number, instruction in enumerate(instructions):
        for place in all_places(instruction):
            buffer = buffers[place.buffer]
            buffer.first = number if buffer.first < 0 else buffer.first
            buffer.last = number


def place_temporaries(buffers: list[Buffer], instructions: list[Instruction], results: Iterable[int]) -> int:
    """Gives each temporary its place; how many bytes they take together. `results` are the buffers of results.

    First fit, the earliest first: what is placed before and is still needed bounds the gaps.
    """
    note_uses(buffers, instructions)
    for number in results:
        buffers[number].last = len(instructions)
    placed: list[tuple[int, int, Buffer]] = []      # (start, end, buffer), by start
    total = 0
    for buffer in sorted((b for b in buffers if b.kind == TEMPORARY), key=lambda buffer: buffer.first):
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
