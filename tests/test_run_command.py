"""The command `tensoriter run`: a script with ndarray's operators on, otherwise as `python` runs it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

SHOW = """\
import os, sys
print(__name__, __file__, sys.argv, sys.path[0], sys.modules["__main__"].__dict__ is globals())
"""


def python(*arguments, cwd=None):
    command = [sys.executable, *map(str, arguments)]
    paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(paths)}
    return subprocess.run(command, capture_output=True, text=True, timeout=120, cwd=cwd, env=environment)


def run(*arguments, cwd=None):
    return python("-m", "tensoriter", "run", *arguments, cwd=cwd)


@pytest.fixture
def script(tmp_path):
    def write(text, name="script.py"):
        path = tmp_path / name
        path.write_text(text)
        return path

    return write


def same(*arguments, cwd=None):
    """Run with both; what they print and return is the same."""
    ours, pythons = run(*arguments, cwd=cwd), python(*arguments, cwd=cwd)
    assert (ours.returncode, ours.stdout, ours.stderr) == (pythons.returncode, pythons.stdout, pythons.stderr)
    return ours


def test_operators_are_on(script):
    text = "import tensoriter, numpy as np; print(tensoriter.operators.enabled, (np.ones(2) + 1).tolist())"
    assert run(script(text)).stdout == "True [2.0, 2.0]\n"


@pytest.mark.parametrize("arguments", [
    (), ("a", "b c"), ("--flag", "-m", "--help"), ("-x", "--", "y"),
], ids=str)  # fmt: skip
def test_a_script_sees_what_python_shows_it(script, arguments):
    assert same(script(SHOW), *arguments).returncode == 0


@pytest.mark.parametrize("arguments", [(), ("--flag", "-m", "x")], ids=str)
def test_a_module_sees_what_python_shows_it(script, tmp_path, arguments):
    script(SHOW, "shown.py")
    same("-m", "shown", *arguments, cwd=tmp_path)


def test_imports_from_beside_the_script(script):
    script("value = 5", "beside.py")
    assert same(script("import beside; print(beside.value)")).stdout == "5\n"


def test_a_folder_with_a_main(script, tmp_path):
    script("print('from the folder', __name__)", "__main__.py")
    assert same(tmp_path).stdout == "from the folder __main__\n"


@pytest.mark.parametrize("ending", [
    "raise SystemExit", "raise SystemExit(3)", "raise SystemExit('a message')", "import sys; sys.exit(0)",
    "1 / 0", "def f():\n    raise KeyError('x')\nf()", "this is no Python",
    "raise Exception('a') from ValueError()",
])  # fmt: skip
def test_endings(script, ending):
    same(script("print('begun')\n" + ending + "\n"))


def test_keyboard_interrupt(script):
    done = run(script("raise KeyboardInterrupt"))
    assert done.returncode == 130
    assert done.stderr.endswith("KeyboardInterrupt\n")


def test_a_missing_script_is_refused(tmp_path):
    done = run(tmp_path / "missing.py")
    assert done.returncode == 2
    assert "can't open file" in done.stderr


def test_a_missing_module():
    done = run("-m", "no_such_module_at_all")
    assert done.returncode == 1
    assert "No module named no_such_module_at_all" in done.stderr
