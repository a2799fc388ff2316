"""Debug handles: issued once, resolved to the right line and chain of calls, stored, merged, and missed."""

import itertools
import json
import pickle
import sys
import threading
import traceback
import warnings

import numpy as np
import pytest

import tensoriter
from tensoriter import capture
from tensoriter.graph import debug
from tensoriter.graph.debug import Call, DebugInfo, DebugInfoRecorder, DebugMap, SourceRange, describe_handle
from tensoriter.graph.trace import trace

HAS_COLUMNS = sys.version_info >= (3, 11)
X, ZERO = np.array([1.0, 2.0]), np.zeros(2)


def line_after(function, lines):
    """The number of a line of a function, which begins at its def or decorator."""
    return function.__code__.co_firstlineno + lines


def text_of(error):
    """The message and the notes of an exception."""
    return "\n".join([str(error), *getattr(error, "__notes__", [])])


class Layer:
    def __init__(self, scale):
        self.scale = scale

    def __call__(self, x):
        y = x * self.scale
        return y / (x - self.scale)


class Model:
    def __init__(self):
        self.first = Layer(5.0)
        self.others = [Layer(2.0), Layer(3.0)]

    @capture
    def step(self, x):
        x = self.first(x) + 1
        for layer in self.others:
            x = layer(x)
        return x


# ---------------------------------------------------------------- issuing

def test_handles_are_unique_among_threads():
    recorders = [DebugInfoRecorder() for _ in range(8)]
    found = [[] for _ in recorders]
    barrier = threading.Barrier(len(recorders))

    def work(recorder, handles):
        barrier.wait()
        handles.extend([recorder.next_debug_handle("add") for _ in range(2000)])

    workers = [threading.Thread(target=work, args=pair) for pair in zip(recorders, found, strict=True)]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
    finally:
        sys.setswitchinterval(interval)
    handles = [handle for part in found for handle in part]
    assert len(set(handles)) == len(handles) == 16_000
    assert all(part == sorted(part) for part in found)
    maps = [recorder.stop_recording() for recorder in recorders]
    for part, infos in zip(found, maps, strict=True):
        assert list(infos) == part


def test_overflow_is_detected(monkeypatch):
    monkeypatch.setattr(debug, "_numbers", itertools.count(2**63 - 2))
    recorder = DebugInfoRecorder()
    assert [recorder.next_debug_handle("add") for _ in range(2)] == [2**63 - 2, 2**63 - 1]
    with pytest.raises(OverflowError, match="debug handles"):
        recorder.next_debug_handle("add")
    assert len(recorder.stop_recording()) == 2


def test_a_stopped_recorder_says_so():
    recorder = DebugInfoRecorder()
    recorder.stop_recording()
    with pytest.raises(RuntimeError):
        recorder.stop_recording()
    with pytest.raises(RuntimeError):
        recorder.next_debug_handle("add")


def test_every_node_but_inputs_has_a_handle():
    graph = trace(lambda x: np.where(x > 1, x.sum() * 2, x.astype("f4")[::-1]), (X,)).graph
    for node in graph:
        if node.kind != "input":
            (handle,) = node.handles
            assert graph.debug[handle].op.endswith(f":{node.op}")


# ---------------------------------------------------------------- where

def test_the_source_range_is_that_of_the_operation():
    def step(x, y):
        z = x + 1
        return (z * 2) / (y -
                          1)

    graph = trace(step, (X, X)).graph
    sources = {node.op: graph.debug[node.handles[0]].source for node in graph if node.handles}
    first = line_after(step, 1)
    assert [sources[op].line - first for op in ("add", "multiply", "divide")] == [0, 1, 1]
    assert sources["add"].file == __file__
    assert sources["add"].text == "        z = x + 1"
    if HAS_COLUMNS:
        marked = {op: s.text[s.column : s.end_column] for op, s in sources.items() if s.line == s.end_line}
        assert (marked["add"], marked["multiply"]) == ("x + 1", "z * 2")
        assert (sources["divide"].end_line, sources["subtract"].end_line) == (first + 2, first + 2)


def test_columns_are_counted_in_characters():
    def step(x):
        größe = "ä€"; return (größe, x + 1)  # noqa: E702

    graph = trace(step, (X,)).graph
    source = graph.debug[graph.outputs[0].handles[0]].source
    assert not HAS_COLUMNS or source.text[source.column : source.end_column] == "x + 1"


def test_the_chain_goes_from_the_captured_function_to_the_operation():
    model = Model()
    graph = trace(Model.step.function, (model, X)).graph
    divides = [graph.debug[node.handles[0]] for node in graph if node.op == "divide"]
    for info, instance in zip(divides, ["self.first", "self.others[0]", "self.others[1]"], strict=True):
        outer, inner = info.calls
        assert (outer.module, inner.module) == (__name__, __name__)
        if HAS_COLUMNS:
            assert (outer.function, inner.function) == ("Model.step", "Layer.__call__")
        assert (outer.instance, inner.instance) == ("self", instance)
        assert inner.range.text == "        return y / (x - self.scale)"
        assert info.chain == (outer,)
        assert info.op == f"{__name__}.{inner.function}:divide"
    assert divides[0].calls[0].range.text == "        x = self.first(x) + 1"
    add = next(graph.debug[node.handles[0]] for node in graph if node.op == "add")
    assert add.chain is None


