/* What the free list has to see of an array and of its type. */
#ifndef TENSORITER_FREELIST_H
#define TENSORITER_FREELIST_H

#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#include <Python.h>
#include <numpy/arrayobject.h>

/* Where objects die by other rules (no GIL, PyPy's own collector) there is no free list. */
#if defined(Py_GIL_DISABLED) || defined(PYPY_VERSION)
#define FREE_LIST_POSSIBLE 0
#else
#define FREE_LIST_POSSIBLE 1
#endif

#if PY_VERSION_HEX >= 0x030d0000
#define CURRENT_THREAD PyThreadState_GetUnchecked
#else
#define CURRENT_THREAD _PyThreadState_UncheckedGet
#endif

/* Whether nothing but its own memory, from NumPy's default allocator, hangs on a dead array. */
static inline int is_plain_remains(PyArrayObject *array)
{
    const PyArrayObject_fields *fields = (const PyArrayObject_fields *)array;
    return fields->base == NULL && fields->weakreflist == NULL && fields->_buffer_info == NULL &&
           fields->mem_handler == PyDataMem_DefaultHandler;
}

/* Whether the allocator in force (NEP 49) is NumPy's own: then a kept array is what it would give. It is a
   context variable; in a thread that never set any, which is seen at once, it has its default. */
static inline int default_allocator_in_force(void)
{
#if FREE_LIST_POSSIBLE
    if (CURRENT_THREAD()->context == NULL) {
        return 1;
    }
#endif
    PyObject *handler = PyDataMem_GetHandler();
    Py_XDECREF(handler);
    return handler == PyDataMem_DefaultHandler;
}

/* Puts `hook` in the place of ndarray's deallocation and returns what stood there. */
static inline destructor wrap_array_deallocation(destructor hook)
{
    destructor original = PyArray_Type.tp_dealloc;
    PyArray_Type.tp_dealloc = hook;
    return original;
}

#endif
