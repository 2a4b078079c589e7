"""im2col and col2im."""

import math

import numpy as np
import pytest
from hypothesis import strategies as st

import dezero.functions as F
from dezero import Variable
from dezero.functions.columns import col2im_array, im2col_array
from dezero.testing import Case, arrays


@st.composite
def windows(draw, x):
    """Options of a window that fits the image x."""
    ndim = x.ndim - 2
    each = st.integers(1, 3)
    one = st.tuples(*[each] * ndim)
    kernel, stride, dilation = draw(one), draw(one), draw(one)
    pads = []
    for I, K, D in zip(x.shape[2:], kernel, dilation, strict=True):
        before, after = draw(st.integers(0, 2)), draw(st.integers(0, 2))
        pads.append((before, after + max(0, (K - 1) * D + 1 - I - before - after)))
    return {
        "kernel_size": kernel,
        "stride": stride,
        "pad": tuple(pads),
        "to_matrix": draw(st.booleans()),
        "dilation": dilation,
    }


def columns(x, kernel_size, stride, pad, to_matrix, dilation):
    """By definition: a loop over the places."""
    x = np.pad(x, [(0, 0), (0, 0), *pad])
    reach = [(K - 1) * D + 1 for K, D in zip(kernel_size, dilation, strict=True)]
    steps = zip(x.shape[2:], reach, stride, strict=True)
    places = [range(0, I - R + 1, S) for I, R, S in steps]
    col = np.zeros((*x.shape[:2], *kernel_size, *map(len, places)))
    for index in np.ndindex(*map(len, places)):
        met = tuple(
            slice(i * S, i * S + R, D)
            for i, S, R, D in zip(index, stride, reach, dilation, strict=True)
        )
        col[(..., *index)] = x[(..., *met)]
    if not to_matrix:
        return col
    n = len(kernel_size)
    order = (0, *range(2 + n, 2 + 2 * n), 1, *range(2, 2 + n))
    rows = len(x) * math.prod(map(len, places))
    return col.transpose(order).reshape(rows, x.shape[1] * math.prod(kernel_size))


