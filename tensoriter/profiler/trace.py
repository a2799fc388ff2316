"""The trace: records as Chrome's trace-event JSON.

Times are microseconds since the profiler's first import. What a record becomes:

    EVENT    a slice "X" of its thread; as a task, besides, a pair "b", "e" of the domain "api"
    TASK     a pair "b", "e" with an id of its own; where it crossed threads, slices and a flow "s", "f", too
    FRAME    a pair "b", "e" of the process
    COUNTER  "C", a track of its own
    MARKER   "i", an instant
"""

from __future__ import annotations

import itertools
import json
import os
import sys
from collections.abc import Callable, Iterator
from typing import IO

import numpy as np

from tensoriter.core.hooks import handle_describers, names
from tensoriter.profiler import recording
from tensoriter.profiler.recording import RecordFlags, RecordType
from tensoriter.profiler.shapes import shapes_texts

# As Record in buffers.h.
RECORD = np.dtype([
    ("begin", "i8"), ("end", "i8"), ("bytes", "i8"), ("handle", "i8"), ("name", "u4"), ("task", "u4"),
    ("scope", "u4"), ("domain", "u4"), ("detail", "u4"), ("thread", "u4"), ("type", "u1"), ("path", "u1"),
    ("flags", "u1"), ("unused", "V5"),
])  # fmt: skip
TYPE = RECORD.names.index("type")
PATHS = ("contiguous", "strided", "numpy")
MARKER_SCOPES = "ptg"
ORIGIN = recording.clock()
BATCH = 16384  # records

_temporary_numbers = itertools.count()
_describers: list[Callable[[int], str | None]] = handle_describers


def describe_handles(describer: Callable[[int], str | None]) -> None:
    """Let `describer(handle)` put debug handles into words when a trace is written; or None."""
    _describers.append(describer)


def check_place(path: str) -> None:
    """OSError where no file can be written."""
    folder = os.path.dirname(os.path.abspath(path))
    if not os.path.isdir(folder):
        raise FileNotFoundError(f"cannot write {path}: its folder does not exist")
    if os.path.isdir(path):
        raise IsADirectoryError(f"cannot write {path}: it is a folder")


def write(path: str, count: int) -> None:
    """Write the first `count` records: beside `path` and renamed, or into it if it is no ordinary file."""
    path = os.path.realpath(path)
    if os.path.exists(path) and not os.path.isfile(path):
        with open(path, "w", encoding="ascii") as file:
            write_events(file, count)
        return
    temporary = f"{path}.{os.getpid()}.{next(_temporary_numbers)}.tmp"
    try:
        with open(temporary, "w", encoding="ascii") as file:
            write_events(file, count)
        os.replace(temporary, path)
    except BaseException:
        if os.path.exists(temporary):
            os.unlink(temporary)
        raise


def write_events(file: IO[str], count: int) -> None:
    """The whole JSON object."""
    file.write('{"displayTimeUnit":"ns","traceEvents":[\n')
    file.write(",\n".join(json.dumps(event) for event in metadata()))
    writer = Writer()
    first = 0
    while first < count:
        data = recording.records(first, min(BATCH, count - first))
        if not data:
            break
        records = np.frombuffer(data, RECORD)
        first += len(records)
        events = itertools.chain.from_iterable(map(writer.events, records.tolist()))
        file.write("".join(f",\n{event}" for event in events))
    other = {"dropped": recording.count_dropped(), "overhead_ns": round(recording.overhead(), 1)}
    file.write(f'\n],"otherData":{json.dumps(other)}}}\n')


def metadata() -> Iterator[dict]:
    """Names of the process and its threads."""
    pid = os.getpid()
    script = os.path.basename(sys.argv[0]) if sys.argv and sys.argv[0] else "python"
    yield {"ph": "M", "name": "process_name", "pid": pid, "tid": 0, "args": {"name": script}}
    for native, name in recording.threads_seen():
        text = name or f"worker {native}"
        yield {"ph": "M", "name": "thread_name", "pid": pid, "tid": native, "args": {"name": text}}


def full_name(scope: int, name: int) -> str:
    """A name with the scopes it was recorded in before it."""
    return f"{names[scope]}:{names[name]}" if scope else names[name]


