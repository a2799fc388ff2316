"""Fusion and in-place buffers: the same bits with them and without, and what they are for."""

from dataclasses import replace

import numpy as np
import pytest
from graph_strategies import functions, some_arrays
from hypothesis import given
from hypothesis import strategies as st
from strategies import profile
from test_lower import planned
from test_plan import alike

from tensoriter.graph.lower import lower
from tensoriter.graph.passes import fuse, reuse_buffers
from tensoriter.graph.plan import RESULT, TEMPORARY
from tensoriter.graph.trace import trace

X = np.linspace(-1, 1, 3000)
Y = np.linspace(1, 2, 3000)


def kinds(graph):
    return [node.kind for node in graph if node.kind not in ("input", "constant", "item")]


def fused(function, *args):
    return fuse(trace(function, args).graph)


@pytest.mark.parametrize("chosen", [[fuse], [reuse_buffers], [fuse, reuse_buffers]], ids=str)
@profile(100)
@given(st.data())
def test_passes_change_no_bit(chosen, data):
    function, args = data.draw(functions(most=10)), some_arrays(data.draw)
    args = [np.resize(x, 1500) if getattr(x, "size", 0) == 70 else x for x in args]
    with np.errstate(all="ignore"):
        try:
            trace(function, args)
            plain = planned(function, args, [])
        except Exception:
            return
        alike(planned(function, args, chosen), plain)


class TestWhatIsFused:
    def test_a_chain_is_one_run(self):
        graph = fused(lambda x, y: np.where(x > 0, (2 * x + y) * y, np.sqrt(y)).astype("f4"), X, Y)
        assert kinds(graph) == ["fused"]

    def test_what_shares_an_input_is_one_run(self):
        assert kinds(fused(lambda x, y: (x + 1, x * 2, y - x), X, Y)) == ["fused"]

    def test_strangers_are_not(self):
        assert kinds(fused(lambda x, y: (x + 1, y * 2), X, Y)) == ["ufunc", "ufunc"]

    def test_other_shapes_are_not(self):
        assert kinds(fused(lambda x, y: x[:, None] * 2 + y * 2, X[:5], Y[:5])) == [
            "view",
            "ufunc",
            "ufunc",
            "ufunc",
        ]

    def test_a_single_value_takes_part(self):
        assert kinds(fused(lambda x, y: (x + y) * y, X, np.float64(2))) == ["fused"]

    def test_no_run_needs_itself(self):
        """The sum stands between what would be one run."""

        def function(x, y):
            z = x + y
            return (z - z.sum()) * x

        graph = fused(function, X, Y)
        assert kinds(graph) == ["ufunc", "reduce", "fused"]
        alike(planned(function, (X, Y), [fuse]), [function(X, Y)])

    @pytest.mark.parametrize("seed", range(30))
    def test_crossing_chains(self, seed):
        """Sums and element-wise nodes in any order: runs never wait for one another."""
        choice = np.random.default_rng(seed)
        plan = [(choice.integers(0, 100), choice.integers(0, 100), choice.random() < 0.3) for _ in range(25)]

        def function(x, y):
            values = [x, y]
            for first, second, reduces in plan:
                a, b = values[first % len(values)], values[second % len(values)]
                values.append(a.mean() * b if reduces else 0.5 * (a + b))
            return values[-3:]

        alike(planned(function, (X, Y), [fuse, reuse_buffers]), function(X, Y))

    def test_a_run_has_an_end(self):
        def function(x):
            for k in range(400):
                x = x * 0.5 + k
            return x

        graph = fused(function, X)
        assert kinds(graph).count("fused") > 1
        alike(planned(function, (X,), [fuse, reuse_buffers]), [function(X)])

    def test_handles_of_all_are_kept(self):
        graph = trace(lambda x, y: (x + y) * x, (X, Y)).graph
        handles = [handle for node in graph for handle in node.handles if node.kind == "ufunc"]
        assert fuse(graph).outputs[0].handles == tuple(handles)

    def test_passes_leave_their_graph_alone(self):
        graph = trace(lambda x, y: (x + y) * x - y, (X, Y)).graph
        before = str(graph)
        reuse_buffers(fuse(graph))
        assert str(graph) == before


