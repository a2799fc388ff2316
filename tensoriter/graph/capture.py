"""capture: a function that is traced once for each kind of arguments, and replayed as a plan."""

from __future__ import annotations

import functools
import inspect
import sys
import weakref
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from typing import Any

from tensoriter.core.checked import is_on as is_checked
from tensoriter.core.hooks import public
from tensoriter.core.plan_call import PlanCall, enable_fast_calls
from tensoriter.graph import passes, reference
from tensoriter.graph.containers import Template
from tensoriter.graph.graph import Graph
from tensoriter.graph.keys import Identity, StandInMet, identities, is_plain, key_of, put_back, state_key
from tensoriter.graph.lower import lower
from tensoriter.graph.passes.parallel import ParallelOps, group_parallel_ops, settings_of
from tensoriter.graph.plan import Plan, written
from tensoriter.graph.trace import CaptureError, Traced, name_of, trace

Pass = Callable[[Graph], Graph]

MOST_TRACES = 64  # of one function; the one that has not been used for longest makes room
MOST_PLANS = 16  # of one trace, for layouts of its arguments


class Entry:
    """A trace for the calls of one key, with a plan for each layout of arrays that it was called with.

    graph : None if the function could not be captured, and is called as it is (fallback=True)
    objects : those that stand for themselves among the arguments
    is_general : whether it depends on nothing but what `PlanCall` sees of the arguments
    """

    __slots__ = ("graph", "template", "objects", "is_general", "plans", "watches")

    def __init__(self, graph: Graph | None = None, template: Template | None = None) -> None:
        self.graph = graph
        self.template = template
        self.objects: list[Identity] = []
        self.is_general = False
        self.plans: OrderedDict[Hashable, Any] = OrderedDict()
        self.watches: list[Any] = []  # drop the entry when an object that it is for is gone