def test_instances_without_an_owner_are_numbered():
    layers = Layer(1.0), Layer(2.0)

    def step(x):
        return layers[0](x) + layers[1](x) + layers[0](x)

    graph = trace(step, (X,)).graph
    found = [graph.debug[node.handles[0]].calls[-1].instance for node in graph if node.op == "divide"]
    assert found == ["Layer#1", "Layer#2", "Layer#1"]


def test_a_captured_function_within_another_shows_in_the_chain():
    @capture
    def inner(x):
        return x / ZERO

    @capture
    def outer(x):
        return inner(x + 1)

    with np.errstate(all="raise"), pytest.raises(FloatingPointError) as raised:
        outer(X)
    text = text_of(raised.value)
    assert text.index("return inner(x + 1)") < text.index("return x / ZERO")
    assert "/graph/" not in text


def test_traces_of_two_threads_at_once_do_not_mix():
    barrier, wrong = threading.Barrier(2), []

    def work(function, op, line):
        barrier.wait()
        for _ in range(30):
            graph = trace(function, (X,)).graph
            infos = [graph.debug[node.handles[0]] for node in graph if node.handles]
            if len(infos) != 20 or {info.source.line for info in infos} != {line}:
                wrong.append(infos)

    def sines(x):
        return np.sin(np.sin(np.sin(np.sin(np.sin(np.sin(x)))))).T.T.T.T.T.T.T.T.T.T.T.T.T.T

    def magnitudes(x):
        return np.abs(np.abs(np.abs(np.abs(np.abs(np.abs(x)))))).T.T.T.T.T.T.T.T.T.T.T.T.T.T

    workers = [threading.Thread(target=work, args=(f, "", line_after(f, 1))) for f in (sines, magnitudes)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert not wrong


# ---------------------------------------------------------------- errors and warnings

def eight(x, y):
    x = x + 1
    x = x * 2
    x = x - 3
    x = np.abs(x)
    x = np.sqrt(x)
    x = x + y
    x = x * y
    x = x / (y - y)
    return x - 1


@pytest.mark.parametrize("replays", [0, 2])
def test_an_error_in_the_eighth_op_names_its_line(replays):
    step = capture(eight)
    with np.errstate(all="ignore"):
        for _ in range(replays):
            step(X, X)
    with np.errstate(all="raise"), pytest.raises(FloatingPointError) as raised:
        step(X, X)
    text = text_of(raised.value)
    lines = text.splitlines()
    assert f'  File "{__file__}", line {line_after(eight, 8)}, in {__name__}.eight' in lines
    at = lines.index("    x = x / (y - y)")
    assert not HAS_COLUMNS or lines[at + 1] == "        ^^^^^^^^^^^"
    assert lines[0] == "divide by zero encountered in divide"


def test_the_traceback_goes_through_the_line():
    step = capture(eight)
    with np.errstate(all="raise"), pytest.raises(FloatingPointError) as raised:
        step(X, X)
    frames = traceback.extract_tb(raised.tb)
    assert (__file__, line_after(eight, 8), "eight") in [(f.filename, f.lineno, f.name) for f in frames]


@pytest.mark.parametrize(
    ("function", "arguments", "other", "error"),
    [
        (lambda x, y: x + y, (X, X), (X, np.ones(3)), ValueError),
        (lambda x, i: np.take(x, i), (X, np.array([0])), (X, np.array([5])), IndexError),
        (lambda x, y: x @ y, (X, X), (X, np.ones(3)), ValueError),
        (lambda x, y: x.reshape(2, -1) + y, (X, X), (np.ones(3), X), ValueError),
        (lambda x, y: x[1:].max() + y, (X, X), (np.ones(1), X), ValueError),
    ],
)  # fmt: skip
def test_other_errors_name_the_line_too(function, arguments, other, error):
    step = capture(function)
    step(*arguments)
    with pytest.raises(error) as raised:
        step(*other)
    assert f'File "{__file__}", line {function.__code__.co_firstlineno}, in ' in text_of(raised.value)
    with pytest.raises(error) as plain:
        function(*other)
    assert text_of(raised.value).startswith(str(plain.value).strip())


def test_checked_integers_name_the_line():
    step = capture(lambda x: np.multiply(x, x))
    with tensoriter.checked(), pytest.raises(OverflowError) as raised:
        step(np.array([100], "i1"))
    assert "lambda x: np.multiply(x, x)" in text_of(raised.value)


def warned(function, *args):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        function(*args)
    return [(w.category, str(w.message), w.filename, w.lineno) for w in caught]


def test_warnings_are_issued_at_the_line_where_they_are_due():
    def step(x, y):
        a = x / y
        b = np.log(-x) + np.power(x, 1e300)
        return a, b, x[0] / y[0], tensoriter.divide(y, y)

    captured = capture(step)
    assert len(warned(step, X, ZERO)) == 5
    for _ in range(2):
        assert warned(captured, X, ZERO) == warned(step, X, ZERO)


def test_reductions_warn_at_the_line_too():
    def step(x):
        total = (x * 1e308).sum()
        return total, x[:0].mean()

    found = warned(capture(step), X)
    assert {entry[:2] for entry in found} == {entry[:2] for entry in warned(step, X)}
    assert [entry[3] for entry in found] == [line_after(step, 1)] + [line_after(step, 2)] * (len(found) - 1)


def test_a_warning_is_shown_once_for_its_line():
    def first(x):
        return x / ZERO

    def second(x):
        return x / ZERO

    steps = capture(first), capture(second)
    globals().pop("__warningregistry__", None)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        for step in steps * 3:
            step(X)
    assert [w.lineno for w in caught] == [line_after(first, 1), line_after(second, 1)]


def test_print_log_and_call_are_numpys(capfd):
    step = capture(lambda x: x / ZERO)
    told = []
    with np.errstate(all="print"):
        step(X)
    assert capfd.readouterr().err == "Warning: divide by zero encountered in divide\n"
    with np.errstate(all="call", call=lambda kind, flag: told.append((kind, flag))):
        step(X)
    assert told == [("divide by zero", 1)]


# ---------------------------------------------------------------- maps

def some_map():
    model = Model()
    return trace(Model.step.function, (model, X)).graph.debug


def test_a_map_is_stored_and_read():
    infos = some_map()
    for data in (json.loads(json.dumps(infos.to_data())), pickle.loads(pickle.dumps(infos.to_data()))):
        assert dict(DebugMap.from_data(data)) == dict(infos)
    assert dict(pickle.loads(pickle.dumps(infos))) == dict(infos)


def test_shared_strings_and_chains_are_stored_once():
    data = some_map().to_data()
    for kind in ("strings", "ranges", "calls", "chains"):
        assert len(set(map(repr, data[kind]))) == len(data[kind])
    one = trace(lambda x: x + 1, (X,)).graph.debug.to_data()
    many = trace(lambda x: [x + 1 for _ in range(100)], (X,)).graph.debug.to_data()
    assert len(many["handles"]) == 200
    assert len(many["strings"]) <= len(one["strings"]) + 3
    assert len(many["chains"]) <= 3


@pytest.mark.parametrize(
    "data",
    [{}, {"strings": []}, [], {"strings": [], "ranges": [[0]], "calls": [], "chains": [], "handles": []}],
)
def test_what_is_no_map_is_refused(data):
    with pytest.raises(ValueError, match="no debug information"):
        DebugMap.from_data(data)


def test_maps_of_several_plans_are_merged_without_clashes():
    first, second = some_map(), some_map()
    merged = first.merged(second)
    assert len(merged) == len(first) + len(second)
    stored = DebugMap.from_data(first.to_data())
    read, new = stored.with_new_handles()
    assert not set(read) & set(merged)
    assert all(read[new[handle]] == first[handle] for handle in first)
    assert len(merged.merged(read)) == 2 * len(first) + len(second)
    assert dict(first.merged(stored)) == dict(first)
    other = {next(iter(first)): DebugInfo("another", ())}
    with pytest.raises(ValueError, match="stands for"):
        first.merged(other)


def test_a_handle_that_was_never_issued_has_no_information():
    infos = some_map()
    unknown = max(infos) + 10**6
    assert infos.get(unknown) is None
    assert infos.describe([unknown]) == f"no debug information for handle {unknown}"
    assert describe_handle(None, 7) == "no debug information for handle 7 (it was left out of this plan)"


def test_the_line_is_shown_as_it_was(tmp_path):
    import linecache

    path = tmp_path / "changing.py"
    path.write_text("def step(x):\n    return x + 1\n")
    module = {"__name__": "changing"}
    exec(compile(path.read_text(), str(path), "exec"), module)
    infos = trace(module["step"], (X,)).graph.debug
    path.write_text("# another\n# text\n")
    linecache.checkcache()
    assert "\n    return x + 1" in infos.describe(list(infos)[-1:])


def test_code_without_a_file_has_no_text():
    module = {"__name__": "nowhere"}
    exec(compile("step = lambda x: x / (x - x)", "<nowhere>", "exec"), module)
    step = capture(module["step"])
    with np.errstate(all="raise"), pytest.raises(FloatingPointError) as raised:
        step(X)
    assert 'File "<nowhere>", line 1, in nowhere.<lambda>' in text_of(raised.value)


def test_marks_lie_under_the_range():
    source = SourceRange("f.py", 3, 3, 8, 13, "    y = a + b * c")
    info = DebugInfo("m.f:add", (Call("m", "f", "", source),))
    assert str(info).splitlines() == [
        '  File "f.py", line 3, in m.f',
        "    y = a + b * c",
        "        ^^^^^",
    ]
    over = SourceRange("f.py", 3, 4, 4, 2, "    y = (a +  ")
    shown = str(DebugInfo("", (Call("m", "f", "self", over),))).splitlines()
    assert shown[1:] == ["    y = (a +", "    ^^^^^^^^"]
