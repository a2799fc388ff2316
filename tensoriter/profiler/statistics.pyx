"""Aggregate statistics: counts, times, bytes and paths of what was recorded under one name.

A table of C structures, since threads add to it that have no GIL; the caller holds the lock of the records.
The first 64 times of a name are kept as they are, and its percentiles are exact. From then on they stand
in a histogram with 32 buckets for each power of 2: a percentile is then right to 1.6 %, whatever the number
of calls, and takes 10 KB a name.
"""
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcmp

cdef Statistic** table = NULL       # open addressing; `room` is a power of 2
cdef size_t room = 0
cdef size_t used = 0
cdef Statistic* latest = NULL


cdef inline size_t mix(Key* key) noexcept nogil:
    cdef uint64_t mixed = key.name
    mixed = (mixed * 31 + key.domain) * 31 + key.scope
    mixed = (mixed * 31 + key.detail) * 31 + key.type
    mixed *= <uint64_t>0x9E3779B97F4A7C15
    return <size_t>(mixed ^ (mixed >> 32))


cdef Statistic** place_of(Key* key) noexcept nogil:
    cdef size_t k = mix(key) & (room - 1)
    while table[k] is not NULL and memcmp(&table[k].facts.key, key, sizeof(Key)) != 0:
        k = (k + 1) & (room - 1)
    return &table[k]


cdef bint grow() noexcept nogil:
    """Doubles the table's room; False for want of memory."""
    global table, room
    cdef Statistic** old = table
    cdef size_t k, old_room = room
    cdef size_t wanted = 2 * old_room if old_room > 0 else 256
    cdef Statistic** bigger = <Statistic**>calloc(wanted, sizeof(Statistic*))
    if bigger is NULL:
        return False
    table, room = bigger, wanted
    for k in range(old_room):
        if old[k] is not NULL:
            place_of(&old[k].facts.key)[0] = old[k]
    free(old)
    return True


cdef Statistic* statistic_of(Key* key) noexcept nogil:
    """The statistic under that key, a new one if there is none; NULL for want of memory."""
    global used, latest
    cdef Statistic** place
    if latest is not NULL and memcmp(&latest.facts.key, key, sizeof(Key)) == 0:
        return latest
    if 2 * used >= room and not grow():
        return NULL
    place = place_of(key)
    if place[0] is NULL:
        place[0] = <Statistic*>calloc(1, sizeof(Statistic))
        if place[0] is NULL:
            return NULL
        place[0].facts.key = key[0]
        used += 1
    latest = place[0]
    return latest


cdef inline int bucket_of(int64_t value) noexcept nogil:
    """Values below PARTS have buckets of their own; above, PARTS of them for each power of 2."""
    cdef int power = PARTS_BITS
    if value < PARTS:
        return <int>value
    while value >> (power + 1) > 0 and power < LAST_POWER - 1:
        power += 1
    return min((power - PARTS_BITS + 1) * PARTS + <int>((value >> (power - PARTS_BITS)) - PARTS), BUCKETS - 1)


cdef inline double middle_of(int bucket) noexcept nogil:
    """Of the values in that bucket."""
    cdef int shift
    if bucket < PARTS:
        return bucket
    shift = bucket // PARTS - 1
    return (<double>(<int64_t>1 << shift)) * (PARTS + bucket % PARTS) + ((<int64_t>1 << shift) - 1) / 2.0


cdef void add_time(Statistic* statistic, int64_t nanoseconds) noexcept nogil:
    cdef Facts* facts = &statistic.facts
    cdef int64_t value = max(nanoseconds, 0)
    if facts.count == 0 or value < facts.smallest:
        facts.smallest = value
    facts.largest = max(facts.largest, value)
    facts.total += value
    if facts.count < EXACT:
        statistic.values[facts.count] = value
    else:
        if statistic.histogram is NULL:
            begin_histogram(statistic)
        if statistic.histogram is not NULL:
            statistic.histogram[bucket_of(value)] += 1
    facts.count += 1


cdef void begin_histogram(Statistic* statistic) noexcept nogil:
    cdef int k
    statistic.histogram = <uint64_t*>calloc(BUCKETS, sizeof(uint64_t))
    if statistic.histogram is not NULL:
        for k in range(EXACT):
            statistic.histogram[bucket_of(statistic.values[k])] += 1


cdef void add_value(Statistic* statistic, double value) noexcept nogil:
    cdef Facts* facts = &statistic.facts
    facts.lowest = value if facts.count == 0 else min(facts.lowest, value)
    facts.highest = value if facts.count == 0 else max(facts.highest, value)
    facts.last = value
    facts.count += 1


cdef void forget_statistics() noexcept nogil:
    global table, room, used, latest
    cdef size_t k
    for k in range(room):
        if table[k] is not NULL:
            free(table[k].histogram)
            free(table[k])
    free(table)
    table = latest = NULL
    room = used = 0


cdef double percentile(Statistic* statistic, double share) noexcept nogil:
    """The smallest value that at least this share of the values does not exceed (the nearest rank)."""
    cdef Facts* facts = &statistic.facts
    cdef int64_t rank = <int64_t>(share * facts.count)
    cdef int64_t seen = 0
    cdef int k
    if rank < share * facts.count:
        rank += 1
    rank = max(rank, 1)
    if statistic.histogram is NULL:
        return nth_value(statistic, <int>min(rank, EXACT))
    for k in range(BUCKETS):
        seen += statistic.histogram[k]
        if seen >= rank:
            return min(max(middle_of(k), <double>facts.smallest), <double>facts.largest)
    return facts.largest


cdef int64_t nth_value(Statistic* statistic, int rank) noexcept nogil:
    """The value of that rank, from 1 on, among those that are kept as they are."""
    cdef int k, other, below, same, kept = <int>min(statistic.facts.count, EXACT)
    for k in range(kept):
        below = same = 0
        for other in range(kept):
            below += statistic.values[other] < statistic.values[k]
            same += statistic.values[other] == statistic.values[k]
        if below < rank <= below + same:
            return statistic.values[k]
    return statistic.facts.largest


cdef Facts* copy_facts(size_t* count) noexcept nogil:
    """A copy of all of them, which the caller frees; NULL for want of memory, or where there are none."""
    cdef size_t k
    cdef Facts* facts
    count[0] = 0
    if used == 0:
        return NULL
    facts = <Facts*>malloc(used * sizeof(Facts))
    if facts is NULL:
        return NULL
    for k in range(room):
        if table[k] is not NULL:
            facts[count[0]] = table[k].facts
            facts[count[0]].p50 = percentile(table[k], 0.5)
            facts[count[0]].p99 = percentile(table[k], 0.99)
            count[0] += 1
    return facts


cdef dict as_dict(Facts* facts):
    cdef int k
    return {
        "domain": facts.key.domain, "scope": facts.key.scope, "name": facts.key.name,
        "detail": facts.key.detail, "type": facts.key.type, "count": facts.count, "total": facts.total,
        "min": facts.smallest, "max": facts.largest, "p50": facts.p50, "p99": facts.p99,
        "bytes": facts.bytes, "paths": [facts.paths[k] for k in range(3)],
        "last": facts.last, "lowest": facts.lowest, "highest": facts.highest,
    }