class Writer:
    """Makes JSON texts of records. Names are put into JSON once each."""

    def __init__(self) -> None:
        self.pid = os.getpid()
        self.tids = [native for native, _ in recording.threads_seen()]
        self.texts: dict[tuple[int, int], str] = {}
        self.makers = {
            RecordType.EVENT: self.event, RecordType.TASK: self.task, RecordType.FRAME: self.frame,
            RecordType.COUNTER: self.counter, RecordType.MARKER: self.marker,
        }  # fmt: skip

    def events(self, record: tuple) -> Iterator[str]:
        return self.makers[record[TYPE]](record)

    def text(self, scope: int, name: int) -> str:
        found = self.texts.get((scope, name))
        if found is None:
            found = self.texts[scope, name] = json.dumps(full_name(scope, name))
        return found

    def head(self, ph: str, name: str, category: str, time: int, thread: int) -> str:
        """What every event has, its end still open."""
        return (
            f'{{"ph":"{ph}","name":{name},"cat":{category},"ts":{(time - ORIGIN) / 1000:.3f},'
            f'"pid":{self.pid},"tid":{self.tids[thread]}'
        )

    def pair(self, name: str, category: str, begin: int, end: int, thread: int, id: str) -> Iterator[str]:
        yield f'{self.head("b", name, category, begin, thread)},"id":"{id}"}}'
        yield f'{self.head("e", name, category, end, thread)},"id":"{id}"}}'

    def event(self, record: tuple) -> Iterator[str]:
        begin, end, size, handle, name, task, scope, domain, detail, thread, _, path, flags, _ = record
        if flags & RecordFlags.AS_EVENT:
            head = self.head("X", self.text(scope, name), self.text(0, domain), begin, thread)
            arguments = self.arguments(path, size, detail, handle)
            yield f'{head},"dur":{(end - begin) / 1000:.3f},"args":{arguments}}}'
        if flags & RecordFlags.AS_TASK:
            yield from self.pair(self.text(scope, task), '"api"', begin, end, thread, f"api {thread}")

    def arguments(self, path: int, size: int, shapes: int, handle: int) -> str:
        found: dict[str, object] = {}
        if path < len(PATHS):
            found["path"] = PATHS[path]
        if size:
            found["bytes"] = size
        if shapes:
            found["inputs"] = shapes_texts[shapes]
        if handle:
            found["handle"] = handle
            found["source"] = next(filter(None, (describe(handle) for describe in _describers)), "unknown")
        return json.dumps(found)

    def task(self, record: tuple) -> Iterator[str]:
        begin, end, _, id, name, _, scope, domain, began_in, thread, *_ = record
        text, category = self.text(scope, name), self.text(0, domain)
        head = self.head("b", text, category, begin, began_in)
        yield f'{head},"id":"task {id}"}}'
        yield f'{self.head("e", text, category, end, thread)},"id":"task {id}"}}'
        if began_in == thread:
            return
        # An arrow needs a slice at either end.
        for ph, time, number in (("s", begin, began_in), ("f", end, thread)):
            yield f'{self.head("X", text, category, time, number)},"dur":0.000}}'
            yield f'{self.head(ph, text, category, time, number)},"id":"task {id}","bp":"e"}}'

    def frame(self, record: tuple) -> Iterator[str]:
        begin, end, _, _, name, _, scope, domain, _, thread, *_ = record
        return self.pair(self.text(scope, name), self.text(0, domain), begin, end, thread, f"frame {name}")

    def counter(self, record: tuple) -> Iterator[str]:
        begin, _, bits, _, name, _, scope, domain, _, thread, *_ = record
        value = float(np.int64(bits).view(np.float64))
        head = self.head("C", self.text(scope, name), self.text(0, domain), begin, thread)
        yield f'{head},"args":{{"value":{int(value) if value.is_integer() else value}}}}}'

    def marker(self, record: tuple) -> Iterator[str]:
        begin, _, _, scope_number, name, _, scope, domain, _, thread, *_ = record
        head = self.head("i", self.text(scope, name), self.text(0, domain), begin, thread)
        yield f'{head},"s":"{MARKER_SCOPES[scope_number]}"}}'
