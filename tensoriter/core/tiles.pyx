"""Tiles: how the walk over large or awkward operands is cut into pieces that stay in the caches.

A tile is `tile_length` elements along the innermost dimension and `tile_rows` along the next. An operand
that the loop cannot take as it lies is brought into a block, which is dense and in the loop's type: one to
be cast, swapped or aligned; one whose elements lie together along another dimension than the loop runs
(a transposed operand); and, the other way round, an output that is streamed past the cache.

    x1 ▮▮▮▮▮▮▮▮  as it lies       x2 ▮ ▮ ▮ ▮  a column at a time  ->  block ▮▮▮▮▮▮▮▮
       ▮▮▮▮▮▮▮▮                      ▮ ▮ ▮ ▮                                ▮▮▮▮▮▮▮▮
"""
from tensoriter.core.array_api cimport npy_intp
from tensoriter.core.dtypes cimport element_size, element_unit
from tensoriter.core.iterator cimport Operand
from tensoriter.core.loops.table cimport copy_swapped, own_cast

cdef extern from "move.h":
    enum:
        STREAM_FROM
        STREAMING_STORES
    void move_tile(const char* source, npy_intp source_step, npy_intp source_row_step, char* target,
                   npy_intp target_step, npy_intp target_row_step, npy_intp n, npy_intp rows,
                   int size) noexcept nogil
    void stream_out(char* target, const char* source, npy_intp nbytes) noexcept nogil
    void end_of_stream() noexcept nogil
    void prefetch_lines(const char* first, npy_intp nbytes) noexcept nogil

cdef enum:
    BLOCK_BYTES = 8192    # (4,096 and 16,384 are slower for casts: more starts, more of L1)
    SMALLEST_BLOCK = BLOCK_BYTES // 32  # elements of any size
    # Elements: with fewer, what looking for a better walk costs (about 20 ns) is not won back.
    TILE_FROM = 1024
    # An innermost dimension shorter than this costs more in calls of the loop than in the loop, and
    # changes places with a longer one.
    SHORT_RUN = 8
    SWAPPED_BYTES = 8192    # of a tile of such rows, so that L1 holds it from the first column to the last
    # Rows of a tile with a transposed operand: so many bytes of each of its columns are read at once.
    COLUMN_BYTES = 64
    # Bytes of a streamed block. It is filled and streamed by turns; the shorter the turns, the better the
    # CPU overlaps them (at 512 bytes 1.07 times the time of streaming from registers, at 4,096 1.3 times).
    STREAM_BYTES = 512


# ---------------------------------------------------------------- planning

cdef void plan_tiles(Iterator* it) noexcept nogil:
    """Sets it.tiled and what goes with it, and may reorder the dimensions, whose order is free by now."""
    cdef int k
    it.tiled = it.streaming = False
    it.tile_rows = 1
    it.tile_length = it.dims[0]
    for k in range(it.nin + it.nout):
        it.operands[k].in_block = it.operands[k].buffered
        it.operands[k].streamed = False
        it.tiled |= it.operands[k].buffered and it.size > 0
    if not it.masked and it.size >= TILE_FROM:
        # A borrowed loop may compute another last bit where operands lie otherwise, as NumPy's absolute
        # of complex numbers does: it sees them as NumPy shows them.
        if it.dims_count > 1 and not it.loop.borrowed:
            plan_columns(it)
            if it.tile_rows == 1:
                plan_short_rows(it)
        if STREAMING_STORES and it.tile_rows == 1:
            plan_streams(it)
    if it.tiled:
        fit_blocks(it)


cdef inline npy_intp magnitude(npy_intp x) noexcept nogil:
    return -x if x < 0 else x


