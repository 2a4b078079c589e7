import numpy as np
import pytest
from hypothesis import strategies as st

import dezero as dz
import dezero.functions as F
from dezero import cuda
from dezero.core import Variable
from dezero.testing import Case, arrays, check_gradients, positive


@st.composite
def batches(draw, *parameters):
    """x (N, C, ...), its elements well apart, and parameters of shape (C,)."""
    shape = tuple(draw(st.lists(st.integers(1, 3), min_size=2, max_size=4)))
    # Where the variance is near 0 the function is steep, and differences tell nothing.
    x = draw(arrays(shape=shape, low=-20, high=20, unique=True))
    return (x, *[draw(elements(shape=shape[1:2])) for elements in parameters])


def running(x, *others):
    C = x.shape[1:2]
    return st.fixed_dictionaries({"mean": arrays(shape=C), "var": positive(shape=C)})


def batch_norm(x, gamma, beta, f=F.batch_norm, **options):
    """With running statistics of its own: they are changed."""
    xp = cuda.get_array_module(x)
    return f(x, gamma, beta, xp.zeros(x.shape[1]), xp.ones(x.shape[1]), **options)


def in_test_mode(x, gamma, beta, mean, var):
    with dz.test_mode():
        return F.batch_norm(x, gamma, beta, mean, var)


def fixed(x, gamma, beta, mean, var, eps=2e-5):
    gamma, beta, mean, var = [
        p.reshape(-1, *[1] * (x.ndim - 2)) for p in (gamma, beta, mean, var)
    ]
    return gamma * (x - mean) / np.sqrt(var + eps) + beta


def trained(x, gamma, beta, eps=2e-5):
    axes = (0, *range(2, x.ndim))
    return fixed(x, gamma, beta, x.mean(axes), x.var(axes), eps)


def eps(*xs):
    return st.sampled_from([{}, {"eps": 0.1}])


CASES = [
    Case(
        batch_norm,
        batches(arrays, arrays),
        reference=trained,
        options=eps,
        name="batch_norm",
    ),
    Case(
        in_test_mode,
        batches(arrays, arrays),
        reference=fixed,
        options=running,
        name="batch_norm",
    ),
    Case(
        lambda *xs: batch_norm(*xs, f=F.batch_nrom),
        batches(arrays, arrays),
        reference=trained,
        name="batch_nrom",
    ),
    Case(
        F.fixed_batch_norm,
        batches(arrays, arrays, arrays, positive),
        reference=fixed,
        options=eps,
    ),
]

SHAPES = [(5, 3), (5, 3, 2), (4, 3, 2, 2), (2, 3, 2, 1, 2)]


def example(shape=(4, 3, 2, 2), dtype="f8"):
    rng = np.random.RandomState(0)
    C = shape[1]
    return [a.astype(dtype) for a in (rng.randn(*shape), rng.randn(C), rng.randn(C))]


def plain(x, gamma, beta, eps=2e-5):
    axes = (0, *range(2, x.ndim))
    ones = (x.shape[1], *[1] * (x.ndim - 2))
    d = x - F.mean(x, axes, keepdims=True)
    y = d / F.sqrt(F.mean(d * d, axes, keepdims=True) + eps)
    return y * F.reshape(gamma, ones) + F.reshape(beta, ones)


@pytest.mark.parametrize("shape", SHAPES)
def test_equals_its_parts_up_to_second_order(shape):
    found = []
    for f in (batch_norm, plain):
        xs = [Variable(a) for a in example(shape)]
        y = f(*xs)
        first = dz.grad(F.sum(F.sin(y)), xs, create_graph=True)
        second = dz.grad(sum([F.sum(g**3) for g in first]), xs)
        found.append([y.data, *[g.data for g in (*first, *second)]])
    for a, b in zip(*found, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-11, atol=1e-12)


def test_third_order():
    check_gradients(batch_norm, *example((3, 2)), order=3).assert_ok()


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("as_variables", [False, True])
def test_running_statistics_follow_in_place(shape, as_variables):
    x, gamma, beta = example(shape)
    axes = (0, *range(2, x.ndim))
    mean, var = np.array([1.0, 2, 3]), np.array([4.0, 5, 6])
    arrays = [mean, var]
    if as_variables:
        arrays = [Variable(mean), Variable(var)]
    F.batch_norm(Variable(x), gamma, beta, *arrays, decay=0.8)
    np.testing.assert_allclose(mean, 0.8 * np.array([1, 2, 3]) + 0.2 * x.mean(axes))
    np.testing.assert_allclose(
        var, 0.8 * np.array([4, 5, 6]) + 0.2 * x.var(axes, ddof=1)
    )
    before = mean.copy(), var.copy()
    with dz.test_mode():
        F.batch_norm(x, gamma, beta, *arrays)
    np.testing.assert_array_equal((mean, var), before)
    with dz.no_grad():
        F.batch_norm(x, gamma, beta, *arrays)
    assert (mean != before[0]).all() and (var != before[1]).all()


