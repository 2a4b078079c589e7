"""What a convolution looks for, and what it finds: its weights, and its output."""

from __future__ import annotations

from typing import Any

import numpy as np

import dezero.layers as L
from dezero import cuda
from dezero.core import Variable
from dezero.layers import Layer
from dezero.visualize.arrays import as_count, as_finite
from dezero.visualize.axes import (
    SEQUENTIAL,
    colormap,
    enlargement,
    figures,
    montage,
    near_square,
    one,
    shown,
    without_frame,
    without_ticks,
)
from dezero.visualize.running import (
    as_input,
    copied,
    find_layer,
    layers_by_name,
    undisturbed,
    watch,
)


def plot_filters(layer: Any, limit: int | None = None, ax: Any = None) -> Any:
    """Draw the weights of a convolution as small images.

    The filters of one input channel stand in rows, those of three are coloured images.
    Of any other number, each row is an output channel and each column an input channel.
    The scale is symmetric about 0.

    Args:
        layer: A convolution with two axes, such as ``L.Conv2d``, or its weights
            (O, I, KH, KW).
        limit: How many channels are drawn at most, of each kind; by default 64, or 32
            where both are counted. The title says if there are more.
        ax: Axes to draw into; by default those of a new figure.

    Returns:
        The Axes.

    Raises:
        ImportError: matplotlib is not installed.
        RuntimeError: The weights are not there before the first call.
        TypeError: ``layer`` is neither.
        ValueError: The weights have another number of axes, or NaN in them.
    """
    W = _weights(layer)
    O, I, h, w = W.shape
    if limit is None:
        limit = 64 if I in (1, 3) else 32
    limit = as_count("plot_filters", "limit", limit)
    top = float(np.abs(W).max()) or 1.0
    if I == 3:
        W = W[:limit].transpose(0, 2, 3, 1)  # (O, 3, KH, KW) -> (O, KH, KW, 3)
        sheet = montage(0.5 + W / (2 * top), near_square(len(W), 1.6))
        sheet[np.isnan(sheet)] = 1.0  # white, as is NaN in the other sheets
    elif I == 1:
        sheet = montage(W[:limit, 0], near_square(min(O, limit), 1.6))
    else:
        W = W[:limit, :limit]
        sheet = montage(W.reshape(-1, h, w), W.shape[1])  # (O, I, ...) -> (O*I, ...)
    ax = one("plot_filters", ax, _size(sheet))
    image = ax.imshow(
        sheet,
        cmap=colormap(SEQUENTIAL, "white"),
        vmin=-top,
        vmax=top,
        interpolation=_interpolation(sheet),
    )
    without_ticks(ax)
    without_frame(ax)
    title = [f"{O} filters of {I} x {h} x {w}", shown(O, limit, "filters")]
    if I == 3:
        title.append(f"grey is 0, white {top:.2g}")
    else:
        figures("plot_filters").color_bar(image, "weight")
    if I not in (1, 3):
        title.append(shown(I, limit, "inputs"))
        ax.set(xlabel="input channel", ylabel="output channel")
        scale = enlargement(W[0])
        _number(ax.xaxis, min(I, limit), scale * w + 1)
        _number(ax.yaxis, min(O, limit), scale * h + 1)
        ax.tick_params(length=0)
    ax.set_title("\n".join([line for line in title if line]), fontsize="medium")
    return ax


