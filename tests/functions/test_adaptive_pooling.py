"""Global and adaptive pooling."""

import numpy as np
import pytest
from hypothesis import strategies as st

import dezero.functions as F
from dezero import Variable
from dezero.testing import Case, arrays


def images(unique=False):
    sizes = st.integers(1, 3).flatmap(
        lambda ndim: st.tuples(*[st.integers(1, {1: 8, 2: 5, 3: 3}[ndim])] * ndim)
    )
    return sizes.flatmap(
        lambda size: arrays(shape=(2, len(size), *size), unique=unique)
    )


def output_sizes(x):
    """Below the size of the image, above it, and divisors of it."""
    each = st.tuples(*[st.integers(1, 4)] * (x.ndim - 2))
    divisors = [[d for d in range(1, n + 1) if n % d == 0] for n in x.shape[2:]]
    whole = st.tuples(*map(st.sampled_from, divisors))
    return st.fixed_dictionaries(
        {"output_size": st.one_of(st.integers(1, 4), each, whole)}
    )


def keepdims(x):
    return st.fixed_dictionaries({"keepdims": st.booleans()})


def over_parts(f):
    """A reference: ``f`` over each part of the image."""

    def reference(x, output_size):
        sizes = np.broadcast_to(output_size, x.ndim - 2).tolist()
        y = np.zeros((*x.shape[:2], *sizes))
        for index in np.ndindex(*sizes):
            part = tuple(
                slice(int(np.floor(i * I / O)), int(np.ceil((i + 1) * I / O)))
                for i, I, O in zip(index, x.shape[2:], sizes, strict=True)
            )
            met = x[(slice(None), slice(None), *part)]
            y[(..., *index)] = f(met, axis=tuple(range(2, x.ndim)))
        return y

    return reference


def over_image(f):
    def reference(x, keepdims):
        return f(x, axis=tuple(range(2, x.ndim)), keepdims=keepdims)

    return reference


CASES = [
    Case(
        F.global_average_pooling,
        images(),
        reference=over_image(np.mean),
        options=keepdims,
    ),
    Case(
        F.global_max_pooling,
        images(unique=True),
        reference=over_image(np.max),
        options=keepdims,
    ),
    Case(
        F.adaptive_average_pooling,
        images(),
        reference=over_parts(np.mean),
        options=output_sizes,
    ),
    Case(
        F.adaptive_max_pooling,
        images(unique=True),
        reference=over_parts(np.max),
        options=output_sizes,
    ),
]

X = np.ones((2, 3, 5, 6))
FUNCTIONS = [F.adaptive_average_pooling, F.adaptive_max_pooling]
ERRORS = [
    *[
        (lambda f=f: f(X[0, 0]), ValueError, rf"{f.__name__}: .*shape \(5, 6\)")
        for f in (F.global_average_pooling, F.global_max_pooling)
    ],
    *[
        (lambda f=f: f(X[:, :, :0]), ValueError, rf"{f.__name__}: .*\(2, 3, 0, 6\)")
        for f in (F.global_average_pooling, F.global_max_pooling)
    ],
    *[
        (lambda f=f: f(X[0, 0], 2), ValueError, rf"{f.__name__}: .*shape \(5, 6\)")
        for f in FUNCTIONS
    ],
    *[
        (lambda f=f: f(X, 0), ValueError, rf"{f.__name__}: .*output_size of at least 1")
        for f in FUNCTIONS
    ],
    *[
        (lambda f=f: f(X, (1, 2, 3)), ValueError, rf"{f.__name__}: .*\(1, 2, 3\)")
        for f in FUNCTIONS
    ],
    *[
        (lambda f=f: f(X, 1.5), TypeError, rf"{f.__name__}: .*output_size, got 1.5")
        for f in FUNCTIONS
    ],
]


@pytest.mark.parametrize("size", [2, 3])
def test_each_maximum_gives_one_element_its_gradient(size):
    x = Variable(np.ones((1, 1, 6, 6)) * -np.inf)
    y = F.adaptive_max_pooling(x, (size, 4))
    y.backward()
    assert x.grad.data.sum() == pytest.approx(y.size)


def test_integers():
    x = np.arange(10).reshape(1, 1, 10)
    y = F.adaptive_max_pooling(x, 4)
    np.testing.assert_array_equal(y.data, [[[2, 4, 7, 9]]])
    assert y.dtype.kind == "i"
    y = F.adaptive_average_pooling(x, 4)
    np.testing.assert_allclose(y.data, [[[1, 3, 6, 8]]])


@pytest.mark.parametrize("f", FUNCTIONS)
def test_no_examples(f):
    assert f(np.ones((0, 2, 5, 5)), 2).shape == (0, 2, 2, 2)
    assert f(np.ones((0, 2, 4, 4)), 2).shape == (0, 2, 2, 2)


@pytest.mark.parametrize("size", [2, 3, 5])
@pytest.mark.parametrize("f", FUNCTIONS)
def test_one_infinite_element_reaches_its_parts_alone(f, size):
    x = np.ones((1, 1, 5, 5))
    x[0, 0, 0, 0], x[0, 0, 4, 4] = np.inf, np.nan
    y = f(x, size).data[0, 0]
    assert y[0, 0] == np.inf and np.isnan(y[-1, -1])
    y[0, 0] = y[-1, -1] = 1
    np.testing.assert_allclose(y, 1)


def test_means_of_half_precision_do_not_overflow_on_the_way():
    x = np.full((1, 1, 7, 7), 60000, np.float16)
    assert (F.adaptive_average_pooling(x, 3).data == x[0, 0, 0, 0]).all()
