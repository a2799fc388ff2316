"""Keys of calls: two calls with equal keys may use one trace."""

from __future__ import annotations

import struct
import weakref
from collections.abc import Hashable, Sequence
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from tensoriter.graph.containers import items_of
from tensoriter.graph.stand_in import StandIn
from tensoriter.graph.trace import NUMERIC, CaptureError, code_of

_BY_VALUE = frozenset((bool, int, str, bytes, type(None), type(Ellipsis)))
_WITHOUT_STATE = (type, ModuleType, FunctionType, BuiltinFunctionType, MethodType, np.ufunc)
_MOST_ATTRIBUTES = 1000  # what more an object holds is not looked at


class StandInMet(Exception):
    """The call is part of another function's trace."""


def key_of(value: Any, arrays: list[Any]) -> Hashable:
    """The key of an argument; its arrays and NumPy scalars are appended to `arrays`.

    Arrays are told apart by dtype and number of dimensions, Python's numbers and strings by type and value,
    containers by their items, any other object by identity and by what its attributes hold.

    >>> key_of([np.ones(3), True], []) == key_of([np.zeros(5), 1], [])
    False
    """
    kind = type(value)
    if kind is np.ndarray:
        if value.dtype.char not in NUMERIC:
            raise CaptureError(f"an argument is an array of dtype {value.dtype}")
        arrays.append(value)
        return code_of(value.dtype), value.ndim
    if kind is StandIn:
        raise StandInMet
    key = key_of_number(value)
    if key is not None:
        return key
    items = items_of(value)
    if items is not None:
        return kind, tuple([(type(name), name, key_of(item, arrays)) for name, item in items])
    if isinstance(value, np.generic) and value.dtype.char in NUMERIC:
        arrays.append(value)
        return "scalar", code_of(value.dtype)
    if isinstance(value, np.ndarray):
        raise CaptureError(f"an argument is of {kind.__name__}, a subclass of ndarray")
    return Identity(value)


def key_of_number(value: Any) -> Hashable | None:
    """Type and value of what Python compares by value, None for anything else. Floats are told apart by
    their bits, so that 0.0 is not -0.0 and NaN is itself."""
    kind = type(value)
    if kind in _BY_VALUE:
        return kind, value
    if kind is float:
        return kind, struct.pack("d", value)
    if kind is complex:
        return kind, struct.pack("dd", value.real, value.imag)
    return None


class Identity:
    """The key of an object that stands for itself, as long as its attributes are the same. It is held weakly
    where that is possible, and equals nothing once the object is gone."""

    __slots__ = ("_reference", "_strong", "_hash", "_seen", "_held")

    def __init__(self, value: Any) -> None:
        self._hash = id(value)
        self._reference = self._strong = None
        try:
            self._reference = weakref.ref(value)
        except TypeError:
            self._strong = value
        self._held: list[Any] = []  # keeps what is compared by identity alive
        self._seen: list[Hashable] = []
        if not isinstance(value, _WITHOUT_STATE):
            self._look(value, {id(value)})

    def _look(self, value: Any, met: set[int]) -> None:
        """Notes what the attributes are, those of the objects in them included."""
        for name, item in getattr(value, "__dict__", {}).items():
            self._seen.append(name)
            self._look_at(item, met)

    def _look_at(self, item: Any, met: set[int]) -> None:
        if len(self._seen) > _MOST_ATTRIBUTES:
            return
        number = key_of_number(item)
        self._seen.append(id(item) if number is None else number)
        if number is not None or id(item) in met:
            return
        met.add(id(item))
        self._held.append(item)
        if type(item) in (list, tuple):
            for part in item:
                self._look_at(part, met)
        elif type(item) is dict:
            for name, part in item.items():
                self._look_at(name, met)
                self._look_at(part, met)
        elif not isinstance(item, (*_WITHOUT_STATE, np.ndarray)):
            self._look(item, met)

    @property
    def object(self) -> Any:
        """The object; None if it is gone."""
        return self._reference() if self._reference is not None else self._strong

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Identity):
            return NotImplemented
        found = self.object
        return found is not None and found is other.object and self._seen == other._seen


    def contents(self) -> list[tuple[Any, tuple[Any, ...]]]:
        """The dicts and lists that the attributes lie in, each with what it holds: of a dict the first key,
        its value, the next key and so on."""
        found: list[tuple[Any, tuple[Any, ...]]] = []
        for item in (self.object, *self._held):
            if type(item) is list:
                found.append((item, tuple(item)))
            elif type(item) is dict:
                found.append((item, tuple([part for pair in item.items() for part in pair])))
            elif not isinstance(item, (*_WITHOUT_STATE, tuple, np.ndarray)) and hasattr(item, "__dict__"):
                found.append((item.__dict__, tuple([part for pair in vars(item).items() for part in pair])))
        return found


def put_back(contents: list[tuple[Any, tuple[Any, ...]]]) -> None:
    """Gives dicts and lists what `Identity.contents` has found in them."""
    for container, held in contents:
        container.clear()
        container.extend(held) if type(container) is list else container.update(zip(held[::2], held[1::2], strict=True))


def identities(key: Any) -> list[Identity]:
    """The objects in a key that stand for themselves."""
    if isinstance(key, Identity):
        return [key]
    return [found for part in key for found in identities(part)] if isinstance(key, tuple) else []


def state_key(kinds: frozenset[str], arrays: Sequence[Any]) -> Hashable:
    """What a trace that is specialised to these kinds of thing depends on, beside its arguments."""
    shapes = tuple([np.shape(array) for array in arrays]) if "shapes" in kinds else ()
    errors = (tuple(np.geterr().values()), Identity(np.geterrcall())) if "errstate" in kinds else ()
    return shapes, errors