class Captured(PlanCall):
    """A function that runs as a plan: what `tensoriter.capture` makes."""

    def __init__(
        self, function: Callable[..., Any], fallback: bool, own_passes: Sequence[Pass] | None,
        parallel_ops: ParallelOps | bool | None,
    ) -> None:
        functools.update_wrapper(self, function)
        self._own_out = "out" in _parameters(function)
        self._is_named(name_of(function))
        self.function = function
        self.fallback = fallback
        self.passes = own_passes
        self.parallel_ops = parallel_ops
        self._entries: OrderedDict[Hashable, Entry] = OrderedDict()
        self._kinds: dict[Hashable, frozenset[str]] = {}
        self._last: Entry | None = None

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else BoundCaptured(self, instance)

    def __repr__(self) -> str:
        return f"<captured {self.function!r}>"

    def __reduce__(self) -> Any:
        """As a function is, by its name; one that is not found there with its function."""
        found: Any = sys.modules.get(self.__module__)
        for name in self.__qualname__.split("."):
            found = getattr(found, name, None)
        if found is self:
            return self.__qualname__
        return Captured, (self.function, self.fallback, self.passes, self.parallel_ops)

    def _call(self, *args: Any, out: Any = None, **kwargs: Any) -> Any:
        if self._own_out and out is not None:
            kwargs["out"], out = out, None
        try:
            entry, arrays = self._find(args, kwargs)
        except StandInMet:  # within another function's trace, it is a part of that function
            if out is not None:
                raise CaptureError("out= of a captured function is for calls from outside") from None
            return self.function(*args, **kwargs)
        if entry.graph is None:
            return self._uncaptured(args, kwargs, out)
        plan = self._plan_of(entry, arrays)
        if entry.is_general:
            self._expect_again(plan, entry, args)
        if out is None:
            return entry.template.build(plan.run(arrays))
        return entry.template.build(plan.run(arrays, entry.template.places(out, len(plan.results))))

    def _expect_again(self, plan: Plan, entry: Entry, args: tuple[Any, ...]) -> None:
        """Lets the next call go straight to this plan if its arguments are of the same layout."""
        contents = [part for found in entry.objects for part in found.contents()]
        self._remember(plan, args, contents, entry.template.form, self._own_out)

    @property
    def graph(self) -> Graph | None:
        """The graph that was traced or used last, before passes but with its groups, if parallel ops are on;
        None before the first call."""
        graph = self._last.graph if self._last is not None else None
        settings = settings_of(self.parallel_ops)
        return graph if graph is None or settings is None else group_parallel_ops(graph, settings)

    def plan(self, *args: Any, **kwargs: Any) -> Any:
        """The plan that a call with these arguments would run. Nothing is computed."""
        entry, arrays = self._find(args, kwargs)
        if entry.graph is None:
            raise CaptureError(f"{name_of(self.function)} could not be captured: it is called as it is")
        return self._plan_of(entry, arrays)

    # ------------------------------------------------------------ what calls share

    def _find(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Entry, list[Any]]:
        """The entry for these arguments, made if there is none, and the arrays in them."""
        arrays: list[Any] = []
        try:
            key = key_of(args, arrays), key_of(kwargs, arrays), is_checked()
        except CaptureError:
            if not self.fallback:
                raise
            return Entry(), []
        kinds = self._kinds.get(key)
        if kinds is not None:
            full = key, state_key(kinds, arrays)
            entry = self._entries.get(full)
            if entry is not None:
                self._entries.move_to_end(full)
                self._last = entry
                return entry, arrays
        return self._new_entry(key, args, kwargs, arrays), arrays

    def _new_entry(self, key: Any, args: Any, kwargs: Any, arrays: list[Any]) -> Entry:
        kinds = frozenset[str]()
        try:
            traced = self._trace(key, args, kwargs)
        except CaptureError:
            if not self.fallback:
                raise
            entry = Entry()
        else:
            entry = Entry(traced.graph, traced.template)
            entry.objects = identities(key)
            plain = is_plain(args) and all(found.in_dicts for found in entry.objects)
            entry.is_general = plain and not kwargs and "errstate" not in traced.specialised
            kinds = traced.specialised
        full = key, state_key(kinds, arrays)
        self._kinds[key] = kinds
        self._entries[full] = entry
        drop = functools.partial(_drop, self._entries, self._kinds, full)
        for identity in identities(key):
            if not isinstance(identity.object, type):
                entry.watches.append(_when_gone(identity.object, drop))
        while len(self._entries) > MOST_TRACES:
            (oldest, _), _ = self._entries.popitem(last=False)
            self._kinds.pop(oldest, None)
        self._last = entry
        return entry

    def _trace(self, key: Any, args: Any, kwargs: Any) -> Traced:
        """The trace. The function must not change its arguments: attributes of objects are put back."""
        contents = [entry for identity in identities(key) for entry in identity.contents()]
        try:
            traced = trace(self.function, args, kwargs)
            if (key_of(args, []), key_of(kwargs, []), key[2]) == key:
                return traced
        except Exception as error:
            found = error
        else:
            name = traced.graph.name
            found = CaptureError(f"{name} changes an attribute of an argument: return the new value instead")
        put_back(contents)
        if not isinstance(found, CaptureError):
            self.function(*args, **kwargs)  # which raises the same where NumPy does, after earlier warnings
            found = CaptureError(f"{name_of(self.function)} raises this when it is traced: {found!r}")
        raise found

    def _plan_of(self, entry: Entry, arrays: list[Any]) -> Plan:
        """The plan for arguments laid out as these, with parallel ops as this moment wants them."""
        layouts = tuple([(array.shape, array.strides, array.flags.aligned) for array in arrays])
        key = layouts, settings_of(self.parallel_ops)
        plan = entry.plans.get(key)
        if plan is None:
            plan = entry.plans[key] = self._new_plan(entry.graph, arrays)
            if len(entry.plans) > MOST_PLANS:
                entry.plans.popitem(last=False)
        else:
            entry.plans.move_to_end(key)
        return plan

    def _new_plan(self, graph: Graph, arrays: list[Any]) -> Plan:
        shapes = [array.shape for array in arrays]
        if shapes != [node.shape for node in graph.inputs]:
            try:
                graph = graph.with_shapes(shapes)
            except Exception as error:
                found = error
            else:
                return self._lowered(graph, arrays)
            reference.evaluate(graph, arrays)  # the same error where it is written, after earlier warnings
            raise found
        return self._lowered(graph, arrays)

    def _lowered(self, graph: Graph, arrays: list[Any]) -> Plan:
        changed = replace(graph, traced=graph)
        settings = settings_of(self.parallel_ops)
        for change in passes.default if self.passes is None else self.passes:
            if settings is not None and change is passes.fuse:  # which would take siblings for one run
                changed = group_parallel_ops(changed, settings)
            changed = change(changed)
        if settings is not None:
            changed = group_parallel_ops(changed, settings)
        return lower(changed, arrays)

    def _uncaptured(self, args: Any, kwargs: Any, out: Any) -> Any:
        result = self.function(*args, **kwargs)
        if out is None:
            return result
        found: list[Any] = []
        template = Template(result, lambda leaf: found.append(leaf) or len(found) - 1)
        return template.build(written(found, template.places(out, len(found))))


