"""The part of NumPy's and Python's C API that the core calls, on raw pointers.

Cython's own `numpy.pxd` types arrays as objects, and pays a reference count for each variable that
holds one. On the path that every call takes, that would cost more than the checks do.
"""
from cpython.object cimport PyObject, PyTypeObject
from libc.stdint cimport uintptr_t

cdef extern from "Python.h":
    ctypedef PyObject* (*vectorcallfunc)(PyObject*, PyObject* const*, size_t, PyObject*)
    Py_ssize_t PyVectorcall_NARGS(size_t) nogil
    Py_ssize_t PyTuple_GET_SIZE(PyObject*) nogil
    PyObject* PyTuple_GET_ITEM(PyObject*, Py_ssize_t) nogil
    PyTypeObject* Py_TYPE(PyObject*) nogil
    bint PyTuple_CheckExact(PyObject*) nogil
    bint PyLong_CheckExact(PyObject*) nogil
    bint PyFloat_CheckExact(PyObject*) nogil
    bint PyComplex_CheckExact(PyObject*) nogil
    double PyFloat_AS_DOUBLE(PyObject*) nogil
    double PyComplex_RealAsDouble(PyObject*)
    double PyComplex_ImagAsDouble(PyObject*)
    long long PyLong_AsLongLongAndOverflow(PyObject*, int*)
    unsigned long long PyLong_AsUnsignedLongLong(PyObject*)
    object PyObject_Vectorcall(PyObject*, PyObject* const*, size_t, PyObject*)
    ctypedef struct PyTupleObject:
        PyObject** ob_item
    int PyUnicode_Compare(PyObject*, PyObject*)
    PyObject* PyUnicode_InternFromString(const char*)
    void Py_INCREF(PyObject*) nogil
    void Py_DECREF(PyObject*) nogil
    void Py_XDECREF(PyObject*) nogil
    void PyErr_Clear()
    PyObject* PyErr_Occurred()
    PyObject* Py_None
    PyObject* Py_True
    PyObject* Py_False
    PyObject* Py_Ellipsis

cdef extern from *:
    """
    #define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
    #include <numpy/arrayobject.h>
    #include <numpy/ufuncobject.h>

    static inline int is_plain_array(PyObject *object) { return Py_IS_TYPE(object, &PyArray_Type); }
    static inline int flags_of(PyArrayObject *array) { return PyArray_FLAGS(array); }
    static inline int type_number_of(PyArrayObject *array) { return PyArray_TYPE(array); }
    /* A new reference as an object; NULL as the exception that is set. */
    #define steal(reference) (reference)

    static inline void enable_vectorcall(PyTypeObject *type, Py_ssize_t offset)
    {
        type->tp_vectorcall_offset = offset;
        type->tp_flags |= Py_TPFLAGS_HAVE_VECTORCALL;
    }
    static inline int has_metadata(PyArray_Descr *dtype) { return PyDataType_METADATA(dtype) != NULL; }
    /* A function pointer is not a void * to a strict compiler. */
    #define PyUFunc_FromFuncAndData_(functions, ...) \\
        PyUFunc_FromFuncAndData((PyUFuncGenericFunction *)(functions), __VA_ARGS__)
    static inline int is_native(PyArray_Descr *dtype) { return PyArray_ISNBO(dtype->byteorder); }
    """
    ctypedef ssize_t npy_intp
    ctypedef struct PyArrayObject
    ctypedef struct PyArray_Descr:
        int type_num
        char byteorder
        char kind
    ctypedef struct PyUFuncObject:
        int nin
        int nout
        int nargs
        int ntypes
        void** functions
        void** data
        const char* types
        PyObject* obj
    ctypedef enum NPY_CASTING:
        NPY_SAME_KIND_CASTING
        NPY_UNSAFE_CASTING
    ctypedef enum NPY_ORDER:
        NPY_ANYORDER
        NPY_CORDER
        NPY_FORTRANORDER
        NPY_KEEPORDER
    enum:
        NPY_MAXDIMS
        NPY_ARRAY_C_CONTIGUOUS
        NPY_ARRAY_F_CONTIGUOUS
        NPY_ARRAY_ALIGNED
        NPY_ARRAY_WRITEABLE
        NPY_ARRAY_OWNDATA
        NPY_BOOL
        NPY_LONG
        NPY_DOUBLE
        NPY_CDOUBLE
        NPY_HALF
        NPY_NTYPES_LEGACY
        NPY_FPE_DIVIDEBYZERO
        NPY_FPE_OVERFLOW
        NPY_FPE_UNDERFLOW
        NPY_FPE_INVALID
    PyTypeObject PyArray_Type
    object steal(PyObject*)
    void enable_vectorcall(PyTypeObject*, Py_ssize_t)
    bint is_plain_array(PyObject*) nogil
    int flags_of(PyArrayObject*) nogil
    int type_number_of(PyArrayObject*) nogil
    bint is_native(PyArray_Descr*) nogil
    bint has_metadata(PyArray_Descr*) nogil
    int PyArray_NDIM(PyArrayObject*) nogil
    npy_intp* PyArray_DIMS(PyArrayObject*) nogil
    npy_intp* PyArray_STRIDES(PyArrayObject*) nogil
    char* PyArray_BYTES(PyArrayObject*) nogil
    npy_intp PyArray_SIZE(PyArrayObject*) nogil
    npy_intp PyArray_NBYTES(PyArrayObject*) nogil
    PyArray_Descr* PyArray_DESCR(PyArrayObject*) nogil
    npy_intp PyDataType_ELSIZE(PyArray_Descr*) nogil
    npy_intp PyDataType_ALIGNMENT(PyArray_Descr*) nogil
    bint PyArray_DescrCheck(PyObject*) nogil
    PyArray_Descr* PyArray_DescrFromType(int)
    PyArray_Descr* PyArray_DescrNewByteorder(PyArray_Descr*, char)
    bint PyArray_EquivTypes(PyArray_Descr*, PyArray_Descr*)
    bint PyArray_CanCastTypeTo(PyArray_Descr*, PyArray_Descr*, NPY_CASTING)
    PyObject* PyArray_NewFromDescr(PyTypeObject*, PyArray_Descr*, int, npy_intp*, npy_intp*,
                                   void*, int, PyObject*)
    PyObject* PyArray_CastToType(PyArrayObject*, PyArray_Descr*, int)
    PyObject* PyArray_NewLikeArray(PyArrayObject*, NPY_ORDER, PyArray_Descr*, int)
    int PyArray_CopyInto(PyArrayObject*, PyArrayObject*) except -1
    PyObject* PyArray_NewCopy(PyArrayObject*, NPY_ORDER)
    object PyArray_Scalar(void*, PyArray_Descr*, PyObject*)
    int PyArray_Pack(PyArray_Descr*, void*, PyObject*) except -1
    int PyArray_CastingConverter(PyObject*, NPY_CASTING*)
    int PyArray_OrderConverter(PyObject*, NPY_ORDER*)
    int PyArray_DescrConverter(PyObject*, PyArray_Descr**)
    int PyUFunc_GiveFloatingpointErrors(const char*, int)
    enum:
        PyUFunc_None
    object PyUFunc_FromFuncAndData "PyUFunc_FromFuncAndData_" (
        void** functions, void** data, const char* types, int ntypes, int nin, int nout, int identity,
        const char* name, const char* doc, int unused)
    int _import_array() except -1
    int _import_umath() except -1
