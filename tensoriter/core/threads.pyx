"""Threads: how many compute, and how work is handed to them.

One by default, as in NumPy. More are OpenMP's; they start when the first large enough operation is
computed with them, sleep while there is nothing to do, and never touch a Python object.
"""
import os
import warnings
from importlib import import_module
from operator import index
from time import perf_counter_ns

cdef extern from "threads.h":
    int get_block_limit() noexcept nogil
    void set_block_limit(int) noexcept nogil
    bint is_forked() noexcept nogil
    void watch_forks()
    # This thread's, by the power of 2 of the size.
    Experience* experience_with(npy_intp size) noexcept nogil

cdef enum:
    MOST_THREADS = 1024     # more are a mistake
    LOSSES_TO_REST = 4
    FIRST_REST = 16         # pieces of work
    MOST_RESTS = 4          # so that the longest are 256
    # Turns of an empty loop that a thread waits before it sleeps, about 10 microseconds.
    SPIN_COUNT = 3000

cdef part_runner run_parts = NULL
cdef task_runner run_tasks = NULL
cdef int process_limit = 1
cdef bint limit_chosen = False  # by set_num_threads or the environment
cdef int cpus = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1

watch_forks()


cdef void set_runners(part_runner parts, task_runner tasks) noexcept:
    global run_parts, run_tasks
    run_parts = parts
    run_tasks = tasks


cdef inline int limit() noexcept nogil:
    cdef int own = get_block_limit()
    if is_forked() or run_parts is NULL:
        return 1
    return own if own > 0 else process_limit


cdef inline int task_limit() noexcept nogil:
    """For tasks side by side, which are asked for by themselves: all CPUs unless a number was chosen."""
    if get_block_limit() > 0 or limit_chosen or is_forked() or run_tasks is NULL:
        return limit()
    return cpus


