"""Debug handles: numbers that stand for places in the source, kept by what no longer has a source.

A recorder issues a handle for each node while a function is traced, and keeps where the function was. What
it found becomes a `DebugMap` when it is stopped: from handle to `DebugInfo`, that is the op and the chain of
calls that led to it.
"""

from __future__ import annotations

import json
import linecache
import os
import sys
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import count
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, NamedTuple
from weakref import WeakValueDictionary

from tensoriter.core.hooks import handle_describers

LARGEST = 2**63 - 1
MEMBER = "debug.json"  # the map in a plan's archive
_living: WeakValueDictionary[int, DebugMap] = WeakValueDictionary()  # all maps, for `place_of`
_numbers = count(1)  # the next one is taken in one step of the interpreter, so that no two threads share it


def new_handle() -> int:
    """A number that this process has not given before. OverflowError after 2**63 - 1 of them."""
    handle = next(_numbers)
    if handle > LARGEST:
        raise OverflowError("this process has issued all of its 2**63 - 1 debug handles")
    return handle


class SourceRange(NamedTuple):
    """A piece of source: lines count from 1, columns (in characters) from 0, `end_column` is past the end.
    Columns are None where Python does not know them (3.10). `text` is the first line as it was."""

    file: str
    line: int
    end_line: int
    column: int | None
    end_column: int | None
    text: str


class Call(NamedTuple):
    """A function at work: its module and its name in there (Class.method), the instance if it is a method,
    and where it was."""

    module: str
    function: str
    instance: str
    range: SourceRange


class DebugInfo(NamedTuple):
    """What a handle stands for.

    op : the operation and the function that it stands in, 'module.Class.method:add'
    calls : the captured function first, then what it called, and last where the operation is
    """

    op: str
    calls: tuple[Call, ...]

    @property
    def source(self) -> SourceRange:
        """Where the operation stands."""
        return self.calls[-1].range

    @property
    def chain(self) -> tuple[Call, ...] | None:
        """The calls that led there, outermost first; None if it stands in the captured function itself."""
        return self.calls[:-1] or None

    def __str__(self) -> str:
        return "\n".join(map(_as_traceback, self.calls))


def _as_traceback(call: Call) -> str:
    where = call.range
    instance = f" ({call.instance})" if call.instance else ""
    lines = [f'  File "{where.file}", line {where.line}, in {call.module}.{call.function}{instance}']
    text = where.text.strip()
    if text:
        lines.append(f"    {text}")
    if text and where.column is not None and where.end_column is not None:
        indent = len(where.text) - len(where.text.lstrip())
        end = where.end_column if where.end_line == where.line else len(where.text.rstrip())
        start = max(where.column, indent)
        lines.append(" " * (4 + start - indent) + "^" * max(1, end - start))
    return "\n".join(lines)


# ---------------------------------------------------------------- recording

class _Place(NamedTuple):
    """Where a frame was, in the interpreter's terms: what it means is worked out when it is asked for."""

    code: CodeType
    instruction: int
    line: int
    globals: dict[str, Any]
    instance: str
    class_name: str


