/* ndarray's operators: functions for the slots of its type. They give tensoriter's ops what concerns exact
   ndarrays and numbers, and everything else to the functions that NumPy put there.

   To be read beside numpy/_core/src/multiarray/number.c and arrayobject.c (array_richcompare): where a ufunc
   is called there, the op of that ufunc is called here, with the same arguments. */
#ifndef TENSORITER_NUMBER_SLOTS_H
#define TENSORITER_NUMBER_SLOTS_H

#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#include <Python.h>
#include <numpy/arrayobject.h>
#include <numpy/arrayscalars.h>

#include "elements.h"

/* The slots belong to the process. Without a GIL they could not be exchanged while others run, and PyPy's
   types have none. */
#if defined(Py_GIL_DISABLED) || defined(PYPY_VERSION)
#define OPERATORS_POSSIBLE 0
#else
#define OPERATORS_POSSIBLE 1
#endif

/* ---------------------------------------------------------------- which operators, and their ops */

/* Op, slot, and which operand NumPy overwrites if it is a large temporary; each has an in-place slot, too. */
enum { NEITHER = 0, X1 = 1, EITHER = 2 };

#define BINARY_OPERATORS(DO)                                                                       \
    DO(add, add, EITHER)                                                                           \
    DO(subtract, subtract, X1)                                                                     \
    DO(multiply, multiply, EITHER)                                                                 \
    DO(divide, true_divide, X1)                                                                    \
    DO(floor_divide, floor_divide, X1)                                                             \
    DO(remainder, remainder, NEITHER)                                                              \
    DO(left_shift, lshift, X1)                                                                     \
    DO(right_shift, rshift, X1)                                                                    \
    DO(bitwise_and, and, EITHER)                                                                   \
    DO(bitwise_or, or, EITHER)                                                                     \
    DO(bitwise_xor, xor, EITHER)

#define UNARY_OPERATORS(DO)                                                                        \
    DO(negative, negative, X1)                                                                     \
    DO(positive, positive, X1)                                                                     \
    DO(absolute, absolute, X1)                                                                     \
    DO(invert, invert, X1)

/* Python's numbers of the comparisons, Py_LT to Py_GE, are those of their ops. */
#define OTHER_OPS_FIRST(DO)                                                                        \
    DO(less, , ) DO(less_equal, , ) DO(equal, , ) DO(not_equal, , ) DO(greater, , ) DO(greater_equal, , )

#define OTHER_OPS_LAST(DO) DO(divmod, , ) DO(power, , ) DO(square, , ) DO(sqrt, , ) DO(reciprocal, , )

#define OPS_OF_OPERATORS(DO)                                                                       \
    OTHER_OPS_FIRST(DO) BINARY_OPERATORS(DO) UNARY_OPERATORS(DO) OTHER_OPS_LAST(DO)

#define NUMBER(op, slot, elided) op_##op,
enum { OPS_OF_OPERATORS(NUMBER) OPS };
#undef NUMBER

#define NAME(op, slot, elided) #op,
static const char *const op_names[OPS] = {OPS_OF_OPERATORS(NAME)};
#undef NAME

typedef struct {
    PyObject *op;
    vectorcallfunc *entry;      /* where the op keeps the function that calls it */
} Callee;

static Callee callees[OPS];

/* Tells which op an operator calls; it has to live as long as the process. */
static inline void set_callee(int number, PyObject *op)
{
    callees[number].op = op;
    callees[number].entry = (vectorcallfunc *)((char *)op + Py_TYPE(op)->tp_vectorcall_offset);
}

static inline PyObject *call(int number, PyObject *const *args, size_t count)
{
    return (*callees[number].entry)(callees[number].op, args, count, NULL);
}

/* Not inlined, so that the slots have no frame and jump: to these, and to NumPy's functions (see
   elides). */
NPY_NOINLINE PyObject *call_unary(PyObject *x, int number)
{
    return call(number, (PyObject *[]){x}, 1);
}

NPY_NOINLINE PyObject *call_binary(PyObject *x1, PyObject *x2, int number)
{
    return call(number, (PyObject *[]){x1, x2}, 2);
}

NPY_NOINLINE PyObject *call_in_place(PyObject *x1, PyObject *x2, int number)
{
    return call(number, (PyObject *[]){x1, x2, x1}, 3);
}

/* ---------------------------------------------------------------- what is ours */

#define NUMPY_NUMBERS(DO)                                                                          \
    DO(Double) DO(Float) DO(Long) DO(LongLong) DO(Int) DO(Bool) DO(CDouble) DO(CFloat) DO(Half)    \
    DO(UByte) DO(Byte) DO(Short) DO(UShort) DO(UInt) DO(ULong) DO(ULongLong) DO(LongDouble)        \
    DO(CLongDouble)

#define IS_SCALAR_OF(KIND) || type == &Py##KIND##ArrType_Type
static int is_numpy_number_type(const PyTypeObject *type)
{
    return 0 NUMPY_NUMBERS(IS_SCALAR_OF);
}
#undef IS_SCALAR_OF

static inline int is_array(PyObject *x)
{
    return Py_IS_TYPE(x, &PyArray_Type);
}

