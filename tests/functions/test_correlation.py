"""The products behind convolution, on plain arrays: the ways they are computed."""

import itertools

import numpy as np
import pytest

from dezero.functions import correlation
from dezero.functions.correlation import (
    correlate,
    correlate_kernel,
    correlate_transposed,
)
from dezero.functions.window_arguments import make_window

# (C, O, groups, size of the image, kernel, stride, pad, dilation)
GEOMETRIES = {
    "plain": (3, 4, 1, (6, 5), (3, 2), 1, 0, 1),
    "padded": (3, 4, 1, (6, 5), 3, 1, 1, 1),
    "strided": (3, 4, 1, (7, 6), 3, (2, 3), ((0, 1), (2, 0)), 2),
    "grouped": (4, 6, 2, (6, 5), 3, 1, 1, 1),
    "depthwise": (3, 3, 3, (6, 5), 3, 2, 1, 1),
    "depthwise, several each": (3, 6, 3, (6, 5), 3, 1, 1, 1),
    "of one element": (3, 4, 1, (6, 5), 1, 1, 0, 1),
    "of one element, strided": (4, 6, 2, (6, 5), 1, 2, 0, 1),
    "of one element, padded": (3, 4, 1, (6, 5), 1, 2, 1, 1),
    "few places": (3, 40, 1, (4, 4), 3, 1, 0, 1),
    "few places, grouped": (4, 40, 2, (4, 4), 3, 1, 0, 1),
    "one axis": (3, 4, 1, (9,), 3, 2, 1, 1),
    "three axes": (2, 3, 1, (3, 4, 3), 2, 1, 1, 1),
}


def problem(name, N=5, dtype=float):
    C, O, G, sizes, *arguments = GEOMETRIES[name]
    window = make_window("f", sizes, *arguments)
    rng = np.random.default_rng(0)
    x = rng.normal(size=(N, C, *sizes)).astype(dtype)
    W = rng.normal(size=(O, C // G, *window.kernel)).astype(dtype)
    y = rng.normal(size=(N, O, *window.places)).astype(dtype)
    return x, W, y, window, G


def by_loops(x, W, window, groups):
    y = np.zeros((len(x), len(W), *window.places), x.dtype)
    C, O = W.shape[1], len(W) // groups
    for g, tap in itertools.product(range(groups), window.taps):
        k = np.unravel_index(tap.number, window.kernel)
        weights = W[(slice(g * O, g * O + O), slice(None), *k)]  # (O, C)
        met = x[:, g * C : g * C + C][tap.image]
        part = y[:, g * O : g * O + O][tap.places]
        part += np.einsum("oc,nc...->no...", weights, met)
    return y


# Elements of columns at a time: one example after the other, a few, all at once.
@pytest.mark.parametrize("part", [1, 1000, 1 << 30])
@pytest.mark.parametrize("name", GEOMETRIES)
def test_each_way_gives_the_same_number(name, part, monkeypatch):
    monkeypatch.setattr(correlation, "PART", part)
    x, W, y, window, G = problem(name)
    before = [a.copy() for a in (x, W, y)]
    expected = by_loops(x, W, window, G)
    np.testing.assert_allclose(correlate(x, W, window, G), expected, atol=1e-12)
    # <y, correlate(x, W)> is linear in each: the other two products are its gradients.
    number = np.sum(y * expected)
    gx, gW = correlate_transposed(y, W, window, G), correlate_kernel(x, y, window, G)
    assert gx.shape == x.shape and gW.shape == W.shape
    np.testing.assert_allclose([np.sum(gx * x), np.sum(gW * W)], number, rtol=1e-10)
    other = np.cos(np.arange(x.size)).reshape(x.shape)
    number = np.sum(y * by_loops(other, W, window, G))
    np.testing.assert_allclose(np.sum(gx * other), number, rtol=1e-10)
    other = np.cos(np.arange(W.size)).reshape(W.shape)
    number = np.sum(y * by_loops(x, other, window, G))
    np.testing.assert_allclose(np.sum(gW * other), number, rtol=1e-10)
    for a, b in zip((x, W, y), before, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("dtype", ["float16", "float32"])
@pytest.mark.parametrize("name", GEOMETRIES)
def test_results_are_new_arrays_of_the_dtype(name, dtype):
    x, W, y, window, G = problem(name, 2, dtype)
    for result in (
        correlate(x, W, window, G),
        correlate_transposed(y, W, window, G),
        correlate_kernel(x, y, window, G),
    ):
        assert result.dtype == dtype
        assert not any(np.shares_memory(result, a) for a in (x, W, y))


@pytest.mark.parametrize("name", GEOMETRIES)
def test_views_are_as_good_as_arrays(name):
    x, W, y, window, G = problem(name)
    xv, Wv, yv = [np.repeat(a, 2, -1)[::-1, ..., ::2][::-1] for a in (x, W, y)]
    ones = np.broadcast_to(np.array(1.0), y.shape)  # what the gradient of a sum is
    for found, expected in [
        (correlate(xv, Wv, window, G), correlate(x, W, window, G)),
        (
            correlate_transposed(yv, Wv, window, G),
            correlate_transposed(y, W, window, G),
        ),
        (correlate_kernel(xv, yv, window, G), correlate_kernel(x, y, window, G)),
        (
            correlate_kernel(x, ones, window, G),
            correlate_kernel(x, ones.copy(), window, G),
        ),
    ]:
        np.testing.assert_allclose(found, expected, atol=1e-12)
