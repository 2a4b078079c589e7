"""Curves of a training: loss, metrics and learning rate, of one run or several."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dezero.visualize.arrays import as_array, as_names
from dezero.visualize.axes import colored, figures, joined, plain, several

PREFIX = "validation_"
TITLES = {"lr": "learning rate", "seconds": "seconds per epoch"}

# A column per name, all of one length.
Columns = dict[str, np.ndarray]


def plot_history(
    history: Mapping[str, Any],
    panels: Sequence[str] | None = None,
    log: bool | Sequence[str] = False,
    ax: Any = None,
) -> Any:
    """Draw how training went: a panel each for loss, metrics and learning rate.

    ::

        history = dz.fit(model, loader, loss, optimizer, epochs=30, validation=test)
        axes = dz.visualize.plot_history(history, log=True)
        axes[0].figure.savefig("history.png")

    What ``validation_`` begins with is a dashed line beside the one in training. Where
    a value is NaN or infinite, the curve has a gap, and a cross stands at the top.

    Args:
        history: What ``dz.fit`` returns: a dict of lists of one length, with ``epoch``
            or without. Or several runs, ``{"Adam": history, "SGD": other}``; they may
            differ in length and columns.
        panels: The columns to draw, without ``validation_``. By default all but
            ``epoch`` and ``seconds``, and ``lr`` only if it changes.
        log: Whether the loss is drawn on a logarithmic scale; or the names of the
            panels that are.
        ax: Axes to draw into: one for one panel, a list or array for several. By
            default those of a new figure.

    Returns:
        An array of Axes, (number of panels,).

    Raises:
        ImportError: matplotlib is not installed.
        TypeError: ``history`` is no such dict, or a column has no numbers.
        ValueError: It is empty, columns have different lengths, there is no such
            panel, a column has no finite value, or a value is not above 0 on a
            logarithmic scale.
    """
    runs = _as_runs(history)
    names = _panels(runs, panels)
    logarithmic = _logarithmic(names, log)
    for name in names:
        _check_values(runs, name, name in logarithmic)
    axes = several("plot_history", ax, len(names))
    for panel, name in zip(axes, names, strict=True):
        if name in logarithmic:
            panel.set_yscale("log")
            module = figures("plot_history")
            panel.yaxis.set_major_formatter(module.PlainLog())
            panel.yaxis.set_minor_formatter(module.PlainLog())
        for label, style in zip(runs, colored(len(runs)), strict=True):
            _draw(panel, name, label, runs[label], style)
        panel.set(title=plain(TITLES.get(name, name)), xlabel="epoch")
        panel.xaxis.get_major_locator().set_params(integer=True, min_n_ticks=1)
        panel.grid(alpha=0.3)
        _legend(panel)
    return axes


def _draw(
    ax: Any, name: str, label: str, columns: Columns, style: tuple[str, str]
) -> None:
    """The curves of one run in one panel."""
    color, marker = style
    for key, part in (name, "training"), (PREFIX + name, "validation"):
        if key not in columns:
            continue
        y, dashed = columns[key], part == "validation"
        if not label and dashed:
            color, marker = colored(2)[1]
        x = columns["epoch"]
        finite = np.isfinite(y)
        has_both = PREFIX + name in columns and name in columns
        text = " ".join([label, part] if label and has_both else [label or part])
        ax.plot(
            x,
            np.where(finite, y, np.nan),
            "--" if dashed else "-",
            color=color,
            marker=marker,
            markersize=4,
            markevery=max(1, len(y) // 12),
            markerfacecolor="white" if dashed else color,
            label=plain(text),
        )
        if not finite.all():
            (line,) = ax.plot(
                x[~finite],
                np.full(int((~finite).sum()), 0.96),
                "x",
                color=color,
                transform=ax.get_xaxis_transform(),
                label=f"{plain(text)}: not finite",
            )
            line.set_gid("not finite")


def _legend(ax: Any) -> None:
    """Tell curves apart; the best place is searched for among few points only."""
    lines = ax.get_lines()
    if len(lines) > 1:
        few = sum([len(line.get_xdata()) for line in lines]) < 20_000
        ax.legend(loc="best" if few else "upper right", fontsize="small")


def _as_runs(history: Any) -> dict[str, Columns]:
    """The runs by name; a single one has the name ``""``."""
    if not isinstance(history, Mapping):
        raise TypeError(
            "plot_history: expected a dict of lists, as dz.fit returns it, got "
            f"{type(history).__name__}"
        )
    if not history:
        raise ValueError("plot_history: expected columns, got an empty dict")
    inner = [isinstance(value, Mapping) for value in history.values()]
    if all(inner):
        return {str(name): _as_columns(h, f"{name!r}") for name, h in history.items()}
    if any(inner):
        raise TypeError(
            "plot_history: expected either lists or dicts (several runs) as values, "
            "got both"
        )
    return {"": _as_columns(history, "history")}


def _as_columns(history: Mapping[str, Any], run: str) -> Columns:
    columns: Columns = {}
    for name, values in history.items():
        column = as_array("plot_history", f"{name!r}", values).astype(np.float64)
        if column.ndim != 1:
            raise ValueError(
                f"plot_history: expected {name!r} to have one number per epoch, got "
                f"shape {column.shape}"
            )
        columns[str(name)] = column
    lengths = {name: len(column) for name, column in columns.items()}
    if not columns or 0 in lengths.values():
        raise ValueError(f"plot_history: expected epochs in {run}, got none")
    if len(set(lengths.values())) > 1:
        found = ", ".join([f"{name} has {n}" for name, n in lengths.items()])
        raise ValueError(
            f"plot_history: expected columns of one length in {run}, got: {found}"
        )
    columns.setdefault("epoch", np.arange(1.0, next(iter(lengths.values())) + 1))
    return columns


def _panels(runs: dict[str, Columns], panels: Any) -> list[str]:
    """The panels to draw, checked."""
    found: dict[str, bool] = {}  # by name: is it drawn by default?
    for columns in runs.values():
        for key, column in columns.items():
            name = key.removeprefix(PREFIX)
            changes = bool(np.ptp(column)) if name == "lr" else name != "seconds"
            if name != "epoch":
                found[name] = found.get(name, False) or changes
    if not found:
        raise ValueError("plot_history: expected a column beside epoch, got none")
    if panels is None:
        return [name for name, drawn in found.items() if drawn] or list(found)
    names = as_names("plot_history", "panels", panels) or []
    unknown = [name for name in names if name not in found]
    if unknown or not names:
        raise ValueError(
            f"plot_history: expected panels among {joined(found)}, got "
            f"{joined(unknown) or 'none'}"
        )
    return list(dict.fromkeys(names))


def _logarithmic(names: list[str], log: Any) -> list[str]:
    if isinstance(log, (bool, np.bool_)):
        return ["loss"] if log else []
    chosen = as_names("plot_history", "log", log) or []
    unknown = [name for name in chosen if name not in names]
    if unknown:
        raise ValueError(
            f"plot_history: expected log to be True or names among {joined(names)}, "
            f"got {joined(unknown)}"
        )
    return chosen


def _check_values(runs: dict[str, Columns], name: str, logarithmic: bool) -> None:
    for columns in runs.values():
        for key in (name, PREFIX + name):
            y = columns.get(key, np.ones(1))
            y = y[np.isfinite(y)]
            if not y.size:
                raise ValueError(
                    f"plot_history: expected a finite number in {key!r}, got only NaN "
                    "or infinity; dz.detect_anomaly() finds where they arise"
                )
            if logarithmic and y.min() <= 0:
                raise ValueError(
                    f"plot_history: expected {key!r} above 0 on a logarithmic scale, "
                    f"got {y.min():g}"
                )
