import numpy as np
import pytest
from hypothesis import strategies as st

import dezero as dz
import dezero.functions as F
from dezero.core import Variable
from dezero.testing import Case, arrays


def ratios(x):
    return st.sampled_from([0.0, 0.1, 0.5, 0.9, 1.0]).map(
        lambda ratio: {"dropout_ratio": ratio}
    )


def gaussian_noise(x, std):
    return x + (std * np.random.standard_normal(x.shape) if std else 0)


def deviations(x):
    return st.sampled_from([0, 0.1, 2.0]).map(lambda std: {"std": std})


CASES = [
    Case(F.dropout, arrays(), options=ratios, random=True),
    Case(F.dropout2d, arrays(min_dims=2, max_dims=4), options=ratios, random=True),
    Case(
        F.gaussian_noise,
        arrays(),
        reference=gaussian_noise,
        options=deviations,
        random=True,
    ),
]

ERRORS = [
    (
        lambda: F.dropout(np.ones(3), Variable(np.array(0.5))),
        TypeError,
        r"dropout: expected a number as dropout_ratio, got Variable",
    ),
    (
        lambda: F.dropout(np.ones(3), 1.5),
        ValueError,
        r"dropout: expected dropout_ratio in \[0, 1\], got 1\.5",
    ),
    (lambda: F.dropout(np.ones(3), -0.1), ValueError, r"dropout: .* got -0\.1"),
    (lambda: F.dropout(np.ones(3), np.nan), ValueError, r"dropout: .* got nan"),
    (
        lambda: F.dropout(np.ones(3), None),
        TypeError,
        r"dropout: expected a number as dropout_ratio, got NoneType",
    ),
    (
        lambda: F.dropout2d(np.ones((2, 3)), 1.5),
        ValueError,
        r"dropout2d: expected dropout_ratio in \[0, 1\], got 1\.5",
    ),
    (
        lambda: F.dropout2d(np.ones((2, 3)), "0.5"),
        TypeError,
        r"dropout2d: expected a number as dropout_ratio, got str",
    ),
    (
        lambda: F.dropout2d(np.ones(3)),
        ValueError,
        r"dropout2d: expected x of shape \(N, C, ...\), got shape \(3,\)",
    ),
    (
        lambda: F.gaussian_noise(np.ones(3), -1),
        ValueError,
        r"gaussian_noise: expected std >= 0, got -1",
    ),
    (
        lambda: F.gaussian_noise(np.ones(3), np.ones(3)),
        TypeError,
        r"gaussian_noise: expected a number as std, got ndarray",
    ),
]


def test_elements_are_dropped_or_scaled():
    x = Variable(np.ones((50, 40)))
    y = F.dropout(x, 0.25)
    y.backward()
    assert set(np.unique(y.data)) == {0, 4 / 3}
    np.testing.assert_array_equal(x.grad.data, y.data)


@pytest.mark.parametrize("ratio", [0.1, 0.5, 0.9])
def test_mean_and_share(ratio):
    np.random.seed(0)
    y = F.dropout(np.ones(200_000, np.float32), ratio).data
    deviation = np.sqrt(ratio * (1 - ratio) / y.size)
    assert abs((y == 0).mean() - ratio) < 4 * deviation
    assert abs(y.mean() - 1) < 4 * deviation / (1 - ratio)


@pytest.mark.parametrize("ratio", [0.1, 0.3, 1e-7, 1 - 1e-7])
def test_scale_is_the_inverse_of_the_probability(ratio):
    f = F.Dropout(ratio)
    assert f.scale * f.kept / 2**16 == 1 and f.kept > 0


def test_repeats_under_a_seed_and_differs_without():
    x = np.ones(1000)
    np.random.seed(3)
    a, b = F.dropout(x).data, F.dropout(x).data
    np.random.seed(3)
    c = F.dropout(x).data
    np.testing.assert_array_equal(a, c)
    assert (a != b).any()


def test_everything_dropped():
    x = Variable(np.ones((2, 3)))
    y = F.dropout(x, 1.0)
    y.backward()
    np.testing.assert_array_equal(y.data, np.zeros((2, 3)))
    np.testing.assert_array_equal(x.grad.data, np.zeros((2, 3)))


def test_unchanged_in_test_mode_and_for_ratio_0():
    x = Variable(np.ones(3))
    with dz.test_mode():
        assert F.dropout(x) is x
    assert F.dropout(x, 0.0) is x


def test_second_derivative():
    np.random.seed(0)
    x = Variable(np.arange(1.0, 9.0))
    y = F.dropout(x)
    factors = y.data / x.data
    F.sum(y * y).backward(create_graph=True)
    g = x.grad
    x.cleargrad()
    F.sum(g).backward()
    np.testing.assert_array_equal(x.grad.data, 2 * factors**2)


