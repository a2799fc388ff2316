"""The free list at work: random walks, threads, other allocators, want of memory, the exit."""

import contextvars
import ctypes
import gc
import itertools
import os
import subprocess
import sys
import threading

import numpy as np
import pytest
from numpy._core import _multiarray_umath
from numpy._core.multiarray import get_handler_name

import tensoriter
from tensoriter import free_list

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.usefixtures("fresh_list"),
]


# --------------------------------------------------------------------------- nothing shared

SHAPES = [(1,), (10,), (40,), (40, 1), (10, 1), (5, 8), (8, 5), (2, 1, 5), (2, 5, 2, 2), (1, 1, 1, 1)]


def changed(array, rng):
    """The array, now and then changed in place as a program might."""
    way = rng.integers(12)
    if way == 0:
        array.flags.writeable = bool(rng.integers(2))
    elif way == 1 and array.flags.c_contiguous:
        array.shape = (array.size, 1)
    elif way == 2 and array.dtype.itemsize == 4:
        array.dtype = "i4"
    elif way == 3:
        array.resize(int(rng.integers(1, 50)), refcheck=False)
    elif way == 4:
        memoryview(array).release()
    elif way == 5:
        array.strides = tuple(0 if n == 1 else s for n, s in zip(array.shape, array.strides, strict=True))
    return array


def born(rng):
    """A new array of a random kind, by ours or by NumPy."""
    operand = np.ones(SHAPES[rng.integers(len(SHAPES))], "fdh"[rng.integers(3)], "CF"[rng.integers(2)])
    if rng.integers(4) == 0:
        return operand
    return tensoriter.add(operand, [operand, 1][rng.integers(2)])


def stamp(array, mark):
    """Fill with a pattern that only this array has."""
    writeable = array.flags.writeable
    array.flags.writeable = True
    array.view("u1" if array.flags.c_contiguous else array.dtype)[...] = mark % 100 + 1
    array.flags.writeable = writeable
    return array, array.tobytes()


def assert_apart(arrays):
    spans = sorted((a.ctypes.data, a.ctypes.data + a.nbytes, id(a)) for a in arrays)
    for (_, end, _), (start, _, _) in itertools.pairwise(spans):
        assert end <= start
    assert len({identity for *_, identity in spans}) == len(spans)


@pytest.mark.parametrize("seed", range(6))
def test_random_walk(seed):
    """Births, deaths and changes in any order: no two living arrays ever share memory."""
    rng, alive, hits = np.random.default_rng(seed), [], free_list.info()["hits"]
    for step in range(1500):
        if rng.integers(100) < 55 and len(alive) < 150:
            alive.append(stamp(changed(born(rng), rng), step))
        elif alive:
            array, bytes_then = alive.pop(rng.integers(len(alive)))
            assert array.tobytes() == bytes_then
            del array
        if step % 50 == 0:
            assert_apart([array for array, _ in alive])
            assert all(array.tobytes() == bytes_then for array, bytes_then in alive)
        if rng.integers(200) == 0:
            [free_list.clear, free_list.limit, gc.collect][rng.integers(3)]()
        if rng.integers(200) == 0:
            free_list.limit(entries=int(rng.integers(100)), bytes=int(rng.integers(100_000)))
    assert all(array.tobytes() == bytes_then for array, bytes_then in alive)
    assert free_list.info()["hits"] > hits + 20


