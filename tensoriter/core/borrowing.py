"""Which ufuncs have loops that an op can take."""

import numpy as np

# What the signatures of loops that can be taken consist of (see `np.ufunc.types`).
NUMERIC = frozenset("?bBhHiIlLqQefdgFDG->")


def why_not(ufunc: np.ufunc, most_operands: int) -> str:
    """Why none of this ufunc's loops can be taken; '' if some can."""
    if ufunc.signature is not None:
        return f"it is generalized, with the signature {ufunc.signature}"
    if ufunc.nargs > most_operands:
        return f"it has {ufunc.nargs} operands, and an op at most {most_operands}"
    if not ufunc.types:
        return "it lists none (they are new-style loops, or compiled for dtypes when it is called)"
    if not any(NUMERIC.issuperset(signature) for signature in ufunc.types):
        return "it has none for numbers or bools"
    return ""