cdef void plan_columns(Iterator* it) noexcept nogil:
    """Looks for operands that run along another dimension than the innermost: each of their elements there
    lies in a cache line of its own. The first one found says which dimension becomes the tile's other."""
    cdef int k, across = 0
    cdef Operand* operand
    for k in range(it.nin + it.nout):
        operand = &it.operands[k]
        if magnitude(operand.steps[0]) < CACHE_LINE:
            continue
        if across == 0:
            across = column_dimension(it, operand)
            if across == 0:
                continue
            exchange_dimensions(it, 1, across)
            it.tile_rows = max(8, COLUMN_BYTES // element_size[operand.element])
            it.tiled = True
        operand.in_block |= magnitude(operand.steps[1]) < CACHE_LINE and operand.steps[1] != 0


cdef inline int column_dimension(Iterator* it, Operand* operand) noexcept nogil:
    """The dimension along which the operand's elements share cache lines; 0 if there is none."""
    cdef int d
    for d in range(1, it.dims_count):
        if 0 < magnitude(operand.steps[d]) < CACHE_LINE and it.dims[d] >= 4:
            return d
    return 0


cdef void exchange_dimensions(Iterator* it, int a, int b) noexcept nogil:
    cdef int k
    it.dims[a], it.dims[b] = it.dims[b], it.dims[a]
    for k in range(it.count):
        it.operands[k].steps[a], it.operands[k].steps[b] = it.operands[k].steps[b], it.operands[k].steps[a]


cdef void plan_short_rows(Iterator* it) noexcept nogil:
    """Puts the longest run innermost where the innermost one is short, in stretches that stay in L1."""
    cdef int d, longest = 1
    if it.dims[0] >= SHORT_RUN:
        return
    for d in range(2, it.dims_count):
        if it.dims[d] > it.dims[longest]:
            longest = d
    if it.dims[longest] < 2 * it.dims[0]:
        return
    exchange_dimensions(it, 1, longest)
    exchange_dimensions(it, 0, 1)
    it.tiled = True
    it.tile_length = max(64, SWAPPED_BYTES // (it.dims[1] * element_size[it.operands[it.nin].element]))
    it.tile_rows = it.dims[1]


cdef npy_intp footprint(Iterator* it) noexcept nogil:
    """Bytes of all operands, those of a broadcast one counted once."""
    cdef npy_intp total = 0, length
    cdef int k, d
    for k in range(it.nin + it.nout):
        length = element_size[it.operands[k].element]
        for d in range(it.dims_count):
            if it.operands[k].steps[d] != 0:
                length *= it.dims[d]
        total += length
    return total


cdef void plan_streams(Iterator* it) noexcept nogil:
    """Outputs are streamed where the operands do not fit into the cache, but not outputs that are an input,
    too: their lines have been read anyway. Nor those of tiles with columns: streaming short rows is slower
    than storing them."""
    cdef int k, i
    cdef bint shared
    cdef Operand* out
    if footprint(it) < STREAM_FROM:
        return
    for k in range(it.nin, it.nin + it.nout):
        out = &it.operands[k]
        size = element_size[out.element]
        if out.buffered or out.steps[0] != size or it.dims[0] * size < STREAM_BYTES:
            continue
        shared = False
        for i in range(it.nin):
            shared = shared or it.operands[i].data == out.data
        if not shared:
            out.streamed = True
            it.streaming = it.tiled = True


cdef void fit_blocks(Iterator* it) noexcept nogil:
    """Cuts the tile down to what a block takes."""
    cdef int k, widest = 1
    cdef npy_intp most
    if it.size <= SMALLEST_BLOCK and not it.masked:
        if it.dims_count > 1:
            it.tile_rows = it.dims[1]
        return
    for k in range(it.nin + it.nout):
        if it.operands[k].in_block:
            widest = max(widest, element_size[it.operands[k].element])
            widest = max(widest, element_size[it.operands[k].loop_element])
    most = BLOCK_BYTES // widest
    if it.tile_rows == 1 and it.dims_count > 1 and not it.masked and not it.streaming:
        it.tile_rows = max(1, min(it.dims[1], most // it.dims[0]))     # short rows: several to a tile
    it.tile_length = max(1, min(it.tile_length, most // it.tile_rows))


# ---------------------------------------------------------------- running

cdef void run_plane(Iterator* it, Blocks* blocks, char** pointers, void* data) noexcept nogil:
    """The innermost dimension, or the two innermost where tiles have rows, tile by tile: along the rows
    first, so that a transposed operand's cache lines are used up before they are gone."""
    cdef char* column[MAX_OPERANDS]
    cdef char* here[MAX_OPERANDS]
    cdef npy_intp start = 0, row, n, rows, all_rows = 1
    cdef int k, count = it.nin + it.nout
    if it.tile_rows > 1:
        all_rows = it.dims[1]
    while start < it.dims[0]:
        n = min(it.tile_length, it.dims[0] - start)
        for k in range(count):
            column[k] = pointers[k] + start * it.operands[k].steps[0]
        row = 0
        while row < all_rows:
            rows = min(it.tile_rows, all_rows - row)
            for k in range(count):
                here[k] = column[k]
                if row > 0:
                    here[k] += row * it.operands[k].steps[1]
            run_tile(it, blocks, here, n, rows, data)
            row += rows
        start += n


cdef void run_tile(Iterator* it, Blocks* blocks, char** pointers, npy_intp n, npy_intp rows,
                   void* data) noexcept nogil:
    if rows > 1:
        run_rows(it, blocks, pointers, n, rows, data)
    else:
        run_pieces(it, blocks, pointers, n, data)


cdef void run_rows(Iterator* it, Blocks* blocks, char** pointers, npy_intp n, npy_intp rows,
                   void* data) noexcept nogil:
    """Brings inputs into blocks, runs the loop, takes outputs from blocks."""
    cdef char* here[MAX_OPERANDS]
    cdef npy_intp steps[MAX_OPERANDS]
    cdef npy_intp row_steps[MAX_OPERANDS]
    cdef npy_intp _row, run = n, runs = rows
    cdef int k, count = it.nin + it.nout
    cdef bint single = True
    cdef Operand* operand
    for k in range(count):
        operand = &it.operands[k]
        here[k] = pointers[k]
        steps[k] = operand.steps[0]
        row_steps[k] = operand.steps[1]
        if operand.in_block:
            here[k] = <char*>blocks.native[k]
            steps[k] = element_size[operand.loop_element]
            if k < it.nin and fetch(operand, blocks, k, pointers[k], n, rows) == 1:
                steps[k] = 0
            row_steps[k] = steps[k] * n
        single = single and row_steps[k] == steps[k] * n
    if single:
        run *= rows
        runs = 1
    for _row in range(runs):
        call_loop(it, here, run, steps, data)
        for k in range(count):
            here[k] += row_steps[k]
    for k in range(it.nin, count):
        if it.operands[k].in_block:
            store(&it.operands[k], blocks, k, pointers[k], n, rows)


cdef void run_pieces(Iterator* it, Blocks* blocks, char** pointers, npy_intp left, void* data) noexcept nogil:
    """One row, at once or, where an output is streamed, in short pieces that end on its cache lines, so that
    these are written whole. Few instructions: what happens between two pieces is in the memory's way."""
    cdef char* place[MAX_OPERANDS]      # in the operand's own memory
    cdef char* here[MAX_OPERANDS]       # and what the loop sees
    cdef npy_intp steps[MAX_OPERANDS]
    cdef int k, nin = it.nin, count = nin + it.nout
    cdef npy_intp n, first = 0, size = element_size[it.operands[nin].loop_element]
    cdef npy_intp piece = left
    cdef Operand* operand
    for k in range(count):
        operand = &it.operands[k]
        place[k] = here[k] = pointers[k]
        steps[k] = operand.steps[0]
        if operand.in_block or operand.streamed:
            here[k] = <char*>blocks.native[k]
            steps[k] = element_size[operand.loop_element]
        if operand.in_block and k < nin and operand.steps[0] == 0:
            convert(operand, blocks, False, place[k], 0, here[k], 0, 1)
            steps[k] = 0
    if it.streaming:
        piece = STREAM_BYTES // size
        first = (-<npy_intp>pointers[nin] & (CACHE_LINE - 1)) // size
    while left > 0:
        n = min(left, first if first > 0 else piece)
        first = 0
        for k in range(nin):
            operand = &it.operands[k]
            if operand.in_block and steps[k] != 0:
                convert(operand, blocks, False, place[k], operand.steps[0], here[k], steps[k], n)
        call_loop(it, here, n, steps, data)
        for k in range(count):
            operand = &it.operands[k]
            if operand.streamed:
                stream_out(place[k], here[k], n * steps[k])
            elif operand.in_block and k >= nin:
                convert(operand, blocks, True, here[k], steps[k], place[k], operand.steps[0], n)
            place[k] += n * operand.steps[0]
            if not operand.in_block and not operand.streamed:
                here[k] = place[k]
                if it.streaming and steps[k] == size:
                    prefetch_lines(place[k] + STREAM_BYTES, STREAM_BYTES)
        left -= n


cdef void finish_tiles(Iterator* it) noexcept nogil:
    if it.streaming:
        end_of_stream()


# ---------------------------------------------------------------- to and from blocks

cdef inline npy_intp fetch(Operand* operand, Blocks* blocks, int k, char* source, npy_intp n,
                           npy_intp rows) noexcept nogil:
    """Brings a tile of an input into its block, in the loop's type; how many elements that is: one where
    the tile holds a single value."""
    cdef npy_intp row_step = operand.steps[1] if rows > 1 else 0
    cdef npy_intp size = element_size[operand.loop_element]
    cdef bint constant = operand.steps[0] == 0 and row_step == 0
    if constant:
        n = rows = 1
    move(operand, blocks, False, source, operand.steps[0], row_step, <char*>blocks.native[k], size, n * size,
         n, rows)
    return n * rows


cdef inline void store(Operand* operand, Blocks* blocks, int k, char* target, npy_intp n,
                       npy_intp rows) noexcept nogil:
    """Takes a tile of the loop's results to an output of another type, byte order, alignment or layout."""
    cdef npy_intp size = element_size[operand.loop_element]
    cdef npy_intp row_step = operand.steps[1] if rows > 1 else 0
    cdef char* source = <char*>blocks.native[k]
    move(operand, blocks, True, source, size, n * size, target, operand.steps[0], row_step, n, rows)


cdef void move(Operand* operand, Blocks* blocks, bint storing, char* source, npy_intp source_step,
               npy_intp source_row_step, char* target, npy_intp target_step, npy_intp target_row_step,
               npy_intp n, npy_intp rows) noexcept nogil:
    """A tile from its operand's memory to its block, or back (storing): row by row, or column by column
    where that is how the memory lies."""
    cdef npy_intp i
    if operand.element == operand.loop_element and not operand.swapped:
        move_tile(source, source_step, source_row_step, target, target_step, target_row_step, n, rows,
                  element_size[operand.element])
        return
    if rows >= 8 and max(magnitude(source_step), magnitude(target_step)) >= CACHE_LINE and (
            magnitude(source_row_step) < magnitude(source_step)
            or magnitude(target_row_step) < magnitude(target_step)):
        source_step, source_row_step = source_row_step, source_step
        target_step, target_row_step = target_row_step, target_step
        n, rows = rows, n
    elif source_row_step == n * source_step and target_row_step == n * target_step:
        n *= rows
        rows = 1
    for i in range(rows):
        convert(operand, blocks, storing, source + i * source_row_step, source_step,
                target + i * target_row_step, target_step, n)


cdef inline void convert(Operand* operand, Blocks* blocks, bint storing, char* source, npy_intp source_step,
                         char* target, npy_intp target_step, npy_intp n) noexcept nogil:
    """n elements between the operand's type and byte order and the loop's type."""
    cdef int size = element_size[operand.element], unit = element_unit[operand.element]
    cdef int source_element = operand.loop_element if storing else operand.element
    cdef int target_element = operand.element if storing else operand.loop_element
    cdef char* scratch = <char*>blocks.swapped
    if not operand.swapped:
        own_cast(source_element, target_element)(source, source_step, target, target_step, n)
    elif source_element == target_element:
        copy_swapped(source, source_step, target, target_step, n, size, unit)
    elif storing:
        own_cast(source_element, target_element)(source, source_step, scratch, size, n)
        copy_swapped(scratch, size, target, target_step, n, size, unit)
    else:
        copy_swapped(source, source_step, scratch, size, n, size, unit)
        own_cast(source_element, target_element)(scratch, size, target, target_step, n)