cdef int parts_for(npy_intp size, int item_size) noexcept nogil:
    """How many threads that many elements are worth."""
    cdef npy_intp most = min(size // GRAIN, size * item_size // GRAIN_BYTES)
    return <int>max(1, min(most, <npy_intp>limit()))


cdef void run_side_by_side(int parts, npy_intp size, part_function function, void* context) noexcept nogil:
    """Runs equal parts of work of that size."""
    learn(experience_with(size), run_parts(parts, function, context))


cdef void run_tasks_side_by_side(Experience* experience, int tasks, part_function function,
                                 void* context) noexcept nogil:
    """Runs tasks of unlike length on the threads that there are; in their order on this one where threads do
    not pay. No task finds threads to share its own work with."""
    cdef int task, threads = min(task_limit(), tasks), before = get_block_limit()
    set_block_limit(1)
    if threads > 1 and not rests(experience):
        learn(experience, run_tasks(threads, tasks, function, context))
    else:
        for task in range(tasks):
            function(task, True, context)
    set_block_limit(before)


cdef void learn(Experience* experience, bint paid) noexcept nogil:
    """Where threads did not pay several times in a row, work of this kind rests, twice as long each time;
    fewer tell nothing, since a thread that slept has first to be woken, and to be given a core."""
    if paid:
        experience.losses = 0
        experience.rests = max(experience.rests - 1, 0)
        return
    experience.losses += 1
    if experience.losses == LOSSES_TO_REST:
        experience.losses = 0
        experience.rest = FIRST_REST << experience.rests
        experience.rests = min(experience.rests + 1, MOST_RESTS)


cdef bint is_resting(npy_intp size) noexcept nogil:
    """Whether work of this size is left to one thread for the time being."""
    return rests(experience_with(size))


cdef bint rests(Experience* experience) noexcept nogil:
    """Whether this piece of work is to be left to one thread."""
    if experience.rest == 0:
        return False
    experience.rest -= 1
    return True


# ---------------------------------------------------------------- for Python

def num_threads():
    """The number of threads that an operation on large arrays may use, called here and now.

    1 unless `set_num_threads`, a `threads` block or the environment's TENSORITER_NUM_THREADS says
    otherwise; 1 in a process that was forked, and in a build without OpenMP.
    """
    return limit()


def set_num_threads(n):
    """Lets operations on large arrays use up to n threads, in every Python thread of this process.

    Loops of tensoriter's own use them; those that an op has from its ufunc (such as exp's) stay on the
    calling thread. A thread gets at least about 32,768 elements (and 128 KiB of the result); smaller
    operations stay on the calling thread, and so do, for a while, those that threads did not make faster.
    Results are the same bits whatever the number. Raises TypeError unless n is an
    integer, ValueError unless 1 <= n <= 1024; warns (RuntimeWarning) where there is one thread only: in a
    forked process, whose threads stayed behind, and in a build without OpenMP.

    >>> import tensoriter
    >>> tensoriter.set_num_threads(1)
    >>> tensoriter.num_threads()
    1
    """
    global process_limit, limit_chosen
    process_limit = checked_number(n)
    limit_chosen = True


class threads:
    """with threads(n): operations of this Python thread may use up to n threads within the block.

    Blocks nest, and what was before comes back at the end. Errors and warnings as of `set_num_threads`.

    >>> import tensoriter
    >>> with tensoriter.threads(1):
    ...     tensoriter.num_threads()
    1
    """

    def __init__(self, n):
        self.n = checked_number(n)
        self._before = []

    def __enter__(self):
        self._before.append(get_block_limit())
        set_block_limit(self.n)
        return self

    def __exit__(self, *exception):
        set_block_limit(self._before.pop())

    def __repr__(self):
        return f"threads({self.n})"


def task_threads():
    """The number of threads that a plan's parallel ops may use, called here and now: as `num_threads` where
    that was set, and otherwise as many as there are CPUs for this process. OpenMP is loaded."""
    load_openmp()
    return task_limit()


def region_nanoseconds(int threads):
    """What it takes to have that many threads do nothing, with OpenMP loaded: the best of a few."""
    times = []
    for _ in range(15):
        start = perf_counter_ns()
        run_tasks(threads, threads, do_nothing, NULL)
        times.append(perf_counter_ns() - start)
    return min(times)


cdef void do_nothing(int task, bint is_caller, void* context) noexcept nogil:
    pass


def checked_number(n):
    """n as an int, OpenMP being loaded where it takes more than one thread."""
    try:
        n = index(n)
    except TypeError:
        raise TypeError(f"the number of threads is an integer, not {n!r}") from None
    if not 1 <= n <= MOST_THREADS:
        raise ValueError(f"the number of threads lies between 1 and {MOST_THREADS}, and {n} does not")
    if n > 1 and is_forked():
        warnings.warn("a forked process computes on one thread: its parent's threads stayed behind",
                      RuntimeWarning, stacklevel=3)
    elif n > 1 and not load_openmp():
        warnings.warn("this build of tensoriter has no OpenMP: it computes on one thread", RuntimeWarning,
                      stacklevel=3)
    return n


def load_openmp():
    """Whether OpenMP is there, and then it is loaded.

    GNU's library lets waiting threads spin for milliseconds, which takes the processor from whoever needs
    it. It reads how long from the environment while it is loaded, so that is where it is told, unless the
    user has; afterwards the environment is as it was. (Where something else has loaded the library before,
    that one's setting holds.)
    """
    if run_parts is not NULL:
        return True
    own = not {"OMP_WAIT_POLICY", "GOMP_SPINCOUNT"} & os.environ.keys()
    if own:
        os.environ["GOMP_SPINCOUNT"] = str(SPIN_COUNT)
    try:
        import_module("tensoriter.core.openmp")
    except ImportError:
        return False
    finally:
        if own:
            del os.environ["GOMP_SPINCOUNT"]
    return run_parts is not NULL


def _obey_environment():
    """Obeys TENSORITER_NUM_THREADS: what is not a number is an error, not a silent default."""
    global process_limit, limit_chosen
    given = os.environ.get("TENSORITER_NUM_THREADS")
    if not given:
        return
    if not given.isdecimal() or not 1 <= int(given) <= MOST_THREADS:
        raise ImportError(f"TENSORITER_NUM_THREADS={given} is no number from 1 to {MOST_THREADS}")
    process_limit = int(given)
    limit_chosen = True
    if process_limit > 1:
        load_openmp()


_obey_environment()
