"""Hypothesis strategies for convolutions: arrays, and geometries that fit them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from dezero.testing.strategies import arrays

Draw = Callable[[SearchStrategy], Any]


@st.composite
def images_and_kernels(
    draw: Draw,
    ndim: int,
    transposed: bool = False,
    groups: Sequence[int] = (1, 1, 2, 3),
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """``x``, ``W`` and ``b`` of a convolution: sizes down to one, batches of one.

    Args:
        draw: Given by Hypothesis.
        ndim: How many axes an image has: 1, 2 or 3.
        transposed: W is (C, O/groups, ...) instead of (O, C/groups, ...).
        groups: Numbers of groups to choose from.
    """
    N = draw(st.integers(1, 2))
    C, O = draw(st.integers(1, 2)), draw(st.integers(1, 2))  # in each group
    G = draw(st.sampled_from(groups))
    largest = {1: 6, 2: 4, 3: 3}[ndim]
    sizes = draw(_tuples(st.integers(1, largest), ndim))
    kernel = draw(_tuples(st.integers(1, 3 if ndim < 3 else 2), ndim))
    W = (C * G, O) if transposed else (O * G, C)
    x_shape, W_shape = (N, C * G, *sizes), (*W, *kernel)
    return (
        draw(arrays(shape=x_shape)),
        draw(arrays(shape=W_shape)),
        draw(arrays(shape=(O * G,))),
    )


@st.composite
def conv_geometries(
    draw: Draw, x: np.ndarray, W: np.ndarray, b: np.ndarray | None = None
) -> dict[str, Any]:
    """Options of a convolution of ``x`` by ``W`` that leave at least one output.

    ``stride``, ``pad`` and ``dilation`` in all their forms (an integer, one for each
    axis, pairs of pads, ``"same"``), and ``groups`` as the channels ask for.
    """
    ndim = x.ndim - 2
    options: dict[str, Any] = {
        "stride": draw(_strides(ndim)),
        "groups": x.shape[1] // W.shape[1],
        "dilation": draw(st.sampled_from([1, 1, 2, (2, 1, 3)[:ndim]])),
    }
    options["pad"] = draw(_pads(x.shape[2:], W.shape[2:], options["dilation"]))
    return options


@st.composite
def window_geometries(
    draw: Draw, x: np.ndarray, W: np.ndarray, b: np.ndarray | None = None
) -> dict[str, Any]:
    """As :func:`conv_geometries`, ``stride`` and ``pad`` alone."""
    return {
        "stride": draw(_strides(x.ndim - 2)),
        "pad": draw(_pads(x.shape[2:], W.shape[2:], 1)),
    }


@st.composite
def deconv_geometries(
    draw: Draw, x: np.ndarray, W: np.ndarray, b: np.ndarray
) -> dict[str, Any]:
    """Options of a transposed convolution that leave at least one output.

    ``outsize`` is drawn too: of the sizes that the same convolution makes one of.
    """
    ndim = x.ndim - 2
    stride = draw(_tuples(st.integers(1, 3), ndim))
    dilation = draw(_tuples(st.integers(1, 2), ndim))
    options: dict[str, Any] = {"stride": stride, "dilation": dilation}
    options["groups"] = len(b) // W.shape[1]
    pads, outsize = [], []
    for I, K, D, S in zip(x.shape[2:], W.shape[2:], dilation, stride, strict=True):
        most = (I - 1) * S + (K - 1) * D + 1  # of the result, without pad
        before = draw(st.integers(0, min(2, most - 1)))
        after = draw(st.integers(0, min(2, most - 1 - before)))
        pads.append((before, after))
        outsize.append(most - before - after + draw(st.integers(0, S - 1)))
    options["pad"] = draw(st.sampled_from([tuple(pads), "same"]))
    if options["pad"] != "same":
        options["outsize"] = draw(st.sampled_from([None, tuple(outsize)]))
    return options


def _tuples(strategy: SearchStrategy, n: int) -> SearchStrategy[tuple]:
    return st.tuples(*[strategy] * n)


def _strides(ndim: int) -> SearchStrategy[int | tuple[int, ...]]:
    return st.one_of(st.integers(1, 4), _tuples(st.integers(1, 4), ndim))


@st.composite
def _pads(
    draw: Draw,
    sizes: tuple[int, ...],
    kernel: tuple[int, ...],
    dilation: int | tuple[int, ...],
) -> Any:
    """Pads with which the kernel fits into the image."""
    pads = []
    dilations = np.broadcast_to(dilation, len(sizes))
    for I, K, D in zip(sizes, kernel, dilations, strict=True):
        before, after = draw(_tuples(st.integers(0, 2), 2))
        missing = (K - 1) * int(D) + 1 - I - before - after
        pads.append((before, after + max(0, missing)))
    both = [max(pair) for pair in pads]
    forms = [tuple(pads), "same", tuple(both), max(both)]
    return draw(st.sampled_from(forms))
