"""StandIn: what a function is traced with in place of an array."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from tensoriter.graph import elementwise
from tensoriter.graph.graph import Node
from tensoriter.graph.trace import Trace


class Memory:
    """What several stand-ins may look at. A stand-in is a variable, its node a value: writing in place gives
    the variable another node, which is right only while no other one looks at the same memory.

    owner : '' if an operation of the function made it, else whose it is, in words
    """

    __slots__ = ("owner", "_users")

    def __init__(self, owner: str = "") -> None:
        self.owner = owner
        self._users: list[weakref.ref[StandIn]] = []

    def add(self, user: StandIn) -> None:
        self._users.append(weakref.ref(user))

    def is_shared(self) -> bool:
        self._users = [user for user in self._users if user() is not None]
        return len(self._users) > 1


def new(trace: Trace, node: Any) -> Any:
    """A stand-in for the node, a tuple of them for several."""
    if isinstance(node, tuple):
        return tuple([StandIn(trace, x, Memory()) for x in node])
    return StandIn(trace, node, Memory())


def _forward(name: str, ufunc: np.ufunc) -> Callable[[StandIn, Any], Any]:
    def method(self: StandIn, other: Any) -> Any:
        if not _takes_part(other):
            return NotImplemented
        return new(self._trace, elementwise.apply_operator(self._trace, name, ufunc, (self, other)))

    return method


def _reflected(name: str, ufunc: np.ufunc) -> Callable[[StandIn, Any], Any]:
    def method(self: StandIn, other: Any) -> Any:
        if not _takes_part(other):
            return NotImplemented
        if type(other) is complex and self._node.is_scalar and self._node.dtype.char == "d":
            # complex.__add__ takes np.float64 for the float that it is.
            why = "a Python complex and an np.float64 give a Python complex"
            self._trace.refuse(why, "make it an np.complex128, or write it second")
        return new(self._trace, elementwise.apply_operator(self._trace, name, ufunc, (other, self)))

    return method


def _unary(name: str, ufunc: np.ufunc) -> Callable[[StandIn], Any]:
    def method(self: StandIn) -> Any:
        return new(self._trace, elementwise.apply_operator(self._trace, name, ufunc, (self,)))

    return method


def _in_place(name: str, ufunc: np.ufunc) -> Callable[[StandIn, Any], Any]:
    def method(self: StandIn, other: Any) -> Any:
        if not _takes_part(other):
            return NotImplemented
        if self._node.is_scalar:  # NumPy's scalars cannot be written to: the name is bound anew
            return new(self._trace, elementwise.apply_operator(self._trace, name, ufunc, (self, other)))
        values = (self, other)
        if name == "pow" and type(other) in (int, float):
            values = values[: elementwise.power_of(self._node.dtype, type(other), other).nin]
            ufunc_here = elementwise.power_of(self._node.dtype, type(other), other)
        else:
            ufunc_here = ufunc
        self._write(elementwise.apply(self._trace, ufunc_here, values, into=self._trace.own(self)))
        return self

    return method


def _takes_part(other: Any) -> bool:
    """Whether an operator is ours to do; objects that override NumPy's do theirs."""
    if type(other) in (StandIn, int, float, bool, complex, np.ndarray, list, tuple):
        return True
    return isinstance(other, (np.generic, np.ndarray, int, float, complex))


def _refusing(name: str, why: str, hint: str) -> Callable[..., Any]:
    def method(self: StandIn, *args: Any, **kwargs: Any) -> Any:
        return self._trace.refuse(why, hint)

    method.__name__ = name
    return method


