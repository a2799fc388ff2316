"""Running a loop over all that an iterator describes: without Python, without allocating, without failing.

The innermost dimension goes to the loop in one piece where it can, tile by tile where `plan_tiles` says so,
and in stretches where a mask is true.
"""
from libc.string cimport memchr, memcpy

from tensoriter.core.array_api cimport npy_intp, NPY_MAXDIMS
from tensoriter.core.dtypes cimport element_size, MAX_OPERANDS
from tensoriter.core.fpstatus cimport fegetenv, fenv_t, fp_enter, fp_leave, fp_raise
from tensoriter.core.threads cimport GRAIN, is_resting, parts_for, run_side_by_side
from tensoriter.core.tiles cimport Blocks, call_loop, finish_tiles, run_plane, run_tile


cdef void for_each(Iterator* it, void* data) noexcept nogil:
    """Runs it.loop over every element. All decisions have been taken, all memory is there."""
    cdef char* pointers[MAX_OPERANDS]
    cdef int k
    for k in range(it.count):
        pointers[k] = it.operands[k].data
    for_each_from(it, pointers, data)


cdef void for_each_from(Iterator* it, char** pointers, void* data) noexcept nogil:
    """The same from other first elements on, which are moved along; the iterator is only read."""
    cdef int parts
    if it.size == 0:
        return
    if it.size >= 2 * GRAIN and not it.loop.borrowed:   # whose errors another thread would lose
        parts = parts_for(it.size, element_size[it.operands[it.nin].element])
        if parts > 1 and not is_resting(it.size):
            split(it, parts, pointers, data)
            return
    walk_all(it, pointers, data)


cdef inline void walk_all(Iterator* it, char** pointers, void* data) noexcept nogil:
    if it.tiled:
        walk_in_blocks(it, pointers, data)
    elif it.masked or it.dims_count > 2:
        walk(it, NULL, pointers, data)
    else:
        walk_rows(it, pointers, data)


cdef void walk_rows(Iterator* it, char** pointers, void* data) noexcept nogil:
    """Up to two dimensions with nothing to cast: what most small operands come to."""
    cdef npy_intp steps[MAX_OPERANDS]
    cdef npy_intp row_steps[MAX_OPERANDS]
    cdef char* here[MAX_OPERANDS]
    cdef npy_intp n = it.dims[0], row, rows = 1
    cdef int k, count = it.nin + it.nout
    if it.dims_count == 2:
        rows = it.dims[1]
    for k in range(count):
        steps[k] = it.operands[k].steps[0]
        row_steps[k] = it.operands[k].steps[1] if rows > 1 else 0
    for row in range(rows):
        for k in range(count):
            here[k] = pointers[k] + row * row_steps[k]
        it.loop.function(here, &n, steps, data)


cdef void walk_in_blocks(Iterator* it, char** pointers, void* data) noexcept nogil:
    cdef Blocks blocks      # on the stack: 75 KB, touched only as far as it is used
    if it.dims_count == 1 and it.dims[0] <= it.tile_length and not it.masked:
        run_tile(it, &blocks, pointers, it.dims[0], 1, data)
    else:
        walk(it, &blocks, pointers, data)
    finish_tiles(it)


cdef void walk(Iterator* it, Blocks* blocks, char** pointers, void* data) noexcept nogil:
    """Steps through the outer dimensions as an odometer; what runs inside are the two innermost ones where
    tiles have rows, and the innermost one otherwise."""
    cdef npy_intp counters[NPY_MAXDIMS]
    cdef int k, d, inside = 2 if blocks is not NULL and it.tile_rows > 1 else 1
    for d in range(it.dims_count):
        counters[d] = 0
    while True:
        if it.masked:
            run_masked(it, blocks, pointers, data)
        elif blocks is not NULL:
            run_plane(it, blocks, pointers, data)
        else:
            run(it, pointers, it.dims[0], data)
        d = inside
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


cdef inline void run(Iterator* it, char** pointers, npy_intp n, void* data) noexcept nogil:
    """n elements along the innermost dimension, from `pointers` on."""
    cdef npy_intp steps[MAX_OPERANDS]
    cdef int k
    for k in range(it.nin + it.nout):
        steps[k] = it.operands[k].steps[0]
    call_loop(it, pointers, n, steps, data)


# ---------------------------------------------------------------- threads

cdef struct Work:
    Iterator* it
    char** pointers
    void* data
    int parts
    int dimension   # that is cut into parts
    fenv_t mode     # the caller's
    int raised      # floating-point flags, by threads other than the caller's


cdef void split(Iterator* it, int parts, char** pointers, void* data) noexcept nogil:
    """Cuts one dimension into parts, the outermost where it is long enough, and runs them side by side."""
    cdef Work work
    cdef int d
    work.it = it
    work.pointers = pointers
    work.data = data
    work.dimension = it.dims_count - 1
    if it.dims[work.dimension] < 4 * parts:
        for d in range(it.dims_count):
            if it.dims[d] > it.dims[work.dimension]:
                work.dimension = d
    work.parts = <int>min(<npy_intp>parts, it.dims[work.dimension])
    work.raised = 0
    fegetenv(&work.mode)
    run_side_by_side(work.parts, it.size, run_part, &work)
    if work.raised:
        fp_raise(work.raised)   # so that the caller finds them where those of its own part are


cdef inline npy_intp part_start(npy_intp length, int part, int parts) noexcept nogil:
    """Long dimensions are cut at multiples of 64 elements, which keeps cache lines undivided."""
    cdef npy_intp start = length * part // parts
    return start & ~<npy_intp>63 if length >= 1024 * parts and part < parts else start


cdef void run_part(int part, bint is_caller, void* context) noexcept nogil:
    cdef Work* work = <Work*>context
    cdef Iterator own = work.it[0]
    cdef fenv_t before
    cdef char* pointers[MAX_OPERANDS]
    cdef int k, d = work.dimension
    cdef npy_intp start = part_start(own.dims[d], part, work.parts)
    own.dims[d] = part_start(own.dims[d], part + 1, work.parts) - start
    for k in range(own.count):
        pointers[k] = work.pointers[k] + start * own.operands[k].steps[d]
    if is_caller:
        walk_all(&own, pointers, work.data)
        return
    fp_enter(&work.mode, &before)
    walk_all(&own, pointers, work.data)
    fp_leave(&before, &work.raised, own.extended)


# ---------------------------------------------------------------- masks

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
        if blocks is not NULL:
            end = min(end, start + it.tile_length)
        for k in range(mask):
            here[k] = pointers[k] + start * it.operands[k].steps[0]
        if blocks is not NULL:
            run_tile(it, blocks, here, end - start, 1, data)
        else:
            run(it, here, end - start, data)
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
