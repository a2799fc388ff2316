"""The trace: valid JSON of Chrome's format, whatever happens to the program, its threads and its files."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from profiling import fresh  # noqa: F401

from tensoriter import add, multiply, profiler
from tensoriter.profiler import recording

ROOT = Path(__file__).parents[1]
X = np.arange(100, dtype="f4")
add(X, X)  # an op's first call with a dtype goes the general way, to find its loop
TERRIBLE_NAMES = [
    'with "quotes"', "back\\slash", "new\nline", "\x00\x1f", "ünïcode ✓ 𝄞", "\ud800 alone", "</script>",
    "{pid}", "a" * 10_000, '"},{"ph":"X"', "%s %d", "'",
]  # fmt: skip


# ---------------------------------------------------------------- the schema

NUMBER, TEXT, WHOLE = (int, float), (str,), (int,)
COMMON = {"ph": TEXT, "name": TEXT, "pid": WHOLE, "tid": WHOLE}
TIMED = COMMON | {"cat": TEXT, "ts": NUMBER}
# The fields of each kind of event, all of them required (Chrome's "Trace Event Format").
FIELDS = {
    "M": COMMON | {"args": (dict,)},
    "X": TIMED | {"dur": NUMBER, "args": (dict,)},
    "b": TIMED | {"id": TEXT},
    "e": TIMED | {"id": TEXT},
    "s": TIMED | {"id": TEXT, "bp": TEXT},
    "f": TIMED | {"id": TEXT, "bp": TEXT},
    "C": TIMED | {"args": (dict,)},
    "i": TIMED | {"s": TEXT},
}
OPTIONAL = {"args"}


def no_constants(text):
    raise AssertionError(f"{text} is not JSON")


def read(path):
    """The events of a trace, which has to fit the schema."""
    document = json.loads(Path(path).read_text(), parse_constant=no_constants)
    assert set(document) == {"displayTimeUnit", "traceEvents", "otherData"}
    assert document["displayTimeUnit"] in ("ns", "ms")
    events = document["traceEvents"]
    for event in events:
        fields = FIELDS[event["ph"]]
        assert set(event) <= set(fields), event
        assert set(fields) - OPTIONAL <= set(event), event
        for name, value in event.items():
            assert isinstance(value, fields[name]) and not isinstance(value, bool), event
        assert event.get("dur", 0) >= 0
        assert event.get("s", "p") in ("p", "t", "g")
        if event["ph"] == "C":
            assert all(isinstance(value, NUMBER) for value in event["args"].values())
    check_threads(events)
    check_pairs(events)
    return events


def check_threads(events):
    """Every thread that something happened in has a name, and so has the process."""
    named = {event["tid"] for event in events if event["name"] == "thread_name"}
    assert {event["tid"] for event in events if event["ph"] != "M"} <= named
    assert [event["name"] for event in events if event["ph"] == "M"].count("process_name") == 1


def check_pairs(events):
    """Each "b" has its "e", each "s" its "f", later and under the same name."""
    for first, last in (("b", "e"), ("s", "f")):
        begun = {}
        for event in events:
            key = event.get("cat"), event.get("id"), event["name"]
            if event["ph"] == first:
                begun.setdefault(key, []).append(event["ts"])
            elif event["ph"] == last:
                assert begun[key].pop() <= event["ts"]
        assert not any(begun.values())


def dump_to(path):
    profiler.stop()
    profiler.set_config(filename=path)
    assert profiler.dump() == str(path)
    return read(path)


def named(events, name, phase):
    return [event for event in events if event["name"] == name and event["ph"] == phase]


def test_everything_at_once(tmp_path):
    task = profiler.Task("loading", "crossing")
    counter = profiler.Counter("loading", "batches")

    def end():
        add(X, X)
        task.stop()

    with profiler.profile(shapes=True):
        task.start()
        thread = threading.Thread(target=end, name="the loader")
        with profiler.Frame("steps", "step"), profiler.Event("event"), profiler.scope("model"):
            multiply(X, X[::-1])
            add.reduce(X)
        thread.start()
        thread.join()
        counter.set(5)
        counter += 2.5
        counter -= 3
        for where in ("process", "thread", "global"):
            profiler.Marker("loading", where).mark(where)
    events = dump_to(tmp_path / "trace.json")
    (call,) = named(events, "add", "X")
    assert call["cat"] == "operator"
    assert call["args"] == {"path": "contiguous", "bytes": 1200, "inputs": "float32[100], float32[100]"}
    (as_task,) = named(events, "tensoriter.add", "b")
    assert (as_task["ts"], as_task["tid"], as_task["cat"]) == (call["ts"], call["tid"], "api")
    assert named(events, "model:multiply", "X")[0]["args"]["path"] == "strided"
    assert named(events, "model:add.reduce", "X")[0]["args"]["path"] == "numpy"
    assert [e["args"]["value"] for e in named(events, "batches", "C")] == [5, 7.5, 4.5]
    assert [named(events, name, "i")[0]["s"] for name in ("process", "thread", "global")] == ["p", "t", "g"]
    assert {e["cat"] for e in events if e["ph"] == "C"} == {"loading", "memory"}
    names = {e["tid"]: e["args"]["name"] for e in events if e["name"] == "thread_name"}
    assert names[call["tid"]] == "the loader"
    assert names[named(events, "event", "X")[0]["tid"]] == "MainThread"
    (start,), (finish,) = named(events, "crossing", "s"), named(events, "crossing", "f")
    assert start["id"] == finish["id"]
    assert (names[start["tid"]], names[finish["tid"]]) == ("MainThread", "the loader")
    for arrow in (start, finish):  # an arrow hangs on a slice
        slices = named(events, "crossing", "X")
        assert any((e["ts"], e["tid"]) == (arrow["ts"], arrow["tid"]) for e in slices)


def test_slices_nest_and_times_are_in_order(tmp_path):
    rows = np.empty(5, object)
    rows[:] = [X] * 5
    import tensoriter

    with profiler.profile(), tensoriter.operators():
        add.reduce(rows)
    events = dump_to(tmp_path / "trace.json")
    (outer,) = named(events, "add.reduce", "X")
    inner = named(events, "add", "X")
    assert len(inner) == 4
    for call in inner:
        assert outer["ts"] <= call["ts"]
        assert call["ts"] + call["dur"] <= outer["ts"] + outer["dur"] + 0.001


def test_an_empty_trace(tmp_path):
    assert {event["ph"] for event in dump_to(tmp_path / "trace.json")} == {"M"}


@pytest.mark.parametrize("name", TERRIBLE_NAMES, ids=ascii)
def test_terrible_names(name, tmp_path):
    with profiler.profile(), profiler.scope(name), profiler.Event(name), profiler.Task(name, name):
        profiler.Marker(name, name).mark()
        profiler.Counter(name, name).set(1)
        with profiler.Frame(name, name), profiler.ProfileOperator(name):
            add(X, X)
    events = dump_to(tmp_path / "trace.json")
    assert len(named(events, f"{name}:{name}", "X")) == 2
    assert len(named(events, f"{name}:add", "X")) == 1
    json.loads(profiler.dumps(format="json"))
    profiler.dumps().encode("utf-8", "backslashreplace")


def test_a_debug_handle_is_put_into_words(tmp_path, monkeypatch):
    from tensoriter.profiler import trace

    monkeypatch.setattr(trace, "_describers", [])
    trace.describe_handles(lambda handle: "model.py:7" if handle == 7 else None)
    profiler.start()
    number = profiler.Domain("plan").number
    for handle in (7, 8, 0):
        recording.add(recording.RecordType.EVENT, 3, number, number, 1, 2, handle=handle)
    events = named(dump_to(tmp_path / "trace.json"), "plan", "X")
    assert [event["args"].get("source") for event in events] == ["model.py:7", "unknown", None]


# ---------------------------------------------------------------- dumps


def test_several_dumps_lose_nothing(tmp_path):
    path = tmp_path / "trace.json"
    profiler.set_config(filename=path)
    profiler.start()
    for count in (1, 2, 3):
        add(X, X)
        profiler.dump(finished=False)
        assert len(named(read(path), "add", "X")) == count
        assert profiler.is_running()
    profiler.dump()
    assert not profiler.is_running()
    profiler.dump()
    assert len(named(read(path), "add", "X")) == 3
    with profiler.profile():
        multiply(X, X)
    profiler.dump()
    events = read(path)
    assert not named(events, "add", "X")  # a new trace
    assert len(named(events, "multiply", "X")) == 1
    assert os.listdir(tmp_path) == ["trace.json"]


def test_a_block_with_a_filename_writes_it(tmp_path):
    with profiler.profile(filename=tmp_path / "trace.json"):
        add(X, X)
    assert len(named(read(tmp_path / "trace.json"), "add", "X")) == 1


def test_dumps_while_threads_record(tmp_path):
    profiler.set_config(filename=tmp_path / "trace.json")
    profiler.start()
    ended = threading.Event()

    def work():
        while not ended.wait(0.001):
            add(X, X)

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for _ in range(5):
        profiler.dump(finished=False)
        read(tmp_path / "trace.json")
    ended.set()
    for thread in threads:
        thread.join()
    profiler.dump()
    found = json.loads(profiler.dumps(format="json"))["domains"]["operator"]["add"]["count"]
    assert len(named(read(tmp_path / "trace.json"), "add", "X")) == found


def test_an_unwritable_file_loses_nothing(tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    profiler.set_config(filename=folder / "trace.json")
    with profiler.profile():
        add(X, X)
    folder.rmdir()
    with pytest.raises(OSError):
        profiler.dump()
    (tmp_path / "folder.json").mkdir()
    assert len(named(dump_to(tmp_path / "trace.json"), "add", "X")) == 1
    assert sorted(os.listdir(tmp_path)) == ["folder.json", "trace.json"]


def test_a_full_disk_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "trace.json"
    profiler.set_config(filename=path)
    with profiler.profile():
        add(X, X)
    profiler.dump()
    old = path.read_text()
    from tensoriter.profiler import trace

    def fail(file, count):
        file.write("{")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(trace, "write_events", fail)
    with pytest.raises(OSError, match="No space"):
        profiler.dump()
    assert path.read_text() == old
    assert os.listdir(tmp_path) == ["trace.json"]


def test_what_is_no_ordinary_file_is_written_as_it_is(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    found = []
    reader = threading.Thread(target=lambda: found.append(json.loads(pipe.read_text())))
    reader.start()
    profiler.set_config(filename=pipe)
    profiler.dump()
    reader.join()
    assert found[0]["traceEvents"]
    assert pipe.is_fifo()


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "link.json").symlink_to(tmp_path / "trace.json")
    profiler.set_config(filename=tmp_path / "link.json")
    profiler.dump()
    assert (tmp_path / "link.json").is_symlink()
    read(tmp_path / "trace.json")


def test_the_process_number_in_the_name(tmp_path):
    profiler.set_config(filename=tmp_path / "trace-{pid}-{x}.json")
    assert profiler.dump() == str(tmp_path / f"trace-{os.getpid()}-{{x}}.json")
    read(tmp_path / f"trace-{os.getpid()}-{{x}}.json")


def test_continuous_dumps(tmp_path):
    path = tmp_path / "trace.json"
    profiler.set_config(filename=path, continuous_dump=True, dump_period=0.01)
    profiler.start()
    add(X, X)
    until(lambda: path.exists() and named(read(path), "add", "X"))
    multiply(X, X)
    until(lambda: named(read(path), "multiply", "X"))
    profiler.stop()
    assert not [t for t in threading.enumerate() if t.name == "tensoriter profiler"]


def until(condition):
    """Wait for it; the test fails if it does not come for a minute."""
    for _ in range(6000):
        if condition():
            return
        time.sleep(0.01)
    raise AssertionError("it did not come")


# ---------------------------------------------------------------- processes

BEGIN = """
import os, sys, threading, time
import numpy as np
import tensoriter
from tensoriter import add, profiler
X = np.ones(100, "f4")
"""


def run(text, *arguments, environment=(), code=0, folder=None):
    """A process of its own; what it wrote on stderr."""
    command = [sys.executable, "-c", BEGIN + text, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, cwd=folder,
                          env=os.environ | {"PYTHONPATH": str(ROOT)} | dict(environment))  # fmt: skip
    assert done.returncode == code, done.stderr
    return done.stderr


CONFIGURED = "profiler.set_config(filename=sys.argv[1]); profiler.start(); add(X, X)\n"


@pytest.mark.parametrize("ending, code", [
    ("", 0), ("sys.exit(3)", 3), ("raise KeyError", 1), ("profiler.pause()", 0), ("profiler.stop()", 0),
    ("t = threading.Thread(target=lambda: time.sleep(0.2) or add(X, X)); t.start()", 0),
    ("t = threading.Thread(target=lambda: [add(X, X) for _ in iter(int, 1)], daemon=True); t.start()", 0),
])  # fmt: skip
def test_the_trace_is_written_at_exit(ending, code, tmp_path):
    run(CONFIGURED + ending, tmp_path / "trace.json", code=code)
    assert len(named(read(tmp_path / "trace.json"), "add", "X")) >= 1


def test_no_file_is_written_that_nobody_asked_for(tmp_path):
    run("profiler.start(); add(X, X); profiler.dumps()", folder=tmp_path)
    assert os.listdir(tmp_path) == []
    run("profiler.start(); add(X, X); profiler.dump()", folder=tmp_path)
    assert os.listdir(tmp_path) == ["profile.json"]


def test_a_file_that_cannot_be_written_at_exit_is_a_sentence(tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    said = run(CONFIGURED + "os.rmdir(os.path.dirname(sys.argv[1]))", folder / "trace.json")
    assert said.startswith("tensoriter.profiler: cannot write the trace: ")
    assert "Traceback" not in said


@pytest.mark.parametrize("crash", [
    "os._exit(1)", "os.abort()", "os.kill(os.getpid(), 9)", "import ctypes; ctypes.string_at(0)",
])  # fmt: skip
def test_after_a_crash_the_last_dump_is_whole(crash, tmp_path):
    path = tmp_path / "trace.json"
    program = """
