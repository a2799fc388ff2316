"""The free list: dead result arrays kept for reuse, as CPython keeps floats and tuples."""
from cpython.object cimport PyObject, PyTypeObject

from tensoriter.core.array_api cimport npy_intp, PyArray_Descr, PyArray_Type

cdef extern from "Python.h":
    PyObject* PyObject_Init(PyObject*, PyTypeObject*)

cdef extern from "freelist.h":
    bint default_allocator_in_force()

cdef enum:
    SLOTS = 64
    SLOT_NDIM = 4           # arrays of more dimensions are not kept
    SLOT_ARRAYS = 8         # of one kind
    LARGE_FROM = 262144     # bytes: above, page faults are what a fresh array costs

# One kind of array: what tensoriter recently wanted and did not find, and the dead ones since.
cdef struct Slot:
    PyArray_Descr* dtype
    int ndim
    int flags
    int fortran
    int held
    int allowed                         # how many may be held; room for them is reserved
    npy_intp extents[2 * SLOT_NDIM]     # shape, then strides, as they lie in an array
    npy_intp bytes
    PyObject* arrays[SLOT_ARRAYS]
    char padding[88]                    # to 256 bytes where pointers have 8: a slot is found by a shift

cdef struct FreeList:
    bint enabled
    long long hits
    long long misses
    long long allocations       # misses, and what is allocated while the list is off
    # By size: [0] small arrays, [1] large ones.
    long long reserved_entries[2]
    long long reserved_bytes[2]
    long long entries_limit[2]
    long long bytes_limit[2]
    Slot slots[SLOTS]

cdef FreeList the_list

# What is held now, by size: [0] small arrays, [1] large ones.
cdef void count_held(long long* entries, long long* bytes) noexcept nogil

cdef PyObject* allocate_new(PyArray_Descr* dtype, int ndim, npy_intp* shape, bint fortran) noexcept


cdef inline Slot* slot_of(PyArray_Descr* dtype, int ndim, npy_intp* shape, int fortran) noexcept nogil:
    """The only slot that arrays of this kind can have (ndim > 0)."""
    cdef size_t mixed = <size_t>shape[0] * 3 + <size_t>shape[ndim - 1]
    mixed += dtype.type_num * 8 + ndim * 21 + fortran
    return &the_list.slots[(mixed ^ (mixed >> 6)) % SLOTS]


cdef inline bint is_of_kind(Slot* slot, PyArray_Descr* dtype, int ndim, npy_intp* extents,
                            int count) noexcept nogil:
    """Whether the slot is for that dtype and the first `count` extents (shape, or strides, too)."""
    cdef int k
    if slot.dtype is not dtype or slot.ndim != ndim:
        return False
    for k in range(count):
        if slot.extents[k] != extents[k]:
            return False
    return True


cdef inline PyObject* new_array(PyArray_Descr* dtype, int ndim, npy_intp* shape, bint fortran) noexcept:
    """A new reference to an uninitialised array in C or Fortran order, NULL with an exception for want of
    memory. Costs about 15 ns where a dead array of that kind is at hand, 70 (NumPy's price) otherwise."""
    cdef Slot* slot
    cdef int held
    if 0 < ndim <= SLOT_NDIM:
        slot = slot_of(dtype, ndim, shape, fortran)
        if (slot.held > 0 and slot.fortran == fortran and is_of_kind(slot, dtype, ndim, shape, ndim)
                and default_allocator_in_force()):
            the_list.hits += 1
            held = slot.held - 1
            slot.held = held
            return PyObject_Init(slot.arrays[held], &PyArray_Type)
    return allocate_new(dtype, ndim, shape, fortran)
