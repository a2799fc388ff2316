"""Parallel ops: independent nodes side by side, as one node that computes them on threads.

Which ops are worth it depends on what they cost here and now, so that is measured (see `cost`); what a user
may settle stands in `ParallelOps`. The idea is that of MXNet's proposal for low-work operators.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from contextvars import ContextVar, Token
from dataclasses import dataclass, field, replace
from functools import cache

import numpy as np

from tensoriter.core.plan_call import begin_era
from tensoriter.core.threads import task_threads
from tensoriter.graph.graph import Graph, Node
from tensoriter.graph.passes import cost
from tensoriter.graph.passes.subgraph import (
    SubgraphProperty,
    SubgraphSelector,
    depends_on,
    partition,
    register,
)

# Ops that may run on any thread: NumPy runs their loops without Python's lock as well. Not power, whose loops
# for integers raise exceptions; not ops of other packages, whose loops nobody has vouched for.
THREAD_SAFE = frozenset(
    {name for name, value in vars(np).items() if isinstance(value, np.ufunc) and value.signature is None}
    - {"power", "pow", "float_power"}
    | {"take", "where", "cast", "astype", "concatenate", "fused"}
)
# Estimates are not exact, and what is no gain is a loss to whoever else wants the CPUs.
WORTH = 0.8
GROUPED = {"ufunc", "take", "where", "cast", "concatenate", "fused"}  # kinds of nodes that can be in a group


@dataclass(frozen=True)
class ParallelOps:
    """What a group has to be. Each is settled by an argument, or else by the environment, or by default.

    threshold : nodes at least, TENSORITER_PARALLEL_OPS_THRESHOLD, 4
    allow, deny : names of ops besides the thread-safe ones, or not in spite of it, each separated by commas
        in TENSORITER_PARALLEL_OPS_ALLOW and _DENY
    least_work, most_work : ns that a node is estimated to take at least and at most: a shorter one costs more
        to hand over, a longer one is better shared by threads itself
    verbose : what is told on stderr, once for each group: 1 those that are formed, 2 also those that are not
        and why; TENSORITER_PARALLEL_OPS_VERBOSE, 0
    """

    threshold: int = 4
    allow: frozenset[str] = frozenset()
    deny: frozenset[str] = frozenset()
    least_work: float = 200.0
    most_work: float = 1e6
    verbose: int = 0
    said: set[str] = field(default_factory=set, compare=False, repr=False)

    def __post_init__(self) -> None:
        if self.threshold < 2:
            raise ValueError(f"a group is of 2 nodes or more: threshold={self.threshold}")
        if not 0 <= self.least_work <= self.most_work:
            bounds = f"least_work={self.least_work}, most_work={self.most_work}"
            raise ValueError(f"0 <= least_work <= most_work does not hold: {bounds}")

    @classmethod
    def from_environment(cls) -> ParallelOps:
        """The settings of the process. ValueError for a variable that is no number."""
        return cls(
            threshold=whole_number("TENSORITER_PARALLEL_OPS_THRESHOLD", cls.threshold),
            allow=names("TENSORITER_PARALLEL_OPS_ALLOW"),
            deny=names("TENSORITER_PARALLEL_OPS_DENY"),
            verbose=whole_number("TENSORITER_PARALLEL_OPS_VERBOSE", cls.verbose),
        )

    def but(self, **changes: object) -> ParallelOps:
        """The same settings with some changed."""
        return replace(self, **changes)  # type: ignore[arg-type]

    def allows(self, node: Node) -> bool:
        """Whether the op of this node may be in a group."""
        if node.kind not in GROUPED:
            return False
        parts = node.attributes["body"] if node.kind == "fused" else [node]
        ops = {part.op for part in parts if part.kind in GROUPED}
        return ops <= self.allow | THREAD_SAFE and not ops & self.deny

    def say(self, level: int, sentence: str) -> None:
        if self.verbose >= level and sentence not in self.said:
            self.said.add(sentence)
            print(f"tensoriter: {sentence}", file=sys.stderr)


class parallel_ops:
    """with parallel_ops(): steps that are called within the block run their independent ops side by side.

    Arguments are those of `ParallelOps`; what is not given is the environment's. `on=False` has none within
    the block. Outside of blocks TENSORITER_PARALLEL_OPS=1 turns them on for the process, and
    ``capture(..., parallel_ops=)`` settles it for one step. Results are the same bits. Threads are as many as
    `set_num_threads` or a `threads` block says, and where neither does, as there are CPUs.

    >>> import numpy as np, tensoriter
    >>> @tensoriter.capture
    ... def step(x):
    ...     return np.stack([np.sin(x), np.cos(x), np.tan(x), np.exp(x)])
    >>> with tensoriter.parallel_ops(threshold=4):
    ...     step(np.linspace(0, 1, 10_000)).shape
    (4, 10000)
    """

    def __init__(self, on: bool = True, **settings: object) -> None:
        self.settings = ParallelOps.from_environment().but(**settings) if on else None
        self._tokens: list[Token[ParallelOps | None | str]] = []

    def __enter__(self) -> parallel_ops:
        self._tokens.append(_block.set(self.settings))
        begin_era()
        return self

    def __exit__(self, *exception: object) -> None:
        _block.reset(self._tokens.pop())
        begin_era()


# What the block says that is open in this context; 'no block' outside.
_block: ContextVar[ParallelOps | None | str] = ContextVar("parallel_ops", default="no block")


def settings_of(argument: ParallelOps | bool | None) -> ParallelOps | None:
    """The settings that hold for a call of a step captured with parallel_ops=argument; None: off."""
    if isinstance(argument, ParallelOps):
        return argument
    if argument is not None:
        return of_environment()[1] if argument else None
    block = _block.get()
    if block == "no block":
        on, settings = of_environment()
        return settings if on else None
    return block  # type: ignore[return-value]


@cache
def of_environment() -> tuple[bool, ParallelOps]:
    """(whether parallel ops are on, their settings), as the environment was when it was first asked for."""
    value = os.environ.get("TENSORITER_PARALLEL_OPS", "0")
    if value not in ("", "0", "1"):
        raise ValueError(f"TENSORITER_PARALLEL_OPS={value} is neither 0 nor 1")
    return value == "1", ParallelOps.from_environment()


def whole_number(variable: str, default: int) -> int:
    text = os.environ.get(variable, "")
    if not text:
        return default
    if not text.isdecimal():
        raise ValueError(f"{variable}={text} is no whole number")
    return int(text)


def names(variable: str) -> frozenset[str]:
    return frozenset(name.strip() for name in os.environ.get(variable, "").split(",") if name.strip())


# ---------------------------------------------------------------- which nodes


class ParallelOpSelector(SubgraphSelector):
    """Independent nodes that come from one node or go to one node: the start. Views in between are looked
    through, as they cost nothing."""

    def __init__(self, graph: Graph, settings: ParallelOps):
        self.graph = graph
        self.settings = settings
        self.reset()

    def reset(self) -> None:
        self.start: Node | None = None

    def select(self, node: Node) -> bool:
        self.start = node
        return node.kind != "view"

    def select_input(self, node: Node, input_node: Node) -> bool:
        return self.is_next(node, input_node)

    def select_output(self, node: Node, output_node: Node) -> bool:
        return self.is_next(node, output_node)

    def is_next(self, node: Node, other: Node) -> bool:
        """Whether `other` is a sibling of those found, or a view on the way to one."""
        from_here = node is self.start or node.kind == "view"
        return from_here and (other.kind == "view" or self.settings.allows(other))

    def filter(self, candidates: list[Node]) -> list[Node]:
        """The candidates that are worth a thread and need none of the others; none where they are too few."""
        siblings = [node for node in candidates if node is not self.start and node.kind != "view"]
        if len(siblings) < self.settings.threshold:
            return []
        work = {node: cost.nanoseconds(node) for node in siblings}
        in_bounds = [n for n in siblings if self.settings.least_work <= work[n] <= self.settings.most_work]
        chosen = independent(self.graph, in_bounds)
        reason = self.why_not(siblings, chosen, work)
        if reason:
            self.settings.say(2, f"no group of {described(siblings)} {self.place()}: {reason}")
            return []
        return chosen

    def why_not(self, siblings: list[Node], chosen: list[Node], work: dict[Node, float]) -> str:
        """Why the chosen are no group, '' where they are one."""
        if len(chosen) < self.settings.threshold:
            took = ", ".join(f"{ns:.0f}" for ns in sorted({round(work[node], -1) for node in siblings}))
            return (
                f"{len(chosen)} of {len(siblings)} are independent and take between"
                f" {self.settings.least_work:.0f} and {self.settings.most_work:.0f} ns"
                f" (estimated: {took}), {self.settings.threshold} have to"
            )
        return loss(sum(work[node] for node in chosen), max(work[node] for node in chosen))

    def place(self) -> str:
        return f"around {self.start.op} ({self.graph.name or 'a graph'})" if self.start else ""


def independent(graph: Graph, nodes: list[Node]) -> list[Node]:
    """Those of the nodes that need none that was chosen before them, in the whole graph."""
    chosen: list[Node] = []
    for node in nodes:
        if node not in depends_on(graph, chosen):
            chosen.append(node)
    return chosen


def loss(serial: float, longest: float) -> str:
    """Why tasks of so many ns, together and the longest, lose on threads; '' where they win."""
    threads = task_threads()
    if threads < 2:
        return "there is one thread"
    side_by_side = max(longest, serial / threads) + cost.of_region(threads)
    if side_by_side <= WORTH * serial:
        return ""
    return f"it would take {side_by_side / 1000:.1f} us on {threads} threads, {serial / 1000:.1f} on one"


def described(nodes: Iterable[Node]) -> str:
    """'26 take' or '3 sin, 1 cos'."""
    ops = [node.op for node in nodes]
    return ", ".join(f"{ops.count(op)} {op}" for op in dict.fromkeys(ops))


# ---------------------------------------------------------------- what takes their place


@register("parallel_ops")
class ParallelOpProperty(SubgraphProperty):
    """Groups: nodes of kind 'group', whose body's nodes run side by side."""

    def __init__(self, settings: ParallelOps | None = None):
        self.settings = settings or ParallelOps.from_environment()

    def create_selector(self, graph: Graph) -> ParallelOpSelector:
        return ParallelOpSelector(graph, self.settings)

    def accepts(self, graph: Graph, nodes: list[Node]) -> bool:
        """Never nodes of which one needs another, whatever the selector says."""
        return not depends_on(graph, nodes) & set(nodes)

    def create_node(self, body: Graph, inputs: tuple[Node, ...]) -> Node:
        members = [node for node in body if node.kind not in ("input", "constant")]
        self.settings.say(1, f"a group of {described(members)}")
        handles = tuple(dict.fromkeys(handle for node in members for handle in node.handles))
        result = members[0].dtype, members[0].shape
        op = f"group of {described(members)}"
        return Node("group", op, inputs, *result, attributes={"body": body}, handles=handles)


def group_parallel_ops(graph: Graph, settings: ParallelOps | None = None) -> Graph:
    """The pass: the graph with its groups of parallel ops."""
    return partition(graph, ParallelOpProperty(settings))
