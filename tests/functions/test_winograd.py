"""Winograd's way to convolve 3x3: that it is the same, and where it is taken."""

import numpy as np
import pytest

import dezero.functions as F
from dezero import Variable, grad
from dezero.functions import correlation, winograd
from dezero.functions.window_arguments import make_window

# (C, O, size of the image, pad)
GEOMETRIES = {
    "whole tiles": (48, 50, (8, 16), 1),
    "tiles that reach out": (50, 48, (9, 15), 1),
    "no padding": (48, 48, (10, 14), 0),
    "much padding": (48, 48, (8, 7), 2),
    "uneven padding": (48, 48, (9, 11), ((0, 2), (1, 0))),
}
PRODUCTS = ["correlate", "correlate_transposed"]


def problem(name, N=4):
    C, O, sizes, pad = GEOMETRIES[name]
    window = make_window("f", sizes, 3, 1, pad)
    rng = np.random.default_rng(0)
    x = rng.normal(size=(N, C, *sizes)).astype("f4")
    W = rng.normal(size=(O, C, 3, 3)).astype("f4")
    y = rng.normal(size=(N, O, *window.places)).astype("f4")
    arguments = {"correlate": (x, W), "correlate_transposed": (y, W)}
    return arguments, window


def with_columns(product, a, b, window):
    """The plain way; double precision is never computed in the other one."""
    f = getattr(correlation, product)
    return f(a.astype("f8"), b.astype("f8"), window)


# Elements of tiles at a time: one example after the other, three of four, all at once.
@pytest.mark.parametrize("part", [1, 36 * 50 * 8 * 3, 1 << 30])
@pytest.mark.parametrize("product", PRODUCTS)
@pytest.mark.parametrize("name", GEOMETRIES)
def test_the_products_are_those_with_columns(name, product, part, monkeypatch):
    monkeypatch.setattr(winograd, "PART", part)
    arguments, window = problem(name)
    a, b = arguments[product]
    before = a.copy(), b.copy()
    found = getattr(winograd, product)(a, b, window)
    expected = with_columns(product, a, b, window)
    assert found.dtype == np.float32 and found.flags.c_contiguous
    error = np.abs(found - expected).max() / np.abs(expected).max()
    assert error < 1e-5  # 3e-6 at most for these; 1e-6 with columns
    np.testing.assert_array_equal(a, before[0])
    np.testing.assert_array_equal(b, before[1])


@pytest.mark.parametrize("product", PRODUCTS)
@pytest.mark.parametrize("bad", [np.inf, -np.inf, np.nan, 3e38])
def test_what_is_not_finite_is_left_to_the_columns(product, bad):
    arguments, window = problem("whole tiles")
    a, b = arguments[product]
    a[1, 2, 3, 4] = bad
    with np.errstate(all="ignore"):
        assert getattr(winograd, product)(a, b, window) is None
        found = getattr(correlation, product)(a, b, window)
        expected = with_columns(product, a, b, window).astype("f4")
    np.testing.assert_array_equal(np.isfinite(found), np.isfinite(expected))
    # Elements that the bad one does not reach are what they are without it.
    assert np.isfinite(found).any()


def counted(product, calls):
    f = getattr(winograd, product)

    def call(*arguments):
        calls.append(product)
        return f(*arguments)

    return call


@pytest.fixture(params=[True, False], ids=["winograd", "columns"])
def way(request, monkeypatch):
    """Whether the way is taken where it suits, or never."""
    calls = []
    if not request.param:
        monkeypatch.setattr(winograd, "suits", lambda *arguments: False)
    for product in PRODUCTS:
        monkeypatch.setattr(winograd, product, counted(product, calls))
    return request.param, calls


def test_first_and_second_derivatives(way):
    taken, calls = way
    arguments, _ = problem("whole tiles")
    x, W = (
        Variable(a / np.sqrt(a[0].size, dtype="f4")) for a in arguments["correlate"]
    )
    b = Variable(np.linspace(-1, 1, len(W.data), dtype="f4"))
    y = F.conv2d(x, W, b, pad=1)
    gs = grad(F.sum(y * y * y), [x, W, b], create_graph=True)
    gaps = grad(sum([F.sum(g * g) for g in gs]), [x, W, b])
    assert set(calls) == (set(PRODUCTS) if taken else set())
    double = [Variable(v.data.astype("f8")) for v in (x, W, b)]
    y = F.conv2d(*double, pad=1)
    expected = grad(F.sum(y * y * y), double, create_graph=True)
    expected_gaps = grad(sum([F.sum(g * g) for g in expected]), double)
    pairs = zip([*gs, *gaps], [*expected, *expected_gaps], strict=True)
    for found, right in pairs:
        assert found.dtype == np.float32
        error = np.abs(found.data - right.data).max() / np.abs(right.data).max()
        assert error < 1e-4


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
def test_which_dtypes_take_the_way(dtype, way):
    taken, calls = way
    arguments, window = problem("whole tiles")
    x, W = (a.astype(dtype) for a in arguments["correlate"])
    assert correlation.correlate(x, W, window).dtype == dtype
    assert bool(calls) == (taken and dtype != "f8")


@pytest.mark.parametrize(
    "changed",
    [
        {"kernel": 5},
        {"stride": 2},
        {"dilation": 2},
        {"groups": 2},
        {"channels": (47, 64)},
        {"channels": (64, 3)},
        {"channels": (64, 1024)},
        {"size": 14},
        {"pad": 3},
        {"dtype": "f8"},
    ],
)
def test_where_the_way_is_not_taken(changed):
    def suits(
        kernel=3,
        stride=1,
        dilation=1,
        groups=1,
        channels=(64, 64),
        size=16,
        pad=1,
        dtype="f4",
    ):
        window = make_window("f", (size, size), kernel, stride, pad, dilation)
        return winograd.suits(np.empty((4, 1), dtype), channels, window, groups)

    assert suits() and not suits(**changed)


@pytest.mark.parametrize("ndim", [1, 3])
def test_other_numbers_of_axes_are_left_to_the_columns(ndim):
    window = make_window("f", (16,) * ndim, 3, 1, 1)
    assert not winograd.suits(np.empty((4, 1), "f4"), (64, 64), window, 1)


def test_an_empty_batch():
    x = np.zeros((0, 64, 16, 16), "f4")
    W = np.zeros((64, 64, 3, 3), "f4")
    window = make_window("f", (16, 16), 3, 1, 1)
    assert correlation.correlate(x, W, window).shape == x.shape
