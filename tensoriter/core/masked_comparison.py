"""Comparisons with where= that are NumPy's, kept off a fault of its own.

numpy.less(300, numpy.zeros(2, "i1"), where=mask) ends NumPy 2.4's process: a Python int that the dtype cannot
hold takes a way on which the mask is missing. What it means is compared without a mask, then masked.
"""

import numpy as np

# Operands that cannot take the call over by __array_ufunc__.
PLAIN = (int, float, complex, bool, list, tuple, np.ndarray, type(None))


def compare(ufunc: np.ufunc, args: tuple, kwargs: dict) -> object:
    """ufunc(*args, **kwargs), a comparison whose keywords name where=.

    >>> keywords = {"where": np.array([True, False]), "out": np.zeros(2, "?")}
    >>> compare(np.less, (np.zeros(2, "i1"), 300), keywords)
    array([ True, False])
    """
    out = kwargs.get("out", args[2] if len(args) == 3 else None)
    outs = out if type(out) is tuple else (out,)
    plain = all(type(value) in PLAIN or isinstance(value, np.generic) for value in (*args, *outs))
    if not plain or len(args) not in (2, 3) or not any(type(value) is int for value in args[:2]):
        return ufunc(*args, **kwargs)
    masking = {name: kwargs[name] for name in ("where", "out", "casting", "order", "subok") if name in kwargs}
    rest = {name: value for name, value in kwargs.items() if name not in ("where", "out", "casting")}
    compared = ufunc(*args[:2], **rest)
    return np.logical_or(compared, compared, *args[2:], **masking)
