"""Any call of any op, as NumPy answers it: random operands, keywords and errstates.

The examples are the same in every run. TENSORITER_EXAMPLES=100000 asks for more of them, and for
new ones each time; a failure then prints the call, and hypothesis how to repeat it.
"""


import numpy as np
import pytest
from hypothesis import given
from oracle import as_exact_as, compare
from strategies import calls, profile

import tensoriter

# Every element-wise ufunc of NumPy, by the one name that it gives itself, and its only one of three inputs.
UFUNCS = {ufunc.__name__: ufunc for ufunc in vars(np).values()
          if isinstance(ufunc, np.ufunc) and ufunc.signature is None}
UFUNCS["clip"] = np._core.umath.clip


PROFILE = profile(3000)


def forced(op):
    """The same op kept off the contiguous path."""
    def call(*args, **kwargs):
        with tensoriter.force_path("strided"):
            return op(*args, **kwargs)

    call.nin = op.nin
    return call


@PROFILE
@given(calls())
def test_add(call):
    compare(tensoriter.add, np.add, *call.args, errstate=call.errstate, **call.kwargs)


@PROFILE
@given(calls())
def test_add_forced_on_the_strided_path(call):
    compare(forced(tensoriter.add), np.add, *call.args, errstate=call.errstate, **call.kwargs)


@pytest.mark.parametrize("name", sorted(UFUNCS))
def test_every_op(name):
    ufunc = UFUNCS[name]
    op = tensoriter.Op.from_ufunc(ufunc, unsupported="numpy")

    @profile(150)
    @given(calls(ufunc))
    def check(call):
        compare(op, ufunc, *call.args, errstate=call.errstate, **call.kwargs)
        compare(forced(op), ufunc, *call.args, errstate=call.errstate, **call.kwargs)

    with as_exact_as(name):
        check()
