"""What a comparison on a card found, as a table, as Markdown and as JSON."""

from __future__ import annotations

import json
import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from _gpu_workloads import TORCH, WORKLOADS
from _report import Row, _markdown_line, _verdict, conditions, ratio
from _workloads import OURS

HEADS = ["workload", TORCH, OURS, "ratio (lowest-highest)", "first step, s"]
HEADS += ["memory, MB", "kernels", "to card", "to host", "goal"]

# In what the driver reports of a step, see _gpu_torch.activity.
_COUNTS = {"kernels": "kernels", "to card": "HtoD", "to host": "DtoH"}


def cells(row: Row) -> list[str]:
    """A line of the table; where a cell has two numbers, the first is DeZero's."""
    times = row["rounds"]
    line = [row["name"]]
    line += [f"{statistics.median(times[side]):.3g} ms" for side in (TORCH, OURS)]
    line.append("{:.2f} ({:.2f}-{:.2f})".format(*ratio(row, OURS, TORCH)))
    line.append(_both(row["first"], ".2f"))
    line.append(_both(row["memory"], ".0f") if "memory" in row else "-")
    for key in _COUNTS.values():
        counts = row.get("activity", {TORCH: None, OURS: None})
        told = all(count is not None for count in counts.values())
        line.append(_both({k: c[key] for k, c in counts.items()}, "d") if told else "-")
    line.append(", ".join(verdicts(row)) or "-")
    return line


def _both(values: dict[str, Any], form: str) -> str:
    return f"{values[OURS]:{form}} / {values[TORCH]:{form}}"


def verdicts(row: Row) -> list[str]:
    """One for each goal: whether it is met. They are for full sizes on a card."""
    if row["device"] == "cpu" or row["small"]:
        return []
    return [_verdict(row, goal) for goal in WORKLOADS[row["name"]].goals]


_WIDTHS = [14, 9, 9, 22, 13, 13, 13, 8, 8, 0]


def line(cells: Sequence[str]) -> str:
    """A line of the printed table."""
    parts = [cell.rjust(width) for cell, width in zip(cells, _WIDTHS, strict=True)]
    return "  ".join([parts[0].strip().ljust(_WIDTHS[0]), *parts[1:]]).rstrip()


def label(about: dict[str, Any]) -> str:
    """What was measured, in words: a card, or only that the comparison works."""
    if about["device"] == "cpu":
        text = f"NO CARD: both sides on the CPU ({about['machine']})"
        text += ", to see that they compute the same. Nothing here is about a GPU."
    else:
        text = f"{about['device']}, {about['memory']}, driver {about['driver']}"
        text += "; TF32 off on both sides."
    return text + (" Small sizes for tests." if about["small"] else "")


def about_run(found: dict[str, Any], **options: Any) -> dict[str, Any]:
    """Conditions of a run; ``found`` is what :func:`_gpu_measuring.card` returns."""
    about = conditions()
    versions = {k: about["versions"][k] for k in ("python", "numpy", "dezero", "torch")}
    return about | found | options | {"versions": versions | found["versions"]}


def save(name: Path, about: dict[str, Any], rows: Sequence[Row]) -> None:
    """Write ``name.json`` and ``name.md``."""
    name.parent.mkdir(parents=True, exist_ok=True)
    stored = json.dumps(about | {"rows": list(rows)}, indent=1) + "\n"
    name.with_name(name.name + ".json").write_text(stored)
    name.with_name(name.name + ".md").write_text(markdown(about, rows))


def markdown(about: dict[str, Any], rows: Sequence[Row]) -> str:
    """The table, and how it came about."""
    versions = ", ".join(f"{k} {v}" for k, v in about["versions"].items())
    parts = [
        f"# DeZero and PyTorch on one card, {about['date']}\n",
        f"{label(about)}\n",
        f"{versions}. float32; medians of {about['rounds']} rounds of a step: forward, "
        "backward, update. Where a cell has two numbers, the first is DeZero's, the "
        f"second that of PyTorch, eager. Goal: at most so many times {TORCH}.\n",
        _markdown_line(HEADS),
        _markdown_line(["---"] * len(HEADS)),
        *[_markdown_line(cells(row)) for row in rows],
        "",
        *[f"- {row['name']}: {WORKLOADS[row['name']].title}" for row in rows],
    ]
    for name, why in about["left_out"].items():
        parts.append(f"- not measured, {name}: {why}")
    parts += [f"- FAILED, {name}: {why}" for name, why in about["failed"].items()]
    return "\n".join(parts) + "\n"
