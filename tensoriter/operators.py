"""ndarray's own + - * / and so on, on tensoriter, when asked for."""

from __future__ import annotations

import numpy as np

from tensoriter import ops
from tensoriter.core import number_slots
from tensoriter.core.op import Op


class Operators:
    """tensoriter.operators: ndarray's operators on tensoriter, in code that knows nothing of it.

    ``with tensoriter.operators():`` has them on for a block, ``enable()`` until ``disable()``; what is
    asked for several times, or nested, has to be given up as often. Meanwhile
    ``+ - * / // % ** & | ^ << >> ~ - + abs() divmod() == != < <= > >=`` and the in-place forms go to the
    ops where both operands are exactly an ndarray or a number of Python's or NumPy's, and at least one
    is an array. Results are the same. Everything else (subclasses, objects with ``__array_ufunc__`` or
    ``__array_priority__``, lists, None, ...) goes to NumPy's own operators with NumPy's rules; so does
    ``@``. NumPy's ufuncs, the attributes of its modules and ``ndarray.__add__`` stay what they are.

    The operators are ndarray's own and so the whole process's: while they are on, all threads use them
    (and tasks; a block in one does not end at its ``await``). Turning them on or off while other threads
    compute is safe, and changes no result. Processes started by spawning have them off, by forking as
    they are.

    >>> import numpy as np, tensoriter
    >>> x = np.arange(3.0)
    >>> with tensoriter.operators():
    ...     2 * x + 1
    array([1., 3., 5.])
    >>> tensoriter.operators.enabled
    False
    """

    def __call__(self) -> Operators:
        return self

    def __enter__(self) -> Operators:
        self.enable()
        return self

    def __exit__(self, *exception: object) -> None:
        self.disable()

    def enable(self) -> None:
        """Turn the operators on. RuntimeError where Python has no global lock, or is not CPython."""
        number_slots.enable()

    def disable(self) -> None:
        """Undo one `enable`; the last one puts back what stood in ndarray's slots before.

        RuntimeError if there is none to undo.
        """
        number_slots.disable()

    @property
    def enabled(self) -> bool:
        """Whether the operators are on, in whatever thread that was asked for."""
        return number_slots.is_enabled()

    def __repr__(self) -> str:
        return f"<tensoriter.operators: {'on' if self.enabled else 'off'}>"


def find_op(name: str) -> Op:
    """The op that stands for NumPy's ufunc of that name."""
    return getattr(ops, name, None) or Op(getattr(np, name))


number_slots.connect_ops(find_op)
operators = Operators()
