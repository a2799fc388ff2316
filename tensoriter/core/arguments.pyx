"""Taking a call's arguments apart.

No parser here raises: what is not understood at once is left to NumPy, which then says what is wrong
in its own words. Every value kept is borrowed from the caller.
"""
from tensoriter.core.array_api cimport (
    _import_array, is_native, is_plain_array, NPY_BOOL, NPY_KEEPORDER, NPY_SAME_KIND_CASTING,
    NPY_UNSAFE_CASTING, Py_DECREF, Py_False, Py_None, Py_True, PyArray_CastingConverter, PyArray_Descr,
    PyArray_DescrCheck, PyArray_DescrConverter, PyArray_OrderConverter, PyArrayObject, PyErr_Clear,
    PyTuple_CheckExact, PyTuple_GET_ITEM, PyTuple_GET_SIZE, PyTupleObject, PyUnicode_Compare,
    PyUnicode_InternFromString, PyVectorcall_NARGS, steal, type_number_of, vectorcallfunc,
)
from tensoriter.core.dtypes cimport element_of

cdef extern from "Python.h":
    bint PyUnicode_CheckExact(PyObject*) nogil
    bint PyType_Check(PyObject*) nogil

_import_array()

# Keyword names arrive interned almost always, so that a comparison of pointers finds them.
cdef enum:
    OUT, WHERE, CASTING, ORDER, DTYPE, SUBOK, ALPHA, CHECKED
    KEYWORDS
    UNKNOWN_KEYWORD

cdef PyObject* keyword_names[KEYWORDS]
keyword_names[OUT] = PyUnicode_InternFromString("out")
keyword_names[WHERE] = PyUnicode_InternFromString("where")
keyword_names[CASTING] = PyUnicode_InternFromString("casting")
keyword_names[ORDER] = PyUnicode_InternFromString("order")
keyword_names[DTYPE] = PyUnicode_InternFromString("dtype")
keyword_names[SUBOK] = PyUnicode_InternFromString("subok")
keyword_names[ALPHA] = PyUnicode_InternFromString("alpha")
keyword_names[CHECKED] = PyUnicode_InternFromString("checked")


cdef PyObject* OUT_KEYWORD = keyword_names[OUT]


cdef inline int find_keyword(PyObject* name) noexcept:
    cdef int k
    for k in range(KEYWORDS):
        if keyword_names[k] is name:
            return k
    for k in range(KEYWORDS):
        if PyUnicode_Compare(keyword_names[k], name) == 0:
            return k
    return UNKNOWN_KEYWORD


cdef bint parse_arguments(Arguments* arguments, PyObject* const* args, Py_ssize_t count,
                          PyObject* kwnames) noexcept:
    """Fills `arguments` (nin and nout are set already); False, with the reason, where the call is NumPy's."""
    cdef int k
    cdef int nin = arguments.nin
    arguments.where = arguments.alpha = NULL
    arguments.casting = NPY_SAME_KIND_CASTING
    arguments.order = NPY_KEEPORDER
    arguments.dtype = -1
    arguments.reason = Reason.NO_REASON
    arguments.reason_operand = 0
    if count < nin or count > nin + arguments.nout:
        arguments.reason = Reason.POSITIONAL_COUNT
        return False
    for k in range(nin):
        arguments.inputs[k] = args[k]
    for k in range(arguments.nout):
        arguments.outputs[k] = NULL
        if nin + k < count and args[nin + k] is not Py_None:
            if not set_output(arguments, k, args[nin + k]):
                return False
    return kwnames is NULL or parse_keywords(arguments, args + count, kwnames, count > nin)


cdef bint set_output(Arguments* arguments, int k, PyObject* value) noexcept:
    if not is_plain_array(value):
        arguments.reason = Reason.OUT_KIND
        arguments.reason_operand = arguments.nin + k
        return False
    arguments.outputs[k] = value
    return True


