"""Containers of arrays as arguments and results: tuples, lists, dicts, dataclasses, one in another."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import fields, is_dataclass
from typing import Any


def items_of(value: Any) -> list[tuple[Any, Any]] | None:
    """The (name, item) pairs of a container; None if the value is no container.

    >>> items_of({"x": 1})
    [('x', 1)]
    >>> items_of("text") is None
    True
    """
    kind = type(value)
    if kind is dict:
        return list(value.items())
    if kind is list or kind is tuple or _is_namedtuple(kind):
        return list(enumerate(value))
    if is_dataclass(kind):
        return list(_attributes(value).items())
    return None


def with_items(value: Any, items: Sequence[Any]) -> Any:
    """A container like `value`, of other items in their order."""
    kind = type(value)
    if kind is dict:
        return dict(zip(value, items, strict=True))
    if kind is list or kind is tuple:
        return kind(items)
    if _is_namedtuple(kind):
        return kind._make(items)
    new = copy.copy(value)
    for name, item in zip(_attributes(value), items, strict=True):
        object.__setattr__(new, name, item)
    return new


def _is_namedtuple(kind: type) -> bool:
    return issubclass(kind, tuple) and hasattr(kind, "_make") and hasattr(kind, "_fields")


def _attributes(value: Any) -> dict[str, Any]:
    """A dataclass's fields, and what else its instance has."""
    found = {field.name: getattr(value, field.name) for field in fields(value) if hasattr(value, field.name)}
    return {**found, **getattr(value, "__dict__", {})}


def map_leaves(value: Any, function: Callable[[Any], Any]) -> Any:
    """The same containers anew, `function` of each leaf in its place."""
    items = items_of(value)
    if items is None:
        return function(value)
    return with_items(value, [map_leaves(item, function) for _, item in items])


class Template:
    """The form of a function's result: containers, in which results of the graph stand beside what is the
    same in each call."""

    __slots__ = ("_container", "_parts", "_position", "_value")

    def __init__(self, value: Any, position_of: Callable[[Any], int | None]) -> None:
        """`position_of` gives the position of a leaf among the results, None if it is the same each time."""
        items = items_of(value)
        self._container = value if items is not None else None
        self._parts = [Template(item, position_of) for _, item in items or ()]
        self._position = position_of(value) if items is None else None
        self._value = value if items is None and self._position is None else None
        if items is not None:  # what it held while it was traced shall not live on
            self._container = with_items(value, [None] * len(self._parts))

    def build(self, results: Sequence[Any]) -> Any:
        """The result of a call, given those of the graph."""
        if self._position is not None:
            return results[self._position]
        if self._container is None:
            return self._value
        return with_items(self._container, [part.build(results) for part in self._parts])

    def places(self, value: Any, count: int) -> list[Any]:
        """What stands in `value`, of the same form, where the results stand: None where it is None.
        TypeError if the form is another."""
        found: list[Any] = [None] * count
        self._match(value, found)
        return found

    def _match(self, value: Any, found: list[Any]) -> None:
        if value is None:
            return
        if self._position is not None:
            found[self._position] = value
        elif self._container is not None:
            items, form = items_of(value), type(self._container).__name__
            if items is None or len(items) != len(self._parts):
                raise TypeError(f"out must have the form of the result: a {form} of {len(self._parts)}")
            for part, (_, item) in zip(self._parts, items, strict=True):
                part._match(item, found)
