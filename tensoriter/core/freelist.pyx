"""The free list: dead result arrays kept for reuse, as CPython keeps floats and tuples.

ndarray's deallocation is wrapped (from the first array on that tensoriter has to allocate). A dead array
is kept if it is exactly ndarray, owns memory of the default allocator, has no base, no weak references,
no exported buffer, flags and strides as at birth, and is of a kind (dtype, shape, order) that tensoriter
recently wanted and missed. Only dead objects are held, so nothing that lives can tell.
"""
import atexit
import os

from tensoriter.core.array_api cimport (
    _import_array, flags_of, NPY_ARRAY_C_CONTIGUOUS, NPY_ARRAY_F_CONTIGUOUS, NPY_ARRAY_OWNDATA, Py_DECREF,
    Py_INCREF, Py_TYPE, PyArray_DESCR, PyArray_DescrFromType, PyArray_DIMS, PyArray_NBYTES, PyArray_NDIM,
    PyArray_NewFromDescr, PyArray_STRIDES, PyArrayObject, PyErr_Clear,
)

cdef extern from "freelist.h":
    ctypedef void (*destructor)(PyObject*)
    enum:
        FREE_LIST_POSSIBLE
    bint is_plain_remains(PyArrayObject*) nogil
    destructor wrap_array_deallocation(destructor)

_import_array()

cdef FreeList the_list
cdef destructor original_deallocation = NULL
cdef int clock_hand = 0


cdef void deallocate(PyObject* dead) noexcept:
    """ndarray's deallocation, wrapped: keeps the array or passes it on. Costs the others about 2 ns."""
    cdef PyArrayObject* array = <PyArrayObject*>dead
    if Py_TYPE(dead) is &PyArray_Type and keep(array):
        return
    original_deallocation(dead)


cdef inline bint keep(PyArrayObject* array) noexcept:
    cdef int ndim = PyArray_NDIM(array)
    if <unsigned int>(ndim - 1) >= SLOT_NDIM:
        return False
    cdef int flags = flags_of(array)
    if not flags & NPY_ARRAY_OWNDATA:
        return False    # nor has an array of which NumPy could not allocate the shape
    cdef npy_intp* shape = PyArray_DIMS(array)      # and behind it, in one piece of memory, the strides
    cdef int fortran = flags & (NPY_ARRAY_C_CONTIGUOUS | NPY_ARRAY_F_CONTIGUOUS) == NPY_ARRAY_F_CONTIGUOUS
    cdef Slot* slot = slot_of(PyArray_DESCR(array), ndim, shape, fortran)
    if (slot.held >= slot.allowed or slot.flags != flags
            or PyArray_STRIDES(array) is not shape + ndim
            or not is_of_kind(slot, PyArray_DESCR(array), ndim, shape, 2 * ndim)
            or not is_plain_remains(array)):
        return False
    slot.arrays[slot.held] = <PyObject*>array
    slot.held += 1
    return True


