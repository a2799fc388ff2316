"""The statistics as a table for people and as JSON."""

from __future__ import annotations

import json
from typing import Any

from tensoriter.commands.display import plain_table
from tensoriter.core.hooks import names
from tensoriter.profiler import recording
from tensoriter.profiler.shapes import shapes_texts
from tensoriter.profiler.trace import PATHS, full_name

SORT_BY = ("total", "avg", "min", "max", "count", "p50", "p99")
DOMAINS = ("operator", "api", "plan")  # always there, in this order

Entry = dict[str, Any]


def collect(sort_by: str, ascending: bool) -> dict[str, Any]:
    """Everything that `dumps` shows: {"domains": {domain: {name: entry}}, "memory": ..., "counters": ...}."""
    domains: dict[str, dict[str, Entry]] = {name: {} for name in DOMAINS}
    memory: dict[str, Entry] = {}
    counters: dict[str, dict[str, Entry]] = {}
    facts = recording.facts()
    for fact in sorted((f for f in facts if not f["type"]), key=lambda f: sort_key(f, sort_by),
                       reverse=not ascending):  # fmt: skip
        name = full_name(fact["scope"], fact["name"])
        if fact["detail"]:
            name += f" [{shapes_texts[fact['detail']]}]"
        domains.setdefault(names[fact["domain"]], {})[name] = entry_of(fact)
    for fact in (f for f in facts if f["type"]):
        domain = names[fact["domain"]]
        place = memory if domain == "memory" else counters.setdefault(domain, {})
        place[full_name(fact["scope"], fact["name"])] = {
            "last": fact["last"], "min": fact["lowest"], "max": fact["highest"], "changes": fact["count"],
        }  # fmt: skip
    recorded = sum(f["count"] for f in facts if not f["type"])
    return {
        "unit": {"time": "ns", "memory": "bytes"}, "domains": domains, "memory": memory, "counters": counters,
        "dropped": recording.count_dropped(),
        "overhead": {"per_call": recording.overhead(), "total": recording.overhead() * recorded},
    }  # fmt: skip


def sort_key(fact: Entry, sort_by: str) -> float:
    return fact["total"] / fact["count"] if sort_by == "avg" else fact[sort_by]


def entry_of(fact: Entry) -> Entry:
    """What JSON has for a name: times in ns."""
    entry = {key: fact[key] for key in ("count", "total", "min", "max")}
    entry["avg"] = fact["total"] / fact["count"]
    entry.update(p50=fact["p50"], p99=fact["p99"], bytes=fact["bytes"])
    if any(fact["paths"]):
        entry["path"] = dict(zip(PATHS, fact["paths"], strict=True))
    return entry


def as_json(statistics: dict[str, Any]) -> str:
    return json.dumps(statistics, indent=1)


def as_table(statistics: dict[str, Any]) -> str:
    parts = [time_table(name, entries) for name, entries in statistics["domains"].items() if entries]
    if statistics["memory"]:
        parts.append(value_table("memory", statistics["memory"]))
    parts += [value_table(name, entries) for name, entries in statistics["counters"].items()]
    return "\n\n".join([*(parts or ["Nothing was recorded."]), footer(statistics)])


def time_table(domain: str, entries: dict[str, Entry]) -> str:
    """A domain's table; the path's column has shares where calls went several ways."""
    with_paths = any("path" in entry for entry in entries.values())
    columns = [domain, "count", "total ms", "avg us", "min us", "p50 us", "p99 us", "max us", "MB"]
    rows = []
    for name, entry in entries.items():
        row = [shortened(name), f"{entry['count']:,}", f"{entry['total'] / 1e6:,.3f}"]
        row += [f"{entry[key] / 1e3:,.3f}" for key in ("avg", "min", "p50", "p99", "max")]
        row.append(f"{entry['bytes'] / 1e6:,.3f}")
        rows.append([*row, path_text(entry)] if with_paths else row)
    return plain_table([*columns, "path"] if with_paths else columns, rows, right=True)


def path_text(entry: Entry) -> str:
    """'contiguous', or, of several, 'contiguous 90, numpy 10' with the number of calls."""
    taken = {path: count for path, count in entry.get("path", {}).items() if count}
    if len(taken) < 2:
        return "".join(taken)
    return ", ".join(f"{path} {count:,}" for path, count in taken.items())


def value_table(domain: str, entries: dict[str, Entry]) -> str:
    """Counters: numbers and bytes, never times."""
    rows = [[shortened(name), *(f"{entry[key]:,.10g}" for key in ("last", "min", "max"))]
            for name, entry in entries.items()]  # fmt: skip
    return plain_table([domain, "last", "min", "max"], rows, right=True)


def shortened(name: str) -> str:
    """On one line of the table, and not wider than a terminal."""
    name = name if name.isprintable() else repr(name)[1:-1]
    return name if len(name) <= 60 else f"{name[:57]}..."


def footer(statistics: dict[str, Any]) -> str:
    """What recording cost, and what the trace lost."""
    overhead = statistics["overhead"]
    lines = [
        f"Recording took about {overhead['per_call']:.0f} ns a call, {overhead['total'] / 1e6:,.3f} ms in all"
        "; the times above have it only where one call is within another."
    ]
    dropped = statistics["dropped"]
    if dropped:
        lines.append(f"{dropped:,} records did not fit into the trace; the statistics have them.")
    return "\n".join(lines)


FORMATS = {"table": as_table, "json": as_json}