class TestRuns:
    def test_temporaries_are_one_block(self):
        x, y = np.ones(100_000), np.ones(100_000)
        plan = lower(fused(lambda x, y: ((x + y) * 2 - x / y) * y + 1, x, y), [x, y])
        assert [one.kind for one in plan.instructions] == ["run"]
        assert plan.arena_bytes < 100_000
        assert [buffer.kind for buffer in plan.buffers].count(RESULT) == 1

    @pytest.mark.parametrize("n", [2, 63, 64, 65, 1023, 1024, 1025, 2048, 5000])
    def test_lengths(self, n):
        def function(x, y):
            z = x * y
            return np.sqrt(z * z) + x, z > x, np.where(z > x, z, 1.0)

        alike(
            planned(function, (X.repeat(2)[:n], Y.repeat(2)[:n])),
            list(function(X.repeat(2)[:n], Y.repeat(2)[:n])),
        )

    def test_order_f_is_run_too(self):
        x = np.asfortranarray(X.reshape(50, 60))
        plan = lower(fused(lambda x: (x + 1) * x, x), [x])
        assert plan.instructions[0].kind == "run"
        alike(plan.run([x]), [(x + 1) * x])

    def test_mixed_orders_are_not(self):
        x, y = X.reshape(50, 60), np.asfortranarray(Y.reshape(50, 60))
        plan = lower(fused(lambda x, y: (x + y) * x, x, y), [x, y])
        assert [one.kind for one in plan.instructions] == ["loop", "loop"]
        alike(plan.run([x, y]), [(x + y) * x])

    def test_casts_happen_in_the_block(self):
        x, y = np.arange(5000, dtype="i4"), np.ones(5000)
        plan = lower(fused(lambda x, y: (x + y) * x, x, y), [x, y])
        assert [one.op for one in plan.instructions[0].body].count("cast") in (1, 2)
        alike(plan.run([x, y]), [(x + y) * x])

    def test_results_that_exceed_the_cache_are_streamed(self):
        x = np.arange(3_000_000.0)
        plan = lower(fused(lambda x: ((x + 1) * 2, x - 1), x), [x])
        assert [one.op for one in plan.instructions[0].body].count("stream") == 2
        alike(plan.run([x]), [(x + 1) * 2, x - 1])
        out = np.zeros(3_000_003)[3:]
        alike(plan.run([x], [None, out])[1], x - 1)


class TestReuse:
    def places(self, function, *args):
        plan = lower(reuse_buffers(trace(function, args).graph), args)
        return plan, [one.places for one in plan.instructions]

    def test_a_chain_needs_one_buffer(self):
        plan, _ = self.places(lambda x: ((x + 1) * 2 - 3) / 4, X)
        assert [buffer.kind for buffer in plan.buffers].count(TEMPORARY) == 0
        alike(plan.run([X]), [((X + 1) * 2 - 3) / 4])

    def test_what_is_needed_later_is_not_written_over(self):
        def function(x):
            a = x + 1
            b = a * 2
            c = a[::-1]
            return b + c, a

        plan, _ = self.places(function, X)
        alike(plan.run([X]), list(function(X)))

    def test_loops_of_numpys_keep_their_inputs(self):
        _, places = self.places(lambda x: np.fmax(np.exp(x + 1), 0.5), X)
        for *inputs, output in places:
            assert output.buffer not in [place.buffer for place in inputs]

    def test_a_plan_that_a_later_pass_has_outdated_is_not_followed(self):
        graph = reuse_buffers(trace(lambda x: (x + 1) * 2, (X,)).graph)
        planned_over = [node for node in graph if "over" in node.attributes]
        assert len(planned_over) == 1
        graph = replace(graph, outputs=[*graph.outputs, planned_over[0].inputs[0]])
        alike(lower(graph, [X]).run([X]), [(X + 1) * 2, X + 1])
