"""The arguments that describe a window: kernel_size, stride, pad, dilation."""

import operator
from collections.abc import Sequence
from typing import Any

from dezero.functions.windows import Pads, Sizes, Window, halves, window_on


def make_window(
    function: str,
    sizes: Sizes,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] = 1,
    pad: Any = 0,
    dilation: int | Sequence[int] = 1,
    ceil_mode: bool = False,
) -> Window:
    """The window that these arguments of ``function`` describe.

    Args:
        function: Name for messages.
        sizes: Of the image, without batch and channel.
        kernel_size: One number, or one per axis.
        stride: Likewise.
        pad: Likewise; or a pair (before, after) per axis; or ``"same"``, which gives
            ``ceil(size / stride)`` places, an odd element of padding after the image.
        dilation: As ``stride``.
        ceil_mode: Whether a last window that reaches out of the padded image counts, as
            long as it starts inside the image or the padding before it.

    Raises:
        TypeError: An argument is neither an integer nor a sequence of them.
        ValueError: The number of values does not fit, one is out of range, or the
            window is larger than the padded image; with ``ceil_mode``, by a step at
            least.
    """
    ndim = len(sizes)
    kernel = as_sizes(function, "kernel_size", kernel_size, ndim)
    strides = as_sizes(function, "stride", stride, ndim)
    dilations = as_sizes(function, "dilation", dilation, ndim)
    pads = None if _is_same(pad) else as_pads(function, pad, ndim)
    window = window_on(sizes, kernel, strides, pads, dilations, bool(ceil_mode))
    if any([n < 1 for n in window.places]):
        reach = tuple([d * (k - 1) + 1 for d, k in zip(dilations, kernel, strict=True)])
        padded = [n + b + a for n, (b, a) in zip(sizes, window.pads, strict=True)]
        dilated = f", {reach} with its dilation," if reach != kernel else ""
        raise ValueError(
            f"{function}: expected a window of size {kernel}{dilated} to fit into the "
            f"image, got an image of size {sizes}, {tuple(padded)} with its padding"
        )
    return window


def make_transposed_window(
    function: str,
    places: Sizes,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] = 1,
    pad: Any = 0,
    dilation: int | Sequence[int] = 1,
    outsize: int | Sequence[int] | None = None,
) -> Window:
    """The window with these ``places`` on an image of size ``outsize``.

    Args:
        function: Name for messages.
        places: How many places the window has along each axis.
        kernel_size: As in :func:`make_window`.
        stride: Likewise.
        pad: Likewise; ``"same"`` gives ``stride * places`` as size of the image.
        dilation: Likewise.
        outsize: Size of the image; by default the smallest that has these places.

    Raises:
        TypeError: An argument is neither an integer nor a sequence of them.
        ValueError: The number of values does not fit, one is out of range, or no image
            of that size has these places.
    """
    ndim = len(places)
    kernel = as_sizes(function, "kernel_size", kernel_size, ndim)
    strides = as_sizes(function, "stride", stride, ndim)
    dilations = as_sizes(function, "dilation", dilation, ndim)
    reach = [d * (k - 1) + 1 for d, k in zip(dilations, kernel, strict=True)]
    if _is_same(pad):
        pads = tuple([halves(r - s) for r, s in zip(reach, strides, strict=True)])
    else:
        pads = as_pads(function, pad, ndim)
    least = [
        s * (n - 1) + r - before - after
        for n, s, r, (before, after) in zip(places, strides, reach, pads, strict=True)
    ]
    sizes = tuple(least)
    if outsize is not None:
        sizes = as_sizes(function, "outsize", outsize, ndim)
    elif _is_same(pad):
        sizes = tuple([s * n for s, n in zip(strides, places, strict=True)])
    if any(
        [
            not low <= n < low + s
            for low, s, n in zip(least, strides, sizes, strict=True)
        ]
    ):
        most = tuple([low + s - 1 for low, s in zip(least, strides, strict=True)])
        raise ValueError(
            f"{function}: expected outsize from {tuple(least)} to {most}, of which a "
            f"convolution makes the size {places} of x, got {sizes}"
        )
    if any([n < 1 for n in sizes]):
        raise ValueError(
            f"{function}: expected a result of at least one element along each axis, "
            f"got size {sizes} from x of size {places}, kernel {kernel}, stride "
            f"{strides} and pad {pads}"
        )
    return window_on(sizes, kernel, strides, pads, dilations, False)


def as_sizes(function: str, name: str, value: Any, ndim: int, least: int = 1) -> Sizes:
    """``value`` as ``ndim`` integers of at least ``least``; one stands for all.

    Raises:
        TypeError: It is neither an integer nor a sequence of them.
        ValueError: Their number does not fit, or one is too small.
    """
    try:
        result = tuple([operator.index(n) for n in value])
    except TypeError:
        try:
            result = (operator.index(value),) * ndim
        except TypeError:
            raise TypeError(
                f"{function}: expected an integer or {ndim} integers as {name}, "
                f"got {value!r}"
            ) from None
    if len(result) != ndim:
        raise ValueError(
            f"{function}: expected an integer or {ndim} integers as {name}, "
            f"got {value!r}"
        )
    if any([n < least for n in result]):
        raise ValueError(
            f"{function}: expected {name} of at least {least}, got {value!r}"
        )
    return result


def as_pads(function: str, pad: Any, ndim: int) -> Pads:
    """``pad`` as one pair (before, after) per axis.

    Raises:
        TypeError: It is no integer, sequence of integers or pairs, nor ``"same"``.
        ValueError: Their number does not fit, or one is negative.
    """
    expected = f"an integer, {ndim} integers or pairs of integers, or 'same' as pad"
    try:
        each = [pad] * ndim if not hasattr(pad, "__len__") else list(pad)
        pairs = [p if hasattr(p, "__len__") else (p, p) for p in each]
        pads = tuple([tuple([operator.index(n) for n in pair]) for pair in pairs])
    except TypeError:
        raise TypeError(f"{function}: expected {expected}, got {pad!r}") from None
    if len(pads) != ndim or any([len(pair) != 2 for pair in pads]):
        raise ValueError(f"{function}: expected {expected}, got {pad!r}")
    if any([n < 0 for pair in pads for n in pair]):
        raise ValueError(f"{function}: expected pad of at least 0, got {pad!r}")
    return pads  # type: ignore[return-value]  # mypy does not see the check of len


def _is_same(pad: Any) -> bool:
    return isinstance(pad, str) and pad == "same"
