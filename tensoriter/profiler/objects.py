"""What a program records itself: domains, tasks, events, frames, counters, markers. The terms are MXNet's."""

from __future__ import annotations

import itertools
import math
import threading
from typing import ClassVar

from tensoriter.core.hooks import name_number
from tensoriter.profiler import recording
from tensoriter.profiler.recording import RecordFlags, RecordType

_ids = itertools.count(1)


def _checked_name(name: str) -> str:
    if not isinstance(name, str):
        raise TypeError(f"a name is a str, not {name!r}")
    if not name:
        raise ValueError("a name cannot be empty")
    return name


class Domain:
    """A group of things that are recorded: a category in the trace, a table in the statistics.

    >>> loading = Domain("loading")
    >>> with loading.new_task("read"):
    ...     pass
    """

    def __init__(self, name: str) -> None:
        self.name = _checked_name(name)
        self.number = name_number(name)

    def new_task(self, name: str) -> Task:
        return Task(self, name)

    def new_frame(self, name: str) -> Frame:
        return Frame(self, name)

    def new_counter(self, name: str, value: float = 0) -> Counter:
        return Counter(self, name, value)

    def new_marker(self, name: str) -> Marker:
        return Marker(self, name)

    def __repr__(self) -> str:
        return f"Domain({self.name!r})"


def _domain(domain: Domain | str) -> Domain:
    return domain if isinstance(domain, Domain) else Domain(domain)


class Span:
    """Something with a beginning and an end: start() and stop(), or a `with` block.

    Recorded if the profiler was on at its beginning. One run at a time: RuntimeError for a second start()
    before stop(), or a stop() before start(). With `enable_aggregate` False it is drawn, but does not
    count in the statistics.
    """

    record_type: ClassVar[RecordType]

    def __init__(self, domain: Domain | str, name: str) -> None:
        self.domain = _domain(domain)
        self.name = _checked_name(name)
        self.enable_aggregate = True
        self._number = name_number(name)
        self._begun: tuple[int, int, int] | None = None  # time (0: not recorded), thread, scope
        self._lock = threading.Lock()

    def start(self) -> None:
        with self._lock:
            if self._begun is not None:
                raise RuntimeError(f"{self!r} has been started and not stopped yet")
            if recording.is_recording():
                self._begun = recording.clock(), recording.thread_number(), recording.scope_number()
            else:
                self._begun = 0, 0, 0

    def stop(self) -> None:
        end = recording.clock()
        with self._lock:
            if self._begun is None:
                raise RuntimeError(f"{self!r} has not been started: stop() without start()")
            self._check_thread(self._begun)
            (begin, thread, scope), self._begun = self._begun, None
        if begin:
            flags = RecordFlags.AS_EVENT | (RecordFlags.EVENT_COUNTS if self.enable_aggregate else 0)
            recording.add(self.record_type, flags, self.domain.number, self._number, begin, end, scope=scope,
                          detail=thread, handle=next(_ids))  # fmt: skip

    def _check_thread(self, begun: tuple[int, int, int]) -> None:
        """Where a thread alone can end what it has begun."""

    def __enter__(self) -> Span:
        self.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self.stop()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.domain.name!r}, {self.name!r})"


class Task(Span):
    """A piece of work, which may end in another thread than it began: then the trace has an arrow.

    >>> task = Task(Domain("loading"), "read")
    >>> task.start()
    >>> task.stop()
    """

    record_type = RecordType.TASK


class Frame(Span):
    """A stretch of the whole process's time, such as a step of a training."""

    record_type = RecordType.FRAME


class Event(Span):
    """A stretch of one thread's time: RuntimeError where another thread stops it.

    >>> with Event("parse"):
    ...     pass
    """

    record_type = RecordType.EVENT

    def __init__(self, name: str, domain: Domain | str = "event") -> None:
        super().__init__(domain, name)

    def _check_thread(self, begun: tuple[int, int, int]) -> None:
        if begun[0] and begun[1] != recording.thread_number():
            raise RuntimeError(f"{self!r} was started in another thread: a Task may cross threads")


class ProfileOperator(Event):
    """An operator: an event of the domain "operator" and, with it, a task of the domain "api".

    Both are in the trace. The task's `enable_aggregate` is False, so that the statistics have the operator
    once. Calls of tensoriter's ops are recorded so of themselves; this is for kernels of your own.

    >>> with ProfileOperator("my_kernel"):
    ...     pass
    """

    def __init__(self, name: str) -> None:
        super().__init__(name, "operator")
        self.as_task = Task("api", name)
        self.as_task.enable_aggregate = False

    def start(self) -> None:
        super().start()
        self.as_task.start()

    def stop(self) -> None:
        if self._begun is not None:
            self._check_thread(self._begun)
            self.as_task.stop()
        super().stop()


class Counter:
    """A number that changes: set(), += and -=. It counts always, and is recorded while the profiler is on.

    ValueError for what is not finite.

    >>> batches = Counter(Domain("loading"), "batches")
    >>> batches += 2
    >>> batches -= 1
    >>> batches.value
    1
    """

    def __init__(self, domain: Domain | str, name: str, value: float = 0) -> None:
        self.domain = _domain(domain)
        self.name = _checked_name(name)
        self._number = name_number(name)
        self._lock = threading.Lock()
        self._value = self._checked(value)

    @property
    def value(self) -> float:
        return self._value

    def set(self, value: float) -> None:
        value = self._checked(value)
        with self._lock:
            self._change(value)

    def increment(self, delta: float = 1) -> None:
        delta = self._checked(delta)
        with self._lock:
            self._change(self._checked(self._value + delta))

    def decrement(self, delta: float = 1) -> None:
        self.increment(-delta)

    def __iadd__(self, delta: float) -> Counter:
        self.increment(delta)
        return self

    def __isub__(self, delta: float) -> Counter:
        self.decrement(delta)
        return self

    def _change(self, value: float) -> None:
        self._value = value
        if recording.is_recording():
            time = recording.clock()
            flags = RecordFlags.AS_EVENT | RecordFlags.EVENT_COUNTS
            recording.add(RecordType.COUNTER, flags, self.domain.number, self._number, time, time,
                          scope=recording.scope_number(), value=value)  # fmt: skip

    @staticmethod
    def _checked(value: float) -> float:
        if not math.isfinite(value):
            raise ValueError(f"a counter's value is a finite number, not {value!r}")
        return value

    def __repr__(self) -> str:
        return f"Counter({self.domain.name!r}, {self.name!r}, {self._value!r})"


class Marker:
    """A point in time: of the thread, the process or everything that is traced.

    >>> Marker(Domain("loading"), "first batch").mark("thread")
    """

    SCOPES: ClassVar[dict[str, int]] = {"process": 0, "thread": 1, "global": 2}

    def __init__(self, domain: Domain | str, name: str) -> None:
        self.domain = _domain(domain)
        self.name = _checked_name(name)
        self._number = name_number(name)

    def mark(self, scope: str = "process") -> None:
        """ValueError unless `scope` is 'process', 'thread' or 'global'."""
        if scope not in self.SCOPES:
            raise ValueError(f"a marker's scope is 'process', 'thread' or 'global', not {scope!r}")
        if recording.is_recording():
            time = recording.clock()
            recording.add(RecordType.MARKER, RecordFlags.AS_EVENT, self.domain.number, self._number, time,
                          time, scope=recording.scope_number(), handle=self.SCOPES[scope])  # fmt: skip

    def __repr__(self) -> str:
        return f"Marker({self.domain.name!r}, {self.name!r})"
