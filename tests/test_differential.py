"""Any call of add, as NumPy answers it: random operands, keywords and errstates.

The examples are the same in every run. TENSORITER_EXAMPLES=100000 asks for more of them, and for
new ones each time; a failure then prints the call, and hypothesis how to repeat it.
"""

import os

import numpy as np
from hypothesis import HealthCheck, given, settings
from oracle import compare
from strategies import calls

import tensoriter

EXAMPLES = os.environ.get("TENSORITER_EXAMPLES")
PROFILE = settings(
    max_examples=int(EXAMPLES or 3000),
    derandomize=not EXAMPLES,
    database=None,
    deadline=None,
    print_blob=True,
    suppress_health_check=list(HealthCheck),
)


@PROFILE
@given(calls())
def test_add(call):
    compare(tensoriter.add, np.add, *call.args, errstate=call.errstate, **call.kwargs)


@PROFILE
@given(calls())
def test_add_forced_on_the_strided_path(call):
    def forced(*args, **kwargs):
        with tensoriter.force_path("strided"):
            return tensoriter.add(*args, **kwargs)

    compare(forced, np.add, *call.args, errstate=call.errstate, **call.kwargs)
