"""Which ops exist: a line each."""

import numpy as np

from tensoriter.core.op import Op

add = Op(np.add, alpha=True)