def plot_feature_maps(
    model: Any,
    x: Any,
    layer: str,
    index: int = 0,
    limit: int = 64,
    ax: Any = None,
) -> Any:
    """Draw what a layer of a model puts out for an image: a map for each channel.

    A copy of the model runs in test mode, so the model stays as it is. Of several calls
    of the layer, the last one counts.

    Args:
        model: A Layer.
        x: A batch of inputs.
        layer: The name of one of its layers, as ``model.named_layers()`` gives them and
            ``model.summary(x)`` shows them. Its output has the shape (N, C, H, W).
        index: Which image of the batch.
        limit: How many channels are drawn at most. The title says if there are more.
        ax: Axes to draw into; by default those of a new figure.

    Returns:
        The Axes. Channels stand in rows, the first one top left.

    Raises:
        ImportError: matplotlib is not installed.
        RuntimeError: The model did not call that layer.
        TypeError: ``model`` is no Layer.
        ValueError: There is no layer of that name, no such image, the output has
            another shape, or there is NaN in it.
    """
    function = "plot_feature_maps"
    layers_by_name(function, model)
    limit = as_count(function, "limit", limit)
    index = as_count(function, "index", index, 0)
    model = copied(function, model)
    found: list[Any] = []
    watch(find_layer(function, layers_by_name(function, model), layer), found.append)
    with undisturbed():
        model(as_input(function, x))
    if not found:
        raise RuntimeError(
            f"{function}: expected the model to call {layer!r}, got no call of it"
        )
    y = found[-1]
    shape = getattr(y, "shape", None)
    if shape is None or len(shape) != 4 or 0 in shape:
        raise ValueError(
            f"{function}: expected {layer!r} to put out the shape (N, C, H, W), got "
            f"{type(y).__name__ if shape is None else shape}"
        )
    if index >= shape[0]:
        raise ValueError(
            f"{function}: expected index < {shape[0]}, the number of images, got "
            f"{index}"
        )
    data = y.data if isinstance(y, Variable) else y
    maps = as_finite(function, f"the output of {layer!r}", data[index])
    sheet = montage(maps[:limit], near_square(min(len(maps), limit), 1.4))
    ax = one(function, ax, _size(sheet))
    image = ax.imshow(
        sheet,
        cmap=colormap(SEQUENTIAL, "white"),
        interpolation=_interpolation(sheet),
    )
    figures("plot_feature_maps").color_bar(image, "output")
    without_ticks(ax)
    without_frame(ax)
    note = shown(len(maps), limit, "channels")
    h, w = maps.shape[1:]
    title = f"{layer}: {len(maps)} channels of {h} x {w}"
    ax.set_title("\n".join([title, note] if note else [title]), fontsize="medium")
    return ax


def _weights(layer: Any) -> np.ndarray:
    """The weights as (O, I, KH, KW)."""
    W = layer
    if isinstance(layer, Layer):
        W = getattr(layer, "W", None)
        if W is None:
            names = [
                name
                for name, p in layer.named_params()
                if p.data is not None and p.ndim == 4
            ]
            raise TypeError(
                "plot_filters: expected a convolution or its weights, got "
                f"{type(layer).__name__}"
                + (f"; it has {', '.join(names)}" if names else "")
            )
    if isinstance(W, Variable) and W.data is None:
        raise RuntimeError(
            "plot_filters: expected weights, got a layer that makes them in its first "
            "call; call it once, or give in_channels"
        )
    if not isinstance(W, Variable) and not cuda.is_array(W):
        raise TypeError(
            "plot_filters: expected a convolution or its weights, got "
            f"{type(W).__name__}"
        )
    if W.ndim != 4:
        raise ValueError(
            "plot_filters: expected weights of shape (O, I, KH, KW), got shape "
            f"{W.shape}"
        )
    W = as_finite("plot_filters", "the weights", W)
    # A transposed convolution has (I, O, KH, KW).
    return W.swapaxes(0, 1) if isinstance(layer, L.Deconv2d) else W


def _size(sheet: np.ndarray) -> tuple[float, float]:
    """Inches for a sheet: 5 or more along the longer side, and room beside it."""
    h, w = sheet.shape[:2]
    scale = min(10.0, max(5.0, max(h, w) / 100)) / max(h, w)
    return max(3.2, w * scale) + 1.4, max(1.6, h * scale) + 0.9


def _interpolation(sheet: np.ndarray) -> str:
    """A sheet of more pixels than there are on the screen must not lose its lines."""
    return "nearest" if max(sheet.shape[:2]) <= 500 else "antialiased"


def _number(axis: Any, n: int, step: int) -> None:
    """Number ``n`` tiles, so many pixels apart, from 0."""
    every = max(1, -(-n // 16))
    axis.set_ticks(
        [i * step + (step - 2) / 2 for i in range(0, n, every)],
        [str(i) for i in range(0, n, every)],
    )
