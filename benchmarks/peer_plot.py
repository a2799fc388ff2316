"""The picture that ``python -m benchmarks.peers`` draws."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from benchmarks.peer_results import CEILING, OURS, THEIRS, Result, contestants_in
from tensoriter.commands.output_files import new_figure, save_figure

SIGNS = {
    "torch": ("s", "tab:blue"),
    "numexpr": ("D", "tab:brown"),
    "numba": ("^", "tab:green"),
    "mkl_umath": ("v", "tab:red"),
    "jax": ("X", "tab:purple"),
}
OTHER_SIGN = ("*", "gold")  # tensoriter with more threads
SLOWEST = 0.1  # times as fast as np.add: what is slower stands at the left edge
TICKS = (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100)


def draw(results: Mapping[str, Result], path: str) -> None:
    """A bar per case, times as fast as np.add: the target a black mark, the peers small signs."""
    figure = new_figure(10, 1.8 + 0.24 * len(results))
    axes = figure.add_subplot()
    draw_ours(axes, results)
    for name in contestants_in(results.values()):
        if name not in (OURS, THEIRS, CEILING):
            draw_peer(axes, name, results)
    axes.axvline(1, color="dimgrey", linewidth=1)
    axes.set_xscale("log")
    axes.set_xticks(TICKS, [f"{tick:g}" for tick in TICKS])
    axes.minorticks_off()
    axes.set_xlim(left=SLOWEST * 0.93)
    axes.set_xlabel(f"times as fast as np.add (at the left edge: {SLOWEST} and less)")
    axes.set_yticks(range(len(results)), list(results))
    axes.set_ylim(len(results) - 0.4, -0.6)
    axes.grid(axis="x", alpha=0.3, zorder=0)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.tick_params(axis="y", length=0)
    figure.legend(loc="outside upper center", ncols=4, frameon=False)
    save_figure(figure, path)


def draw_ours(axes: Any, results: Mapping[str, Result]) -> None:
    """tensoriter's bars with their quartiles, from 1 on, np.add's own speed; and the targets."""
    places = range(len(results))
    speeds = [result.turns.speed(OURS, THEIRS) for result in results.values()]
    spread = [[s.median - s.low for s in speeds], [s.high - s.median for s in speeds]]
    gains = [s.median - 1 for s in speeds]
    label = "tensoriter, one thread (quartiles)"
    style = {"color": "tab:orange", "ecolor": "saddlebrown", "height": 0.7, "zorder": 2}
    axes.barh(places, gains, left=1, xerr=spread, label=label, **style)
    asked = [result.asked.times_numpy for result in results.values()]
    axes.scatter(asked, places, marker="|", s=130, linewidths=2.5, color="black", label="asked", zorder=3)


def draw_peer(axes: Any, name: str, results: Mapping[str, Result]) -> None:
    """A contestant's signs, in the cases in which it took part."""
    marker, colour = SIGNS.get(name, OTHER_SIGN)
    points = [
        (max(SLOWEST, result.turns.speed(name, THEIRS).median), place)
        for place, result in enumerate(results.values())
        if result.has(name)
    ]
    style = {"s": 30, "linewidths": 0.5, "edgecolors": "white", "zorder": 4}
    axes.scatter(*zip(*points, strict=True), marker=marker, color=colour, label=name, **style)
