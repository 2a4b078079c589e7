"""Pooling: the maximum or the mean of a window."""

import importlib
import math

import numpy as np
import pytest
from hypothesis import strategies as st

import dezero.functions as F
from dezero import Variable
from dezero.testing import Case, arrays, check_gradients


@st.composite
def images(draw, max_ndim=3, unique=False):
    ndim = draw(st.integers(min(2, max_ndim), max_ndim) | st.integers(1, max_ndim))
    largest = {1: 8, 2: 5, 3: 3}[ndim]
    sizes = draw(st.tuples(*[st.integers(1, largest)] * ndim))
    shape = draw(st.integers(1, 2)), draw(st.integers(1, 2)), *sizes
    return draw(arrays(shape=shape, unique=unique))


def image(unique=False):
    """Images with two axes."""
    sizes = st.tuples(*[st.integers(1, 2)] * 2, *[st.integers(1, 5)] * 2)
    return sizes.flatmap(lambda shape: arrays(shape=shape, unique=unique))


@st.composite
def windows(draw, x, lonely=False):
    """Options of a window that fits the image x, in all forms.

    ``lonely`` windows may meet nothing but padding.
    """
    ndim = x.ndim - 2
    each = st.tuples(*[st.integers(1, 3)] * ndim)
    kernel, stride, dilation = draw(each), draw(each), draw(each)
    options = {"ceil_mode": draw(st.booleans())}
    pads = []
    for I, K, D in zip(x.shape[2:], kernel, dilation, strict=True):
        before, after = draw(st.integers(0, K)), draw(st.integers(0, K))
        pads.append((before, after + max(0, (K - 1) * D + 1 - I - before - after)))
    options["pad"] = draw(st.sampled_from([tuple(pads), "same"]))
    options |= {"kernel_size": kernel, "stride": stride, "dilation": dilation}
    if not lonely and not all(met.all() for met in company(x, **options)):
        options |= {"dilation": 1, "pad": 0, "ceil_mode": True}
        options["kernel_size"] = tuple(np.minimum(kernel, x.shape[2:]).tolist())
    return options


@st.composite
def averages(draw, x):
    include = draw(st.booleans())
    return {**draw(windows(x, lonely=include)), "count_include_pad": include}