class DebugInfoRecorder:
    """Issues handles, and remembers for each where the program was.

    >>> recorder = DebugInfoRecorder()
    >>> handle = recorder.next_debug_handle("add")
    >>> found = recorder.stop_recording()
    >>> found[handle].op.endswith(":add"), found.get(handle + 1)
    (True, None)
    """

    def __init__(self) -> None:
        self._places: dict[int, tuple[str, tuple[_Place, ...]]] | None = {}
        self._instances: dict[int, tuple[Any, str]] = {}  # keeps them alive, and so their ids their own

    def next_debug_handle(self, node: Any, frames: Sequence[FrameType] | None = None) -> int:
        """A handle for `node` (a Node, or the name of an op), which stands where `frames` are now, outermost
        first (default: the caller's). OverflowError when there are none left, RuntimeError after
        stop_recording."""
        if self._places is None:
            raise RuntimeError("the recorder has been stopped")
        if frames is None:
            frames = [sys._getframe(1)]
        handle = new_handle()
        objects = [_self_of(frame) for frame in frames]
        places = tuple([self._place(frame, objects[: k + 1]) for k, frame in enumerate(frames)])
        self._places[handle] = getattr(node, "op", node), places
        return handle

    def stop_recording(self) -> DebugMap:
        """What was recorded. It reads source files, and may raise: RuntimeError when stopped before."""
        places, self._places = self._places, None
        if places is None:
            raise RuntimeError("the recorder has been stopped")
        self._instances.clear()
        for file in {place.code.co_filename for _, chain in places.values() for place in chain}:
            linecache.checkcache(file)
        known: dict[Any, Call] = {}
        return DebugMap({handle: _info(*found, known) for handle, found in places.items()})

    def _place(self, frame: FrameType, objects: list[Any]) -> _Place:
        instance = self._instance(objects) if objects[-1] is not None else ""
        name = type(objects[-1]).__qualname__ if instance else ""
        return _Place(frame.f_code, frame.f_lasti, frame.f_lineno, frame.f_globals, instance, name)

    def _instance(self, objects: list[Any]) -> str:
        """A name for the last of these objects, which called one another: the attribute of its caller that
        it is (self.layer2), or its class and a number."""
        found = objects[-1]
        known = self._instances.get(id(found))
        if known is None:
            known = found, self._name(objects)
            self._instances[id(found)] = known
        return known[1]

    def _name(self, objects: list[Any]) -> str:
        found = objects[-1]
        callers = [x for x in objects[:-1] if x is not None and x is not found]
        for caller in reversed(callers):
            attribute = _attribute_of(caller, found)
            if attribute:
                return self._instances[id(caller)][1] + attribute
        if len(objects) == 1:
            return "self"
        alike = sum(type(x) is type(found) for x, _ in self._instances.values())
        return f"{type(found).__name__}#{alike + 1}"


def _self_of(frame: FrameType) -> Any:
    code = frame.f_code
    if code.co_argcount and code.co_varnames[0] == "self":
        return frame.f_locals.get("self")
    return None


def _attribute_of(owner: Any, found: Any) -> str:
    """How `owner` holds `found`: '.layer2', '.layers[1]', or '' if it does not."""
    for name, value in getattr(owner, "__dict__", {}).items():
        if value is found:
            return f".{name}"
        if isinstance(value, (list, tuple)):
            for k, item in enumerate(value):
                if item is found:
                    return f".{name}[{k}]"
        if isinstance(value, dict):
            for key, item in value.items():
                if item is found:
                    return f".{name}[{key!r}]"
    return ""


# ---------------------------------------------------------------- from places to source

def _info(op: str, places: tuple[_Place, ...], known: dict[Any, Call]) -> DebugInfo:
    calls = []
    for place in places:
        key = id(place.code), place.instruction, place.instance
        if key not in known:
            known[key] = _call(place)
        calls.append(known[key])
    name = f"{calls[-1].module}.{calls[-1].function}:{op}" if calls else op
    return DebugInfo(name, tuple(calls))


def _call(place: _Place) -> Call:
    module = place.globals.get("__name__", "?")
    return Call(module, _function_name(place.code, place.class_name), place.instance, _range(place))


def _function_name(code: CodeType, class_name: str) -> str:
    """Class.method or function; Python before 3.11 does not say the class, the instance does."""
    if sys.version_info >= (3, 11):
        return code.co_qualname
    return f"{class_name}.{code.co_name}" if class_name else code.co_name


def _range(place: _Place) -> SourceRange:
    code = place.code
    line, end_line, column, end_column = _position(code, place.instruction, place.line)
    text = linecache.getline(code.co_filename, line, place.globals).rstrip("\n")
    if column is not None and not text.isascii():
        column = _characters(text, column)
        last = linecache.getline(code.co_filename, end_line, place.globals)
        end_column = _characters(last, end_column)
    return SourceRange(code.co_filename, line, end_line, column, end_column, text)


def _characters(line: str, column: int) -> int:
    """The column in characters: Python counts bytes."""
    return len(line.encode()[:column].decode(errors="replace"))


