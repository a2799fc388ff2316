"""Each pass leaves results as they are, to the bit, and does what it is for."""

import warnings

import numpy as np
import pytest
from graph_strategies import functions, some_arrays
from hypothesis import given
from hypothesis import strategies as st
from strategies import profile
from test_capture import known

from tensoriter import capture
from tensoriter.graph import passes
from tensoriter.graph.passes import drop_dead, fold_constants, merge_common
from tensoriter.graph.reference import evaluate
from tensoriter.graph.trace import trace

X = np.array([1.0, -2.0, 3.0])


def ops(graph):
    return [node.op for node in graph if node.kind not in ("input", "constant")]


def computed(graph, arrays):
    """Results, errors included, whatever the floating-point flags."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return [known(value, arrays) for value in evaluate(graph, arrays)]
        except Exception as error:
            return type(error), str(error).partition("\n")[0]


@pytest.mark.parametrize(
    "chosen",
    [[drop_dead], [merge_common], [fold_constants], passes.default, passes.default[::-1] * 2],
    ids=lambda chosen: "+".join(each.__name__ for each in chosen),
)
@profile(60)
@given(st.data())
def test_results_are_the_same(chosen, data):
    function, args = data.draw(functions()), some_arrays(data.draw)
    try:
        with np.errstate(all="ignore"):
            graph = trace(function, args).graph
    except Exception:  # what cannot be traced has no graph
        return
    expected, before = computed(graph, args), str(graph)
    changed = graph
    for each in chosen:
        changed = each(changed)
    assert str(graph) == before
    assert [node.shape for node in changed.outputs] == [node.shape for node in graph.outputs]
    if isinstance(expected, list):  # an error may be in a node that is dead
        assert computed(changed, args) == expected


def test_dead_nodes_go_and_inputs_stay():
    graph = drop_dead(trace(lambda x, y: (x.sum(), x + 1)[1], (X, X)).graph)
    assert ops(graph) == ["add"]
    assert len(graph.inputs) == 2


@pytest.mark.parametrize("function", [lambda x, i: (x[i], x)[1], lambda x, i: (i**-i, x)[1]])
def test_what_may_raise_is_not_dead(function):
    step = capture(function)
    np.testing.assert_array_equal(step(X, np.array([0])), X)
    for _ in range(2):
        with pytest.raises((IndexError, ValueError)):
            step(X, np.array([3]))


def test_common_expressions_are_computed_once():
    graph = merge_common(trace(lambda x: np.sin(x + 1) * np.cos(x + 1) + (x + 1), (X,)).graph)
    assert ops(graph).count("add") == 2


@pytest.mark.parametrize(
    "pair", [(0.0, -0.0), (1, True), (1, 1.0), (1.0, np.float32(1)), (2, 2j), (np.nan, -np.nan)], ids=str
)
def test_numbers_that_python_takes_for_equal_are_not_merged(pair):
    def function(x):
        return x * pair[0], x * pair[1]

    graph = trace(function, (X,)).graph
    merged = merge_common(graph)
    assert computed(merged, [X]) == computed(graph, [X])
    with np.errstate(all="ignore"):
        assert computed(merged, [X]) == [known(value, [X]) for value in function(X)]


def test_results_stay_arrays_of_their_own():
    step = capture(lambda x: (x + 1, x + 1, (x + 1)[1:], x.copy(), x * 1, np.zeros_like(x), np.zeros_like(x)))
    results = step(X)
    for k, result in enumerate(results):
        assert not any(np.shares_memory(result, other) for other in results[:k])
        assert not np.shares_memory(result, X)


def test_constants_are_folded_unless_someone_can_change_or_see_them():
    table = np.array([0, 2], "i4")

    def folded(function):
        graph = trace(function, (X,)).graph
        assert "cast" in ops(graph)
        return ops(drop_dead(fold_constants(graph)))

    assert folded(lambda x: x + [1, 2, 3]) == ["add"]
    assert folded(lambda x: x + np.int8(4)) == ["add"]
    assert folded(lambda x: x[table]) == ["cast", "take"]
    assert folded(lambda x: np.where(x > 0, np.float32(2), x)) == ["greater", "where"]


def test_what_warns_is_not_folded():
    graph = trace(lambda x: x * 1e300, (X.astype("f4"),)).graph
    folded = fold_constants(graph)
    with pytest.warns(RuntimeWarning, match="overflow encountered in cast"):
        evaluate(folded, [X.astype("f4")])


def test_passes_can_be_chosen():
    seen = []

    def watching(graph):
        seen.append(len(graph))
        return graph

    step = capture(lambda x: (x + 1) * (x + 1), passes=[watching, merge_common, watching])
    np.testing.assert_array_equal(step(X), (X + 1) ** 2)
    assert seen == [6, 4]
