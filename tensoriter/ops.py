"""Which ops exist: one for each ufunc of the installed NumPy, under all of its names there.

An op that has loops of our own (core/loops) runs them, every other NumPy's own loops. What has neither
(generalized ufuncs such as matmul) is handed to NumPy as it comes.
"""

import numpy as np

from tensoriter.core.op import Op

# The name that each ufunc has in NumPy, aliases included.
ufuncs = {name: value for name, value in vars(np).items() if isinstance(value, np.ufunc)}

# The op of each ufunc; add's takes alpha=, which NumPy's does not.
ops = {ufunc: Op(ufunc, alpha=ufunc is np.add) for ufunc in set(ufuncs.values())}

globals().update({name: ops[ufunc] for name, ufunc in ufuncs.items()})

__all__ = sorted(ufuncs)