def triples(n):
    """Three numbers with this product."""
    pairs = [(a, n // a) for a in range(1, n + 1) if n % a == 0]
    return [(a, b, m // b) for a, m in pairs for b in range(1, m + 1) if m % b == 0]


@st.composite
def of_some_image(draw, x):
    """Options of col2im for which x are columns."""
    if x.ndim == 2:
        N, *places = draw(st.sampled_from(triples(x.shape[0])))
        C, *kernel = draw(st.sampled_from(triples(x.shape[1])))
    else:
        N, C, *both = x.shape
        n = len(both) // 2
        kernel, places = both[:n], both[n:]
    each = st.tuples(*[st.integers(1, 3)] * len(kernel))
    stride, dilation = draw(each), draw(each)
    pads, sizes = [], []
    for K, P, S, D in zip(kernel, places, stride, dilation, strict=True):
        most = S * (P - 1) + (K - 1) * D + 1  # with padding
        before = draw(st.integers(0, min(2, most - 1)))
        after = draw(st.integers(0, min(2, most - 1 - before)))
        pads.append((before, after))
        sizes.append(most - before - after + draw(st.integers(0, S - 1)))
    return {
        "input_shape": (N, C, *sizes),
        "kernel_size": tuple(kernel),
        "stride": stride,
        "pad": tuple(pads),
        "to_matrix": x.ndim == 2,
        "dilation": dilation,
    }


def image(x, input_shape, **options):
    """Each element of the image asks its columns: transposes the matrix of im2col."""
    size = math.prod(input_shape)
    units = np.eye(size).reshape(size, *input_shape)
    return np.array([np.sum(columns(u, **options) * x) for u in units]).reshape(
        input_shape
    )


def images(ndim):
    sizes = st.tuples(*[st.integers(1, 2)] * 2, *[st.integers(1, 5)] * ndim)
    return sizes.flatmap(lambda shape: arrays(shape=shape))


COLUMNS = st.one_of(
    arrays(min_dims=2, max_dims=2, max_side=8),
    *[arrays(min_dims=2 + 2 * n, max_dims=2 + 2 * n, max_side=3) for n in (1, 2)],
    arrays(shape=(1, 2, 2, 1, 2, 1, 2, 1)),
)

CASES = [
    Case(
        F.im2col,
        st.integers(1, 3).flatmap(images),
        reference=columns,
        options=windows,
    ),
    Case(F.col2im, COLUMNS, reference=image, options=of_some_image),
]

X = np.ones((2, 3, 5, 6))
C = np.ones((2 * 3 * 4, 3 * 3 * 3))
ERRORS = [
    (lambda: F.im2col(X[0, 0], 3), ValueError, r"im2col: expected x .*shape \(5, 6\)"),
    (lambda: F.im2col(X, 6), ValueError, r"im2col: .*\(6, 6\) .*of size \(5, 6\)"),
    (lambda: F.im2col(X, 0), ValueError, "im2col: .*kernel_size of at least 1, got 0"),
    (lambda: F.im2col(X, 3.0), TypeError, "im2col: .*kernel_size, got 3.0"),
    (lambda: F.im2col(X, (3, 3, 3)), ValueError, r"im2col: .*got \(3, 3, 3\)"),
    (
        lambda: F.col2im(C[1:], X.shape, 3),
        ValueError,
        r"col2im: expected x of shape \(24, 27\) .*got \(23, 27\)",
    ),
    (
        lambda: F.col2im(C, X.shape, 3, to_matrix=False),
        ValueError,
        r"col2im: expected x of shape \(2, 3, 3, 3, 3, 4\) .*got \(24, 27\)",
    ),
    (lambda: F.col2im(C, (5, 6), 3), ValueError, r"col2im: .*input_shape .*\(5, 6\)"),
    (lambda: F.col2im(C, X.shape, 3, stride=-1), ValueError, "col2im: .*got -1"),
    (lambda: F.col2im(C, None, 3), TypeError, "col2im: .*integers, got None"),
    (lambda: F.col2im(C, (2.0, 3, 5, 6), 3), TypeError, "col2im: .*integers, got "),
]


def test_a_known_matrix():
    x = np.arange(6.0).reshape(1, 1, 2, 3)
    y = F.im2col(x, 2)
    np.testing.assert_array_equal(y.data, [[0, 1, 3, 4], [1, 2, 4, 5]])
    z = F.col2im(y, x.shape, 2)
    np.testing.assert_array_equal(z.data, [[[[0, 2, 2], [3, 8, 5]]]])


def test_each_is_the_gradient_of_the_other():
    rng = np.random.default_rng(0)
    x = Variable(rng.normal(size=(2, 3, 5, 6)))
    y = F.im2col(x, (2, 3), (2, 1), (1, 0))
    gy = Variable(rng.normal(size=y.shape))
    y.backward(grad=gy)
    z = F.col2im(gy, x.shape, (2, 3), (2, 1), (1, 0))
    np.testing.assert_array_equal(x.grad.data, z.data)
    z.backward(grad=x)
    np.testing.assert_array_equal(gy.grad.data, y.data)


def test_on_plain_arrays():
    x = np.random.default_rng(0).normal(size=(2, 3, 5, 6)).astype(np.float32)
    col = im2col_array(x, 3, 2, 1, False)
    assert isinstance(col, np.ndarray) and col.dtype == np.float32
    np.testing.assert_array_equal(col, F.im2col(x, 3, 2, 1, False).data)
    img = col2im_array(col, x.shape, 3, 2, 1, False)
    assert isinstance(img, np.ndarray) and img.dtype == np.float32
    np.testing.assert_array_equal(img, F.col2im(col, x.shape, 3, 2, 1, False).data)


@pytest.mark.parametrize("to_matrix", [True, False])
def test_no_examples(to_matrix):
    y = F.im2col(np.ones((0, 2, 3, 3)), 2, to_matrix=to_matrix)
    assert y.shape == ((0, 8) if to_matrix else (0, 2, 2, 2, 2, 2))
    assert F.col2im(y, (0, 2, 3, 3), 2, to_matrix=to_matrix).shape == (0, 2, 3, 3)


def test_sums_of_half_precision_do_not_overflow_on_the_way():
    x = np.zeros((1, 1, 3, 3), np.float16)  # (N, C, K, O): three taps meet image[2]
    x[0, 0, 0, 2], x[0, 0, 1, 1], x[0, 0, 2, 0] = 60000, 60000, -60000
    y = F.col2im(x, (1, 1, 5), 3, to_matrix=False)
    assert y.dtype == np.float16 and y.data[0, 0, 2] == 60000
