"""Which part of the plane a classifier gives to which class."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dezero import cuda
from dezero.visualize.arrays import as_count, as_finite, as_labels, as_names
from dezero.visualize.axes import colored, figures, one, plain
from dezero.visualize.running import as_input, copied, undisturbed

# Points that the model gets at a time.
BATCH = 8192


def plot_decision_boundary(
    model: Any,
    x: Any,
    t: Any,
    classes: Sequence[str] | None = None,
    threshold: float = 0.0,
    resolution: int = 200,
    ax: Any = None,
) -> Any:
    """Draw points of a plane, and the class that a model gives to every place there.

    A copy of the model runs in test mode, so the model stays as it is. Each class has a
    colour and a marker, and lines separate the regions.

    Args:
        model: A Layer, or a function of x, that gives scores (N, C), or one score per
            point, (N,) or (N, 1), for two classes.
        x: Points (N, 2).
        t: Their classes, integers (N,).
        classes: Names of the classes.
        threshold: Of one score: above it is class 1. It is 0 for scores that go into
            ``F.sigmoid_cross_entropy``, and 0.5 for probabilities.
        resolution: How many places along each side are asked for.
        ax: Axes to draw into; by default those of a new figure.

    Returns:
        The Axes.

    Raises:
        ImportError: matplotlib is not installed.
        TypeError: ``model`` is no function, or ``t`` no integers.
        ValueError: ``x`` has another shape or NaN in it, a class is out of range, or
            the model gives another shape or NaN.
    """
    function = "plot_decision_boundary"
    given = as_input(function, x)
    points = as_finite(function, "x", given)
    if points.ndim != 2 or points.shape[1] != 2:
        raise ValueError(
            f"{function}: expected x of shape (N, 2), got {points.shape}; only a plane "
            "can be drawn"
        )
    resolution = as_count(function, "resolution", resolution, 2)
    t = as_labels(function, "t", t)
    if len(t) != len(points):
        raise ValueError(
            f"{function}: expected a class for each of {len(points)} points, got "
            f"{len(t)}"
        )
    sides = [_side(points[:, i], resolution) for i in range(2)]
    margins = _margins(copied(function, model), sides, given, threshold)
    region, n = margins.argmax(axis=2), margins.shape[2]
    as_labels(function, "t", t, n)
    names = as_names(function, "classes", classes, n)
    names = [f"class {i}" for i in range(n)] if names is None else names
    ax = one(function, ax)
    styles = colored(n)
    levels = np.arange(n + 1) - 0.5
    # A picture, not contours of class numbers: between 0 and 2 there is no 1.
    dx, dy = [(side[1] - side[0]) / 2 for side in sides]
    ax.imshow(
        region,
        cmap=figures(function).listed([color for color, _ in styles]),
        norm=figures(function).bounded(levels),
        alpha=0.25,
        extent=(
            sides[0][0] - dx,
            sides[0][-1] + dx,
            sides[1][0] - dy,
            sides[1][-1] + dy,
        ),
        origin="lower",
        aspect="auto",
        interpolation="nearest",
    )
    for i in range(1 if n == 2 else n):
        if (margins[..., i] > 0).any() and (margins[..., i] < 0).any():
            ax.contour(
                *sides, margins[..., i], levels=[0], colors="#303030", linewidths=0.8
            )
    for i, (color, marker) in enumerate(styles):
        mine = points[t == i]
        if len(mine):
            ax.plot(
                mine[:, 0],
                mine[:, 1],
                marker,
                color=color,
                markersize=5,
                markeredgecolor="white",
                markeredgewidth=0.5,
                label=plain(names[i]),
            )
    ax.set(xlabel="x[:, 0]", ylabel="x[:, 1]")
    ax.set(xlim=sides[0][[0, -1]], ylim=sides[1][[0, -1]])
    place = "best" if len(points) < 5_000 else "upper right"  # to search takes long
    ax.legend(loc=place, fontsize="small", framealpha=0.9)
    return ax


def _side(x: np.ndarray, resolution: int) -> np.ndarray:
    """Places along one axis, with room around the points."""
    low, high = x.min(), x.max()
    margin = 0.08 * (high - low) or 1.0
    return np.linspace(low - margin, high + margin, resolution)


def _margins(
    model: Any, sides: list[np.ndarray], x: Any, threshold: float
) -> np.ndarray:
    """How far each score is above the highest other one: (rows, columns, C).

    So what is above 0 is the region of a class, and 0 its border, between two places
    too.
    """
    grid = np.stack(np.meshgrid(*sides), axis=-1)  # (rows, columns, 2)
    xp = cuda.get_array_module(x)
    dtype = x.dtype if x.dtype.kind == "f" else np.float32
    places = grid.reshape(-1, 2).astype(dtype)
    parts = []
    with undisturbed():
        for i in range(0, len(places), BATCH):
            part = xp.asarray(places[i : i + BATCH])
            parts.append(_scores(cuda.as_numpy(model(part)), len(part)))
    scores = np.concatenate(parts)
    if np.isnan(scores).any():
        raise ValueError(
            "plot_decision_boundary: expected scores from the model, got NaN for "
            f"{int(np.isnan(scores).any(axis=1).sum())} of {len(scores)} places"
        )
    # Infinity less infinity is no margin.
    scores = np.nan_to_num(scores.astype(np.float64), posinf=1e300, neginf=-1e300)
    if scores.shape[1] == 1:
        margin = scores - threshold
        margins = np.concatenate([-margin, margin], axis=1)
    else:
        top = np.partition(scores, -2, axis=1)[
            :, -2:
        ]  # the second highest, the highest
        highest = scores == top[:, 1:]
        margins = scores - np.where(highest, top[:, :1], top[:, 1:])
    return margins.reshape(*grid.shape[:2], -1)


def _scores(y: np.ndarray, n: int) -> np.ndarray:
    """What the model gave for ``n`` points, as (n, C)."""
    if y.shape == (n,):
        y = y[:, None]
    if y.ndim != 2 or len(y) != n or not y.shape[1] or y.dtype.kind not in "fiub":
        raise ValueError(
            "plot_decision_boundary: expected the model to give scores (N, C) or (N,) "
            f"for {n} points, got shape {y.shape} of {y.dtype}"
        )
    return y
