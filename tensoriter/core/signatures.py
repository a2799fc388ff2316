"""What inspect.signature says of an op."""

import inspect

import numpy as np


def signature_of(ufunc, alpha: bool) -> inspect.Signature:
    """The signature of a ufunc, as NumPy documents it, and alpha= where the op takes it.

    >>> str(signature_of(np.exp, alpha=False)).split(", *")[0]
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
    return inspect.Signature(
        [kinds(name, kinds.POSITIONAL_ONLY) for name in names]
        + [kinds("out", kinds.POSITIONAL_OR_KEYWORD, default=outputs)]
        + [kinds(name, kinds.KEYWORD_ONLY, default=value) for name, value in keywords.items()]
    )