def test_a_later_pass_uses_the_same_mask():
    x = Variable(np.ones(100))
    y = F.dropout(x)
    y.backward()
    y.backward()
    np.testing.assert_array_equal(x.grad.data, 2 * y.data)


@pytest.mark.parametrize("ratio", [0.25, 0.5, 1.0])
@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
def test_a_pass_that_is_not_recorded_gives_the_same(ratio, dtype):
    np.random.seed(0)
    x = Variable(np.linspace(-2, 2, 21).astype(dtype))
    y = F.dropout(x, ratio)
    gy = np.linspace(3, -3, 21).astype(dtype)
    gy[[1, 2, 3, 4, 5]] = np.inf, -np.inf, np.nan, np.inf, np.nan
    y.backward(create_graph=True, grad=gy)
    expected = x.grad.data
    x.cleargrad()
    y.backward(grad=gy)
    assert x.grad.dtype == dtype and np.isnan(x.grad.data[3])
    np.testing.assert_array_equal(x.grad.data, expected)


@pytest.mark.parametrize("size", [1, 7, 8, 9, 1001])
def test_a_half_is_drawn_for_each_element(size):
    np.random.seed(0)
    masks = np.array([F.dropout(np.ones(size), 0.5).data for _ in range(400)])
    assert masks.shape == (400, size) and set(masks.ravel()) == {0, 2}
    # Fair, and neighbours do not know of each other: within 5 standard deviations.
    assert (abs(masks.mean(axis=0) - 1) < 5 / 20).all()
    assert (abs(np.mean((masks[:, 1:] - 1) * (masks[:, :-1] - 1), axis=0)) < 0.25).all()


@pytest.mark.parametrize("shape", [(), (0, 3), (4,)])
@pytest.mark.parametrize("dtype", ["f2", "f4"])
def test_shapes_and_dtypes(shape, dtype):
    x = Variable(np.ones(shape, dtype))
    y = F.dropout(x, 0.5)
    y.backward()
    assert y.shape == x.grad.shape == shape and y.dtype == x.grad.dtype == dtype


def test_what_is_dropped_does_no_harm():
    x = Variable(np.array([np.inf, 1.0, 4.0]))
    y = F.dropout(x, 1.0)
    assert y.data.tolist() == [0, 0, 0]
    F.sum(F.sqrt(y)).backward()
    assert x.grad.data.tolist() == [0, 0, 0]


def test_whole_channels_are_dropped_or_scaled():
    np.random.seed(0)
    x = Variable(np.ones((30, 20, 3, 2)))
    y = F.dropout2d(x, 0.25)
    y.backward()
    assert set(np.unique(y.data)) == {0, 4 / 3}
    assert (y.data == y.data[:, :, :1, :1]).all()
    assert len(np.unique(y.data[:, :, 0, 0], axis=0)) > 1
    np.testing.assert_array_equal(x.grad.data, y.data)


def test_dropped_infinities_are_0():
    y = F.dropout2d(np.full((2, 2, 3), np.inf), 1.0)
    np.testing.assert_array_equal(y.data, np.zeros((2, 2, 3)))


def test_gaussian_noise_has_mean_and_deviation():
    np.random.seed(0)
    y = F.gaussian_noise(np.full(200_000, 3.0, np.float32), 2).data
    assert abs(y.mean() - 3) < 0.02 and abs(y.std() - 2) < 0.02


NOISY = [F.dropout2d, lambda x: F.gaussian_noise(x, 0.5)]


@pytest.mark.parametrize("f", NOISY)
def test_noise_repeats_under_a_seed_and_is_off_in_test_mode(f):
    x = Variable(np.ones((40, 5)))
    np.random.seed(3)
    a, b = f(x).data, f(x).data
    np.random.seed(3)
    np.testing.assert_array_equal(a, f(x).data)
    assert (a != b).any()
    with dz.test_mode():
        assert f(x) is x


def test_no_noise_is_x_itself():
    x = Variable(np.ones((2, 3)))
    assert F.gaussian_noise(x, 0) is x and F.dropout2d(x, 0) is x


@pytest.mark.parametrize("f", NOISY)
@pytest.mark.parametrize("shape", [(0, 3), (2, 0, 4), (2, 3)])
@pytest.mark.parametrize("dtype", ["f2", "f4"])
def test_shapes_and_dtypes_of_noise(f, shape, dtype):
    x = Variable(np.ones(shape, dtype))
    y = f(x)
    y.backward()
    assert y.shape == x.grad.shape == shape and y.dtype == x.grad.dtype == dtype
