"""The one extension that the C loops are linked into, and the instruction set that it chose."""
import os

from tensoriter.core.array_api cimport npy_intp

cdef extern from "loops.h":
    ctypedef void (*swap_function)(const char*, npy_intp, char*, npy_intp, npy_intp, int, int) noexcept nogil
    ctypedef struct loop_entry:
        pass
    ctypedef struct instruction_set:
        const char* name
        const loop_entry* loops
        const loop_entry* checked_loops
        swap_function swap
    const instruction_set* choose_instruction_set(const char* limit) nogil
    const char* const* built_instruction_sets() nogil
    loop_function find_loop(const loop_entry*, const char* op, element_type) nogil

cdef extern from *:
    """
    static cast_function cast_of(const instruction_set *set, int source, int target)
    {
        return set->casts[source][target];
    }
    """
    cast_function cast_of(const instruction_set*, int, int) noexcept nogil


cdef const instruction_set* chosen = choose_instruction_set(NULL)


cdef loop_function own_loop(const char* op, int element) noexcept:
    """Our loop for this op and element type in the chosen instruction set, or NULL."""
    return find_loop(chosen.loops, op, <element_type>element)


cdef loop_function checked_loop(const char* op, int element) noexcept:
    """The same of the loops that note overflow; NULL where nothing can."""
    return find_loop(chosen.checked_loops, op, <element_type>element)


cdef cast_function own_cast(int source, int target) noexcept nogil:
    """The cast between two element types, or NULL where it is left to NumPy."""
    return cast_of(chosen, source, target)


cdef void copy_swapped(const char* source, npy_intp source_step, char* target, npy_intp target_step,
                       npy_intp n, int item_size, int unit_size) noexcept nogil:
    """Copies n elements with the byte order of each unit reversed."""
    chosen.swap(source, source_step, target, target_step, n, item_size, unit_size)


def instruction_sets():
    """(chosen, built): the instruction set in use, and all in this build, best first.

    >>> chosen, built = instruction_sets()
    >>> chosen in built and built[-1] == "baseline"
    True
    """
    names = built_instruction_sets()
    built = []
    cdef int i = 0
    while names[i] is not NULL:
        built.append(names[i].decode())
        i += 1
    return chosen.name.decode(), tuple(built)


def _choose():
    """Obeys TENSORITER_ISA, an upper limit: an unknown name is an error, not a silent default."""
    global chosen
    limit = os.environ.get("TENSORITER_ISA")
    if limit:
        _, built = instruction_sets()
        if limit not in built:
            raise ImportError(f"TENSORITER_ISA={limit} is none of {', '.join(built)}")
        encoded = limit.encode()
        chosen = choose_instruction_set(encoded)


_choose()