@st.composite
def simple_windows(draw, x):
    kernel = draw(st.integers(1, min(3, *x.shape[2:])))
    pad = draw(st.integers(0, kernel // 2))
    return {"kernel_size": kernel, "stride": draw(st.integers(1, 3)), "pad": pad}


def places(x, kernel_size, stride=1, pad=0, dilation=1, ceil_mode=False):
    """For each axis and place, the elements that a window meets, -1 for padding.

    What lies outside of the padding is left out.
    """
    ndim = x.ndim - 2
    kernel = np.broadcast_to(kernel_size, ndim).tolist()
    stride = np.broadcast_to(stride, ndim).tolist()
    dilation = np.broadcast_to(dilation, ndim).tolist()
    axes = []
    for axis, I in enumerate(x.shape[2:]):
        K, S, D = kernel[axis], stride[axis], dilation[axis]
        reach = (K - 1) * D + 1
        if pad == "same":
            total = max(0, reach - (I % S or S))
            before, after = total // 2, total - total // 2
        else:
            before, after = np.broadcast_to(pad, (ndim, 2))[axis].tolist()
        met = []
        start = -before
        while start + reach <= I + after or (
            ceil_mode and start < I and start - S + reach < I + after
        ):
            elements = [start + k * D for k in range(K)]
            elements = [i for i in elements if i < I + after]
            met.append([i if 0 <= i < I else -1 for i in elements])
            start += S
        axes.append(met)
    return axes


def company(x, **options):
    """For each axis, whether each window meets the image."""
    for met in places(x, **options):
        yield np.array([max(elements) >= 0 for elements in met])


def reduced(x, f, **options):
    """``f`` of what each window meets of x padded with zeros, and which are padding."""
    axes = places(x, **options)
    y = np.zeros((*x.shape[:2], *map(len, axes)))
    border = np.pad(x, [(0, 0), (0, 0)] + [(0, 1)] * (x.ndim - 2))  # index -1
    inside = np.pad(np.ones(x.shape[2:], bool), (0, 1))
    for index in np.ndindex(*map(len, axes)):
        met = np.ix_(*[axes[axis][i] for axis, i in enumerate(index)])
        y[(..., *index)] = f(
            border[(slice(None), slice(None), *met)].reshape(*x.shape[:2], -1),
            inside[met].ravel(),
        )
    return y


def maxima(x, **options):
    return reduced(x, lambda met, inside: met[..., inside].max(axis=-1), **options)


def means(x, count_include_pad=True, **options):
    def mean(met, inside):
        return met.sum(axis=-1) / (len(inside) if count_include_pad else inside.sum())

    return reduced(x, mean, **options)


CASES = [
    Case(F.pooling, images(unique=True), reference=maxima, options=windows),
    Case(F.average_pooling, images(), reference=means, options=averages),
    Case(
        F.pooling_simple,
        image(unique=True),
        reference=maxima,
        options=simple_windows,
    ),
    Case(  # beyond the first derivative these are linear: a curve brings the third in
        lambda x, **options: F.sum(F.tanh(F.pooling(x, **options))),
        image(unique=True),
        name="pooling",
        options=simple_windows,
        order=3,
    ),
    Case(
        lambda x, **options: F.sum(F.tanh(F.average_pooling(x, **options))),
        image(),
        name="average_pooling",
        options=simple_windows,
        order=3,
    ),
]

X = np.ones((2, 3, 5, 6))
ERRORS = [
    (lambda: F.pooling(X[0, 0], 2), ValueError, r"pooling: expected x .*\(5, 6\)"),
    (lambda: F.pooling(X, 0), ValueError, "pooling: .*kernel_size of at least 1"),
    (lambda: F.pooling(X, 2.0), TypeError, "pooling: .*kernel_size, got 2.0"),
    (lambda: F.pooling(X, (2, 2, 2)), ValueError, r"pooling: .*got \(2, 2, 2\)"),
    (lambda: F.pooling(X, 2, 0), ValueError, "pooling: .*stride of at least 1, got 0"),
    (lambda: F.pooling(X, 2, 1, -1), ValueError, "pooling: .*pad of at least 0"),
    (lambda: F.pooling(X, 2, dilation=0), ValueError, "pooling: .*dilation of at lea"),
    (lambda: F.pooling(X, 6), ValueError, r"pooling: .*\(6, 6\) to fit .*\(5, 6\)"),
    (
        lambda: F.pooling(X, 2, 1, 2),
        ValueError,
        r"pooling: .*so narrow that each window meets the image, got pad \(\(2, 2\), ",
    ),
    (
        lambda: F.pooling(X[:, :, :1], 2, 1, (1, 0), dilation=(2, 1)),
        ValueError,
        r"pooling: .*meets the image, .*image of size \(1, 6\)",
    ),
    (
        lambda: F.average_pooling(X[0, 0], 2),
        ValueError,
        r"average_pooling: expected x .*shape \(5, 6\)",
    ),
    (lambda: F.average_pooling(X, 6), ValueError, r"average_pooling: .*\(6, 6\)"),
    (
        lambda: F.average_pooling(X, 2, 1, 2, count_include_pad=False),
        ValueError,
        "average_pooling: .*so narrow that each window meets the image",
    ),
    (lambda: F.pooling_simple(X, 6), ValueError, r"pooling_simple: .*\(6, 6\)"),
    (lambda: F.pooling_simple(X, 2, 1, 2), ValueError, "pooling_simple: .*so narrow"),
    (lambda: F.pooling_simple(X[0, 0], 2), ValueError, "pooling_simple: expected x"),
]


def gradient(f, x):
    x = Variable(x)
    f(x).backward()
    return x.grad.data


def test_padding_never_wins():
    for least in (-5.0, -np.inf):
        x = np.full((1, 1, 2, 2), least)
        y = F.pooling(x, 3, 2, 1)
        np.testing.assert_array_equal(y.data, [[[[least]]]])
        g = gradient(lambda x: F.pooling(x, 3, 2, 1), x)
        np.testing.assert_array_equal(g, [[[[1.0, 0.0], [0.0, 0.0]]]])
        g = gradient(lambda x: F.pooling(x, 2, 1, 1), x)
        assert g.sum() == 9


@pytest.mark.parametrize("dtype", ["int8", "uint8", "bool"])
def test_padding_never_wins_among_integers(dtype):
    least = 0 if dtype == "bool" else np.iinfo(dtype).min
    x = Variable(np.full((1, 1, 2, 2), least, dtype), requires_grad=True)
    y = F.pooling(x, 2, 1, 1)
    assert y.dtype == dtype and (y.data == least).all()
    y.backward(grad=np.ones(y.shape))
    np.testing.assert_array_equal(x.grad.data, [[[[4.0, 2.0], [2.0, 1.0]]]])


@pytest.mark.parametrize(
    ("kernel_size", "stride"), [(2, 2), (2, 1), (3, 2), ((1, 4), 1), (4, 4)]
)
def test_of_equal_elements_the_first_takes_the_gradient(kernel_size, stride):
    x = np.random.default_rng(0).integers(0, 2, (2, 3, 8, 8)).astype(float)
    expected = np.zeros_like(x)
    KH, KW = np.broadcast_to(kernel_size, 2)
    for n, c, i, j in np.ndindex(2, 3, 8 - KH + 1, 8 - KW + 1):
        if i % stride == 0 and j % stride == 0:
            window = x[n, c, i : i + KH, j : j + KW]
            a, b = np.unravel_index(window.argmax(), window.shape)
            expected[n, c, i + a, j + b] += 1
    g = gradient(lambda x: F.pooling(x, kernel_size, stride), x)
    np.testing.assert_array_equal(g, expected)


def test_in_the_simple_form_equal_elements_share_it():
    g = gradient(lambda x: F.pooling_simple(x, 2, 2), np.ones((1, 1, 2, 2)))
    np.testing.assert_array_equal(g, np.full((1, 1, 2, 2), 0.25))


def test_a_window_with_nan():
    x = np.arange(16.0).reshape(1, 1, 4, 4)
    x[0, 0, 0, 1] = np.nan
    np.testing.assert_array_equal(F.pooling(x, 2, 2).data, [[[[np.nan, 7], [13, 15]]]])
    g = gradient(lambda x: F.pooling(x, 2, 2), x)
    assert np.isfinite(g).all() and g.sum() == 4


def test_an_infinite_gradient_goes_to_the_maximum_alone():
    x = Variable(np.arange(4.0).reshape(1, 1, 2, 2))
    F.pooling(x, 2).backward(grad=np.full((1, 1, 1, 1), np.inf))
    np.testing.assert_array_equal(x.grad.data, [[[[0, 0], [0, np.inf]]]])


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
@pytest.mark.parametrize(
    ("shape", "kernel_size", "stride"),
    [
        ((2, 3, 6, 8), 2, 2),
        ((2, 3, 7, 9), 2, 2),  # a rest that no window meets
        ((2, 3, 8, 9), (2, 1), (3, 2)),  # gaps between the windows
        ((2, 3, 9), 3, 3),
        ((2, 1, 4, 2, 6), (2, 2, 3), (2, 2, 3)),
        ((2, 3, 4, 4), 1, 1),
        ((0, 3, 4, 4), 2, 2),
    ],
)
def test_windows_that_lie_apart_need_no_numbers_of_winners(
    shape, kernel_size, stride, dtype, monkeypatch
):
    rng = np.random.default_rng(0)
    x = rng.integers(0, 3, shape).astype(dtype)  # many are equal
    x[rng.random(shape) < 0.1] = np.nan
    x[rng.random(shape) < 0.1] = -np.inf
    x = Variable(x)
    y = F.pooling(x, kernel_size, stride)
    gy = rng.normal(size=y.shape).astype(dtype)
    gy[rng.random(y.shape) < 0.1] = np.inf
    y.backward(create_graph=True, grad=gy)  # the plain way: numbers, then PoolingGrad
    expected = x.grad.data
    x.cleargrad()
    module = importlib.import_module("dezero.functions.max_pooling")
    monkeypatch.delattr(module, "_first_maxima")
    y.backward(grad=gy)
    assert x.grad.dtype == dtype
    np.testing.assert_array_equal(x.grad.data, expected)


def test_more_taps_than_a_byte_counts():
    x = (
        np.random.default_rng(0)
        .permutation(2.0 * np.arange(2 * 17 * 18))
        .reshape(1, 2, 17, 18)
    )
    for f in (F.pooling, F.average_pooling):
        check_gradients(lambda x, f=f: f(x, 17), x / 600).assert_ok()
    g = gradient(lambda x: F.pooling(x, 17), x)
    y = F.pooling(x, 17).data
    assert set(x[g > 0]) == set(y.ravel())
    assert g.sum() == y.size


@pytest.mark.parametrize("f", [F.pooling, F.average_pooling])
def test_a_window_of_one_element_gives_memory_of_its_own(f):
    x = np.ones((1, 1, 3, 3))
    for stride in (1, 2):
        y = f(x, 1, stride)
        assert not np.shares_memory(x, y.data)
        np.testing.assert_array_equal(y.data, x[..., ::stride, ::stride])


@pytest.mark.parametrize("f", [F.pooling, F.average_pooling, F.pooling_simple])
def test_no_examples(f):
    x = Variable(np.ones((0, 2, 4, 4)))
    y = f(x, 2, 2)
    assert y.shape == (0, 2, 2, 2)
    y.backward()
    assert x.grad.shape == x.shape


def test_padding_counts_in_the_mean_unless_told_otherwise():
    x = np.full((1, 1, 2, 2), 8.0)
    np.testing.assert_array_equal(F.average_pooling(x, 2, 2, 1).data, x / 4)
    y = F.average_pooling(x, 2, 2, 1, count_include_pad=False)
    np.testing.assert_array_equal(y.data, x)


def test_what_lies_outside_of_the_padding_never_counts():
    x = np.full((1, 1, 3), 6.0)
    y = F.average_pooling(x, 3, 3, ((1, 1),), ceil_mode=True)
    np.testing.assert_array_equal(y.data, [[[4.0, 3.0]]])
    y = F.average_pooling(x, 2, 2, ceil_mode=True)
    np.testing.assert_array_equal(y.data, [[[6.0, 6.0]]])


def test_means_of_integers_are_floats():
    y = F.average_pooling(np.array([[[1, 2, 4]]]), 2)
    np.testing.assert_array_equal(y.data, [[[1.5, 3.0]]])
    y = F.average_pooling(np.array([[[200, 100]]], np.uint8), 2)
    assert y.data.item() == 150


def test_sums_of_half_precision_do_not_overflow_on_the_way():
    x = np.full((1, 1, 4), 60000, np.float16)
    y = F.average_pooling(x, 4)
    assert y.dtype == np.float16 and y.data.item() == 60000
    x = Variable(np.array([[[0, 1, 0]]], np.float16))
    y = F.pooling(x, 2)
    y.backward(grad=np.array([[[30000, 30000]]], np.float16))
    assert x.grad.dtype == np.float16 and x.grad.data[0, 0, 1] == 60000


@pytest.mark.parametrize("cls", ["Pooling", "AveragePooling"])
def test_classes_can_be_called(cls):
    x = np.random.default_rng(0).normal(size=(1, 2, 5, 5))
    function = F.pooling if cls == "Pooling" else F.average_pooling
    y = getattr(F, cls)(3, 2, 1)(x)
    np.testing.assert_array_equal(y.data, function(x, 3, 2, 1).data)


def test_winners_are_not_looked_for_without_a_backward_pass(monkeypatch):
    def never(*args):
        raise AssertionError

    # The function has the name of its module.
    module = importlib.import_module("dezero.functions.max_pooling")
    monkeypatch.setattr(module, "_first_maxima", never)
    assert F.pooling(Variable(np.ones((1, 1, 4, 4))), 2).shape == (1, 1, 3, 3)
    assert math.prod(F.pooling(np.ones((1, 1, 4, 4)), 2, 2).shape) == 4