cdef void reserve(Slot* wanted) noexcept:
    """Sets how many arrays of a new kind may be held, and makes that much room by giving up other kinds,
    in turns."""
    global clock_hand
    cdef int large = wanted.bytes > LARGE_FROM
    cdef Slot* slot
    wanted.allowed = max(2, min(SLOT_ARRAYS, LARGE_FROM // (2 * wanted.bytes + 1)))
    if large and 4 * wanted.bytes > the_list.bytes_limit[1]:
        wanted.allowed = 1
    if (wanted.allowed > the_list.entries_limit[large]
            or wanted.allowed * wanted.bytes > the_list.bytes_limit[large]):
        wanted.allowed = 0      # it would not fit into an empty list
        return
    for _ in range(SLOTS + 1):
        if has_room(wanted, large):
            the_list.reserved_entries[large] += wanted.allowed
            the_list.reserved_bytes[large] += wanted.allowed * wanted.bytes
            return
        clock_hand = (clock_hand + 1) % SLOTS
        slot = &the_list.slots[clock_hand]
        if slot is not wanted and slot.dtype is not NULL and (slot.bytes > LARGE_FROM) == large:
            give_up(slot)
    wanted.allowed = 0


cdef inline bint has_room(Slot* wanted, int large) noexcept:
    return (the_list.reserved_entries[large] + wanted.allowed <= the_list.entries_limit[large]
            and the_list.reserved_bytes[large] + wanted.allowed * wanted.bytes <= the_list.bytes_limit[large])


cdef void empty_slot(Slot* slot) noexcept:
    """Lets the slot's arrays die for good: each comes back to life and is then given up."""
    cdef int allowed = slot.allowed
    slot.allowed = 0    # so that they are not kept again
    while slot.held > 0:
        slot.held -= 1
        Py_DECREF(PyObject_Init(slot.arrays[slot.held], &PyArray_Type))
    slot.allowed = allowed


cdef void give_up(Slot* slot) noexcept:
    """Empties the slot and forgets its kind."""
    cdef int large = slot.bytes > LARGE_FROM
    empty_slot(slot)
    the_list.reserved_entries[large] -= slot.allowed
    the_list.reserved_bytes[large] -= slot.allowed * slot.bytes
    slot.dtype = NULL
    slot.allowed = 0


cdef void empty_list() noexcept:
    cdef int k
    for k in range(SLOTS):
        empty_slot(&the_list.slots[k])


cdef void forget_all() noexcept:
    """Empties the list; nothing is kept until a kind of array is wanted again."""
    cdef int k
    for k in range(SLOTS):
        if the_list.slots[k].dtype is not NULL:
            give_up(&the_list.slots[k])


cdef PyObject* allocate_new(PyArray_Descr* dtype, int ndim, npy_intp* shape, bint fortran) noexcept:
    """A miss: NumPy allocates, and the kind of array is noted as wanted."""
    cdef PyObject* array
    Py_INCREF(<PyObject*>dtype)
    array = PyArray_NewFromDescr(&PyArray_Type, dtype, ndim, shape, NULL, NULL, fortran, NULL)
    if array is NULL:
        PyErr_Clear()
        empty_list()
        Py_INCREF(<PyObject*>dtype)
        array = PyArray_NewFromDescr(&PyArray_Type, dtype, ndim, shape, NULL, NULL, fortran, NULL)
    the_list.allocations += 1
    if the_list.enabled and array is not NULL:
        the_list.misses += 1
        if 0 < ndim <= SLOT_NDIM and dtype is plain_dtype(dtype.type_num):
            want(<PyArrayObject*>array, fortran)
    return array


cdef PyArray_Descr* plain_dtype(int type_number) noexcept:
    """NumPy's own instance, which lives for ever (a borrowed reference)."""
    cdef PyArray_Descr* dtype = PyArray_DescrFromType(type_number)
    Py_DECREF(<PyObject*>dtype)
    return dtype


cdef void want(PyArrayObject* array, int fortran) noexcept:
    """Notes the kind of an array just born; another kind that had the slot gives it up."""
    global original_deallocation
    cdef int k, ndim = PyArray_NDIM(array)
    cdef npy_intp* shape = PyArray_DIMS(array)
    cdef Slot* slot = slot_of(PyArray_DESCR(array), ndim, shape, fortran)
    if original_deallocation is NULL:
        original_deallocation = wrap_array_deallocation(deallocate)
    if slot.fortran == fortran and is_of_kind(slot, PyArray_DESCR(array), ndim, shape, ndim):
        return
    if slot.dtype is not NULL:
        give_up(slot)
    slot.dtype = PyArray_DESCR(array)
    slot.ndim = ndim
    slot.fortran = fortran
    slot.flags = flags_of(array)
    slot.bytes = PyArray_NBYTES(array)
    for k in range(ndim):
        slot.extents[k] = shape[k]
        slot.extents[ndim + k] = PyArray_STRIDES(array)[k]
    reserve(slot)


cdef void count_held(long long* entries, long long* bytes) noexcept nogil:
    cdef int k, large
    entries[0] = entries[1] = bytes[0] = bytes[1] = 0
    for k in range(SLOTS):
        large = the_list.slots[k].bytes > LARGE_FROM
        entries[large] += the_list.slots[k].held
        bytes[large] += the_list.slots[k].held * the_list.slots[k].bytes


cdef class FreeListControl:
    """tensoriter.free_list: dead result arrays that are kept to be results again.

    It holds dead objects only; a result that comes from it cannot be told from a fresh array. Arrays of
    more than 256 KiB count as large and have bounds of their own. Set TENSORITER_FREE_LIST=0 in the
    environment, or `enabled` to False, to do without. It is emptied when memory runs out and at exit.

    >>> import tensoriter
    >>> sorted(tensoriter.free_list.info())
    ['bytes', 'entries', 'hits', 'large_bytes', 'large_entries', 'misses']
    """

    def info(self) -> dict:
        """Counts since the start: hits and misses of allocations; entries and bytes held now."""
        cdef long long entries[2]
        cdef long long bytes[2]
        count_held(entries, bytes)
        return {
            "hits": the_list.hits, "misses": the_list.misses,
            "entries": entries[0], "bytes": bytes[0],
            "large_entries": entries[1], "large_bytes": bytes[1],
        }

    def clear(self) -> None:
        """Gives all that is held back to NumPy's allocator."""
        empty_list()

    def limit(self, *, entries=None, bytes=None, large_entries=None, large_bytes=None) -> dict:
        """Sets those bounds that are given (ValueError if negative) and returns all of them.

        >>> import tensoriter
        >>> tensoriter.free_list.limit()["entries"]
        512
        """
        cdef long long bounds[4]
        present = (the_list.entries_limit[0], the_list.bytes_limit[0],
                   the_list.entries_limit[1], the_list.bytes_limit[1])
        for k, value in enumerate((entries, bytes, large_entries, large_bytes)):
            bounds[<int>k] = present[k] if value is None else value
            if bounds[<int>k] < 0:
                raise ValueError(f"a bound of the free list cannot be negative: {value}")
        the_list.entries_limit[0], the_list.bytes_limit[0] = bounds[0], bounds[1]
        the_list.entries_limit[1], the_list.bytes_limit[1] = bounds[2], bounds[3]
        forget_all()                # room is reserved anew as kinds are wanted again
        return {
            "entries": the_list.entries_limit[0], "bytes": the_list.bytes_limit[0],
            "large_entries": the_list.entries_limit[1], "large_bytes": the_list.bytes_limit[1],
        }

    @property
    def enabled(self) -> bool:
        """Whether dead arrays are kept. Turning it off empties the list."""
        return the_list.enabled

    @enabled.setter
    def enabled(self, value) -> None:
        if value and not FREE_LIST_POSSIBLE:
            raise RuntimeError("this build of Python has no place for a free list")
        the_list.enabled = bool(value)
        if not the_list.enabled:
            forget_all()


free_list = FreeListControl()
free_list.limit(entries=512, bytes=1 << 22, large_entries=8, large_bytes=1 << 27)
the_list.enabled = FREE_LIST_POSSIBLE and os.environ.get("TENSORITER_FREE_LIST", "1") != "0"


@atexit.register
def _retire():
    """At exit nothing is held, and nothing is kept any more."""
    the_list.enabled = False
    forget_all()
