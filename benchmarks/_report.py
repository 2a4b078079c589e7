"""What a comparison found, as a table, as Markdown and as JSON."""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform
import statistics
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from _workloads import BY_HAND, OURS, PEERS, SIDES, WORKLOADS, Goal

Row = dict[str, Any]  # see _measuring.measure


def ratio(row: Row, side: str, than: str = BY_HAND) -> tuple[float, float, float]:
    """Median, lowest and highest ratio of the rounds."""
    a, b = row["rounds"][side], row["rounds"][than]
    ratios = [x / y if y else float("inf") for x, y in zip(a, b, strict=True)]
    return statistics.median(ratios), min(ratios), max(ratios)


def verdicts(row: Row) -> list[str]:
    """One for each goal: whether it is met."""
    found = []
    for goal in WORKLOADS[row["name"]].goals:
        if goal.pooled in (None, row["pooled"]) and OURS in row["rounds"]:
            found.append(_verdict(row, goal))
    return found


def _verdict(row: Row, goal: Goal) -> str:
    text = f"{goal.ratio:g}"
    if goal.than != BY_HAND:
        text += f" of {goal.than}"
    if goal.than not in row["rounds"]:
        return f"{text} not measured"
    reached = ratio(row, OURS, goal.than)[0]
    if goal.than != BY_HAND:
        return f"{text} {'met' if reached <= goal.ratio else 'missed'} ({reached:.2f})"
    return f"{text} {'met' if reached <= goal.ratio else 'missed'}"


def columns(rows: Sequence[Row], before: Sequence[Row] = ()) -> list[str]:
    """The heads of the table."""
    peers = [p for p in PEERS if any(p in row["rounds"] for row in rows)]
    heads = ["workload", BY_HAND, OURS, "ratio (lowest-highest)", *peers]
    return heads + ["before"] * bool(before) + ["goal"]


def cells(row: Row, heads: Sequence[str], before: Sequence[Row] = ()) -> list[str]:
    """A line of the table; of a peer, the ratio to the computation by hand."""
    workload, rounds = WORKLOADS[row["name"]], row["rounds"]
    line = []
    for head in heads:
        text = "-"
        if head == "workload":
            text = row["name"]
        elif head in (BY_HAND, OURS) and head in rounds:
            text = f"{statistics.median(rounds[head]):.3g} {workload.unit}"
        elif head.startswith("ratio") and OURS in rounds:
            text = "{:.2f} ({:.2f}-{:.2f})".format(*ratio(row, OURS))
        elif head in PEERS and head in rounds:
            text = f"{ratio(row, head)[0]:.2f}"
        elif head == "before":
            text = _before(row, before)
        elif head == "goal":
            text = ", ".join(verdicts(row)) or "-"
        line.append(text)
    return line


def _before(row: Row, before: Sequence[Row]) -> str:
    for old in before:
        if (old["name"], old["pooled"]) == (row["name"], row["pooled"]):
            if OURS in old["rounds"] and OURS in row["rounds"]:
                a, b = ratio(old, OURS)[0], ratio(row, OURS)[0]
                return f"{a:.2f} ({100 * (b / a - 1):+.0f} %)" if a else f"{a:.2f}"
    return "-"


_WIDTHS = {"workload": 18, BY_HAND: 9, OURS: 9, "before": 14}


def line(cells: Sequence[str], heads: Sequence[str]) -> str:
    """A line of the printed table."""
    parts = []
    for cell, head in zip(cells, heads, strict=True):
        width = _WIDTHS.get(head, 22 if head.startswith("ratio") else 8)
        left = head in ("workload", "goal")
        parts.append(cell.ljust(width) if left else cell.rjust(width))
    return "  ".join(parts).rstrip()


def conditions() -> dict[str, Any]:
    """Date, machine and versions."""
    versions = {"python": platform.python_version()}
    for side in SIDES.values():
        if not side.missing():
            versions[side.package] = _version(side.package)
    return {
        "date": time.strftime("%Y-%m-%d"),
        "machine": f"{platform.system()} {platform.machine()}, {_processor()}",
        "cores": os.cpu_count(),
        "versions": versions,
    }


def _version(package: str) -> str:
    if package == "dezero":
        import dezero

        return dezero.__version__  # of what is compared; another may be installed
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "unknown"


def _processor() -> str:
    try:
        with open("/proc/cpuinfo") as f:
            names = [line for line in f if line.startswith("model name")]
        return names[0].split(":")[1].strip()
    except (OSError, IndexError):
        return platform.processor() or "unknown processor"


def save(
    name: Path, about: dict[str, Any], rows: Sequence[Row], before: Sequence[Row] = ()
) -> None:
    """Write ``name.json`` and ``name.md``."""
    name.parent.mkdir(parents=True, exist_ok=True)
    name.with_name(name.name + ".json").write_text(
        json.dumps(about | {"rows": list(rows)}, indent=1) + "\n"
    )
    name.with_name(name.name + ".md").write_text(markdown(about, rows, before))


def load(path: Path) -> list[Row]:
    """The rows of a stored run.

    Raises:
        ValueError: The file holds none.
    """
    stored = json.loads(path.read_text())
    if not isinstance(stored, dict) or "rows" not in stored:
        raise ValueError(f"{path}: expected the JSON of a run, with rows")
    return stored["rows"]


_CLOCKS = "CPU time for tiny, deep and wide, else wall time.\n"


def markdown(
    about: dict[str, Any], rows: Sequence[Row], before: Sequence[Row] = ()
) -> str:
    """The tables, with and without kept memory, and how they came about."""
    versions = ", ".join(f"{k} {v}" for k, v in about["versions"].items())
    parts = [
        f"# Benchmarks, {about['date']}\n",
        f"{about['machine']}, {about['cores']} cores; {versions}. float32; medians of "
        f"{about['rounds']} rounds. Of peers, the ratio to the computation by hand. "
        + ("CPU time.\n" if about["cpu"] else _CLOCKS),
    ]
    for pooled in (False, True):
        some = [row for row in rows if row["pooled"] is pooled]
        if some:
            parts.append(f"## {TITLES[pooled]}\n")
            heads = columns(some, before)
            parts.append(_markdown_line(heads))
            parts.append(_markdown_line(["---"] * len(heads)))
            parts += [_markdown_line(cells(row, heads, before)) for row in some]
            parts.append("")
    titles = [f"- {name}: {w.title}" for name, w in WORKLOADS.items()]
    return "\n".join([*parts, *titles]) + "\n"


TITLES = {False: "Memory as the system gives it", True: "Freed memory kept (--pooled)"}


def _markdown_line(texts: Sequence[str]) -> str:
    return "| " + " | ".join(texts) + " |"
