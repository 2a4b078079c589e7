import numpy as np
import pytest
from hypothesis import strategies as st

import dezero.functions as F
from dezero.core import Variable
from dezero.testing import Case, arrays


@st.composite
def rows(draw):
    T, pairs = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    stack = draw(st.sampled_from([(), (2,), (2, 3)]))
    return (draw(arrays(shape=(*stack, T, 2 * pairs))),)


def options(x):
    return st.sampled_from([{}, {"offset": 3}, {"base": 10.0}])


def angles(x, base, offset):
    T, D = x.shape[-2:]
    t, i = np.meshgrid(offset + np.arange(T), np.arange(D // 2), indexing="ij")
    return t * base ** (-2 * i / D)


def rotary(x, base=10000.0, offset=0):
    z = (x[..., 0::2] + 1j * x[..., 1::2]) * np.exp(1j * angles(x, base, offset))
    return np.stack([z.real, z.imag], axis=-1).reshape(x.shape)


def sinusoidal(x, base=10000.0, offset=0):
    a = angles(x, base, offset)
    return x + np.stack([np.sin(a), np.cos(a)], axis=-1).reshape(x.shape[-2:])


CASES = [
    Case(F.rotary_encoding, rows(), reference=rotary, options=options),
    Case(F.sinusoidal_encoding, rows(), reference=sinusoidal, options=options),
]


def test_rotary_products_depend_on_the_distance():
    rng = np.random.RandomState(0)
    q, k = rng.randn(1, 8), rng.randn(1, 8)

    def product(i, j):
        x0, x1 = F.rotary_encoding(q, offset=i), F.rotary_encoding(k, offset=j)
        return (x0.data @ x1.data.T).item()

    assert product(0, 0) == pytest.approx((q @ k.T).item())
    assert product(2, 5) == pytest.approx(product(100, 103))
    assert product(2, 5) != pytest.approx(product(2, 6))


def test_rotary_keeps_lengths():
    x = np.random.RandomState(0).randn(2, 50, 6)
    y = F.rotary_encoding(x).data
    np.testing.assert_allclose((y * y).sum(-1), (x * x).sum(-1))
    np.testing.assert_array_equal(y[:, 0], x[:, 0])


def test_offset_continues_the_sequence():
    x = np.random.RandomState(0).randn(10, 4)
    for f in (F.rotary_encoding, F.sinusoidal_encoding):
        parts = [f(x[:6]).data, f(x[6:], offset=6).data]
        np.testing.assert_allclose(np.concatenate(parts), f(x).data, rtol=1e-12)


def test_far_positions_in_low_precision():
    # Angles are computed in double precision, whatever x is.
    for f in (F.rotary_encoding, F.sinusoidal_encoding):
        exact = f(np.ones((2, 4)), offset=1_000_000).data
        low = f(np.ones((2, 4), "f4"), offset=1_000_000).data
        assert low.dtype == np.float32
        np.testing.assert_allclose(low, exact, atol=1e-6)


@pytest.mark.parametrize("shape", [(0, 4), (3, 0), (0, 2, 4)])
def test_empty(shape):
    for f in (F.rotary_encoding, F.sinusoidal_encoding):
        x = Variable(np.ones(shape))
        y = f(x)
        y.backward()
        assert y.shape == x.grad.shape == shape


def test_integers_become_floats():
    x = np.ones((2, 4), int)
    assert F.rotary_encoding(x).dtype == F.sinusoidal_encoding(x).dtype == np.float64


ERRORS = [
    (
        lambda: F.rotary_encoding(np.ones((2, 3))),
        ValueError,
        r"rotary_encoding: expected x of shape \(\.\.\., T, D\) with an even D, got "
        r"\(2, 3\)",
    ),
    (lambda: F.rotary_encoding(np.ones(4)), ValueError, r"rotary_encoding: .* \(4,\)"),
    (
        lambda: F.rotary_encoding(np.ones((2, 4)), base=0),
        ValueError,
        r"rotary_encoding: expected base > 0, got 0",
    ),
    (
        lambda: F.sinusoidal_encoding(np.ones((2, 3))),
        ValueError,
        r"sinusoidal_encoding: expected x of shape",
    ),
    (
        lambda: F.sinusoidal_encoding(np.ones((2, 4)), base=-1),
        ValueError,
        r"sinusoidal_encoding: expected base > 0, got -1",
    ),
    *[
        (lambda f=f: f(np.ones((2, 4)), None), TypeError, rf"{f.__name__}: .* as base")
        for f in (F.rotary_encoding, F.sinusoidal_encoding)
    ],
    *[
        (
            lambda f=f, offset=offset: f(np.ones((2, 4)), offset=offset),
            TypeError,
            rf"{f.__name__}: expected an integer as offset, got ",
        )
        for f in (F.rotary_encoding, F.sinusoidal_encoding)
        for offset in (1.5, np.array([1, 2]))
    ],
]
