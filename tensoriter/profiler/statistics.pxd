"""Aggregate statistics: counts, times, bytes and paths of what was recorded under one name."""
from libc.stdint cimport int64_t, uint32_t, uint64_t

cdef enum:
    EXACT = 64              # values that are kept as they are
    PARTS = 32              # of each power of 2 in the histogram that follows
    PARTS_BITS = 5
    LAST_POWER = 44         # of nanoseconds: 5 hours
    BUCKETS = (LAST_POWER - PARTS_BITS + 1) * PARTS

# Under what a statistic is kept.
cdef struct Key:
    uint32_t domain
    uint32_t scope
    uint32_t name
    uint32_t detail
    uint32_t type

# What is known of it.
cdef struct Facts:
    Key key
    int64_t count
    int64_t total           # sums and extremes of times in ns
    int64_t smallest
    int64_t largest
    double p50              # filled in when asked for
    double p99
    int64_t bytes
    int64_t paths[4]
    double last             # of a counter: its values
    double lowest
    double highest

cdef struct Statistic:
    Facts facts
    int64_t values[EXACT]
    uint64_t* histogram     # NULL: all values stand in `values`

cdef Statistic* statistic_of(Key* key) noexcept nogil
cdef void add_time(Statistic* statistic, int64_t nanoseconds) noexcept nogil
cdef void add_value(Statistic* statistic, double value) noexcept nogil
cdef void forget_statistics() noexcept nogil
cdef Facts* copy_facts(size_t* count) noexcept nogil
cdef dict as_dict(Facts* facts)
