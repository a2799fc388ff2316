"""What can be measured: for each subject the loop ``output = output + x``, as its library writes it.

This file also runs under other interpreters (``--python``): it needs Python 3.6 and the library of the
subject, nothing else, and imports that library only in the subject's maker.

A maker takes the number of elements and the name of the dtype; its loop takes the number of adds.
"""

import importlib
from collections.abc import Callable
from functools import partial
from typing import NamedTuple


def empty_loop(n, dtype):
    """The loop alone: its cost is part of every other one's."""
    return repeat_nothing


def numpy_operator(n, dtype):
    """ndarray's own +."""
    return partial(repeat_plus, *numpy_operands(n, dtype))


def numpy_function(n, dtype):
    """np.add."""
    import numpy

    return partial(repeat_call, numpy.add, *numpy_operands(n, dtype))


def tensoriter_contiguous(n, dtype):
    """tensoriter.add, on the path that it takes by itself."""
    import tensoriter

    return partial(repeat_call, tensoriter.add, *numpy_operands(n, dtype))


def tensoriter_strided(n, dtype):
    """tensoriter.add with the general set-up."""
    import tensoriter

    def on_strided_path(adds):
        with tensoriter.force_path("strided"):
            return repeat_call(tensoriter.add, output, x, adds)

    output, x = numpy_operands(n, dtype)
    return on_strided_path


def tensoriter_bound(n, dtype):
    """A bound call, given its operands."""
    import tensoriter

    output, x = numpy_operands(n, dtype)
    return partial(repeat_call, tensoriter.add.bind(output, x), output, x)


def tensoriter_operators(n, dtype):
    """ndarray's + while it is tensoriter's."""
    import tensoriter

    tensoriter.operators.enable()
    return numpy_operator(n, dtype)


def tensoriter_plan(n, dtype):
    """A captured function of one add, replayed as a plan."""
    import tensoriter

    return partial(repeat_call, tensoriter.capture(lambda a, b: a + b), *numpy_operands(n, dtype))


def torch_operator(n, dtype):
    """A tensor's +, on one thread. Nothing requires a gradient."""
    import torch

    torch.set_num_threads(1)
    dtype = getattr(torch, dtype)
    return partial(repeat_plus, torch.zeros(n, dtype=dtype), torch.ones(n, dtype=dtype))


def numexpr_compiled(n, dtype):
    """numexpr's virtual machine on one thread, the expression compiled before."""
    import numexpr
    from numexpr.necompiler import getType

    numexpr.set_num_threads(1)
    output, x = numpy_operands(n, dtype)
    add = numexpr.NumExpr("a + b", [("a", getType(output)), ("b", getType(x))])
    return partial(repeat_call, add, output, x)


def numba_compiled(n, dtype):
    """A function compiled by numba."""
    import numba

    return partial(repeat_call, numba.njit(lambda a, b: a + b), *numpy_operands(n, dtype))


def mine(name, n, dtype):
    """A user's op, module:function, called as output = function(output, x)."""
    module, _, attributes = name.partition(":")
    function = importlib.import_module(module)
    for attribute in attributes.split("."):
        function = getattr(function, attribute)
    return partial(repeat_call, function, *numpy_operands(n, dtype))


class Made(NamedTuple):
    """The maker of a subject's loop, and the library that it needs ("" for none but Python)."""

    make: Callable
    library: str = ""


SUBJECTS = {
    "empty loop": Made(empty_loop),
    "numpy +": Made(numpy_operator, "numpy"),
    "np.add": Made(numpy_function, "numpy"),
    "tensoriter.add": Made(tensoriter_contiguous, "tensoriter"),
    "tensoriter.add, strided": Made(tensoriter_strided, "tensoriter"),
    "tensoriter.add, bound": Made(tensoriter_bound, "tensoriter"),
    "tensoriter + (operators)": Made(tensoriter_operators, "tensoriter"),
    "tensoriter plan": Made(tensoriter_plan, "tensoriter"),
    "torch +": Made(torch_operator, "torch"),
    "numexpr": Made(numexpr_compiled, "numexpr"),
    "numba": Made(numba_compiled, "numba"),
}


def numpy_operands(n, dtype):
    """The output to start with and the array that is added."""
    import numpy

    return numpy.zeros(n, dtype), numpy.ones(n, dtype)


def repeat_call(add, output, x, adds):
    """The loop of the post, as a user would write it."""
    for _ in range(adds):
        output = add(output, x)
    return output


def repeat_plus(output, x, adds):
    """The same, written with the operator."""
    for _ in range(adds):
        output = output + x
    return output


def repeat_nothing(adds):
    """The same without the add."""
    for _ in range(adds):
        pass


def make_loop(name, n, dtype):
    """The loop of a subject, or of module:function."""
    if name in SUBJECTS:
        return SUBJECTS[name].make(n, dtype)
    return mine(name, n, dtype)


def version_of(name):
    """The version of the library that a subject measures, '' where it has none."""
    library = SUBJECTS[name].library if name in SUBJECTS else name.partition(":")[0]
    if not library:
        return ""
    return str(getattr(importlib.import_module(library), "__version__", ""))