/* Exactly a number of Python's or NumPy's: a subclass may have operators of its own. */
static inline int is_number(PyObject *x)
{
    const PyTypeObject *type = Py_TYPE(x);
    return type == &PyFloat_Type || type == &PyLong_Type || type == &PyBool_Type ||
           type == &PyComplex_Type || is_numpy_number_type(type);
}

static inline int is_ours(PyObject *x1, PyObject *x2)
{
    return is_array(x1) ? is_array(x2) || is_number(x2) : is_array(x2) && is_number(x1);
}

static inline int is_numeric(PyObject *array)
{
    return element_of(PyArray_TYPE((PyArrayObject *)array)) >= 0;
}

/* ---------------------------------------------------------------- large temporaries */

/* From here on, in bytes, NumPy looks for temporaries (NPY_MIN_ELIDE_BYTES in temp_elide.c). */
enum { LARGE_TEMPORARY = 256 * 1024 };

/* The operand of an expression that nobody else has, in a + b + c the sum a + b. */
static inline int may_be_temporary(PyObject *x)
{
#if PY_VERSION_HEX >= 0x030e0000
    return PyUnstable_Object_IsUniqueReferencedTemporary(x);
#else
    return Py_REFCNT(x) == 1;
#endif
}

/* How many blocks are open in which a call may have to be checked, or made to take a path: then NumPy, which
   does neither, does not get it. */
static const int *open_blocks;

/* Where the function stands that records calls; none while nobody does. What NumPy got would not be seen. */
static void *const *recorder_place;

/* Whether NumPy may compute in the place of x: one large array less to walk through, a gain of up to 1.5
   times at 8 MB. It makes sure of it by looking up the C stack for the interpreter, which therefore must not
   have a frame of ours in between: NumPy's function is jumped to. */
static inline int elides(PyObject *x, PyObject *other)
{
    PyArrayObject *array = (PyArrayObject *)x;
    if (!may_be_temporary(x) || !is_array(x) || PyArray_NBYTES(array) < LARGE_TEMPORARY || *open_blocks != 0 ||
        *recorder_place != NULL) {
        return 0;
    }
    return !is_array(other) || PyArray_DESCR((PyArrayObject *)other) == PyArray_DESCR(array);
}

/* ---------------------------------------------------------------- the functions */

/* What stood in the slots before ours. Kept for ever: a type made in C while the operators are on inherits
   our functions and keeps them. (A class made in Python gets NumPy's from ndarray.__add__ and so on.) */
static PyNumberMethods original;
static richcmpfunc original_compare;

/* NumPy asks of each call of its slot whether x2's type has that very function: then x2 cannot be deferred
   to (BINOP_IS_FORWARD in binop_override.h). Of a type that inherited ours instead it would get the answer
   wrong; what it does when it is right is to call the ufunc. (ndarray.__add__ called by name is out
   of reach.) */
#define HAS_OURS(x2, slot, ours)                                                                   \
    (!is_array(x2) && Py_TYPE(x2)->tp_as_number != NULL &&                                         \
     Py_TYPE(x2)->tp_as_number->slot == ours)

/* Two arrays that are no temporaries are seen at once; the rest stands in a function of its own, so that they
   do not pay for its registers. */
