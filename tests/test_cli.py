"""The command `tensoriter`, run as a user runs it."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import tensoriter
from tensoriter.commands import COMMANDS, UsageError
from tensoriter.commands.bad_multiply import differing, make_loops, make_x, split
from tensoriter.commands.display import plain_table
from tensoriter.commands.operands import make_operand

ROOT = Path(__file__).parents[1]
PNG = b"\x89PNG\r\n\x1a\n"


def run(*arguments, prelude=""):
    """Run the command; `prelude` is Python that runs before it, in the same process."""
    script = f"{prelude}\nimport sys\nfrom tensoriter.__main__ import main\nsys.exit(main())"
    command = [sys.executable, "-c", script] if prelude else [sys.executable, "-m", "tensoriter"]
    return subprocess.run([*command, *arguments], capture_output=True, text=True, timeout=300)


def without(*modules):
    """A prelude that makes these modules look as if they were not installed."""
    return (
        "import sys, importlib.abc\n"
        "class Hidden(importlib.abc.MetaPathFinder):\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        f"        if name.split('.')[0] in {modules!r}: raise ModuleNotFoundError(name)\n"
        "import importlib.util as util\n"
        "find = util.find_spec\n"
        f"util.find_spec = lambda name, *a: None if name in {modules!r} else find(name, *a)\n"
        "sys.meta_path.insert(0, Hidden())\n"
    )


def test_without_arguments_it_prints_its_help():
    done = run()
    assert done.returncode == 0
    assert done.stdout.startswith("usage: tensoriter")
    for command in COMMANDS:
        assert command.name in done.stdout
        assert command.summary in " ".join(done.stdout.split())


@pytest.mark.parametrize("command", [command.name for command in COMMANDS])
def test_each_command_has_a_help_of_its_own(command):
    done = run(command, "--help")
    assert done.returncode == 0
    assert done.stdout.startswith(f"usage: tensoriter {command}")


def test_version():
    assert run("--version").stdout == f"tensoriter {tensoriter.__version__}\n"


def test_an_unknown_command_is_refused():
    done = run("no-such-command")
    assert done.returncode == 2
    assert "no-such-command" in done.stderr


def test_a_command_loads_no_other_commands_module():
    script = (
        "import sys; from tensoriter.__main__ import main; main(['info'])\n"
        "print([name for name in sys.modules if name.startswith('tensoriter.commands.')])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    loaded = done.stdout.splitlines()[-1]
    assert "tensoriter.commands.info" in loaded
    assert "bad_multiply" not in loaded
    assert "verify" not in loaded


def test_info_is_a_table_of_the_facts():
    lines = run("info").stdout.splitlines()
    facts = dict(line.split(None, 1) for line in lines[2:])
    assert facts["numpy"] == np.__version__
    assert facts["isa"] == tensoriter.info()["isa"]
    assert facts["isa_built"] == ", ".join(tensoriter.info()["isa_built"])
    assert set(facts) == set(tensoriter.info())


@pytest.mark.parametrize(
    ("operands", "path"),
    [
        (("float32[100]", "float32[100]"), "contiguous"),
        (("float32[8,100]", "float32[100,8]:T"), "strided"),
        (("float32[100]", ">f8[100]"), "strided"),
        (("U3[10]", "U3[10]"), "numpy"),
        (("float32[3]", "float32[4]"), "numpy"),
        (("float32[3]", "1", "--out", "int8[3]"), "numpy"),
    ],
)
def test_explain_names_the_path(operands, path):
    done = run("explain", *operands)
    assert done.returncode == 0, done.stderr
    assert path in done.stdout


def test_explain_prints_what_the_function_gives():
    done = run("explain", "float32[6,4]:F", "-2.5", "--dtype", "f8", "--order", "C")
    x1 = np.zeros((6, 4), "f4", order="F")
    assert done.stdout == f"{tensoriter.explain(x1, -2.5, dtype='f8', order='C')}\n"


def test_explain_passes_out_where_and_casting():
    done = run("explain", "i4[3]", "1", "--out", "i2[3]", "--where", "?[3]", "--casting", "unsafe")
    expected = tensoriter.explain(
        np.zeros(3, "i4"), 1, out=np.zeros(3, "i2"), where=np.zeros(3, "?"), casting="unsafe"
    )
    assert done.stdout == f"{expected}\n"


@pytest.mark.parametrize(
    "operands",
    [
        ("float32[100", "1"),
        ("float33[100]", "1"),
        ("float32[100]:Q", "1"),
        ("float32[100]::0", "1"),
        ("float32[4]::2,::2", "1"),
        ("some words", "1"),
        ("float32[999999999999999]", "1"),
        ("'text'", "1"),
        ("float32[3]", "1", "--out", "2.5"),
        ("float32[3]", "1", "--order", "X"),
    ],
)
def test_explain_refuses_in_a_sentence(operands):
    done = run("explain", *operands)
    assert done.returncode == 2
    assert "tensoriter explain: error: " in done.stderr
    assert done.stdout == ""
    assert "Traceback" not in done.stderr


def test_operands_are_laid_out_as_written():
    def like(text, shape, strides, dtype="f4"):
        array = make_operand(text)
        assert (array.shape, array.strides, array.dtype) == (shape, strides, np.dtype(dtype))
        return array

    like("float32[100]", (100,), (4,))
    like("float32[3,4]", (3, 4), (16, 4))
    like("f4[]", (), ())
    like("f4[3,4]:F", (3, 4), (4, 12))
    like("f4[3,4]:T", (4, 3), (4, 16))
    like("f4[100]::2", (50,), (8,))
    like("f4[100]::-1", (100,), (-4,))
    like("f4[8,8]::2,::3", (4, 3), (64, 12))
    like("f4[8,6]:T::2", (3, 8), (8, 24))
    like(">f8[5]", (5,), (8,), ">f8")
    assert not like("f4[8,6]:T:misaligned", (6, 8), (4, 24)).flags.aligned
    assert not like("f4[5]::-1:misaligned", (5,), (-4,)).flags.aligned
    assert not like("f4[5]:readonly", (5,), (4,)).flags.writeable


def test_scalars_are_python_scalars_unless_a_dtype_is_written():
    for text, value in {"1": 1, "-3": -3, "2.5": 2.5, "1j": 1j, "True": True}.items():
        assert type(make_operand(text)) is type(value)
        assert make_operand(text) == value
    assert isinstance(make_operand("float32(1.5)"), np.float32)
    with pytest.raises(UsageError, match="neither an array"):
        make_operand("(1, 2)")


SHORT = ("--n", "10", "--k", "2000")


def test_bad_multiply_prints_a_table_and_a_sentence():
    done = run("bad-multiply", *SHORT)
    assert done.returncode == 0, done.stderr
    assert "2,000 times with 10 float32 values" in done.stdout
    for name in ("empty loop", "np.add", "+ on arrays", "tensoriter.add, strided"):
        assert any(line.startswith(name) for line in done.stdout.splitlines())
    last = done.stdout.splitlines()[-1]
    assert last.startswith("An add takes ")
    assert last.endswith(" times as fast.")
    assert done.stderr == ""  # no bar where stderr is no terminal


def test_bad_multiply_writes_json_and_a_picture(tmp_path):
    facts, picture = tmp_path / "facts.json", tmp_path / "picture.png"
    done = run("bad-multiply", *SHORT, "--json", str(facts), "--plot", str(picture))
    assert done.returncode == 0, done.stderr
    assert picture.read_bytes().startswith(PNG)
    written = json.loads(facts.read_text())
    assert set(written["machine"]) >= {"python", "numpy", "tensoriter", "isa", "cpu"}
    assert written["machine"]["numpy"] == np.__version__
    parameters = written["parameters"]
    assert (parameters["n"], parameters["k"], parameters["dtype"]) == (10, 2000, "float32")
    for name, times in written["ns_per_add"].items():
        assert len(times) == parameters["rounds"]
        assert written["summary"][name]["best_ns"] == min(times) > 0
        assert written["summary"][name]["median_ns"] == pytest.approx(np.median(times))
    assert written["summary"]["np.add"]["speed"] == {"median": 1.0, "low": 1.0, "high": 1.0}


def test_bad_multiply_needs_numpy_alone():
    done = run("bad-multiply", *SHORT, prelude=without("rich", "matplotlib", "torch"))
    assert done.returncode == 0, done.stderr
    assert "torch" not in done.stdout


def test_a_picture_without_matplotlib_is_refused_before_the_work(tmp_path):
    path = str(tmp_path / "picture.png")
    done = run("bad-multiply", *SHORT, "--plot", path, prelude=without("matplotlib"))
    assert done.returncode == 2
    assert "pip install matplotlib" in done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--n", "-1"), "-1 is negative"),
        (("--k", "0"), "0 is less than 1"),
        (("--dtype", "U3"), "must be bool or numeric"),
        (("--dtype", "no-such"), "--dtype"),
        (("--json", "no/such/folder/x.json"), "folder does not exist"),
        (("--plot", "picture.txt"), "must end in one of"),
    ],
)
def test_bad_multiply_refuses_in_a_sentence(options, sentence):
    done = run("bad-multiply", *options)
    assert done.returncode == 2
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr


def test_bad_multiply_says_what_it_could_not_write(tmp_path):
    done = run("bad-multiply", *SHORT, "--json", str(tmp_path))
    assert done.returncode == 2
    assert f"cannot write {tmp_path}: Is a directory" in done.stderr
    assert "times as fast" in done.stdout  # what was measured is not lost


@pytest.mark.parametrize("dtype", ["?", "int8", "float16", "longdouble", "complex64", ">f8"])
def test_bad_multiply_checks_and_times_every_numeric_dtype(dtype):
    done = run("bad-multiply", *SHORT, "--dtype", dtype)
    assert done.returncode == 0, done.stdout + done.stderr


def test_an_answer_that_is_not_numpys_is_named():
    loops = make_loops(make_x(10, "float32"))
    assert differing(loops, 50) == ""
    right = loops["tensoriter.add"]
    assert differing(loops | {"wrong": lambda k: right(k) * 1.0001}, 50) == "wrong"
    assert differing(loops | {"wrong": lambda k: right(k).astype("f8")}, 50) == "wrong"


@pytest.mark.parametrize("k", [1, 99, 100, 250, 2000, 300_000, 10_000_001])
def test_rounds_of_blocks_come_to_k_adds_or_just_below(k):
    rounds, steps = split(k)
    assert steps >= min(k, 100)
    assert k - rounds < rounds * steps <= k


def test_a_plain_table_is_aligned():
    table = plain_table(["", "ns"], [["np.add", "335"], ["+", "1,000"]], right=True)
    assert table.splitlines() == [
        "           ns",
        "------  -----",
        "np.add    335",
        "+       1,000",
    ]


def test_paths_benchmark_measures_and_draws(tmp_path):
    facts, picture = tmp_path / "facts.json", tmp_path / "picture.png"
    options = ["--sizes", "1,1000", "--rounds", "3", "--json", str(facts), "--plot", str(picture)]
    command = [sys.executable, "-m", "benchmarks.paths", *options]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    assert "1,000" in done.stdout
    assert picture.read_bytes().startswith(PNG)
    written = json.loads(facts.read_text())
    assert set(written["sizes"]) == {"1", "1000"}
    assert set(written["sizes"]["1"]["summary"]) == {"np.add", "contiguous path", "strided path"}
