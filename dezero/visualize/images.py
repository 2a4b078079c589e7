"""Pictures out of arrays, with what a model said of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dezero.visualize.arrays import (
    as_array,
    as_count,
    as_labels,
    as_names,
    as_predictions,
)
from dezero.visualize.axes import (
    COLORS,
    near_square,
    plain,
    several,
    shown,
    without_ticks,
)


def plot_images(
    x: Any,
    t: Any = None,
    y: Any = None,
    titles: Sequence[str] | None = None,
    classes: Sequence[str] | None = None,
    columns: int | None = None,
    limit: int = 64,
    ax: Any = None,
) -> Any:
    """Draw a batch of images, with titles, labels, or predictions that are marked.

    A right prediction has its name above; a wrong one, "8, not 3" in bold type and a
    thick dashed frame: predicted 8, true 3.

    Args:
        x: Grey images (N, H, W) or (N, 1, H, W), or coloured ones (N, 3, H, W). The
            channels may come last. Integers range from 0 to 255 and floats from 0 to 1;
            where they do not, all are scaled from the least to the greatest value.
        t: The true classes, integers (N,).
        y: The predictions: class ids (N,) or scores (N, C).
        titles: A text for each image, in place of t and y; a frame still shows
            where they differ.
        classes: Names of the classes.
        columns: How many images stand side by side.
        limit: How many are drawn at most. A title of the new figure says if there are
            more.
        ax: Axes to draw into: one for one image, else a list or array. By default those
            of a new figure.

    Returns:
        An array of Axes, one for each image.

    Raises:
        ImportError: matplotlib is not installed.
        TypeError: ``x`` has no numbers, or class ids are no integers.
        ValueError: A shape or a number of texts does not fit, or a class is out of
            range.
    """
    pixels = as_pixels("plot_images", as_array("plot_images", "x", x))
    n = len(pixels)
    texts, wrong = _texts(n, t, y, titles, classes)
    limit = as_count("plot_images", "limit", limit)
    pixels = pixels[:limit]
    if columns is None:
        columns = near_square(len(pixels), 1.6)
    columns = as_count("plot_images", "columns", columns)
    widest = max([len(line) for text in texts[:limit] for line in text.split("\n")])
    size = max(1.1, 0.3 + 0.085 * widest), 1.1 + 0.2 * any(texts)
    axes = several("plot_images", ax, len(pixels), size, columns)
    for cell, image, text, is_wrong in zip(axes, pixels, texts, wrong, strict=False):
        cell.imshow(image, cmap="gray", vmin=0, vmax=1, interpolation="nearest")
        without_ticks(cell)
        cell.set_title(
            plain(text), fontsize=10, weight="bold" if is_wrong else "normal"
        )
        for spine in cell.spines.values():
            if is_wrong:
                spine.set(color=COLORS[1], linewidth=3, capstyle="butt")
                spine.set_linestyle((0, (2, 0.7)))
            else:
                spine.set(color="#808080", linewidth=0.5)
    note = shown(n, limit, "images")
    if note and ax is None:
        axes[0].figure.suptitle(note, fontsize=10)
    return axes


def as_pixels(function: str, x: np.ndarray) -> np.ndarray:
    """Images as (N, H, W) or (N, H, W, 3), from 0 to 1.

    Raises:
        ValueError: The shape is of no images, there are none, or a value is NaN or
            infinite.
    """
    if x.ndim not in (3, 4) or not x.size:
        hint = "; one image x is x[None]" if x.ndim == 2 else ""
        raise ValueError(
            f"{function}: expected x of shape (N, H, W), (N, C, H, W) or (N, H, W, C), "
            f"got {x.shape}{hint}"
        )
    if x.ndim == 4:
        if x.shape[1] in (1, 3):
            x = x.transpose(0, 2, 3, 1)  # (N, C, H, W) -> (N, H, W, C)
        if x.shape[3] not in (1, 3):
            raise ValueError(
                f"{function}: expected x with 1 or 3 channels, got shape {x.shape}; "
                "plot_feature_maps draws more"
            )
        if x.shape[3] == 1:
            x = x[..., 0]
    is_bytes = x.dtype.kind in "iu" and x.min() >= 0 and 1 < x.max() <= 255
    x = x.astype(np.float64)
    if not np.isfinite(x).all():
        raise ValueError(
            f"{function}: expected x to be finite, got NaN or infinity in it"
        )
    low, high = (0, 255) if is_bytes else (x.min(), x.max())
    if low >= 0 and high <= 1:
        return x
    # In quarters: the range of numbers near the largest of float64 is none of them.
    x, low, high = x / 4, low / 4, high / 4
    return (x - low) / (high - low if high > low else 1)


def _texts(
    n: int, t: Any, y: Any, titles: Any, classes: Any
) -> tuple[list[str], list[bool]]:
    """What stands above each image, and which predictions are wrong."""
    names = as_names("plot_images", "classes", classes)
    size = None if names is None else len(names)
    if y is not None:
        y, scored = as_predictions("plot_images", y)
        if size is not None:
            as_labels("plot_images", "y", y, size)
        _check_length("y", y, n)
        size = scored if size is None else size
    if t is not None:
        t = as_labels("plot_images", "t", t, size)
        _check_length("t", t, n)
    wrong = [False] * n if t is None or y is None else (t != y).tolist()
    given = as_names("plot_images", "titles", titles, n)
    if given is not None:
        return given, wrong

    def name(i: int) -> str:
        return str(i) if names is None else names[i]

    main = t if y is None else y
    if main is None:
        return [""] * n, wrong
    texts = [name(i) for i in main]
    for i in np.flatnonzero(wrong):
        truth = name(t[i])
        gap = " " if len(texts[i]) + len(truth) < 6 else "\n"
        texts[i] += f",{gap}not {truth}"
    return texts, wrong


def _check_length(name: str, labels: np.ndarray, n: int) -> None:
    if len(labels) != n:
        raise ValueError(
            f"plot_images: expected {name} for each of {n} images, got {len(labels)}"
        )