#define DEFINE_FORWARD(op, slot, elided)                                                           \
    static PyObject *slot_##op(PyObject *x1, PyObject *x2);                                        \
    NPY_NOINLINE PyObject *other_##op(PyObject *x1, PyObject *x2)                                  \
    {                                                                                              \
        if (is_ours(x1, x2)) {                                                                     \
            if ((elided == NEITHER || !elides(x1, x2)) && (elided != EITHER || !elides(x2, x1))) { \
                return call_binary(x1, x2, op_##op);                                               \
            }                                                                                      \
        }                                                                                          \
        else if (HAS_OURS(x2, nb_##slot, slot_##op)) {                                             \
            return call_binary(x1, x2, op_##op);                                                   \
        }                                                                                          \
        return original.nb_##slot(x1, x2);                                                         \
    }                                                                                              \
    static PyObject *slot_##op(PyObject *x1, PyObject *x2)                                         \
    {                                                                                              \
        if (is_array(x1) && is_array(x2) && Py_REFCNT(x1) > 1 && Py_REFCNT(x2) > 1) {              \
            return call_binary(x1, x2, op_##op);                                                   \
        }                                                                                          \
        return other_##op(x1, x2);                                                                 \
    }

#define DEFINE_IN_PLACE(op, slot, elided)                                                          \
    static PyObject *in_place_##op(PyObject *x1, PyObject *x2)                                     \
    {                                                                                              \
        if (is_array(x1) && (is_array(x2) || is_number(x2))) {                                     \
            return call_in_place(x1, x2, op_##op);                                                 \
        }                                                                                          \
        return original.nb_inplace_##slot(x1, x2);                                                 \
    }

#define DEFINE_UNARY(op, slot, elided)                                                             \
    static PyObject *slot_##op(PyObject *x)                                                        \
    {                                                                                              \
        return is_array(x) && !elides(x, x) ? call_unary(x, op_##op) : original.nb_##slot(x);      \
    }

BINARY_OPERATORS(DEFINE_FORWARD)
BINARY_OPERATORS(DEFINE_IN_PLACE)
DEFINE_FORWARD(divmod, divmod, NEITHER)
UNARY_OPERATORS(DEFINE_UNARY)

/* The op that computes x1 ** x2, or -1 where NumPy's own function has to choose: the exponents -1, 0, 0.5,
   1 and 2 have rules of their own, which changed between NumPy 2.0 (any scalar or 0-d array of that value)
   and 2.4 (only int -1 and 2, float 0.5). What is here holds for all of them. */
static inline int op_of_power(PyObject *x1, PyObject *x2)
{
    if (is_array(x2)) {
        return PyArray_NDIM((PyArrayObject *)x2) > 0 && (is_array(x1) || is_number(x1)) ? op_power : -1;
    }
    if (!is_array(x1) || !is_numeric(x1)) {
        return -1;
    }
    const int inexact = PyArray_ISFLOAT((PyArrayObject *)x1) || PyArray_ISCOMPLEX((PyArrayObject *)x1);
    if (PyLong_CheckExact(x2)) {
        int overflow;
        const long exponent = PyLong_AsLongAndOverflow(x2, &overflow);
        if (exponent == 2) {
            return op_square;
        }
        if (exponent == -1 && !overflow) {
            return inexact ? op_reciprocal : -1;
        }
        return exponent == 0 || exponent == 1 ? -1 : op_power;
    }
    if (PyFloat_CheckExact(x2)) {
        const double exponent = PyFloat_AS_DOUBLE(x2);
        if (exponent == 0.5) {
            return inexact ? op_sqrt : -1;
        }
        return exponent == -1 || exponent == 0 || exponent == 1 || exponent == 2 ? -1 : op_power;
    }
    return -1;
}

static PyObject *slot_power(PyObject *x1, PyObject *x2, PyObject *modulus)
{
    const int op = modulus == Py_None ? op_of_power(x1, x2) : -1;
    if (op == op_power || (modulus == Py_None && HAS_OURS(x2, nb_power, slot_power))) {
        return call_binary(x1, x2, op_power);
    }
    return op >= 0 && !elides(x1, x1) ? call_unary(x1, op) : original.nb_power(x1, x2, modulus);
}

static PyObject *in_place_power(PyObject *x1, PyObject *x2, PyObject *modulus)
{
    const int op = is_array(x1) ? op_of_power(x1, x2) : -1;
    if (op < 0) {
        return original.nb_inplace_power(x1, x2, modulus);
    }
    return op == op_power ? call_in_place(x1, x2, op) : call_binary(x1, x1, op);
}

/* Numeric dtypes only: of others == and != have answers that their ufuncs have not. */
static PyObject *slot_compare(PyObject *x1, PyObject *x2, int comparison)
{
    if (is_array(x1) && is_numeric(x1) && (is_array(x2) ? is_numeric(x2) : is_number(x2))) {
        return call_binary(x1, x2, comparison);
    }
    return original_compare(x1, x2, comparison);
}

/* ---------------------------------------------------------------- into the type and out of it */

typedef void (*AnyFunction)(void);

typedef struct {
    size_t offset;
    AnyFunction ours;
} Place;

#define PLACE(slot, function) {offsetof(PyNumberMethods, slot), (AnyFunction)function},
#define BINARY_PLACES(op, slot, elided) PLACE(nb_##slot, slot_##op) PLACE(nb_inplace_##slot, in_place_##op)
#define UNARY_PLACE(op, slot, elided) PLACE(nb_##slot, slot_##op)
static const Place places[] = {
    BINARY_OPERATORS(BINARY_PLACES) BINARY_PLACES(power, power, ) UNARY_PLACE(divmod, divmod, )
    UNARY_OPERATORS(UNARY_PLACE)
};

/* A slot is changed only where the function is found that is expected there. Whoever else has put something
   on top of NumPy's function or of ours keeps it. */
static inline void replace(void *slot, const void *expected, const void *function)
{
    if (memcmp(slot, expected, sizeof(AnyFunction)) == 0) {
        memcpy(slot, function, sizeof(AnyFunction));
    }
}

static inline void replace_slots(int on)
{
    const richcmpfunc our_compare = slot_compare;
    for (size_t k = 0; k < sizeof(places) / sizeof(places[0]); k++) {
        char *slot = (char *)PyArray_Type.tp_as_number + places[k].offset;
        const void *numpys = (char *)&original + places[k].offset, *ours = &places[k].ours;
        replace(slot, on ? numpys : ours, on ? ours : numpys);
    }
    replace(&PyArray_Type.tp_richcompare, on ? &original_compare : &our_compare,
            on ? &our_compare : &original_compare);
}

/* Puts our functions into the slots. */
static inline void put_slots(void)
{
    if (original_compare == NULL) {
        original = *PyArray_Type.tp_as_number;
        original_compare = PyArray_Type.tp_richcompare;
    }
    replace_slots(1);
}

/* Puts back what stood there. */
static inline void restore_slots(void)
{
    replace_slots(0);
}

#endif
