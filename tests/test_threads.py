"""Threads: asked for, shared out, forgotten after a fork; and NumPy's answer whatever their number."""

import os
import subprocess
import sys
import threading
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
import pytest
from layouts import NUMERIC, WIDEST, filled, laid_out, swapped
from oracle import compare

import tensoriter
from tensoriter import num_threads, set_num_threads, threads

add = partial(compare, tensoriter.add, np.add)

N = 200_003     # six grains


@pytest.fixture(autouse=True)
def one_thread_afterwards():
    yield
    set_num_threads(1)


def in_a_process(program, **environment):
    """What a program prints in an interpreter of its own, which may not hang."""
    done = subprocess.run([sys.executable, "-W", "error", "-c", program], env={**os.environ, **environment},
                          capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


class TestNumber:
    def test_one_by_default(self):
        assert in_a_process("import tensoriter; print(tensoriter.num_threads())") == ["1"]

    def test_set_and_read(self):
        for n in (1, 2, 3, np.int64(4)):
            set_num_threads(n)
            assert num_threads() == n
            assert type(num_threads()) is int

    @pytest.mark.parametrize("bad", [0, -1, 1025, 10**30])
    def test_out_of_range(self, bad):
        for function in (set_num_threads, threads):
            with pytest.raises(ValueError, match="between 1 and 1024"):
                function(bad)
        assert num_threads() == 1

    @pytest.mark.parametrize("bad", [1.5, 2.0, "2", None, [2]])
    def test_no_integer(self, bad):
        for function in (set_num_threads, threads):
            with pytest.raises(TypeError, match="integer"):
                function(bad)

    def test_a_block_ends_as_it_began(self):
        set_num_threads(2)
        block = threads(3)
        with block:
            assert num_threads() == 3
            with threads(1), block:
                assert num_threads() == 3
            set_num_threads(5)
            assert num_threads() == 3
        assert num_threads() == 5
        with pytest.raises(KeyError), threads(4):
            raise KeyError
        assert num_threads() == 5

    def test_a_block_is_its_threads_own(self):
        with threads(3), ThreadPoolExecutor(1) as other:
            assert other.submit(num_threads).result() == 1
        set_num_threads(2)
        with ThreadPoolExecutor(1) as other:
            assert other.submit(num_threads).result() == 2

    def test_from_the_environment(self):
        program = "import tensoriter; print(tensoriter.num_threads(), tensoriter.info()['threads'])"
        assert in_a_process(program, TENSORITER_NUM_THREADS="3") == ["3", "3"]
        assert in_a_process(program, TENSORITER_NUM_THREADS="") == ["1", "1"]

    @pytest.mark.parametrize("bad", ["0", "two", "-1", "1.5", "4096"])
    def test_nonsense_in_the_environment(self, bad):
        program = ("try:\n    import tensoriter\nexcept ImportError as error:\n"
                   "    print('TENSORITER_NUM_THREADS' in str(error))")
        assert in_a_process(program, TENSORITER_NUM_THREADS=bad) == ["True"]

    def test_the_environment_is_left_alone(self):
        program = ("import os, tensoriter; before = dict(os.environ); tensoriter.set_num_threads(2);"
                   "print(before == dict(os.environ))")
        assert in_a_process(program) == ["True"]

    def test_no_thread_starts_before_it_is_needed(self):
        program = ("import os, numpy as np, tensoriter; count = lambda: len(os.listdir('/proc/self/task'))\n"
                   "before = count(); tensoriter.set_num_threads(2); x = np.ones(1 << 20)\n"
                   "tensoriter.add(x[:60000], x[:60000]); print(count() - before)\n"
                   "tensoriter.add(x, x); print(count() - before)")
        if sys.platform == "linux":
            assert in_a_process(program, OPENBLAS_NUM_THREADS="1") == ["0", "1"]


class TestAnswers:
    @pytest.mark.parametrize("count", [2, 3, 5, 64])
    def test_sizes_round_the_grain(self, count):
        with threads(count):
            for n in (32768, 65535, 65536, 65537, 98304, N):
                x = filled(n, "d", seed=n)
                add(x, x[::-1])

    @pytest.mark.parametrize("code", [*NUMERIC, *WIDEST])
    def test_dtypes_and_layouts(self, code):
        x, y = filled(N, code), filled(N, code, seed=1)
        with threads(3):
            add(x, y)
            add(x, y, out=y)
            add(x, y[7])
            add(laid_out(x, steps=[2]), laid_out(y, steps=[-1]))
            add(x.astype(swapped(code)), y)
            add(x, y, out=laid_out(np.zeros_like(x), offset=1))
            add(x, y, out=np.zeros_like(x), where=filled(N, "?"))

    @pytest.mark.parametrize(
        "shape", [(2, 100_000), (100_000, 2), (3, 7, 11, 1000), (500, 500), (70_000, 1, 3)])
    def test_shapes(self, shape):
        x, y = filled(shape, "f"), filled(shape, "d", seed=1)
        with threads(3):
            add(x, y)
            add(y, y[..., :1])
            add(y, y[:1])
            add(y, np.asfortranarray(y))
            add(x, np.asfortranarray(y), out=np.zeros(shape[::-1]).T)
            add(y, y, out=y[::-1])

    def test_bound(self):
        x, out = np.arange(N, dtype="d"), np.zeros(N)
        with threads(2):
            step = tensoriter.add.bind(np.abs(x), x, out=out)
            np.testing.assert_array_equal(step(), np.abs(x) + x)

    def test_alpha(self):
        x = np.arange(N, dtype="d")
        with threads(2):
            np.testing.assert_array_equal(tensoriter.add(x, x, alpha=3), 4 * x)

    def test_free_list_and_streams(self):
        n = 1_200_000
        x = np.arange(n, dtype="d")
        with threads(2):
            for _ in range(5):
                np.testing.assert_array_equal(tensoriter.add(x, x), 2 * x)


class TestFlags:
    """Whichever thread meets it, each kind of trouble is reported once."""

    @pytest.mark.parametrize("place", [0, N // 2, N - 1])
    @pytest.mark.parametrize(
        ("value", "other", "word"), [(1e308, 1e308, "overflow"), (np.inf, -np.inf, "invalid")])
    def test_found_in_any_part(self, place, value, other, word):
        x, y = np.ones(N), np.ones(N)
        x[place], y[place] = value, other
        with threads(2):
            for state in ("warn", "raise", "call", "ignore"):
                add(x, y, errstate={"all": state})
                add(x, y, errstate={"all": state}, out=np.zeros(N))
            with pytest.warns(RuntimeWarning, match=f"{word} .*encountered in add") as caught:
                tensoriter.add(x, y)
        assert len(caught) == 1

    def test_kinds_of_several_parts_are_merged(self):
        x, y = np.ones(N), np.ones(N)
        x[0] = y[0] = 1e308
        x[-1], y[-1] = np.inf, -np.inf
        with threads(2), warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            tensoriter.add(x, y)
        assert sorted(str(w.message).split()[0] for w in caught) == ["invalid", "overflow"]

    def test_none_is_left_over(self):
        x = np.full(N, 1e308)
        with threads(2):
            with np.errstate(all="ignore"):
                tensoriter.add(x, x)
            with np.errstate(all="raise"):
                for _ in range(20):
                    tensoriter.add(x, 1.0)

    def test_a_long_double_s(self):
        x = np.full(N, np.finfo("g").max)
        with threads(2):
            add(x, x, errstate={"all": "raise"})
            add(x, x, errstate={"all": "call"})


class TestBesideOtherThreads:
    def test_many_python_threads(self):
        """Each with a team of its own."""
        set_num_threads(2)
        x = np.arange(N, dtype="d")
        with ThreadPoolExecutor(8) as pool:
            results = list(pool.map(lambda k: tensoriter.add(x, float(k)), range(64)))
        for k, result in enumerate(results):
            np.testing.assert_array_equal(result, x + k)

    def test_the_interpreter_is_released(self):
        """While a large add runs, another Python thread gets on with its work."""
        x = np.ones(1 << 24)
        out = np.empty_like(x)
        for count in (1, 2):
            turns, done = [0], threading.Event()

            def turn(turns=turns, done=done):
                while not done.is_set():
                    turns[0] += 1
                    time.sleep(0)

            other = threading.Thread(target=turn)
            with threads(count):
                other.start()
                for _ in range(20):
                    tensoriter.add(x, x, out=out)
                done.set()
                other.join()
            assert turns[0] > 0


FORK = """
import os, sys, numpy as np, tensoriter, warnings
x = np.arange(200_000.0)
expected = x + x
{before}
child = os.fork()
if child == 0:
    right = all((tensoriter.add(x, x) == expected).all() for _ in range(3))
    alone = len(os.listdir("/proc/self/task")) == 1 if os.path.exists("/proc/self/task") else True
    {inside}
    os._exit(0 if right and alone and tensoriter.num_threads() == 1 else 1)
_, status = os.waitpid(child, 0)
print(os.waitstatus_to_exitcode(status), (tensoriter.add(x, x) == expected).all(), tensoriter.num_threads())
"""


class TestFork:
    """Call, fork, call in the child: it computes on one thread and never hangs."""

    def test_without_threads(self):
        assert in_a_process(FORK.format(before="tensoriter.add(x, x)", inside="")) == ["0", "True", "1"]

    def test_with_threads_set_but_not_used(self):
        before = "tensoriter.set_num_threads(2)"
        assert in_a_process(FORK.format(before=before, inside="")) == ["0", "True", "2"]

    def test_with_threads_used(self):
        before = "tensoriter.set_num_threads(2); tensoriter.add(x, x)"
        assert in_a_process(FORK.format(before=before, inside="")) == ["0", "True", "2"]

    def test_within_a_block(self):
        before = "block = tensoriter.threads(2); block.__enter__(); tensoriter.add(x, x)"
        assert in_a_process(FORK.format(before=before, inside="")) == ["0", "True", "2"]

    def test_asking_for_more_in_the_child(self):
        inside = """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        tensoriter.set_num_threads(2)
        with tensoriter.threads(3):
            right = right and (tensoriter.add(x, x) == expected).all()
    right = right and [w.category for w in caught] == [RuntimeWarning] * 2
    """
        for before in ("", "tensoriter.set_num_threads(2); tensoriter.add(x, x)"):
            assert in_a_process(FORK.format(before=before, inside=inside))[0] == "0"

    def test_while_other_threads_compute(self):
        before = """
import threading
tensoriter.set_num_threads(2)
stop = threading.Event()
def work():
    while not stop.is_set():
        tensoriter.add(x, x)
others = [threading.Thread(target=work) for _ in range(3)]
for other in others: other.start()
"""
        program = FORK.format(before=before, inside="") + "\nstop.set()\nfor other in others: other.join()\n"
        program = "import warnings\nwarnings.simplefilter('ignore', DeprecationWarning)\n" + program
        assert in_a_process(program) == ["0", "True", "2"]


if not hasattr(os, "fork"):     # nothing to be safe after
    del TestFork


def test_without_openmp():
    """A build without it works, on one thread, and says so when it is asked for more."""
    program = """
import sys, warnings
sys.modules["tensoriter.core.openmp"] = None    # as where it could not be built
import numpy as np, tensoriter
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    tensoriter.set_num_threads(2)
x = np.arange(200_000.0)
right = (tensoriter.add(x, x) == 2 * x).all()
print(tensoriter.num_threads(), len(caught), "OpenMP" in str(caught[0].message), right)
"""
    assert in_a_process(program) == ["1", "1", "True", "True"]
