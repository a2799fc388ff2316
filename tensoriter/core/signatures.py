"""What inspect.signature and help say of an op."""

import inspect

import numpy as np


def signature_of(ufunc, alpha: bool, checked: bool) -> inspect.Signature:
    """The signature of a ufunc, as NumPy documents it, and alpha= and checked= where the op takes them.

    >>> str(signature_of(np.exp, alpha=False, checked=False)).split(", *")[0]
    '(x, /, out=None'
    """
    kinds = inspect.Parameter
    names = ["x"] if ufunc.nin == 1 else [f"x{k + 1}" for k in range(ufunc.nin)]
    outputs = None if ufunc.nout == 1 else (None,) * ufunc.nout
    keywords = {"where": True, "casting": "same_kind", "order": "K", "dtype": None, "subok": True}
    keywords["signature"] = None
    if ufunc.signature is not None:
        del keywords["where"]
        keywords |= {"axes": np._NoValue, "axis": np._NoValue, "keepdims": False}
    if alpha:
        keywords["alpha"] = 1
    if checked:
        keywords["checked"] = None
    return inspect.Signature(
        [kinds(name, kinds.POSITIONAL_ONLY) for name in names]
        + [kinds("out", kinds.POSITIONAL_OR_KEYWORD, default=outputs)]
        + [kinds(name, kinds.KEYWORD_ONLY, default=value) for name, value in keywords.items()]
    )


def document(ufunc, alpha: bool, checked: bool) -> str:
    """The docstring of an op: the ufunc's own, and behind it what differs."""
    lines = [ufunc.__doc__ or "", "", "In tensoriter", "-------------",
             f"The ufunc {ufunc.__name__} with less overhead: the same signature, the same answers."]
    if alpha:
        lines += [
            "Beyond NumPy's arguments it takes alpha=, a number: x1 + alpha * x2 in one pass, for every",
            "numeric dtype but bool. alpha is cast to the result's dtype, which it does not influence",
            "(TypeError where that is not a same_kind cast, OverflowError for a Python int out of range).",
            "The product is rounded, then the sum, as in two separate operations; of a complex product",
            "each multiplication and each addition is rounded on its own.",
        ]
    if checked:
        lines += [
            "Beyond NumPy's arguments it takes checked=, True or False: whether integers that overflow raise",
            "OverflowError (see tensoriter.checked); None, the default, leaves that to the block around the",
            "call. An error leaves out as it was. What is asked for has to be tensoriter's own call:",
            "TypeError for subclasses of ndarray, objects and signature=.",
        ]
    return "\n".join(lines)