def _position(code: CodeType, instruction: int, line: int) -> tuple[int, int, int | None, int | None]:
    if sys.version_info >= (3, 11):
        start, end, column, end_column = _positions(code)[instruction // 2]
        if start is not None:
            return start, end or start, column, end_column
    return line, line, None, None


@lru_cache(maxsize=256)
def _positions(code: CodeType) -> list[tuple[int | None, int | None, int | None, int | None]]:
    return list(code.co_positions())


# ---------------------------------------------------------------- what was found

class DebugMap(Mapping[int, DebugInfo]):
    """From handle to DebugInfo. Handles of this process clash with none of any other map in it; those of a
    map that was read from a file do until `with_new_handles`."""

    def __init__(self, infos: Mapping[int, DebugInfo] | None = None) -> None:
        self._infos = dict(infos or {})
        _living[id(self)] = self

    def __getitem__(self, handle: int) -> DebugInfo:
        return self._infos[handle]

    def __iter__(self) -> Iterator[int]:
        return iter(self._infos)

    def __len__(self) -> int:
        return len(self._infos)

    def merged(self, other: Mapping[int, DebugInfo]) -> DebugMap:
        """The handles of both. ValueError where one handle has two meanings."""
        for handle in self.keys() & other.keys():
            if self[handle] != other[handle]:
                raise ValueError(f"debug handle {handle} stands for {self[handle].op} and {other[handle].op}")
        return DebugMap({**self, **other})

    def with_new_handles(self) -> tuple[DebugMap, dict[int, int]]:
        """The same under handles of this process, and the new handle of each old one."""
        new = {handle: new_handle() for handle in self}
        return DebugMap({new[handle]: info for handle, info in self.items()}), new

    def describe(self, handles: Iterable[int]) -> str:
        """The calls that led to each, as a traceback shows them."""
        return "\n".join([describe_handle(self, handle) for handle in handles])

    def to_data(self) -> dict[str, list[Any]]:
        """The map as lists of numbers and strings, for JSON or pickle: what is shared is stored once."""
        strings, ranges, calls, chains = _Once(), _Once(), _Once(), _Once()
        handles = []
        for handle, info in self.items():
            chain = []
            for *names, where in info.calls:
                place = ranges.index((strings.index(where.file), *where[1:5], strings.index(where.text)))
                chain.append(calls.index((*map(strings.index, names), place)))
            handles.append((handle, strings.index(info.op), chains.index(tuple(chain))))
        return {"strings": list(strings), "ranges": list(ranges), "calls": list(calls),
                "chains": list(chains), "handles": handles}

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the map to a file, as JSON."""
        Path(path).write_text(json.dumps(self.to_data()), encoding="utf-8")

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> DebugMap:
        """The map in a file: one that `save` wrote, or that of a plan (the file 'debug.json' in its archive).
        ValueError if there is none."""
        try:
            if zipfile.is_zipfile(path):
                with zipfile.ZipFile(path) as archive:
                    text = archive.read(MEMBER).decode()
            else:
                text = Path(path).read_text(encoding="utf-8")
            return cls.from_data(json.loads(text))
        except (KeyError, UnicodeDecodeError, json.JSONDecodeError):
            raise ValueError(f"{os.fspath(path)} holds no debug information") from None

    @classmethod
    def from_data(cls, data: Mapping[str, Sequence[Any]]) -> DebugMap:
        """The map that `to_data` has stored. ValueError if it is none."""
        try:
            strings = data["strings"]
            ranges = [SourceRange(strings[f], *numbers, strings[t]) for f, *numbers, t in data["ranges"]]
            calls = [Call(*[strings[n] for n in names], ranges[r]) for *names, r in data["calls"]]
            chains = [tuple([calls[k] for k in chain]) for chain in data["chains"]]
            return cls({handle: DebugInfo(strings[op], chains[k]) for handle, op, k in data["handles"]})
        except (KeyError, IndexError, TypeError, ValueError) as error:
            raise ValueError(f"this is no debug information: {error!r}") from None


class _Once(dict[Any, int]):
    """Things in the order in which they were first met, and the position of each."""

    def index(self, thing: Any) -> int:
        return self.setdefault(thing, len(self))


def describe_handle(infos: Mapping[int, DebugInfo] | None, handle: int) -> str:
    """The calls that led to a handle, or that nothing is known of it."""
    info = infos.get(handle) if infos is not None else None
    if info is None:
        left_out = " (it was left out of this plan)" if infos is None else ""
        return f"no debug information for handle {handle}{left_out}"
    return f"In {info.op} (debug handle {handle}), most recent call last:\n{info}"


def add_note(error: BaseException, note: str) -> None:
    """Adds to the exception's notes; before Python 3.11, to its message."""
    if sys.version_info >= (3, 11):
        error.add_note(note)
    else:
        message = f"{error}\n{note}" if error.args else note
        error.args = (message, *error.args[1:])


def place_of(handle: int) -> str | None:
    """'file:line in function' of a handle that some living map of this process has; None of any other."""
    for infos in list(_living.values()):
        info = infos._infos.get(handle)
        if info is not None and info.calls:
            return f"{info.source.file}:{info.source.line} in {info.calls[-1].function}"
    return None


handle_describers.append(place_of)
