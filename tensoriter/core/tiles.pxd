"""Tiles: how the walk over large or awkward operands is cut into pieces that stay in the caches."""
from libc.string cimport memcpy

from tensoriter.core.array_api cimport npy_intp
from tensoriter.core.dtypes cimport MAX_OPERANDS
from tensoriter.core.iterator cimport Iterator

cdef extern from "move.h":
    enum:
        CACHE_LINE
    ctypedef struct Blocks:
        long double native[MAX_OPERANDS][0]
        long double swapped[0]

cdef inline void call_loop(Iterator* it, char** pointers, npy_intp n, npy_intp* steps,
                           void* data) noexcept nogil:
    """One call of the loop. A borrowed one may move the pointers that it is given, as some of SciPy's do."""
    cdef char* here[MAX_OPERANDS]
    if it.loop.borrowed:
        memcpy(here, pointers, sizeof(here))
        pointers = here
    it.loop.function(pointers, &n, steps, data)

cdef void plan_tiles(Iterator* it) noexcept nogil
cdef void run_plane(Iterator* it, Blocks* blocks, char** pointers, void* data) noexcept nogil
cdef void run_tile(Iterator* it, Blocks* blocks, char** pointers, npy_intp n, npy_intp rows,
                   void* data) noexcept nogil
cdef void finish_tiles(Iterator* it) noexcept nogil