class StandIn:
    """Takes an array's place while a function is traced: it takes the operators, functions and methods that a
    plan can have, and refuses with the line of the function what it cannot."""

    __slots__ = ("_trace", "_node", "_memory", "__weakref__")
    __array_priority__ = 0.0

    def __init__(self, trace: Trace, node: Node, memory: Memory) -> None:
        self._trace = trace
        self._node = node
        self._memory = memory
        memory.add(self)

    def __repr__(self) -> str:
        return f"<stand-in {self._node.op} {self._node.dtype}{list(self._node.shape)}>"

    # ------------------------------------------------------------ what is known

    @property
    def dtype(self) -> np.dtype[Any]:
        return self._node.dtype

    @property
    def itemsize(self) -> int:
        return self._node.dtype.itemsize

    @property
    def ndim(self) -> int:
        return len(self._node.shape)

    @property
    def shape(self) -> tuple[int, ...]:
        self._trace.specialised.add("shapes")
        return self._node.shape

    @property
    def size(self) -> int:
        return int(np.prod(self.shape, dtype=np.intp))

    @property
    def nbytes(self) -> int:
        return self.size * self.itemsize

    def __len__(self) -> int:
        if not self.ndim:
            raise TypeError("len() of unsized object")
        return self.shape[0]

    def __iter__(self) -> Any:
        """Rows, as an array's: how many depends on the shape."""
        return iter([self[k] for k in range(len(self))])

    # ------------------------------------------------------------ NumPy's protocols

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *values: Any, **keywords: Any) -> Any:
        from tensoriter.graph.functions import call_ufunc

        return call_ufunc(self._trace, ufunc, method, values, keywords)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        from tensoriter.graph.functions import call_function

        return call_function(self._trace, function, args, kwargs)

    def __getattr__(self, name: str) -> Any:
        from tensoriter.graph.functions import METHODS

        if name == "T":
            return METHODS["transpose"](self)
        if name in METHODS:
            return METHODS[name].__get__(self)
        if hasattr(np.ndarray, name) and not name.startswith("__"):
            self._trace.refuse(f"ndarray.{name} is used", "a plan has no such operation")
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __getitem__(self, index: Any) -> Any:
        from tensoriter.graph.functions import get_item

        return get_item(self, index)

    def __matmul__(self, other: Any) -> Any:
        return np.matmul(self, other) if _takes_part(other) else NotImplemented

    def __rmatmul__(self, other: Any) -> Any:
        return np.matmul(other, self) if _takes_part(other) else NotImplemented

    def __divmod__(self, other: Any) -> Any:
        return np.divmod(self, other) if _takes_part(other) else NotImplemented

    def __rdivmod__(self, other: Any) -> Any:
        return np.divmod(other, self) if _takes_part(other) else NotImplemented

    # ------------------------------------------------------------ writing

    def _write(self, node: Node) -> None:
        """The variable has this value from now on."""
        if self._memory.owner:
            self._trace.refuse(f"writes to {self._memory.owner}", "write x = x + y, or return a new array")
        if self._memory.is_shared():
            self._trace.refuse("writes to an array that another one is a view of", "use a new array")
        self._node = node


_VALUE = "return it, or use np.where; or capture(f, fallback=True)"
for _name, _why, _hint in (
    ("__bool__", "the value of an array decides which way to go", _VALUE),
    ("__index__", "the value of an array is used as a number of Python's", _VALUE),
    ("__int__", "the value of an array is used as a number of Python's", _VALUE),
    ("__float__", "the value of an array is used as a number of Python's", _VALUE),
    ("__complex__", "the value of an array is used as a number of Python's", _VALUE),
    ("__array__", "a function takes it that needs a real array", "np.asarray, table[x] and C code do"),
    ("__buffer__", "a function takes it that needs a real array", "C code does"),
    ("__setitem__", "writes to a part of an array", "use np.where, np.concatenate or np.stack"),
    ("__contains__", "the values of an array are compared with one", _VALUE),
):
    setattr(StandIn, _name, _refusing(_name, _why, _hint))

for _name, _ufunc in {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "truediv": np.divide,
    "floordiv": np.floor_divide, "mod": np.remainder, "pow": np.power, "lshift": np.left_shift,
    "rshift": np.right_shift, "and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor,
}.items():  # fmt: skip
    _operator = f"{_name}_" if _name in ("and", "or") else _name
    setattr(StandIn, f"__{_name}__", _forward(_operator, _ufunc))
    setattr(StandIn, f"__r{_name}__", _reflected(_operator, _ufunc))
    setattr(StandIn, f"__i{_name}__", _in_place(_operator, _ufunc))

for _name, _ufunc in {
    "lt": np.less, "le": np.less_equal, "eq": np.equal, "ne": np.not_equal, "gt": np.greater,
    "ge": np.greater_equal,
}.items():  # fmt: skip
    setattr(StandIn, f"__{_name}__", _forward(_name, _ufunc))
StandIn.__hash__ = None  # type: ignore[assignment]  # as an array's

for _name, _ufunc in {
    "neg": np.negative, "pos": np.positive, "abs": np.absolute, "invert": np.invert,
}.items():  # fmt: skip
    setattr(StandIn, f"__{_name}__", _unary(_name, _ufunc))
