"""Transposed convolution along one, two or three axes."""

from collections.abc import Sequence
from typing import Any

from dezero.core import ArrayLike, Variable
from dezero.functions.convolution import (
    Deconv1d,
    Deconv2d,
    Deconv3d,
    call_on_variables,
)

__all__ = ["deconv1d", "deconv2d", "deconv3d"]


def deconv2d(
    x: ArrayLike,
    W: ArrayLike,
    b: ArrayLike | None = None,
    stride: int | Sequence[int] = 1,
    pad: Any = 0,
    outsize: int | Sequence[int] | None = None,
    dilation: int | Sequence[int] = 1,
    groups: int = 1,
) -> Variable:
    """Transposed convolution: the gradient of :func:`conv2d` by its image, as a layer.

    Each element of ``x`` puts a copy of the kernel, times itself, into the result;
    ``stride`` are the steps between the copies, and ``pad`` is cut off at the end.

    Args:
        x: (N, C, IH, IW).
        W: (C, O/groups, KH, KW).
        b: (O,), or None for no bias.
        stride: (SH, SW), or one number for both.
        pad: (PH, PW), one number, pairs ((top, bottom), (left, right)), or ``"same"``
            for a result of size ``I * S``.
        outsize: Size (OH, OW) of the result. Up to ``S - 1`` more than the smallest
            size give the same under convolution; by default it is the smallest.
        dilation: Steps from element to element of the kernel: (DH, DW) or one number.
        groups: As in :func:`conv2d`.

    Returns:
        Variable of shape (N, O, OH, OW), by default with
        ``OH = SH*(IH - 1) + DH*(KH - 1) + 1 - 2*PH``.

    Raises:
        TypeError: ``stride``, ``pad``, ``outsize``, ``dilation`` or ``groups`` are no
            integers.
        ValueError: The shapes do not fit together, a number is out of range, or there
            is no result of size ``outsize``.
    """
    return call_on_variables(Deconv2d(stride, pad, outsize, dilation, groups), x, W, b)


def deconv1d(
    x: ArrayLike,
    W: ArrayLike,
    b: ArrayLike | None = None,
    stride: int | Sequence[int] = 1,
    pad: Any = 0,
    outsize: int | Sequence[int] | None = None,
    dilation: int | Sequence[int] = 1,
    groups: int = 1,
) -> Variable:
    """One-dimensional transposed convolution: :func:`deconv2d` along a single axis.

    Args:
        x: (N, C, I).
        W: (C, O/groups, K).
        b: (O,), or None for no bias.
        stride: A number.
        pad: A number, ``((before, after),)`` or ``"same"``.
        outsize: A number, as in :func:`deconv2d`.
        dilation: A number.
        groups: As in :func:`conv2d`.

    Returns:
        Variable of shape (N, O, OI).

    Raises:
        TypeError: As in :func:`deconv2d`.
        ValueError: Likewise.
    """
    return call_on_variables(Deconv1d(stride, pad, outsize, dilation, groups), x, W, b)


def deconv3d(
    x: ArrayLike,
    W: ArrayLike,
    b: ArrayLike | None = None,
    stride: int | Sequence[int] = 1,
    pad: Any = 0,
    outsize: int | Sequence[int] | None = None,
    dilation: int | Sequence[int] = 1,
    groups: int = 1,
) -> Variable:
    """Three-dimensional transposed convolution: :func:`deconv2d` along three axes.

    Args:
        x: (N, C, ID, IH, IW).
        W: (C, O/groups, KD, KH, KW).
        b: (O,), or None for no bias.
        stride: Three numbers, or one for all.
        pad: Three numbers or pairs (before, after), one number, or ``"same"``.
        outsize: As ``stride``; see :func:`deconv2d`.
        dilation: As ``stride``.
        groups: As in :func:`conv2d`.

    Returns:
        Variable of shape (N, O, OD, OH, OW).

    Raises:
        TypeError: As in :func:`deconv2d`.
        ValueError: Likewise.
    """
    return call_on_variables(Deconv3d(stride, pad, outsize, dilation, groups), x, W, b)
