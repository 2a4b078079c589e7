"""A slice through the loss, as a function of the weights."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import dezero.layers as L
from dezero import cuda
from dezero.core import Parameter, Variable
from dezero.layers import Layer
from dezero.visualize.arrays import as_count
from dezero.visualize.axes import SEQUENTIAL, colormap, figures, one
from dezero.visualize.running import as_input, copied, layers_by_name, undisturbed

Direction = list[np.ndarray]


def plot_loss_landscape(
    model: Any,
    loss: Callable[[Any, Any], Any],
    x: Any,
    t: Any,
    size: float = 1.0,
    resolution: int = 21,
    log: bool = False,
    seed: int = 0,
    ax: Any = None,
) -> Any:
    """Draw the loss around the weights of a model, along two random directions.

    The height at (a, b) is ``loss(model with weights W + a * D1 + b * D2)``. ``D1``
    and ``D2`` are normal random numbers, of which each filter (the weights of one
    output unit) is scaled to the length of that filter in W: without that, weights that
    a following layer scales back would look like sharp valleys. Li et al. 2018,
    "Visualizing the Loss Landscape of Neural Nets", arXiv:1712.09913. As there, biases
    and the numbers of normalizations are not moved.

    A copy of the model runs in test mode, so the model stays as it is; NumPy's random
    state is not touched.

    Args:
        model: A Layer whose weights are there.
        loss: A function of (y, t) that gives one number.
        x: A batch of inputs. The model runs ``resolution ** 2`` times on it.
        t: Its targets.
        size: How far the plane reaches to each side, in lengths of the weights.
        resolution: How many places along each side; odd numbers have the weights
            themselves among them.
        log: Whether colours and lines follow the logarithm of the loss.
        seed: Draws the directions.
        ax: Axes to draw into; by default those of a new figure.

    Returns:
        The Axes. A cross marks the weights of the model. Where the loss is NaN or
        infinite there is grey.

    Raises:
        ImportError: matplotlib is not installed.
        RuntimeError: Weights are not there before the first call.
        TypeError: ``model`` is no Layer, ``loss`` no function that gives a number, or
            ``size`` no number.
        ValueError: There are no weights to move, the loss has several elements, is
            nowhere finite, or is not above 0 and ``log`` is set; or a number is out of
            range.
    """
    function = "plot_loss_landscape"
    layers_by_name(function, model)
    if not callable(loss) or isinstance(loss, type):
        raise TypeError(
            f"{function}: expected loss to be a function of (y, t), got "
            f"{type(loss).__name__}"
        )
    resolution = as_count(function, "resolution", resolution, 3)
    seed = as_count(function, "seed", seed, 0)
    if isinstance(size, bool) or not isinstance(size, (int, float, np.number)):
        raise TypeError(
            f"{function}: expected size to be a number, got {type(size).__name__}"
        )
    if not 0 < size < np.inf:
        raise ValueError(f"{function}: expected a finite size above 0, got {size}")
    model = copied(function, model)
    params = _movable(model)
    rng = np.random.default_rng(seed)
    directions = [_direction(params, rng) for _ in range(2)]
    side = np.linspace(-size, size, resolution)
    heights = _heights(model, loss, as_input(function, x), t, params, directions, side)
    finite = heights[np.isfinite(heights)]
    if not finite.size:
        raise ValueError(
            f"{function}: expected a finite loss, got NaN or infinity everywhere"
        )
    if log and finite.min() <= 0:
        raise ValueError(
            f"{function}: expected a loss above 0 with log=True, got {finite.min():g}"
        )
    ax = one(function, ax, (6.2, 4.8))
    _draw(ax, side, heights, finite, log)
    ax.set(xlabel="a, along direction 1", ylabel="b, along direction 2")
    ax.set_title(f"loss around the weights: {finite.min():.3g} to {finite.max():.3g}")
    ax.set_aspect("equal")
    return ax


def _draw(
    ax: Any, side: np.ndarray, heights: np.ndarray, finite: np.ndarray, log: bool
) -> None:
    module = figures("plot_loss_landscape")
    low, high = float(finite.min()), float(finite.max())
    shown = np.ma.masked_invalid(heights)
    half = (side[1] - side[0]) / 2
    reach = float(side[-1] + half)
    image = ax.imshow(
        shown,
        cmap=colormap(SEQUENTIAL),
        norm=module.logarithmic(low, high) if log and high > low else None,
        extent=(-reach, reach, -reach, reach),
        origin="lower",
        interpolation="bilinear",
    )
    figures("plot_loss_landscape").color_bar(image, "loss")
    if high > low:
        space = np.geomspace if log else np.linspace
        levels = space(low, high, 11)[1:-1]
        lines = ax.contour(side, side, shown, levels, colors="white", linewidths=0.8)
        labels = ax.clabel(lines, levels[::2], fontsize=8, fmt="%.3g")
        for text in labels:
            text.set_path_effects(module.outline("#202020"))
    ax.plot(0, 0, "x", color="white", markersize=9, markeredgewidth=4)
    ax.plot(0, 0, "x", color="black", markersize=8, markeredgewidth=1.5)


def _movable(model: Layer) -> list[tuple[Parameter, int]]:
    """The weights that are moved, each with the axis of its filters."""
    lazy = [name for name, p in model.named_params() if p.data is None]
    if lazy:
        raise RuntimeError(
            "plot_loss_landscape: expected weights, got a model that makes "
            f"{', '.join(lazy)} in its first call; call it once"
        )
    axes: dict[int, int] = {}
    still: set[int] = set()
    for _, layer in model.named_layers():
        W = getattr(layer, "W", None)
        if isinstance(layer, L.Embedding):
            axes[id(W)] = 0  # (words, D): a word is a filter
        elif isinstance(layer, (L.Deconv1d, L.Deconv2d, L.Deconv3d)):
            axes[id(W)] = 1  # (I, O, ...)
        elif isinstance(layer, (L.BatchNorm, L.LayerNorm, L.RMSNorm)):
            still |= {id(p) for p in layer.params()}
    found = [
        # x W: (I, O); of convolutions (O, I, ...).
        (p, axes.get(id(p), 0 if p.ndim > 2 else 1))
        for p in model.params()
        if p.ndim > 1 and p.dtype.kind == "f" and id(p) not in still
    ]
    if not found:
        raise ValueError(
            "plot_loss_landscape: expected weights of two axes or more, got "
            f"{type(model).__name__} without any"
        )
    return found


def _direction(params: list[tuple[Parameter, int]], rng: Any) -> Direction:
    """Random numbers for each parameter, its filters as long as those of the weights.

    Returns:
        Arrays in double precision, on the CPU.
    """
    direction = []
    for p, axis in params:
        W = cuda.as_numpy(p.data).astype(np.float64)
        d = rng.standard_normal(W.shape)
        others = tuple([i for i in range(W.ndim) if i != axis])
        length = np.sqrt((d * d).sum(axis=others, keepdims=True))
        wanted = np.sqrt((W * W).sum(axis=others, keepdims=True))
        direction.append(d * (wanted / np.where(length > 0, length, 1)))
    return direction


def _heights(
    model: Any,
    loss: Callable[[Any, Any], Any],
    x: Any,
    t: Any,
    params: list[tuple[Parameter, int]],
    directions: list[Direction],
    side: np.ndarray,
) -> np.ndarray:
    """The loss at each place: a row for each b, a column for each a."""
    start = [cuda.as_numpy(p.data).astype(np.float64) for p, _ in params]
    heights = np.empty((len(side), len(side)))
    t = t.data if isinstance(t, Variable) else t
    with undisturbed(), np.errstate(over="ignore", invalid="ignore"):
        for i, j in np.ndindex(heights.shape):
            for (p, _), W, d1, d2 in zip(params, start, *directions, strict=True):
                xp = cuda.get_array_module(p.data)
                moved = (W + side[j] * d1 + side[i] * d2).astype(p.dtype)
                p.data = xp.asarray(moved)
            height = cuda.as_numpy(loss(model(x), t))
            if height.dtype.kind not in "fiub":
                raise TypeError(
                    "plot_loss_landscape: expected loss to give a number, got "
                    f"{height.dtype}"
                )
            if height.size != 1:
                raise ValueError(
                    "plot_loss_landscape: expected loss to give one number, got shape "
                    f"{height.shape}"
                )
            heights[i, j] = height.item()
    return heights
