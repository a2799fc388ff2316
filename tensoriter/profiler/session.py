"""The profiler's state: configuration, on and off, what is written and when."""

from __future__ import annotations

import atexit
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from tensoriter.profiler import recording, report, trace

STOPPED, RUNNING, PAUSED = "stopped", "running", "paused"
MOST_OF_THE_TIME = 4  # a dump in between waits at least so many times as long as the last one took


@dataclass(frozen=True)
class Config:
    """What `set_config` sets."""

    filename: str = "profile.json"
    aggregate_stats: bool = True
    profile_operators: bool = True
    profile_api: bool = True
    profile_memory: bool = True
    shapes: bool = False
    continuous_dump: bool = False
    dump_period: float = 1.0


class Session:
    """There is one in a process. Its lock guards what changes it; recording itself needs none."""

    def __init__(self) -> None:
        self.config = Config()
        self.state = STOPPED
        self.file_wanted = False  # a name was given: what is recorded is written at exit
        self.finished = False  # the trace has been written for good; the next start begins another
        self.written = 0  # records that stand in the file
        self.owner = os.getpid()
        self.lock = threading.RLock()
        self.periodic: PeriodicDump | None = None


class PeriodicDump(threading.Thread):
    """Writes the trace every period, so that it is on disk when the program crashes."""

    def __init__(self, period: float) -> None:
        super().__init__(name="tensoriter profiler", daemon=True)
        self.period = period
        self.ended = threading.Event()

    def run(self) -> None:
        wait = self.period
        while not self.ended.wait(wait):
            begin = recording.clock()
            try:
                dump(finished=False)
            except OSError as error:
                complain(error)
            wait = max(self.period, MOST_OF_THE_TIME * (recording.clock() - begin) / 1e9)


_session = Session()


def complain(error: OSError) -> None:
    """Say on stderr what nobody is there to catch."""
    print(f"tensoriter.profiler: cannot write the trace: {error}", file=sys.stderr)


# ---------------------------------------------------------------- configuration


def set_config(
    *,
    filename: str | os.PathLike[str] | None = None,
    aggregate_stats: bool | None = None,
    profile_operators: bool | None = None,
    profile_api: bool | None = None,
    profile_memory: bool | None = None,
    shapes: bool | None = None,
    continuous_dump: bool | None = None,
    dump_period: float | None = None,
) -> None:
    """Set what is given; the rest stays as it was.

    filename : where `dump` writes the trace ('profile.json'). '{pid}' in it becomes the process's number.
        With a name given, what was recorded is also written at exit.
    aggregate_stats : whether `dumps` has statistics (True)
    profile_operators : whether ops are recorded, each call once, in the domain "operator" (True)
    profile_api : whether calls of public functions are tasks of the domain "api" (True)
    profile_memory : whether the free list's work is recorded, every millisecond at most (True)
    shapes : whether statistics are kept by the inputs' dtypes and shapes, too (False)
    continuous_dump : whether a thread writes the trace every `dump_period` seconds (False, 1.0)

    RuntimeError while the profiler is on, OSError where the file's folder does not exist or a folder has its
    name, ValueError unless dump_period > 0: then nothing is set.
    """
    given = {name: value for name, value in locals().items() if value is not None}
    if "filename" in given:
        given["filename"] = os.fspath(given["filename"])
    with _session.lock:
        if _session.state != STOPPED:
            raise RuntimeError("the profiler is on: stop() comes before another set_config()")
        config = replace(_session.config, **given)
        if not config.dump_period > 0:
            raise ValueError(f"dump_period is in seconds and greater than 0, not {config.dump_period}")
        if "filename" in given:
            trace.check_place(config.filename)
            _session.file_wanted = True
        _session.config = config


# ---------------------------------------------------------------- on and off


def start() -> None:
    """Record what begins from here on. Does nothing if the profiler is on; resumes it if it is paused."""
    with _session.lock:
        if _session.state == RUNNING:
            return
        if _session.state == STOPPED and _session.finished:
            recording.forget_trace()
            _session.finished, _session.written = False, 0
        config = _session.config
        recording.start(
            operators=config.profile_operators, api=config.profile_api, aggregate=config.aggregate_stats,
            memory=config.profile_memory, shapes=config.shapes,
        )  # fmt: skip
        _session.state = RUNNING
        if config.continuous_dump and _session.periodic is None:
            _session.periodic = PeriodicDump(config.dump_period)
            _session.periodic.start()


def stop() -> None:
    """Record nothing that begins from here on; what has begun is recorded. Does nothing if it is off."""
    with _session.lock:
        if _session.state == RUNNING:
            recording.stop()
        _session.state = STOPPED
        periodic, _session.periodic = _session.periodic, None
    if periodic is not None:
        periodic.ended.set()
        if periodic is not threading.current_thread():
            periodic.join()