def test_statistics_of_many_batches_become_those_of_the_data():
    rng = np.random.RandomState(0)
    mean, var = np.zeros(2, "f4"), np.ones(2, "f4")
    for _ in range(300):
        x = (rng.randn(64, 2) * [1, 3] + [5, -2]).astype("f4")
        F.batch_norm(x, None, None, mean, var)
    np.testing.assert_allclose(mean, [5, -2], atol=0.4)
    np.testing.assert_allclose(var, [1, 9], rtol=0.2)
    assert mean.dtype == var.dtype == np.float32


def test_backward_in_test_mode():
    x, gamma, beta = map(Variable, example((3, 2)))
    mean, var = Variable(np.array([1.0, -1])), Variable(np.array([4.0, 0.25]))
    gy = np.array([[1.0, 2], [3, 4], [5, 6]])
    with dz.test_mode():
        y = F.batch_norm(x, gamma, beta, mean, var, eps=1e-9)
    y.backward(grad=gy)
    np.testing.assert_allclose(x.grad.data, gy * gamma.data * [0.5, 2], rtol=1e-6)
    expected = (gy * (x.data - [1, -1]) * [0.5, 2]).sum(axis=0)
    np.testing.assert_allclose(gamma.grad.data, expected, rtol=1e-6)
    np.testing.assert_allclose(beta.grad.data, [9, 12])
    assert mean.grad is None and var.grad is None  # constants here


def test_mode_is_that_of_forward():
    x, gamma, beta = map(Variable, example((5, 3)))
    y = batch_norm(x, gamma, beta)
    with dz.test_mode():
        (gx,) = dz.grad(F.sum(y * y), [x])
    x.cleargrad()
    F.sum(y * y).backward()
    np.testing.assert_array_equal(gx.data, x.grad.data)


@pytest.mark.parametrize("shape", [(1, 3), (1, 3, 1), (1, 3, 1, 1)])
def test_one_element_per_channel(shape):
    x = Variable(np.full(shape, 7.0))
    beta = np.array([1.0, 2, 3])
    mean, var = np.zeros(3), np.ones(3)
    y = F.batch_norm(x, np.ones(3), beta, mean, var)
    y.backward()
    np.testing.assert_array_equal(y.data, beta.reshape(shape))
    np.testing.assert_array_equal(x.grad.data, np.zeros(shape))
    np.testing.assert_allclose(mean, [0.7, 0.7, 0.7])
    np.testing.assert_array_equal(var, np.ones(3))


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
@pytest.mark.parametrize("shape", SHAPES)
def test_constant_channels(dtype, shape):
    x = Variable(np.full(shape, 0.1, dtype))
    y = batch_norm(x, np.ones(3, dtype), np.zeros(3, dtype))
    y.backward(grad=np.cos(np.arange(x.size)).reshape(shape).astype(dtype))
    np.testing.assert_array_equal(y.data, np.zeros(shape))
    assert y.dtype == x.grad.dtype == dtype and np.isfinite(x.grad.data).all()


def test_half_precision_is_computed_in_single_precision():
    x = np.random.RandomState(0).uniform(-1000, 1000, (64, 3)).astype("f2")
    mean, var = np.zeros(3, "f4"), np.ones(3, "f4")
    y = F.batch_norm(x, np.ones(3, "f2"), np.zeros(3, "f2"), mean, var)
    assert y.dtype == np.float16
    np.testing.assert_allclose(
        y.data, trained(x.astype("f8"), np.ones(3), np.zeros(3)), atol=2e-3
    )
    expected = 0.9 + 0.1 * x.astype("f8").var(axis=0, ddof=1)
    np.testing.assert_allclose(var, expected, rtol=1e-5)
    with dz.test_mode():
        y = F.batch_norm(x, np.ones(3, "f2"), np.zeros(3, "f2"), mean, var)
    assert y.dtype == np.float16


def test_failure_leaves_the_statistics_alone():
    x, gamma, beta = example((5, 3))
    mean, var = np.zeros(3), np.ones(3)
    locked = np.ones(3)
    locked.flags.writeable = False
    for call in (
        lambda: F.batch_norm(x, gamma, np.ones(2), mean, var),
        lambda: F.batch_norm(x, gamma, beta, mean, locked),
        lambda: F.batch_norm(x, gamma, beta, mean, np.ones(2)),
        lambda: F.batch_norm(x, gamma, beta, mean, var, decay=2),
    ):
        with pytest.raises(ValueError):
            call()
    np.testing.assert_array_equal((mean, var), (np.zeros(3), np.ones(3)))
    with dz.test_mode():  # nothing is written then
        F.batch_norm(x, gamma, beta, mean, locked)


def test_empty_batch_in_test_mode():
    x = Variable(np.ones((0, 3)))
    y = in_test_mode(x, np.ones(3), np.zeros(3), np.zeros(3), np.ones(3))
    y.backward()
    assert y.shape == x.grad.shape == (0, 3)


def call(x=None, gamma=None, beta=None, mean=None, var=None, f=F.batch_norm, **options):
    x = np.ones((2, 3)) if x is None else x
    mean = np.zeros(3) if mean is None else mean
    var = np.ones(3) if var is None else var
    return f(x, gamma, beta, mean, var, **options)


