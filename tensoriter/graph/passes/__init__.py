"""Passes: functions from Graph to Graph that a plan is made through, in this order.

`default` is a list to read and to change; `tensoriter.capture(f, passes=[...])` takes another one for one
function. A pass gives a new graph and leaves the one that it was given as it is. Whatever passes do, results
are the same to the bit.

>>> from tensoriter.graph.trace import trace
>>> graph = trace(lambda x: (x + 1) * (x + 1), (np.ones(3),)).graph
>>> [node.op for node in graph]
['input', 'constant', 'add', 'constant', 'add', 'multiply']
>>> for each in default:
...     graph = each(graph)
>>> [node.op for node in graph]
['input', 'constant', 'add', 'multiply']
"""

import numpy as np  # noqa: F401  (for the example)

from tensoriter.graph.passes.common import merge_common
from tensoriter.graph.passes.dead import drop_dead
from tensoriter.graph.passes.folding import fold_constants

default = [drop_dead, fold_constants, merge_common]