profiler.set_config(filename=sys.argv[1], continuous_dump=True, dump_period=0.01)
profiler.start()
while not os.path.exists(sys.argv[1]): add(X, X), time.sleep(1e-3)
for _ in range(2000): add(X, X)
"""
    command = [sys.executable, "-c", BEGIN + program + crash, str(path)]
    subprocess.run(command, capture_output=True, timeout=120, env=os.environ | {"PYTHONPATH": str(ROOT)})
    assert len(named(read(path), "add", "X")) >= 1


def test_killed_at_any_moment(tmp_path):
    path = tmp_path / "trace.json"
    program = """
profiler.set_config(filename=sys.argv[1], continuous_dump=True, dump_period=0.001)
profiler.start()
while True: add(X, X), time.sleep(1e-4)
"""
    for wait in (0, 0.013, 0.05):
        command = [sys.executable, "-c", BEGIN + program, str(path)]
        process = subprocess.Popen(command, env=os.environ | {"PYTHONPATH": str(ROOT)})
        until(path.exists)
        time.sleep(wait)
        process.send_signal(signal.SIGKILL)
        process.wait()
        read(path)
        path.unlink()


def test_the_environment_starts_it(tmp_path):
    path = tmp_path / "trace-{pid}.json"
    run("assert profiler.is_running(); add(X, X)", environment={"TENSORITER_PROFILE": str(path)})
    (file,) = tmp_path.iterdir()
    assert len(named(read(file), "add", "X")) == 1


def test_an_environment_that_cannot_be_obeyed_is_an_error(tmp_path):
    path = str(tmp_path / "no" / "trace.json")
    said = run("", environment={"TENSORITER_PROFILE": path}, code=1)
    assert said.splitlines()[-1].startswith("ImportError: TENSORITER_PROFILE=")
    assert "its folder does not exist" in said


FORK = """
profiler.set_config(filename=sys.argv[1])
profiler.start()
other = threading.Thread(target=lambda: [add(X, X) for _ in range(3000)])
add(X, X)
other.start()
child = os.fork()
if child == 0:
    for _ in range(5): add(X, X)
    threading.Thread(target=lambda: add(X, X)).start()
    sys.exit(0)
