"""Graph: what it shows, new shapes, the reference evaluation, the command that prints and draws it."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from graph_strategies import functions, some_arrays
from hypothesis import given
from hypothesis import strategies as st
from strategies import profile
from test_capture import known

from tensoriter import CaptureError, capture
from tensoriter.graph.picture import layers_of
from tensoriter.graph.reference import evaluate
from tensoriter.graph.trace import trace

X = np.array([1.0, -2.0, 3.0])
ROOT = Path(__file__).parents[1]


def layer(x, w, b):
    y = np.maximum(w @ x + b, 0)
    return y[::2], y.astype("f4").sum(axis=0), y.reshape(2, -1)[:, None], np.take(y, [1, 0])


def test_a_line_for_each_node():
    graph = trace(layer, (X, np.ones((4, 3)), np.ones(4))).graph
    lines = str(graph).splitlines()
    assert lines[0] == "layer"
    assert len(lines) == len(graph) + 2
    first = layer.__code__.co_firstlineno
    assert lines[1].split() == ["%0", "input", "x0", "float64[3]"]
    assert lines[4].split() == ["%3", "matmul", "%1,", "%0", "float64[4]", f"test_graph.py:{first + 1}"]
    shown = "\n".join(lines)
    for text in ("[::2]", "(2, -1)", "[:, None]", "axis=0", "float32 ", "maximum"):
        assert text in shown
    assert lines[-1].strip().startswith("return %")


def test_dot_names_each_node_and_each_edge():
    graph = trace(layer, (X, np.ones((4, 3)), np.ones(4))).graph
    dot = graph.to_dot()
    assert dot.count("label=") == len(graph)
    assert dot.count("->") == sum(len(node.inputs) for node in graph)
    assert dot.count("peripheries=2") == 4
    assert trace(lambda x: x + 1, (X,)).graph.to_dot().startswith('digraph "')


def test_layers_lie_below_their_inputs():
    graph = trace(layer, (X, np.ones((4, 3)), np.ones(4))).graph
    layers = layers_of(graph)
    depth = {node: k for k, nodes in enumerate(layers) for node in nodes}
    assert len(depth) == len(graph)
    assert all(depth[x] < depth[node] for node in graph for x in node.inputs)


@profile(150)
@given(st.data())
def test_dtypes_shapes_and_kinds_are_those_of_the_values(data):
    function, args = data.draw(functions()), some_arrays(data.draw)
    try:
        with np.errstate(all="ignore"):
            graph = trace(function, args).graph
            results = evaluate(graph, args)
    except Exception:  # what fails has no values
        return
    for node, value in zip(graph.outputs, results, strict=True):
        assert (value.dtype, value.dtype.char, value.shape) == (node.dtype, node.dtype.char, node.shape)
        assert isinstance(value, np.generic) == node.is_scalar
    for node in graph:
        if node.kind == "ufunc":
            assert [x.dtype for x in node.inputs] == list(node.attributes["types"][: len(node.inputs)])


def test_other_shapes():
    graph = trace(layer, (X, np.ones((4, 3)), np.ones(4))).graph
    other = graph.with_shapes([(5,), (6, 5), (6,)])
    assert [node.shape for node in other.outputs] == [(3,), (), (2, 1, 3), (2,)]
    assert [node.shape for node in graph.outputs] == [(2,), (), (2, 1, 2), (2,)]
    args = np.ones(5), np.ones((6, 5)), np.ones(6)
    assert [known(x, args) for x in evaluate(other, args)] == [known(x, args) for x in layer(*args)]
    assert other.debug is graph.debug


@pytest.mark.parametrize(
    ("function", "before", "after"),
    [
        (lambda x, y: x + y, [(3,), (3,)], [(3,), (2,)]),
        (lambda x, y: x @ y, [(2, 3), (3,)], [(2, 3), (2,)]),
        (lambda x, y: np.dot(x, y), [(2, 3), (3,)], [(2, 3), (2,)]),
        (lambda x, y: x.reshape(2, 3) + y, [(6,), (3,)], [(7,), (3,)]),
        (lambda x, y: np.concatenate([x, y]), [(2, 3), (1, 3)], [(2, 3), (1, 4)]),
        (lambda x, y: x[4] * y, [(6,), (3,)], [(4,), (3,)]),
        (lambda x, y: x.min(axis=1) * y, [(2, 3), (1,)], [(2, 0), (1,)]),
        (lambda x, y: (x * 1).__iadd__(y), [(3,), (1,)], [(1,), (3,)]),
        (lambda x, y: np.where(x > 0, x, y), [(3,), (3,)], [(3,), (2,)]),
    ],
)
def test_shapes_that_do_not_fit_raise_what_numpy_raises(function, before, after):
    graph = trace(function, [np.ones(shape) for shape in before]).graph
    with pytest.raises(Exception) as numpys:  # noqa: B017
        function(*[np.ones(shape) for shape in after])
    with pytest.raises(numpys.type) as ours:
        graph.with_shapes(after)
    assert str(ours.value).strip() == str(numpys.value).strip()


def test_nodes_are_printed_in_a_word():
    graph = trace(lambda x: x + 1, (X,)).graph
    assert repr(graph.outputs[0]) == "<Node add float64[3]>"
    assert len(graph) == 3 and [node.kind for node in graph] == ["input", "constant", "ufunc"]


# ---------------------------------------------------------------- the command

PROGRAM = """
import numpy as np

def step(x, dt):
    y = np.sin(x) * dt
    return y + y.sum()

def branch(x):
    return x if x[0] > 0 else -x
"""


def command(folder, *arguments):
    (folder / "program.py").write_text(PROGRAM)
    line = [sys.executable, "-m", "tensoriter", "graph", *arguments]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(line, capture_output=True, text=True, cwd=folder, env=environment, timeout=300)


def test_the_command_prints_and_draws(tmp_path):
    done = command(tmp_path, "program:step", "float32[5]", "0.5", "--plot", "picture.png")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "picture.png").read_bytes().startswith(b"\x89PNG")
    rows = [line.split() for line in done.stdout.splitlines()]
    assert ["%1", "sin", "%0", "float32[5]", "program.py:5"] in rows
    dot = command(tmp_path, "program:step", "float32[5]", "0.5", "--dot", "--passes").stdout
    assert dot.startswith('digraph "step" {')


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("program:branch", "float32[5]"), "the value of an array decides"),
        (("program:nothing",), "has no function nothing"),
        (("no_such_program:step",), "cannot import no_such_program"),
        (("program",), "module:name"),
        (("program:step", "float32[5]", "1", "--plot", "picture.txt"), "must end in one of"),
    ],
)
def test_the_command_refuses_in_a_sentence(arguments, sentence, tmp_path):
    done = command(tmp_path, *arguments)
    assert done.returncode == 2
    assert sentence in done.stderr and "Traceback" not in done.stderr


def test_public_names_come_when_they_are_asked_for():
    program = (
        "import sys, tensoriter\n"
        "assert not [name for name in sys.modules if name.startswith('tensoriter.graph')]\n"
        "assert 'capture' in dir(tensoriter)\n"
        "tensoriter.capture; assert 'tensoriter.graph.capture' in sys.modules\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    assert issubclass(CaptureError, TypeError)
    assert callable(capture)
