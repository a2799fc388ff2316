"""Running a loop over all that an iterator describes: without Python, without allocating, without failing.

The innermost dimension goes to the loop in one piece where it can, in blocks where an operand has to be
cast, and in stretches where a mask is true.
"""
from libc.string cimport memchr, memcpy

from tensoriter.core.array_api cimport npy_intp, NPY_MAXDIMS
from tensoriter.core.dtypes cimport element_size, element_unit, MAX_OPERANDS
from tensoriter.core.iterator cimport Operand
from tensoriter.core.loops.table cimport copy_swapped, own_cast

cdef struct Blocks:
    npy_intp length         # elements in a block
    # Room for a block of each operand in the loop's type, and one of bytes in the wrong order: 8 KB
    # each on most CPUs, so that three such stay in L1. Long doubles give it the alignment of every loop.
    long double native[MAX_OPERANDS][512]
    long double swapped[512]


cdef void for_each(Iterator* it, void* data) noexcept nogil:
    """Runs it.loop over every element. All decisions have been taken, all memory is there."""
    cdef char* pointers[MAX_OPERANDS]
    cdef int k
    for k in range(it.count):
        pointers[k] = it.operands[k].data
    for_each_from(it, pointers, data)


cdef void for_each_from(Iterator* it, char** pointers, void* data) noexcept nogil:
    """The same from other first elements on, which are moved along; the iterator is only read."""
    cdef int k
    cdef bint buffered = False
    if it.size == 0:
        return
    for k in range(it.nin + it.nout):
        buffered |= it.operands[k].buffered
    if buffered:
        walk_buffered(it, pointers, data)
    elif it.masked or it.dims_count > 2:
        walk(it, NULL, pointers, data)
    else:
        walk_rows(it, pointers, data)


cdef void walk_rows(Iterator* it, char** pointers, void* data) noexcept nogil:
    """Up to two dimensions with nothing to cast: what most small operands come to."""
    cdef npy_intp steps[MAX_OPERANDS]
    cdef npy_intp n = it.dims[0], rows = 1
    cdef int k, count = it.nin + it.nout
    if it.dims_count == 2:
        rows = it.dims[1]
    for k in range(count):
        steps[k] = it.operands[k].steps[0]
    while True:
        call_loop(it, pointers, n, steps, data)
        rows -= 1
        if rows == 0:
            return
        for k in range(count):
            pointers[k] += it.operands[k].steps[1]


cdef inline void call_loop(Iterator* it, char** pointers, npy_intp n, npy_intp* steps,
                           void* data) noexcept nogil:
    """One call of the loop. A borrowed one may move the pointers that it is given, as some of SciPy's do."""
    cdef char* here[MAX_OPERANDS]
    if it.loop.borrowed:
        memcpy(here, pointers, sizeof(here))
        pointers = here
    it.loop.function(pointers, &n, steps, data)


cdef void walk_buffered(Iterator* it, char** pointers, void* data) noexcept nogil:
    cdef Blocks blocks      # on the stack: 72 KB, touched only as far as it is used
    cdef int k, widest = 1
    for k in range(it.nin + it.nout):
        widest = max(widest, element_size[it.operands[k].element])
        widest = max(widest, element_size[it.operands[k].loop_element])
    blocks.length = sizeof(blocks.swapped) // widest
    walk(it, &blocks, pointers, data)


cdef void walk(Iterator* it, Blocks* blocks, char** pointers, void* data) noexcept nogil:
    """Calls `run` for each run along the innermost dimension, stepping through the others as an odometer."""
    cdef npy_intp counters[NPY_MAXDIMS]
    cdef int k, d
    for d in range(it.dims_count):
        counters[d] = 0
    while True:
        if it.masked:
            run_masked(it, blocks, pointers, data)
        else:
            run(it, blocks, pointers, it.dims[0], data)
        d = 1
        while d < it.dims_count:
            counters[d] += 1
            if counters[d] < it.dims[d]:
                for k in range(it.count):
                    pointers[k] += it.operands[k].steps[d]
                break
            counters[d] = 0
            for k in range(it.count):
                pointers[k] -= it.operands[k].steps[d] * (it.dims[d] - 1)
            d += 1
        if d >= it.dims_count:
            return


cdef void run_masked(Iterator* it, Blocks* blocks, char** pointers, void* data) noexcept nogil:
    """Runs each stretch where the mask is true: what it hides is neither read nor written, raises no flag."""
    cdef npy_intp start = 0, end, n = it.dims[0]
    cdef int k, mask = it.nin + it.nout
    cdef npy_intp step = it.operands[mask].steps[0]
    cdef char* here[MAX_OPERANDS]
    while True:
        start = next_true(pointers[mask], step, start, n)
        if start == n:
            return
        end = next_false(pointers[mask], step, start, n)
        for k in range(mask):
            here[k] = pointers[k] + start * it.operands[k].steps[0]
        run(it, blocks, here, end - start, data)
        start = end