def locked():
    a = np.zeros(3)
    a.flags.writeable = False
    return a


ERRORS = [
    (
        lambda: call(np.ones(3)),
        ValueError,
        r"batch_norm: expected x of shape \(N, C\) or \(N, C, \.\.\.\), got \(3,\)",
    ),
    (
        lambda: call(np.ones((0, 3))),
        ValueError,
        r"batch_norm: expected at least one element per channel .* shape \(0, 3\)",
    ),
    (
        lambda: call(gamma=np.ones(2)),
        ValueError,
        r"batch_norm: expected gamma of shape \(3,\), got \(2,\)",
    ),
    (
        lambda: call(beta=np.ones(())),
        ValueError,
        r"batch_norm: expected beta of shape \(3,\), got \(\)",
    ),
    (
        lambda: call(mean=np.ones(2)),
        ValueError,
        r"batch_norm: expected mean of shape \(3,\), got \(2,\)",
    ),
    (
        lambda: call(var=np.ones(3, int)),
        TypeError,
        r"batch_norm: expected a floating array as var, got dtype int64",
    ),
    (
        lambda: call(mean=[0.0, 0.0, 0.0]),
        TypeError,
        r"batch_norm: expected a floating array as mean, got list",
    ),
    (
        lambda: call(mean=locked()),
        ValueError,
        r"batch_norm: expected mean to be changed in place, got a read-only array",
    ),
    (
        lambda: call(decay=1.5),
        ValueError,
        r"batch_norm: expected decay in \[0, 1\], got 1\.5",
    ),
    (lambda: call(eps=0), ValueError, r"batch_norm: expected eps > 0, got 0"),
    (
        lambda: call(np.ones(3), f=F.fixed_batch_norm),
        ValueError,
        r"fixed_batch_norm: expected x of shape",
    ),
    (
        lambda: call(var=np.ones(2), f=F.fixed_batch_norm),
        ValueError,
        r"fixed_batch_norm: expected var of shape \(3,\), got \(2,\)",
    ),
    (
        lambda: call(gamma=np.ones(4), f=F.fixed_batch_norm),
        ValueError,
        r"fixed_batch_norm: expected gamma of shape \(3,\), got \(4,\)",
    ),
    (
        lambda: call(f=F.fixed_batch_norm, eps=-1.0),
        ValueError,
        r"fixed_batch_norm: expected eps > 0, got -1",
    ),
    (
        lambda: F.batch_norm(np.ones((2, 3)), None, None, np.ones(3), np.ones(3), None),
        TypeError,
        r"batch_norm: expected a number as decay, got NoneType",
    ),
    (
        lambda: call(np.ones((2, 3)), eps="1e-5"),
        TypeError,
        r"batch_norm: expected a number as eps, got str",
    ),
    (
        lambda: F.fixed_batch_norm(np.ones((2, 3)), None, None, *np.ones((3, 3))),
        TypeError,
        r"fixed_batch_norm: expected a number as eps, got ndarray",
    ),
]


def test_an_overflow_moves_both_statistics_or_none():
    mean, var = np.zeros(3, np.float16), np.ones(3, np.float16)
    x = np.random.randn(4, 3) * 1e4  # the variance is out of range, not the mean
    with pytest.raises(RuntimeWarning, match="overflow"):
        F.batch_norm(x, None, None, mean, var)
    assert mean.tolist() == [0, 0, 0] and var.tolist() == [1, 1, 1]


def test_running_statistics_may_be_views():
    statistics = np.zeros((3, 2))
    x = np.random.randn(4, 3)
    F.batch_norm(x, None, None, statistics[:, 0], statistics[:, 1])
    np.testing.assert_allclose(statistics[:, 0], 0.1 * x.mean(axis=0))
    np.testing.assert_allclose(statistics[:, 1], 0.1 * x.var(axis=0, ddof=1))


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, bool, np.int64])
def test_integers_are_normalized_in_double_precision(dtype):
    x = np.arange(12).reshape(4, 3).astype(dtype)
    mean, var = np.zeros(3), np.ones(3)
    assert F.batch_norm(x, None, None, mean, var).dtype == np.float64
    assert F.fixed_batch_norm(x, None, None, mean, var).dtype == np.float64
    gamma = np.ones(3, np.float32)
    assert F.batch_norm(x.astype("u1"), gamma, None, mean, var).dtype == np.float32


@pytest.mark.parametrize("wide", ["gamma", "beta"])
def test_the_widest_of_x_and_its_parameters_decides_the_dtype(wide):
    given = {"gamma": np.ones(3, np.float32), "beta": np.zeros(3, np.float32)}
    given[wide] = given[wide].astype(np.float64)
    x, mean, var = np.ones((2, 3), np.float32), np.zeros(3), np.ones(3)
    for train in True, False:
        with dz.using_config("train", train):
            y = F.batch_norm(x, given["gamma"], given["beta"], mean, var)
        assert y.dtype == np.float64
