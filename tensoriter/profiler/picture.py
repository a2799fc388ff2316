"""A picture of a trace: total time by op, and the time line of each thread."""

from __future__ import annotations

import io
import json
import os
from collections import Counter, defaultdict
from importlib.util import find_spec
from typing import Any, NamedTuple

from tensoriter.profiler import recording, trace

MOST_NAMES = 12  # the others are drawn as one
OTHERS = "others"
PIXELS = 2000  # of a time line: what lies closer together is drawn as one
DOMAINS = ("operator", "plan", "event")


class Slice(NamedTuple):
    """A stretch of a thread's time, in microseconds."""

    thread: str
    name: str
    begin: float
    end: float


def plot(file: str | os.PathLike[str], trace_file: str | os.PathLike[str] | None = None) -> None:
    """Draw what was recorded (or a trace that was written before) into `file`, in the format its name ends in.

    Above, bars of the total time by op, with the number of calls; below, the time line of each thread.
    ImportError without matplotlib, OSError where a file cannot be read or written, ValueError for a
    format that matplotlib does not know.
    """
    if not find_spec("matplotlib"):
        raise ImportError("profiler.plot needs matplotlib, which is not installed: pip install matplotlib")
    from tensoriter.commands.output_files import new_figure

    slices = read_slices(load(trace_file))
    totals, counts = total_times(slices)
    shown = [name for name, _ in totals.most_common(MOST_NAMES)]
    colours = {name: f"C{k % 10}" for k, name in enumerate(shown)} | {OTHERS: "0.7"}
    threads = list(dict.fromkeys(s.thread for s in slices))
    figure = new_figure(10, 2.5 + 0.25 * (len(shown) + 1) + 0.45 * len(threads))
    above, below = figure.subplots(2, height_ratios=[len(shown) + 2, 1.6 * len(threads) + 1])
    draw_totals(above, totals, counts, shown, colours)
    draw_time_line(below, slices, threads, shown, colours)
    figure.savefig(os.fspath(file), dpi=150)


def load(trace_file: str | os.PathLike[str] | None) -> dict[str, Any]:
    """The trace in that file; without one, what is recorded now."""
    if trace_file is not None:
        with open(trace_file, encoding="utf-8") as file:
            return json.load(file)
    text = io.StringIO()
    trace.write_events(text, recording.traced_records())
    return json.loads(text.getvalue())


def read_slices(document: dict[str, Any]) -> list[Slice]:
    events = document["traceEvents"]
    threads = {e["tid"]: e["args"]["name"] for e in events if e["name"] == "thread_name" and e["ph"] == "M"}
    return [
        Slice(threads.get(e["tid"], str(e["tid"])), e["name"], e["ts"], e["ts"] + e["dur"])
        for e in events if e["ph"] == "X" and e["cat"] in DOMAINS
    ]  # fmt: skip


def total_times(slices: list[Slice]) -> tuple[Counter[str], Counter[str]]:
    """Total time in microseconds and number of slices, by name."""
    totals: Counter[str] = Counter()
    for s in slices:
        totals[s.name] += s.end - s.begin  # type: ignore[assignment]
    return totals, Counter(s.name for s in slices)


def draw_totals(axes: Any, totals: Counter[str], counts: Counter[str], shown: list[str], colours: dict) -> None:
    rest = [name for name in totals if name not in colours]
    bars = [(name, totals[name], counts[name]) for name in shown]
    if rest:
        bars.append((OTHERS, sum(totals[n] for n in rest), sum(counts[n] for n in rest)))
    labels = [short(name) for name, *_ in bars]
    milliseconds = [time / 1000 for _, time, _ in bars]
    drawn = axes.barh(range(len(bars)), milliseconds, color=[colours[name] for name, *_ in bars])
    axes.bar_label(drawn, [f" {time:,.3g} ms, {count:,} calls" for time, (*_, count) in
                           zip(milliseconds, bars, strict=True)], fontsize=8)  # fmt: skip
    axes.set_yticks(range(len(bars)), labels)
    axes.invert_yaxis()
    axes.margins(x=0.25)
    axes.set_xlabel("total time in ms")
    axes.set_title("Total time by op" if bars else "No op was recorded")
    axes.spines[["top", "right"]].set_visible(False)


def draw_time_line(axes: Any, slices: list[Slice], threads: list[str], shown: list[str], colours: dict) -> None:
    origin = min((s.begin for s in slices), default=0.0)
    length = max((s.end for s in slices), default=1.0) - origin
    rows: dict[tuple[str, str], list[tuple[float, float]]] = defaultdict(list)
    for s in slices:
        rows[s.thread, s.name if s.name in colours else OTHERS].append((s.begin - origin, s.end - origin))
    for (thread, name), stretches in rows.items():
        merged = merge(sorted(stretches), length / PIXELS)
        bars = [(begin / 1000, (end - begin) / 1000) for begin, end in merged]
        axes.broken_barh(bars, (threads.index(thread) - 0.4, 0.8), color=colours[name], linewidth=0)
    axes.set_yticks(range(len(threads)), map(short, threads))
    axes.set_xlim(0, length / 1000)
    axes.invert_yaxis()
    axes.set_xlabel("time in ms")
    axes.set_title("Time line by thread")
    axes.spines[["top", "right"]].set_visible(False)


def merge(stretches: list[tuple[float, float]], gap: float) -> list[tuple[float, float]]:
    """Sorted stretches, those that lie within `gap` of each other joined, none shorter than that."""
    merged: list[tuple[float, float]] = []
    for begin, end in stretches:
        if merged and begin - merged[-1][1] < gap:
            merged[-1] = merged[-1][0], max(end, merged[-1][1])
        else:
            merged.append((begin, max(end, begin + gap)))
    return merged


def short(name: str) -> str:
    """A name that leaves room for the drawing; '$' is no formula."""
    name = name if len(name) <= 30 else f"{name[:27]}..."
    return name.replace("$", r"\$")