cdef bint parse_keywords(Arguments* arguments, PyObject* const* values, PyObject* kwnames,
                         bint out_by_position) noexcept:
    cdef Py_ssize_t k
    cdef bint out_given = False
    cdef bint understood
    for k in range(PyTuple_GET_SIZE(kwnames)):
        keyword = find_keyword(PyTuple_GET_ITEM(kwnames, k))
        if keyword == OUT:
            out_given = True
            understood = not out_by_position and parse_out(arguments, values[k])
        elif keyword == WHERE:
            understood = parse_where(arguments, values[k])
        elif keyword == DTYPE:
            understood = parse_dtype(arguments, values[k])
        elif keyword == ALPHA:
            arguments.alpha = values[k]
            understood = True
        elif keyword >= CHECKED:    # which the op takes out, or unknown: signature= and sig= among them
            arguments.reason = Reason.KEYWORD
            return False
        else:
            understood = parse_option(arguments, keyword, values[k])
        if not understood:
            if arguments.reason == Reason.NO_REASON:
                arguments.reason = Reason.OPTION_VALUE
            return False
    if arguments.where is not NULL and not out_given and arguments.outputs[0] is NULL:
        # NumPy warns: the elements that the mask leaves out are not initialised.
        arguments.reason = Reason.WHERE_WITHOUT_OUT
        return False
    return True


cdef bint parse_out(Arguments* arguments, PyObject* value) noexcept:
    """out= takes None, an array (of a single output) or a tuple with an entry for each output."""
    cdef int k
    if value is Py_None:
        return arguments.nout == 1
    if not PyTuple_CheckExact(value):
        return arguments.nout == 1 and set_output(arguments, 0, value)
    if PyTuple_GET_SIZE(value) != arguments.nout:
        return False
    for k in range(arguments.nout):
        if PyTuple_GET_ITEM(value, k) is not Py_None:
            if not set_output(arguments, k, PyTuple_GET_ITEM(value, k)):
                return False
    return True


cdef bint parse_where(Arguments* arguments, PyObject* value) noexcept:
    if value is Py_True:
        return True
    if is_plain_array(value) and type_number_of(<PyArrayObject*>value) == NPY_BOOL:
        arguments.where = value
        return True
    arguments.reason = Reason.WHERE_KIND
    return False


cdef bint parse_dtype(Arguments* arguments, PyObject* value) noexcept:
    cdef PyArray_Descr* dtype = NULL
    if value is Py_None:
        return True
    arguments.reason = Reason.DTYPE_KIND
    if not (PyArray_DescrCheck(value) or PyType_Check(value) or PyUnicode_CheckExact(value)):
        return False
    if not PyArray_DescrConverter(value, &dtype):
        PyErr_Clear()
        return False
    arguments.dtype = dtype.type_num if is_native(dtype) else -1
    Py_DECREF(<PyObject*>dtype)
    if element_of(arguments.dtype) < 0:
        return False
    arguments.reason = Reason.NO_REASON
    return True


cdef bint parse_option(Arguments* arguments, int keyword, PyObject* value) noexcept:
    """casting=, order= and subok= (which plain arrays do not care about)."""
    cdef int converted = 0
    if keyword == SUBOK:
        return value is Py_True or value is Py_False
    if not PyUnicode_CheckExact(value):
        return False
    if keyword == CASTING:
        # Rules beyond 'unsafe' (NumPy 2.4's 'same_value') look at values: NumPy's.
        converted = (PyArray_CastingConverter(value, &arguments.casting)
                     and arguments.casting <= NPY_UNSAFE_CASTING)
    elif keyword == ORDER:
        converted = PyArray_OrderConverter(value, &arguments.order)
    if not converted:
        PyErr_Clear()
    return converted


cdef object call_by(vectorcallfunc entry, callee, tuple operands, dict keywords):
    """A call with its arguments as Python holds them. By an op's own function, it is part of a call."""
    cdef tuple names = tuple(keywords), values = operands + tuple(keywords.values())
    return steal(entry(<PyObject*>callee, (<PyTupleObject*>values).ob_item, <size_t>len(operands),
                       <PyObject*>names if names else NULL))


cdef tuple taken_apart(PyObject* const* args, size_t count, PyObject* kwnames):
    """(operands, keywords), a list and a dict."""
    cdef Py_ssize_t k, given = PyVectorcall_NARGS(count)
    cdef tuple names = <tuple><object>kwnames if kwnames is not NULL else ()
    return ([<object>args[k] for k in range(given)],
            {names[k]: <object>args[given + k] for k in range(len(names))})
