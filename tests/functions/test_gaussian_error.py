import numpy as np
import pytest
import scipy.special as sp
from hypothesis import strategies as st

import dezero.functions as F
from dezero.core import Variable
from dezero.functions.blocks import BLOCK
from dezero.testing import Case, arrays

ROOT = np.sqrt(2 / np.pi)


def gelu(x, approximate=False):
    if approximate:
        return 0.5 * x * (1 + np.tanh(ROOT * (x + 0.044715 * x**3)))
    return x * sp.ndtr(x)


def composed(x, approximate):
    if approximate:
        return 0.5 * x * (1 + F.tanh(float(ROOT) * (x + 0.044715 * x * x * x)))
    return 0.5 * x * (1 + F.erf(x / float(np.sqrt(2))))


def forms(x):
    return st.fixed_dictionaries({"approximate": st.booleans()})


CASES = [
    Case(F.gelu, arrays(), reference=gelu),
    Case(F.gelu, arrays(), reference=gelu, options=forms),
]


@pytest.mark.parametrize("approximate", [False, True])
def test_fused_equals_composed_to_the_third_derivative(approximate):
    results = []
    for f in (F.gelu, composed):
        x = Variable(np.linspace(-5, 5, 23))
        y = f(x, approximate)
        found = [y.data]
        for _ in range(3):
            x.cleargrad()
            F.sum(y * y).backward(create_graph=True)
            y = x.grad
            found.append(y.data)
        results.append(found)
    for a, b in zip(*results, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("approximate", [False, True])
@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
def test_extreme_numbers(approximate, dtype):
    x = Variable(np.array([-1e4, -300, -20, 0, 20, 300, 1e4], dtype))
    y = F.gelu(x, approximate)
    y.backward()
    np.testing.assert_allclose(y.data, np.maximum(x.data, 0), atol=1e-6)
    np.testing.assert_allclose(x.grad.data, [0, 0, 0, 0.5, 1, 1, 1], atol=1e-6)
    assert y.dtype == x.grad.dtype == dtype


@pytest.mark.parametrize("approximate", [False, True])
def test_0d_single_precision_and_integers(approximate):
    x = Variable(np.array(0.5, np.float32))
    y = F.gelu(x, approximate)
    y.backward()
    assert y.dtype == x.grad.dtype == np.float32
    expected = F.gelu(np.array([0.0, 200.0]), approximate).data
    np.testing.assert_allclose(
        F.gelu(np.array([0, 200], np.uint8), approximate).data, expected
    )


def test_the_two_forms_are_close():
    x = np.linspace(-6, 6, 1001)
    difference = F.gelu(x).data - F.gelu(x, approximate=True).data
    assert 1e-4 < abs(difference).max() < 5e-4


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("approximate", [False, True])
def test_numbers_whose_square_overflows(approximate, dtype):
    most = np.finfo(dtype).max
    x = Variable(np.array([-most, -300, 300, most, np.inf], dtype))
    y = F.gelu(x, approximate) if np.isfinite(most) else None
    assert y.data.tolist() == [0, 0, 300, most, np.inf]
    y.backward(create_graph=True)
    gx = x.grad
    assert gx.data.tolist() == [0, 0, 1, 1, 1]
    x.cleargrad()
    gx.backward()
    assert x.grad.data.tolist() == [0, 0, 0, 0, 0]
    assert y.dtype == gx.dtype == x.grad.dtype == dtype


@pytest.mark.parametrize("approximate", [False, True])
@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
def test_large_arrays_are_computed_as_small_ones(approximate, dtype):
    x = np.linspace(-6, 6, 3 * BLOCK + 5).astype(dtype)
    whole = Variable(x)
    y = F.gelu(whole, approximate)
    y.backward()
    for part in (slice(0, 100), slice(BLOCK - 50, BLOCK + 50), slice(-100, None)):
        small = Variable(x[part])
        z = F.gelu(small, approximate)
        z.backward()
        np.testing.assert_allclose(y.data[part], z.data, rtol=1e-6)
        np.testing.assert_allclose(whole.grad.data[part], small.grad.data, rtol=1e-6)