cdef inline npy_intp next_true(const char* mask, npy_intp step, npy_intp start, npy_intp n) noexcept nogil:
    """The first place from `start` on where the mask is true, n if there is none: eight at a time where
    they lie together."""
    cdef long long eight = 0
    if step == 0 and start < n and not mask[0]:
        return n
    while step == 1 and start + 8 <= n:
        memcpy(&eight, mask + start, 8)
        if eight != 0:
            break
        start += 8
    while start < n and not mask[start * step]:
        start += 1
    return start


cdef inline npy_intp next_false(const char* mask, npy_intp step, npy_intp start, npy_intp n) noexcept nogil:
    """The first place behind `start`, where the mask is true, at which it is false; n if there is none."""
    cdef const char* found
    if step == 0:
        return n
    if step == 1:
        found = <const char*>memchr(mask + start, 0, n - start)
        return n if found is NULL else found - mask
    while start < n and mask[start * step]:
        start += 1
    return start


cdef inline void run(Iterator* it, Blocks* blocks, char** pointers, npy_intp n, void* data) noexcept nogil:
    """n elements along the innermost dimension, from `pointers` on."""
    cdef npy_intp steps[MAX_OPERANDS]
    cdef int k
    if blocks is not NULL:
        run_blocks(it, blocks, pointers, n, data)
        return
    for k in range(it.nin + it.nout):
        steps[k] = it.operands[k].steps[0]
    call_loop(it, pointers, n, steps, data)


cdef void run_blocks(Iterator* it, Blocks* blocks, char** pointers, npy_intp n, void* data) noexcept nogil:
    cdef char* here[MAX_OPERANDS]
    cdef npy_intp steps[MAX_OPERANDS]
    cdef npy_intp start = 0, length
    cdef int k
    cdef Operand* operand
    while start < n:
        length = min(blocks.length, n - start)
        for k in range(it.nin + it.nout):
            operand = &it.operands[k]
            here[k] = pointers[k] + start * operand.steps[0]
            steps[k] = operand.steps[0]
            if operand.buffered:
                if k < it.nin:
                    steps[k] = fetch(operand, blocks, k, here[k], length)
                else:
                    steps[k] = element_size[operand.loop_element]
                here[k] = <char*>blocks.native[k]
        it.loop.function(here, &length, steps, data)
        for k in range(it.nin, it.nin + it.nout):
            if it.operands[k].buffered:
                store(&it.operands[k], blocks, k, pointers[k] + start * it.operands[k].steps[0], length)
        start += length


cdef npy_intp fetch(Operand* operand, Blocks* blocks, int k, char* source, npy_intp length) noexcept nogil:
    """Brings a block of an input into the loop's type; the step within it (0 for a constant)."""
    cdef npy_intp step = operand.steps[0]
    cdef npy_intp loop_size = element_size[operand.loop_element]
    cdef int size = element_size[operand.element]
    if step == 0:
        length = 1
        loop_size = 0
    if operand.swapped and operand.element == operand.loop_element:
        copy_swapped(source, step, <char*>blocks.native[k], size, length, size, element_unit[operand.element])
        return loop_size
    if operand.swapped:
        copy_swapped(source, step, <char*>blocks.swapped, size, length, size, element_unit[operand.element])
        source = <char*>blocks.swapped
        step = size
    own_cast(operand.element, operand.loop_element)(
        source, step, <char*>blocks.native[k], element_size[operand.loop_element], length)
    return loop_size


cdef void store(Operand* operand, Blocks* blocks, int k, char* target, npy_intp length) noexcept nogil:
    """Takes a block of the loop's results to an output of another type, byte order or alignment."""
    cdef int size = element_size[operand.element]
    cdef npy_intp step = operand.steps[0]
    cdef char* native = target
    if operand.swapped and operand.element == operand.loop_element:
        copy_swapped(<char*>blocks.native[k], size, target, step, length, size, element_unit[operand.element])
        return
    if operand.swapped:
        native = <char*>blocks.swapped
        step = size
    own_cast(operand.loop_element, operand.element)(
        <char*>blocks.native[k], element_size[operand.loop_element], native, step, length)
    if operand.swapped:
        copy_swapped(native, size, target, operand.steps[0], length, size, element_unit[operand.element])
