"""Sine and its relatives, length and angle."""

import numpy as np
import pytest

import dezero.functions as F
from dezero import Variable
from dezero.testing import Case, arrays, away_from_zero, between, broadcastable

CASES = [
    Case(F.sin, arrays(), reference=np.sin),
    Case(F.cos, arrays(), reference=np.cos),
    Case(F.tan, between(-1, 1), reference=np.tan),
    Case(F.arcsin, between(-0.8, 0.8), reference=np.arcsin),
    Case(F.arccos, between(-0.8, 0.8), reference=np.arccos),
    Case(F.arctan, arrays(), reference=np.arctan),
    Case(F.hypot, broadcastable(2, elements=away_from_zero), reference=np.hypot),
    Case(F.arctan2, broadcastable(2, elements=away_from_zero), reference=np.arctan2),
]


@pytest.mark.parametrize(
    ("f", "edge", "slope"),
    [(F.arcsin, [-1, 1], np.inf), (F.arccos, [-1, 1], -np.inf)],
)
def test_inverses_at_the_edge_of_their_domain(slopes, f, edge, slope):
    assert slopes(f, edge) == [[slope, slope]]
    assert slopes(f, edge, gy=[0, 0]) == [[0, 0]]


@pytest.mark.parametrize("f", [F.arcsin, F.arccos])
def test_outside_the_domain_is_nan_and_warns(f):
    with pytest.warns(RuntimeWarning, match="invalid value"):
        y = f(np.array([2.0]))
    assert np.isnan(y.data).all()


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("f", [F.arctan])
def test_slopes_far_out_do_not_overflow(slopes, f, dtype):
    far = np.finfo(dtype).max / 2
    for slope in slopes(f, [-far, far], dtype=dtype)[0]:
        assert 0 <= slope < 1e-3


def test_arctan_slope_is_exact_far_out(slopes):
    np.testing.assert_allclose(slopes(F.arctan, [1e8]), [[1e-16]], rtol=1e-14)


def test_hypot_and_arctan2_are_flat_at_the_origin(slopes):
    for f in F.hypot, F.arctan2:
        assert f(np.zeros(1), np.zeros(1)).data.tolist() == [0]
        assert slopes(f, [0.0], [0.0]) == [[0], [0]]
        x, y = Variable(np.zeros(1)), Variable(np.zeros(1))
        f(x, y).backward(create_graph=True)
        gx = x.grad
        x.cleargrad()
        gx.backward()
        assert x.grad.data.tolist() == [0]


def test_hypot_and_arctan2_on_the_axes(slopes):
    assert slopes(F.hypot, [0, -3, 0], [2, 0, -2]) == [[0, -1, 0], [1, 0, -1]]
    assert slopes(F.arctan2, [0, 2], [2, 0]) == [[0.5, 0], [0, -0.5]]
    assert F.arctan2(np.array([0.0]), np.array([-1.0])).data.tolist() == [np.pi]


def test_hypot_of_large_numbers_does_not_overflow(slopes):
    assert F.hypot(np.float32([3e30]), np.float32([4e30])).data == np.float32(5e30)
    np.testing.assert_allclose(
        slopes(F.hypot, [3e300], [4e300]), [[0.6], [0.8]], rtol=1e-15
    )
    np.testing.assert_allclose(
        slopes(F.arctan2, [3e200], [4e200]), [[1.6e-201], [-1.2e-201]], rtol=1e-14
    )


@pytest.mark.parametrize("f", [F.sin, F.arctan])
def test_integers_become_floating_and_0d_stays(f):
    x = Variable(np.array(2))
    y = f(x)
    y.backward()
    assert y.shape == x.grad.shape == ()
    assert y.dtype == x.grad.dtype == np.float64


@pytest.mark.parametrize("f", [F.sin, F.arcsin])
def test_empty_arrays(slopes, f):
    assert slopes(f, np.empty((0, 3))) == [[]]
