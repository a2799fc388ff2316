"""The picture: a bar per subject, stacked by bucket, as it costs and as shares of the whole."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tensoriter.commands.output_files import new_figure, save_figure
from tensoriter.overhead.buckets import UNKNOWN
from tensoriter.overhead.report import Findings

COLOURS = {
    "Python": "#7fa8d6",
    "dispatcher": "#f28e2b",
    "operator set-up": "#edc948",
    "allocation": "#76b7b2",
    "no-op autograd": "#b07aa1",
    "computation": "#59a14f",
    UNKNOWN: "#c7c7c7",
}
FURTHER = ("#9c755f", "#ff9da7", "#e15759", "#86bcb6")  # buckets of a user's own
SHOWN_FROM = 0.07  # of a bar: smaller parts have no room for a number


def draw(found: Sequence[Findings], title: str, path: str) -> None:
    """Two panels for each collector, its costs and its shares. Writes a PNG and an SVG beside each other."""
    from matplotlib import rc_context

    kept = [findings for findings in found if findings.profiles]
    rows = max(len(findings.profiles) for findings in kept)
    figure = new_figure(13, 1.4 + len(kept) * (0.9 + 0.36 * rows))
    panels = figure.subplots(len(kept), 2, squeeze=False, width_ratios=(1.15, 1))
    for (costs, shares), findings in zip(panels, kept, strict=True):
        draw_costs(costs, findings)
        draw_shares(shares, findings)
    handles, labels = panels[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(labels), frameon=False)
    figure.suptitle(title)
    with rc_context({"svg.fonttype": "none"}):  # text stays text
        for suffix in (".png", ".svg"):
            save_figure(figure, str(Path(path).with_suffix(suffix)))


def draw_costs(axes: Any, findings: Findings) -> None:
    """Bars as long as an add is dear, with the total at their end."""
    found = findings.buckets()
    stack(axes, found)
    longest = max(sum(sums.values()) for sums in found.values())
    for row, sums in enumerate(found.values()):
        total = sum(sums.values())
        axes.annotate(f"{total:,.0f}", (total, row), (4, 0), textcoords="offset points", va="center")
    axes.set_xlim(0, longest * 1.12)
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.set_xlabel(f"{findings.unit} per add ({findings.collector})")
    tidy(axes, list(found), named=True)


def draw_shares(axes: Any, findings: Findings) -> None:
    """Bars of one length, with the larger shares in them."""
    found = {}
    for label, sums in findings.buckets().items():
        total = sum(sums.values())
        found[label] = {name: cost / total for name, cost in sums.items()}
    stack(axes, found)
    for row, shares in enumerate(found.values()):
        left = 0.0
        for share in shares.values():
            if share >= SHOWN_FROM:
                axes.text(left + share / 2, row, f"{share:.0%}", ha="center", va="center", fontsize=8)
            left += share
    axes.set_xlim(0, 1)
    axes.xaxis.set_major_formatter("{x:.0%}")
    axes.set_xlabel(f"share of {findings.unit}")
    tidy(axes, list(found), named=False)


def stack(axes: Any, found: dict[str, dict[str, float]]) -> None:
    """A bar per row, its parts side by side in the order of the buckets."""
    further = iter(FURTHER * len(found))
    lefts = [0.0] * len(found)
    for name in next(iter(found.values())):
        lengths = [sums[name] for sums in found.values()]
        if any(lengths):
            colour = COLOURS.get(name) or next(further)
            axes.barh(range(len(found)), lengths, left=lefts, label=name, color=colour)
        lefts = [left + length for left, length in zip(lefts, lengths, strict=True)]


def tidy(axes: Any, labels: Sequence[str], named: bool) -> None:
    """The subjects from top to bottom, and no more lines than needed."""
    axes.set_yticks(range(len(labels)), labels)
    axes.tick_params(axis="y", left=False, labelleft=named)
    axes.set_ylim(len(labels) - 0.5, -0.5)
    axes.spines[["top", "right"]].set_visible(False)
