"""Importing tensoriter changes nothing that a program could notice, seen in fresh processes."""

import json
import subprocess
import sys

import pytest

# Expressions, evaluated in two processes: one imports tensoriter after NumPy, one does not.
OBSERVATIONS = {
    "threads": "sorted(thread.name for thread in threading.enumerate())",
    "threads unknown to Python": "entries('/proc/self/task')",
    "open files": "entries('/proc/self/fd')",
    "subnormals": "(5e-324 * 1.0, 2.2250738585072014e-308 / 2, (TINY + TINY).tobytes())",
    "subnormals in NumPy": "((TINY * np.float32(1)).tobytes(), np.sqrt(TINY).tobytes())",
    "rounding": "(1 / 3, -1 / 3, 2**53 + 1.0, np.float32(0.1) + np.float32(0.2))",
    "extended rounding": "(np.longdouble(1) / 3, np.float16(65504) + np.float16(15))",
    "error handling": "(np.geterr(), np.geterrcall(), np.getbufsize())",
    "warning filters": "warnings.filters",
    "print options": "(np.get_printoptions(), np.float64(0.1))",
    "NumPy's names": "sorted(vars(np))",
    "NumPy's add": "(np.add, np.ndarray.__add__, np.add.types, np.add.__doc__)",
    "NumPy's results": "(np.add(1, 2), np.ones(3) + 1, np.ones(3, 'f4') + 1.5)",
    "allocator": "np._core.multiarray.get_handler_name()",
    "environment": "sorted(os.environ.items())",
    "signals": "[signal.getsignal(s) for s in sorted(signal.valid_signals())]",
    "interpreter": "(sys.getrecursionlimit(), sys.getswitchinterval(), gc.get_threshold())",
    "hooks": "(sys.excepthook, sys.meta_path, sys.path_hooks, sys.gettrace(), sys.getprofile())",
    "path": "(sys.path, os.getcwd(), locale.setlocale(locale.LC_ALL))",
    "random state": "(random.getstate(), np.random.get_state())",
}

PROGRAM = """
import gc, json, locale, os, pathlib, random, re, signal, sys, threading, warnings
import numpy as np
random.seed(1), np.random.seed(1)
TINY = np.full(9, 1e-45, "f4")

def entries(folder):
    folder = pathlib.Path(folder)  # Linux has it
    return len(list(folder.iterdir())) if folder.exists() else None

{}
with np.errstate(all="raise"):
    (np.ones(3) + np.ones(3)).tolist()  # a flag that the import left set would be blamed on this
found = {{name: eval(text) for name, text in eval(sys.argv[1]).items()}}
print(json.dumps({{name: re.sub(" at 0x[0-9a-f]+", "", repr(x)) for name, x in found.items()}}))
"""


def run(program, *options, argument=""):
    command = [sys.executable, *options, "-c", program, argument]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert not done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def observed():
    """What the two processes saw: with and without the import."""
    programs = PROGRAM.format("import tensoriter"), PROGRAM.format("")
    return [json.loads(run(program, argument=repr(OBSERVATIONS))) for program in programs]


@pytest.mark.parametrize("name", OBSERVATIONS)
def test_nothing_changes(name, observed):
    imported, plain = observed
    assert imported[name] == plain[name]


def test_says_nothing():
    assert run("import tensoriter", "-W", "error") == ""


def test_says_nothing_after_use():
    program = "import numpy as np, tensoriter as t; t.add(np.ones(3), 1); t.explain(1, 2)"
    assert run(program, "-W", "error", "-X", "dev") == ""


def test_needs_numpy_alone():
    program = """
import sys, numpy
before = set(sys.modules)
import tensoriter
new = {name.partition(".")[0] for name in set(sys.modules) - before}
print(sorted(new - {"tensoriter"} - set(sys.stdlib_module_names)))
"""
    # Cython puts a module of its own about its types beside what it compiles.
    found = [name for name in eval(run(program)) if not name.startswith(("_cython_", "cython_"))]
    assert found == []


def test_imports_before_numpy():
    assert run("import tensoriter, numpy; print(tensoriter.add(1, 2) == 3)") == "True\n"


def test_runs_without_docstrings_and_asserts():
    assert run("import tensoriter; print(tensoriter.add(1, 2))", "-OO") == "3\n"