other.join()
assert os.waitpid(child, 0)[1] == 0
"""


@pytest.mark.parametrize("name", ["trace.json", "trace-{pid}.json"])
def test_a_fork_writes_a_file_of_its_own(name, tmp_path):
    run(FORK, tmp_path / name)
    counts = sorted(len(named(read(file), "add", "X")) for file in tmp_path.iterdir())
    assert counts == [6, 3001]
    if name == "trace.json":
        assert (tmp_path / name).exists()


def test_forks_while_threads_record(tmp_path):
    run("""
profiler.set_config(filename=sys.argv[1], continuous_dump=True, dump_period=0.001)
profiler.start()
ended = []
def work():
    while not ended: add(X, X), time.sleep(1e-4)
threads = [threading.Thread(target=work) for _ in range(3)]
for thread in threads: thread.start()
for _ in range(20):
    child = os.fork()
    if child == 0:
        for _ in range(2000): add(X, X)
        profiler.stop()
        import json
        count = json.loads(profiler.dumps(format="json"))["domains"]["operator"]["add"]["count"]
        os._exit(count != 2000)
    assert os.waitpid(child, 0)[1] == 0
ended.append(1)
""", tmp_path / "trace.json")  # fmt: skip
    read(tmp_path / "trace.json")


def test_processes_of_multiprocessing(tmp_path):
    run("""
import multiprocessing
def work(_):
    add(X, X)
    return os.getpid()
profiler.set_config(filename=sys.argv[1])
profiler.start()
with multiprocessing.get_context("fork").Pool(2) as pool:
    pool.map(work, range(50))
    pool.close()
    pool.join()
""", tmp_path / "trace-{pid}.json")  # fmt: skip
    counts = [len(named(read(file), "add", "X")) for file in tmp_path.iterdir()]
    assert len(counts) == 3
    assert sum(counts) == 50


def test_nothing_is_said_and_no_thread_started_by_the_import():
    said = run("assert 'tensoriter.profiler.session' in sys.modules and threading.active_count() == 1")
    assert said == ""


def test_the_import_of_tensoriter_leaves_the_profiler_out():
    script = (
        "import sys, tensoriter\n"
        "print([name for name in sys.modules if 'profiler' in name])\n"
        "tensoriter.profiler.stop()"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True,
                          env=os.environ | {"PYTHONPATH": str(ROOT)})  # fmt: skip
    assert (done.stdout, done.stderr) == ("[]\n", "")
