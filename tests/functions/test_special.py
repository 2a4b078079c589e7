"""The error function."""

import numpy as np
import pytest
from scipy import special

import dezero.functions as F
from dezero import Variable
from dezero.functions.special import erf_array
from dezero.testing import Case, arrays

CASES = [
    Case(F.erf, arrays(), reference=special.erf),
    Case(F.erfc, arrays(), reference=special.erfc),
]

EVERYWHERE = np.concatenate(
    [
        np.linspace(-6, 6, 24_001),
        np.linspace(6, 26, 2_001),
        np.logspace(-300, 0, 601),
        [1.0, np.nextafter(1.0, 0), -1.0],
    ]
)


def relative_error(y, expected):
    some = expected != 0
    return np.max(np.abs(y[some] - expected[some]) / np.abs(expected[some]))


def test_erf_and_erfc_in_double_precision():
    assert relative_error(F.erf(EVERYWHERE).data, special.erf(EVERYWHERE)) < 2e-15
    # SciPy's own erfc is off by some 1e-13 far out.
    assert relative_error(F.erfc(EVERYWHERE).data, special.erfc(EVERYWHERE)) < 2e-13
    # To all digits, from tables.
    np.testing.assert_allclose(
        F.erfc(np.array([0.5, 2.0, 10.0])).data,
        [0.4795001221869535, 0.004677734981047266, 2.088487583762545e-45],
        rtol=4e-15,
    )


def test_erf_and_erfc_in_single_precision():
    x = EVERYWHERE[np.abs(EVERYWHERE) < 9].astype(np.float32)
    x = x[(np.abs(x) > 1e-37) | (x == 0)]
    exact = x.astype(float)
    assert relative_error(F.erf(x).data, special.erf(exact)) < 5e-7
    assert relative_error(F.erfc(x).data, special.erfc(exact)) < 2e-6
    assert np.abs(F.erf(x).data).max() == 1


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_edges(dtype):
    x = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, np.finfo(dtype).max], dtype=dtype)
    y, z = F.erf(x), F.erfc(x)
    assert y.dtype == z.dtype == dtype
    np.testing.assert_array_equal(y.data, [0, 0, 1, -1, np.nan, 1])
    np.testing.assert_array_equal(z.data, [1, 1, 0, 2, np.nan, 0])
    assert np.signbit(y.data[1])
    v = Variable(x[[0, 2, -1]])
    F.erf(v).backward(create_graph=True)
    gx = v.grad
    v.cleargrad()
    gx.backward()
    np.testing.assert_allclose(gx.data, [2 / np.sqrt(np.pi), 0, 0], rtol=1e-3)
    assert v.grad.data.tolist() == [0, 0, 0]


def test_large_arrays_go_in_blocks():
    x = np.linspace(-3, 3, 20_000).reshape(2, -1).T
    np.testing.assert_allclose(erf_array(x), special.erf(x), rtol=1e-14)


def test_shapes_and_integers():
    assert F.erf(np.array(1)).data == pytest.approx(0.8427007929497149, rel=1e-15)
    assert F.erf(np.array(0.5)).shape == ()
    assert F.erfc(np.empty((0, 2))).shape == (0, 2)


@pytest.mark.parametrize("dtype", ["uint8", "int8", "int64"])
def test_slopes_of_integers(dtype):
    x = Variable(np.array([0, 1, 30, 100], dtype))
    F.erf(x).backward()
    expected = 2 / np.sqrt(np.pi) * np.exp(-(x.data.astype(float) ** 2))
    np.testing.assert_allclose(x.grad.data, expected, atol=1e-15)
