"""`tensoriter profile`, and the picture of a trace."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tensoriter import add, multiply, profiler
from tensoriter.profiler import picture, recording

ROOT = Path(__file__).parents[1]
PNG = b"\x89PNG\r\n\x1a\n"
SCRIPT = """\
import sys, numpy as np, tensoriter
print("arguments", sys.argv[1:], __name__)
x = np.ones(100)
for _ in range(5): tensoriter.add(x, x)
x + x
"""


@pytest.fixture(autouse=True)
def fresh():
    clear()
    yield
    clear()


def clear():
    profiler.stop()
    profiler.dumps(reset=True)
    recording.forget_trace()


def profile(*arguments, folder, environment=(), text=SCRIPT):
    (folder / "script.py").write_text(text)
    command = [sys.executable, "-m", "tensoriter", "profile", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, cwd=folder,
                          env=os.environ | {"PYTHONPATH": str(ROOT)} | dict(environment))  # fmt: skip


def calls(path, name="add"):
    events = json.loads(Path(path).read_text())["traceEvents"]
    return len([event for event in events if event["name"] == name and event["ph"] == "X"])


def test_table_and_trace(tmp_path):
    done = profile("script.py", "a", "--b", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == "arguments ['a', '--b'] __main__"
    assert lines[1].startswith("operator")
    assert lines[3].split()[:2] == ["add", "5"]
    assert lines[-1] == f"Trace: {tmp_path / 'profile.json'} (open it in https://ui.perfetto.dev)"
    assert calls(tmp_path / "profile.json") == 5
    assert done.stderr == ""


def test_options(tmp_path):
    done = profile("--output", "t.json", "--plot", "t.png", "--sort-by", "count", "--shapes", "--operators",
                   "script.py", folder=tmp_path)  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "add [float64[100], float64[100]]" in done.stdout
    assert calls(tmp_path / "t.json") == 6
    assert (tmp_path / "t.png").read_bytes().startswith(PNG)


def test_a_module(tmp_path):
    done = profile("-m", "script", "x", folder=tmp_path)
    assert "arguments ['x'] __main__" in done.stdout
    assert calls(tmp_path / "profile.json") == 5


@pytest.mark.parametrize("ending, code", [
    ("1 / 0", 1), ("sys.exit(3)", 3), ("raise KeyboardInterrupt", 130), ("import os; os.chdir('/')", 0),
])  # fmt: skip
def test_they_come_whatever_the_end(ending, code, tmp_path):
    done = profile("script.py", folder=tmp_path, text=SCRIPT + ending)
    assert done.returncode == code
    assert "Recording took about" in done.stdout
    assert calls(tmp_path / "profile.json") == 5
    if ending == "1 / 0":
        assert done.stderr.splitlines()[0] == "Traceback (most recent call last):"
        assert "runpy" not in done.stderr


def test_the_environment_may_have_started_it(tmp_path):
    environment = {"TENSORITER_PROFILE": str(tmp_path / "other.json")}
    done = profile("script.py", folder=tmp_path, environment=environment)
    assert done.returncode == 0, done.stderr
    assert calls(tmp_path / "profile.json") == 5


def test_a_script_that_uses_the_profiler_itself(tmp_path):
    text = SCRIPT + "from tensoriter import profiler\nprofiler.stop()\ntensoriter.add(x, x)\n"
    assert profile("script.py", folder=tmp_path, text=text).returncode == 0
    assert calls(tmp_path / "profile.json") == 5


@pytest.mark.parametrize("arguments", [
    ("missing.py",), ("--output", "no/such/folder.json", "script.py"), ("--sort-by", "size", "script.py"),
    ("--plot", "picture.unknown", "script.py"), ("--plot", "no/picture.png", "script.py"), (),
])  # fmt: skip
def test_what_cannot_be_done_is_refused_in_a_sentence(arguments, tmp_path):
    done = profile(*arguments, folder=tmp_path)
    assert done.returncode == 2
    assert "tensoriter profile: error: " in done.stderr
    assert "Traceback" not in done.stderr
    assert "arguments" not in done.stdout


# ---------------------------------------------------------------- the picture


def record():
    with profiler.profile():
        for n in (100, 10_000):
            x = np.ones(n)
            for _ in range(20):
                add(x, x)
                multiply(x, x[::-1])
                add.reduce(x)


def test_a_picture_of_what_is_recorded(tmp_path):
    record()
    profiler.plot(tmp_path / "picture.png")
    assert (tmp_path / "picture.png").read_bytes().startswith(PNG)


def test_a_picture_of_a_trace(tmp_path):
    record()
    profiler.set_config(filename=tmp_path / "trace.json")
    profiler.dump()
    profiler.plot(tmp_path / "picture.svg", tmp_path / "trace.json")
    assert "<svg" in (tmp_path / "picture.svg").read_text()[:1000]


def test_a_picture_of_nothing_and_of_terrible_names(tmp_path):
    profiler.plot(tmp_path / "nothing.png")
    with profiler.profile():
        for name in ("$x", "a" * 10_000, "new\nline", *(f"op {k}" for k in range(30))):
            with profiler.Event(name):
                pass
    profiler.plot(tmp_path / "names.png")


def test_the_numbers_that_are_drawn(tmp_path):
    record()
    slices = picture.read_slices(picture.load(None))
    totals, counts = picture.total_times(slices)
    statistics = json.loads(profiler.dumps(format="json"))["domains"]["operator"]
    assert counts == {name: entry["count"] for name, entry in statistics.items()}
    for name, entry in statistics.items():
        assert totals[name] * 1000 == pytest.approx(entry["total"], rel=1e-6)


def test_close_stretches_are_drawn_as_one():
    assert picture.merge([(0, 1), (1.5, 2), (9, 9)], 1) == [(0, 2), (9, 10)]


def test_without_matplotlib(tmp_path, monkeypatch):
    monkeypatch.setattr(picture, "find_spec", lambda name: None)
    with pytest.raises(ImportError, match="pip install matplotlib"):
        profiler.plot(tmp_path / "picture.png")


@pytest.mark.parametrize("file, error", [("no/such/folder.png", OSError), ("picture.unknown", ValueError)])
def test_a_picture_that_cannot_be_written(file, error, tmp_path):
    with pytest.raises(error):
        profiler.plot(tmp_path / file)
