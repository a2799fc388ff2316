"""The examples of captured steps: each gives what plain NumPy gives, step after step."""

import importlib
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from test_capture import same

from tensoriter import capture

EXAMPLES = Path(__file__).parents[1] / "examples"

# How the result of one step makes the arguments of the next, and another set of arguments.
NEXT = {
    "n_body": lambda args, result: (*result[:2], *args[2:]),
    "kalman_bank": lambda args, result: (*result, args[2] + 0.5),
    "adam": lambda args, result: (result[0], args[1], result[1], args[3] + np.float32(1)),
    "black_scholes": lambda args, result: (args[0] + result[0], *args[1:]),
}
SIZES = {"n_body": {"n": 7}, "kalman_bank": {"m": 3}, "adam": {"dtype": "f8"}, "black_scholes": {"n": 40_000}}


@pytest.fixture(params=NEXT)
def example(request, monkeypatch):
    monkeypatch.syspath_prepend(str(EXAMPLES))
    return importlib.import_module(request.param)


def test_each_step_is_plain_numpys(example):
    name = example.__name__
    captured = capture(example.step)
    for arguments in (example.inputs(), example.inputs(**SIZES[name]), example.inputs(seed=1)):
        plain = arguments
        for _ in range(5):
            ours, theirs = captured(*arguments), example.step(*plain)
            same(ours, theirs)
            arguments, plain = NEXT[name](arguments, ours), NEXT[name](plain, theirs)
    assert len(captured._entries) == (2 if name == "adam" else 1)


def test_the_graph_names_the_lines_of_the_example(example):
    captured = capture(example.step)
    captured(*example.inputs())
    infos = captured.graph.debug
    sources = {infos[node.handles[0]].source.file for node in captured.graph if node.handles}
    assert sources == {example.__file__}
    functions = {infos[node.handles[0]].calls[-1].function for node in captured.graph if node.handles}
    assert "step" in functions or example.__name__ == "kalman_bank"
    assert len(functions) > 1


def test_each_runs_as_a_program(example):
    program = f"import timings, {example.__name__} as e; timings.compare(e.step, e.inputs(), seconds=0.1)"
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, cwd=EXAMPLES, timeout=300)
    assert done.returncode == 0, done.stderr
    assert "times as fast" in done.stdout