def test_threads():
    """Several threads that add, stamp, hand over and drop, on either side of the size from which
    the interpreter is released."""
    errors, hand_over, interval = [], [], sys.getswitchinterval()

    def work(mark):
        rng, mine = np.random.default_rng(mark), []
        try:
            for _ in range(400):
                n = [10, 100, 20_000][rng.integers(3)]
                result = tensoriter.add(np.full(n, mark, "f4"), np.full(n, mark, "f4"))
                assert (result == 2 * mark).all()
                mine.append(result)
                if len(mine) > 6:
                    hand_over.append(mine.pop(0))
                if len(hand_over) > 8:
                    assert len(set(hand_over.pop().tolist())) == 1
                assert all((array == 2 * mark).all() for array in mine[-2:])
        except Exception as error:
            errors.append(error)

    sys.setswitchinterval(1e-5)
    try:
        threads = [threading.Thread(target=work, args=(mark,)) for mark in range(1, 6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert not errors


# ------------------------------------------------------------------- other allocators (NEP 49)

class Handler(ctypes.Structure):
    """PyDataMem_Handler of numpy/ndarraytypes.h: name, version, then the allocator."""

    _fields_ = [("name", ctypes.c_char * 127), ("version", ctypes.c_uint8),
                *[(name, ctypes.c_void_p) for name in ("ctx", "malloc", "calloc", "realloc", "free")]]


class Allocator:
    """An allocator that counts, made of Python functions over Python's own raw memory."""

    def __init__(self, name):
        self.living, self.count, self.broken = {}, 0, False
        size, pointer = ctypes.c_size_t, ctypes.c_void_p
        functions = {
            "malloc": ctypes.CFUNCTYPE(pointer, pointer, size)(lambda ctx, n: self.new(n)),
            "calloc": ctypes.CFUNCTYPE(pointer, pointer, size, size)(lambda ctx, n, m: self.new(n * m)),
            "realloc": ctypes.CFUNCTYPE(pointer, pointer, pointer, size)(self.renew),
            "free": ctypes.CFUNCTYPE(None, pointer, pointer, size)(lambda ctx, p, n: self.delete(p)),
        }
        self.functions = functions
        self.handler = Handler(name.encode(), 1, None, *[ctypes.cast(f, pointer) for f in functions.values()])
        new_capsule = ctypes.pythonapi.PyCapsule_New
        new_capsule.restype, new_capsule.argtypes = ctypes.py_object, [pointer, ctypes.c_char_p, pointer]
        self.capsule = new_capsule(ctypes.addressof(self.handler), b"mem_handler", None)

    def new(self, n):
        if self.broken:
            return None
        buffer = ctypes.create_string_buffer(n)
        self.count += 1
        self.living[ctypes.addressof(buffer)] = buffer
        return ctypes.addressof(buffer)

    def renew(self, ctx, old, n):
        address = self.new(n)
        ctypes.memmove(address, old, min(n, len(self.living[old])))
        del self.living[old]
        return address

    def delete(self, address):
        del self.living[address]

    def __enter__(self):
        self.before = set_handler(self.capsule)
        return self

    def __exit__(self, *exception):
        set_handler(self.before)


def set_handler(capsule):
    """PyDataMem_SetHandler, entry 304 of NumPy's table of functions: returns the one before."""
    get_pointer = ctypes.pythonapi.PyCapsule_GetPointer
    get_pointer.restype, get_pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    table = ctypes.cast(get_pointer(_multiarray_umath._ARRAY_API, None), ctypes.POINTER(ctypes.c_void_p))
    function = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.py_object)(table[304])
    return function(capsule)


# Never given back: an array of theirs may live as long as the process.
COUNTING, FAILING = Allocator("counting"), Allocator("failing")


def wanted(n=100):
    """An operand whose kind the list wants, and holds one of."""
    operand = np.ones(n)
    for _ in range(3):
        tensoriter.add(operand, operand)
    assert free_list.info()["entries"] == 1
    return operand


class TestAllocators:
    def test_results_come_from_the_one_in_force(self):
        operand = wanted()
        tensoriter.add(operand[::2], operand[::2])  # for the first time, NumPy is asked for the loop
        with COUNTING:
            count, hits = COUNTING.count, free_list.info()["hits"]
            results = [tensoriter.add(operand, operand), tensoriter.add(operand, 1),
                       tensoriter.add(operand[::2], operand[::2])]  # fmt: skip
            assert COUNTING.count == count + 3
            assert free_list.info()["hits"] == hits
        assert [get_handler_name(result) for result in results] == ["counting"] * 3
        assert all((result == 2).all() for result in results)
        assert get_handler_name(tensoriter.add(operand, operand)) == "default_allocator"

    def test_its_arrays_do_not_enter_the_list(self):
        operand = wanted()
        free_list.clear()
        with COUNTING:
            inside = tensoriter.add(operand, operand)
            del inside
            assert free_list.info()["entries"] == 0
            outlives = tensoriter.add(operand, operand)
        living = len(COUNTING.living)
        del outlives
        assert free_list.info()["entries"] == 0
        assert len(COUNTING.living) == living - 1

    def test_a_kind_first_wanted_under_it(self):
        operand = np.ones(77)
        with COUNTING:
            for _ in range(3):
                assert get_handler_name(tensoriter.add(operand, operand)) == "counting"
        assert free_list.info()["entries"] == 0
        assert get_handler_name(tensoriter.add(operand, operand)) == "default_allocator"

    def test_default_arrays_that_die_under_it(self):
        operand = wanted()
        result = tensoriter.add(operand, operand)
        with COUNTING:
            del result
            assert get_handler_name(tensoriter.add(operand, operand)) == "counting"
        assert get_handler_name(tensoriter.add(operand, operand)) == "default_allocator"

    def test_out_keeps_its_own(self):
        operand, out = wanted(), np.zeros(100)
        with COUNTING:
            assert tensoriter.add(operand, operand, out=out) is out
        assert get_handler_name(out) == "default_allocator"

    def test_other_contexts(self):
        operand = wanted()

        def inside():
            set_handler(COUNTING.capsule)
            return tensoriter.add(operand, operand)

        result = contextvars.copy_context().run(inside)
        assert get_handler_name(result) == "counting"
        assert get_handler_name(tensoriter.add(operand, operand)) == "default_allocator"
        del result
        assert get_handler_name(tensoriter.add(operand, operand)) == "default_allocator"
        with COUNTING:
            empty = contextvars.Context().run(tensoriter.add, operand, operand)
        assert get_handler_name(empty) == "default_allocator"

    def test_other_threads(self):
        """One thread's allocator is not another's, whichever of them wants or drops first."""
        operand, names, turn = wanted(), [], threading.Barrier(2)

        def work(custom):
            if custom:
                set_handler(COUNTING.capsule)
            for _ in range(20):
                turn.wait()
                names.append((custom, get_handler_name(tensoriter.add(operand, operand))))

        threads = [threading.Thread(target=work, args=(custom,)) for custom in (True, False)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert set(names) == {(True, "counting"), (False, "default_allocator")}

    def test_want_of_memory_empties_the_list(self):
        operand = wanted()
        with FAILING:
            FAILING.broken = True
            with pytest.raises(MemoryError):
                tensoriter.add(operand, operand)
            FAILING.broken = False
            assert free_list.info()["entries"] == 0
            assert (tensoriter.add(operand, operand) == 2).all()

    def test_want_of_memory_for_a_broadcast_empties_the_list(self):
        wanted()
        endless = np.broadcast_to(np.ones(1), 2**50)
        with pytest.raises(MemoryError):
            tensoriter.add(endless, endless)
        assert free_list.info()["entries"] == 0


# ------------------------------------------------------------------ processes of their own

def run_script(script, *options, **environment):
    command = [sys.executable, *options, "-c", script]
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", **environment}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


PREPARED = """
import atexit, gc, os, sys, threading, weakref
import numpy as np
atexit.register(lambda: use(3))
from tensoriter import add, free_list
X, BIG = np.arange(100.0), np.ones((300, 300))
def use(times):
    for _ in range(times):
        assert (add(X, X) == 2 * X).all() and add(BIG, BIG)[0, 0] == 2
use(5)
assert free_list.info()["entries"] and free_list.info()["large_entries"]
"""

AT_EXIT = {
    "globals": "A = add(X, X); B = [add(X, X) for _ in range(50)]; sys.KEPT = add(BIG, BIG)",
    "views": "V = add(BIG, BIG)[::2]; W = memoryview(add(X, X)); sys.KEPT = add(X, X)[1:]",
    "weak references": "A = add(X, X); R = weakref.ref(A, lambda r: use(2)); weakref.finalize(A, use, 2)",
    "atexit": "atexit.register(use, 3); atexit.register(free_list.clear); atexit.register(free_list.limit)",
    "finalizers": """
class Late:
    def __init__(self): self.me, self.array, self.add, self.x = self, add(X, X), add, X
    def __del__(self): self.array = self.add(self.x, self.x); self.add(self.x, self.x)
late = Late(); sys.late = Late(); threading.late = Late(); free_list_late = Late(); late.other = sys.late""",
    "threads": """
ready = threading.Event()
def work():
    kept = []
    while True:
        kept = [add(X, X), add(BIG, BIG)]
        ready.set()
threads = [threading.Thread(target=work, daemon=True) for _ in range(3)]
[thread.start() for thread in threads]; ready.wait()""",
    "a thread that outlives": """
import time
def work():
    local = threading.local(); local.array = add(X, X)
    time.sleep(0.05); use(5)
threading.Thread(target=work).start()""",
    "fork": """
sys.stdout.flush(); child = os.fork(); use(5)
if child: assert os.waitpid(child, 0)[1] == 0""",
    "switched off": "free_list.enabled = False; use(3); free_list.enabled = True; use(3)",
    "SystemExit": "A = add(X, X); sys.exit(0)",
}


@pytest.mark.parametrize("name", AT_EXIT)
def test_exit(name):
    run_script(PREPARED + AT_EXIT[name], "-X", "dev", "-W", "ignore::DeprecationWarning")


@pytest.mark.parametrize("name", ["globals", "finalizers", "threads"])
@pytest.mark.parametrize("allocator", ["default", "debug", "malloc"])
def test_exit_with_other_allocators(name, allocator):
    run_script(PREPARED + AT_EXIT[name], PYTHONMALLOC=allocator)


def test_environment_switches_it_off():
    script = """
import numpy as np, tensoriter
from tensoriter import free_list
x = np.ones(100)
for _ in range(5): assert (tensoriter.add(x, x) == 2).all()
print(free_list.enabled, free_list.info()["hits"], free_list.info()["entries"])
"""
    assert run_script(script, TENSORITER_FREE_LIST="0") == "False 0 0\n"
    assert run_script(script, TENSORITER_FREE_LIST="1") == "True 4 1\n"


def test_memory_runs_out():
    """What is held is given up before a call fails for want of memory."""
    script = """
import resource
import numpy as np
from tensoriter import add, free_list
small, large = np.ones(100), np.ones(5 << 20)
add(small, small); add(large, large)
info = free_list.info()
assert info["entries"] == 1 and info["large_bytes"] == 40 << 20
other = np.ones((5 << 20) - 1)      # 40 MiB are needed, and 20 there unless something is given up
in_use = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (in_use + (20 << 20), resource.RLIM_INFINITY))
result = add(other, other)
assert (result == 2).all()
assert free_list.info()["entries"] == free_list.info()["large_entries"] == 0
try:
    more = add(large, large)
except MemoryError:
    print("refused")
"""
    assert run_script(script) == "refused\n"


def test_resident_memory_is_bounded():
    script = """
import resource
import numpy as np
from tensoriter import add, free_list
free_list.limit(large_bytes=16 << 20)
def resident(): return int(open("/proc/self/statm").read().split()[1]) * resource.getpagesize()
def work():
    for n in [*range(1, 3000, 7), *range(100_000, 400_000, 10_007)]:
        x = np.ones(n)
        kept = [add(x, x) for _ in range(4)]
work()
before = resident()
for _ in range(3): work()
info, bounds = free_list.info(), free_list.limit()
print(resident() - before)
"""
    assert int(run_script(script)) < (20 << 20) + (4 << 20)
