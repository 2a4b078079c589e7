"""Which class was taken for which."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dezero.visualize.arrays import as_finite, as_labels, as_names, as_predictions
from dezero.visualize.axes import colormap, figures, one, plain, text_color

# With more classes the numbers would be too small to be read.
MOST_NUMBERS = 30
SMALL = "#6E6E6E"  # zeros: there, but nothing to look at; 5:1 on white


def plot_confusion(
    y: Any,
    t: Any = None,
    classes: Sequence[str] | None = None,
    normalize: bool = False,
    ax: Any = None,
) -> Any:
    """Draw how often each class (row) was taken for each class (column).

    ``plot_confusion(model(x), t)``, in the order of ``F.accuracy(y, t)``.

    Args:
        y: What the model says: class ids (N,) or scores (N, C). Without ``t``: the
            counts themselves, (C, C), rows for the true class.
        t: The true classes, integers (N,).
        classes: Names of the classes. Without, they are numbers from 0 to the highest
            that occurs.
        normalize: Whether to show percent of each row in place of counts. A class that
            does not occur has an empty row.
        ax: Axes to draw into; by default those of a new figure.

    Returns:
        The Axes. Numbers stand in the cells for up to 30 classes.

    Raises:
        ImportError: matplotlib is not installed.
        TypeError: Class ids are no integers.
        ValueError: A shape does not fit, a class is out of range, there are fewer than
            two classes, or counts are negative or not finite.
    """
    counts = _counts(y, t, classes)
    n = len(counts)
    names = as_names("plot_confusion", "classes", classes, n)
    names = [str(i) if names is None else plain(names[i]) for i in range(n)]
    values = counts
    if normalize:
        total = counts.sum(axis=1, keepdims=True)
        values = 100 * counts / np.where(total > 0, total, np.nan)
    side = min(11.0, max(4.2, 1.6 + 0.45 * n))
    ax = one("plot_confusion", ax, (side + 1, side))
    top = 100.0 if normalize else max(1.0, float(counts.max()))
    image = ax.imshow(values, cmap=colormap("Blues"), vmin=0, vmax=top)
    figures("plot_confusion").color_bar(
        image, "% of the true class" if normalize else "samples"
    )
    if n <= MOST_NUMBERS:
        _write_numbers(ax, image, values, normalize)
    long = max(map(len, names)) > 3
    every = max(1, -(-n // MOST_NUMBERS))  # names that would run into each other
    ticks = list(range(0, n, every))
    ax.set_xticks(ticks, names[::every], rotation=45 if long else 0)
    if long:
        for label in ax.get_xticklabels():
            label.set(ha="right", rotation_mode="anchor")
    ax.set_yticks(ticks, names[::every])
    ax.set(xlabel="predicted", ylabel="true", title=_title(counts))
    return ax


def _title(counts: np.ndarray) -> str:
    total = counts.sum()
    if not total:
        return "no samples"
    return f"{np.trace(counts) / total:.1%} of {total:,.0f} right"


def _write_numbers(ax: Any, image: Any, values: np.ndarray, normalize: bool) -> None:
    whole = bool((values[np.isfinite(values)] % 1 == 0).all())
    texts = [
        (i, j, v, "<1" if normalize and 0 < v < 0.5 else _text(v, whole or normalize))
        for (i, j), v in np.ndenumerate(values)
        if not np.isnan(v)
    ]
    # As large as the longest allows: a digit is about 0.65 of its size wide.
    cell = 72 * ax.get_window_extent().width / ax.figure.dpi / len(values)
    longest = max([len(text) for *_, text in texts], default=1)
    size = min(10.0, max(5.0, 0.9 * cell / (0.65 * longest)))
    for i, j, v, text in texts:
        color = text_color(image.cmap(image.norm(v))) if v else SMALL
        ax.text(j, i, text, ha="center", va="center", fontsize=size, color=color)
    for i in np.flatnonzero(np.isnan(values).any(axis=1)):
        middle = (len(values) - 1) / 2
        ax.text(middle, i, "no samples", ha="center", va="center", fontsize=size)


def _text(v: float, whole: bool) -> str:
    return f"{v:,.0f}" if whole else f"{v:.3g}"


def _counts(y: Any, t: Any, classes: Any) -> np.ndarray:
    """How often row was taken for column."""
    if t is None:
        counts = as_finite("plot_confusion", "y", y)
        if counts.ndim != 2 or counts.shape[0] != counts.shape[1]:
            raise ValueError(
                "plot_confusion: expected counts of shape (C, C), or t beside y, got "
                f"one array of shape {counts.shape}"
            )
        if counts.min() < 0:
            raise ValueError(
                f"plot_confusion: expected counts of 0 or more, got {counts.min():g}"
            )
    else:
        read_as, size = as_predictions("plot_confusion", y)
        if size is None and classes is not None:
            size = len(as_names("plot_confusion", "classes", classes) or [])
            as_labels("plot_confusion", "y", read_as, size)
        t = as_labels("plot_confusion", "t", t, size)
        if len(t) != len(read_as):
            raise ValueError(
                f"plot_confusion: expected as many y as t, got {len(read_as)} and "
                f"{len(t)}"
            )
        size = 1 + int(max(t.max(), read_as.max())) if size is None else size
        counts = np.zeros((size, size))
        np.add.at(counts, (t, read_as), 1)
    if len(counts) < 2:
        raise ValueError(
            "plot_confusion: expected two classes or more, got one; name them with "
            "classes= if only one occurs"
        )
    return counts