enable_fast_calls(Captured)


class BoundCaptured:
    """A captured method of one instance."""

    __slots__ = ("__func__", "__self__")

    def __init__(self, captured: Captured, instance: Any) -> None:
        self.__func__ = captured
        self.__self__ = instance

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.__func__(self.__self__, *args, **kwargs)

    def plan(self, *args: Any, **kwargs: Any) -> Any:
        """The plan that a call with these arguments would run."""
        return self.__func__.plan(self.__self__, *args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__func__, name)

    def __repr__(self) -> str:
        return f"<captured {self.__func__.function!r} of {self.__self__!r}>"


def _parameters(function: Callable[..., Any]) -> Any:
    try:
        return inspect.signature(function).parameters
    except (TypeError, ValueError):
        return ()


def _drop(entries: dict[Any, Entry], kinds: dict[Any, Any], full: tuple[Any, Any]) -> None:
    """Forgets the entry of an object that is gone."""
    entries.pop(full, None)
    kinds.pop(full[0], None)


def _when_gone(value: Any, action: Callable[[], Any]) -> Any:
    try:
        return weakref.ref(value, lambda reference: action())
    except TypeError:
        return None


@public
def capture(function: Callable[..., Any] | None = None, *, fallback: bool = False,
            passes: Sequence[Pass] | None = None, parallel_ops: ParallelOps | bool | None = None) -> Any:
    """The function, to run as a plan: also as a decorator, with arguments or without, and of methods.

    The first call with arguments of one kind traces it: it runs once, on stand-ins for the arrays and NumPy
    scalars in its arguments, which may lie in tuples, lists, dicts and dataclasses. What it computes becomes
    a graph (`step.graph`), the graph a plan (`step.plan(*args)`), and the plan gives what the function would:
    the same bits, dtypes, warnings and exceptions. Arrays are told apart by dtype and number of dimensions,
    other arguments by value, objects by identity and by what their attributes hold. Another kind of arguments
    is traced anew, other shapes and strides are planned anew. A value that nobody uses is not computed, and
    does not warn.

    Arrays of the program (globals, attributes) are read in each call. All else that Python does, it does as
    it traces: what it prints, numbers of closures, branches on shapes. In-place operations on arrays that the
    function made are captured. `step(..., out=arrays)` writes results into arrays of their dtypes and shapes,
    given in the form of the result, None where there is none.

    fallback : call the function as it is where it cannot be captured
    passes : functions from Graph to Graph that take the place of `tensoriter.graph.passes.default`
    parallel_ops : whether independent ops run side by side, or the settings for it; None: as a block
        `tensoriter.parallel_ops()` or the environment says

    CaptureError, a TypeError, names the line of what cannot be captured: branches on values, conversions to
    numbers or real arrays, functions that a plan does not have, writing to arguments.

    >>> import numpy as np, tensoriter
    >>> @tensoriter.capture
    ... def step(x, v, dt):
    ...     v = v - x * dt
    ...     return x + v * dt, v
    >>> step(np.array([1.0, 2.0]), np.zeros(2), 0.5)
    (array([0.75, 1.5 ]), array([-0.5, -1. ]))
    """
    if function is None:
        return functools.partial(capture, fallback=fallback, passes=passes, parallel_ops=parallel_ops)
    return Captured(function, fallback, passes, parallel_ops)
