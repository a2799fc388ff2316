"""tensoriter.profiler: every call of an op counted, once, and drawn on a time line.

>>> import numpy as np, tensoriter
>>> from tensoriter import profiler
>>> with profiler.profile():
...     for _ in range(3):
...         _ = tensoriter.add(np.ones(100), 1.0)
>>> import json
>>> json.loads(profiler.dumps(reset=True, format="json"))["domains"]["operator"]["add"]["count"]
3
"""

from tensoriter.profiler.objects import (
    Counter,
    Domain,
    Event,
    Frame,
    Marker,
    ProfileOperator,
    Task,
)
from tensoriter.profiler.picture import plot
from tensoriter.profiler.scopes import scope
from tensoriter.profiler.session import (
    dump,
    dumps,
    is_running,
    pause,
    profile,
    resume,
    set_config,
    start,
    stop,
)

__all__ = [
    "Counter", "Domain", "Event", "Frame", "Marker", "ProfileOperator", "Task", "dump", "dumps", "is_running",
    "pause", "plot", "profile", "resume", "scope", "set_config", "start", "stop",
]