def pause() -> None:
    """Stop for a while: resume() goes on. Does nothing unless the profiler is on."""
    with _session.lock:
        if _session.state == RUNNING:
            recording.stop()
            _session.state = PAUSED


def resume() -> None:
    """Go on after pause(). Does nothing unless the profiler is paused."""
    with _session.lock:
        if _session.state == PAUSED:
            start()


def is_running() -> bool:
    """Whether what begins now is recorded."""
    return _session.state == RUNNING


@contextmanager
def profile(**config: object) -> Iterator[None]:
    """A `with` block that is recorded; arguments as of `set_config`. With a filename, its end writes the trace.

    >>> import numpy as np, tensoriter
    >>> with profile(shapes=True):
    ...     _ = tensoriter.add(np.ones(3), 1)
    >>> "add [float64[3], int]" in dumps(reset=True)
    True
    """
    before = _session.config
    set_config(**config)
    try:
        start()
        try:
            yield
        finally:
            stop()
            if config.get("filename") is not None:
                dump()
    finally:
        _session.config = replace(before, filename=_session.config.filename)


# ---------------------------------------------------------------- what was recorded


def dump(finished: bool = True) -> str:
    """Write the trace, everything since start(), and return the name of its file.

    The file is JSON in Chrome's trace-event format, for https://ui.perfetto.dev or chrome://tracing. It is
    written beside its place and then renamed, so that whoever reads it finds it whole. `finished` stops the
    profiler, and the next start() begins a new trace; otherwise the trace goes on. OSError where it
    cannot be written: then nothing is lost, and it can be written elsewhere, after set_config(filename=...).
    """
    if finished:
        stop()
    with _session.lock:
        recording.look_at_memory()
        path = current_path()
        count = recording.traced_records()
        trace.write(path, count)
        _session.written = count
        _session.finished = finished
    return path


def current_path() -> str:
    """The trace's file. A forked child does not write over its parent's."""
    path = _session.config.filename.replace("{pid}", str(os.getpid()))
    if os.getpid() != _session.owner and path == _session.config.filename:
        stem, suffix = os.path.splitext(path)
        path = f"{stem}.{os.getpid()}{suffix}"
    return path


def dumps(
    reset: bool = False, format: str = "table", sort_by: str = "total", ascending: bool = False
) -> str:
    """The statistics, as a text for people or as JSON.

    For each name in each domain: count; total, min, max, avg, p50 and p99 of its times in ns (in JSON; the
    table has milliseconds and microseconds); bytes of operands and results; and by which path its calls went.
    Of counters and memory: counts and bytes, no times. Percentiles are exact up to 64 calls and right to
    1.6 % beyond (see statistics.pyx). `reset` sets them to nothing.

    RuntimeError where aggregate_stats is off, ValueError for another format ('table', 'json') or sort_by
    ('total', 'avg', 'min', 'max', 'count', 'p50', 'p99'); nothing is reset then.
    """
    if not _session.config.aggregate_stats:
        raise RuntimeError("there are no statistics: set_config(aggregate_stats=True) comes before start()")
    if format not in report.FORMATS:
        raise ValueError(f"format is 'table' or 'json', not {format!r}")
    if sort_by not in report.SORT_BY:
        raise ValueError(f"sort_by is one of {', '.join(report.SORT_BY)}, not {sort_by!r}")
    with _session.lock:
        recording.look_at_memory()
        statistics = report.collect(sort_by, ascending)
        if reset:
            recording.forget_facts()
    return report.FORMATS[format](statistics)


# ---------------------------------------------------------------- ends and forks


@atexit.register
def _flush() -> None:
    """At exit: stop, and write what has not been written, if a file was asked for."""
    try:
        stop()
        unwritten = recording.traced_records() > _session.written and not _session.finished
        if _session.file_wanted and unwritten:
            dump()
    except OSError as error:
        complain(error)


def _after_fork_in_child() -> None:
    """What was recorded is the parent's; the child goes on with nothing, and with no thread but this one."""
    _session.lock = threading.RLock()
    recording.forget_other_threads()
    _session.written, _session.finished = 0, False
    if _session.periodic is not None:
        _session.periodic = PeriodicDump(_session.config.dump_period)
        _session.periodic.start()
    util = sys.modules.get("multiprocessing.util")
    if util is not None:  # its processes end without atexit
        util.register_after_fork(_session, lambda _: util.Finalize(None, _flush, exitpriority=0))


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=lambda: _session.lock.acquire(),
        after_in_parent=lambda: _session.lock.release(),
        after_in_child=_after_fork_in_child,
    )


def start_as_environment_says() -> None:
    """Obey TENSORITER_PROFILE=FILE. A folder that is not there is an error, not a silent default."""
    filename = os.environ["TENSORITER_PROFILE"]
    try:
        set_config(filename=filename)
    except OSError as error:
        raise ImportError(f"TENSORITER_PROFILE={filename}: {error}") from None
    start()
