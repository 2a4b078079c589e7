import math

import numpy as np
import pytest
from hypothesis import strategies as st

import dezero as dz
import dezero.functions as F
from dezero.core import Variable
from dezero.testing import Case, arrays, away_from_zero, axis, check_gradients


def apart(shape, unique=True):
    """Values that stand well apart.

    Where the variance is near 0 the functions are steep, differences tell nothing, and
    little is left of low precision. What happens there has tests of its own.
    """
    return arrays(shape=shape, low=-20, high=20, unique=unique)


@st.composite
def with_channels(draw, sides, parameters=2, elements=apart):
    """x of a shape drawn from ``sides`` and gamma, beta for its axis 1, or the last."""
    low, high, channel = sides
    shape = tuple(draw(st.lists(st.integers(1, 3), min_size=low, max_size=high)))
    x = draw(elements(shape=shape, unique=True))
    C = (shape[channel],)
    return (x, *[draw(arrays(shape=C)) for _ in range(parameters)])


def eps(*xs):
    return st.sampled_from([{}, {"eps": 0.1}])


def groups(x, *others):
    C = x.shape[1]
    divisors = [n for n in range(1, C + 1) if C % n == 0]
    return st.fixed_dictionaries({"num_groups": st.sampled_from(divisors)})


def layer_norm(x, gamma, beta, eps=1e-5):
    mean, var = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
    return gamma * (x - mean) / np.sqrt(var + eps) + beta


def rms_norm(x, gamma, eps=1e-5):
    return gamma * x / np.sqrt((x * x).mean(-1, keepdims=True) + eps)


def by_channel(p, x):
    return p.reshape(-1, *[1] * (x.ndim - 2))


def group_norm(x, gamma, beta, num_groups):
    u = x.reshape(len(x), num_groups, -1)
    u = u - u.mean(2, keepdims=True)
    u = u / np.sqrt((u * u).mean(2, keepdims=True) + 1e-5)
    return by_channel(gamma, x) * u.reshape(x.shape) + by_channel(beta, x)


def instance_norm(x, gamma, beta):
    return group_norm(x, gamma, beta, x.shape[1])


def normalize(x, axis=1):
    return x / np.linalg.norm(x, axis=axis, keepdims=True)


ROWS = with_channels((1, 3, -1))
CASES = [
    Case(F.layer_norm, ROWS, reference=layer_norm, options=eps),
    Case(
        F.rms_norm,
        with_channels((1, 3, -1), 1, away_from_zero),
        reference=rms_norm,
        options=eps,
    ),
    Case(
        lambda x, gamma, beta, num_groups: F.group_norm(x, num_groups, gamma, beta),
        with_channels((2, 4, 1)),
        reference=group_norm,
        options=groups,
        name="group_norm",
    ),
    Case(F.instance_norm, with_channels((3, 4, 1)), reference=instance_norm),
    Case(F.normalize, away_from_zero(min_dims=1), reference=normalize, options=axis),
]


# What they are, in parts.


def standardized(x, axes, eps):
    d = x - F.mean(x, axes, keepdims=True)
    return d / F.sqrt(F.mean(d * d, axes, keepdims=True) + eps)


def plain_layer_norm(x, gamma, beta):
    return standardized(x, -1, 1e-5) * gamma + beta


def plain_rms_norm(x, gamma, beta):
    return x / F.sqrt(F.mean(x * x, -1, keepdims=True) + 1e-5) * gamma + 0 * beta


def plain_group_norm(x, gamma, beta):
    N, C = x.shape[:2]
    y = standardized(F.reshape(x, (N, 2, -1)), 2, 1e-5)
    ones = (C, *[1] * (x.ndim - 2))
    return F.reshape(y, x.shape) * F.reshape(gamma, ones) + F.reshape(beta, ones)


def derivatives(f, *arrays):
    """Value, first derivatives, and the derivatives of a penalty on these."""
    xs = [Variable(x) for x in arrays]
    y = f(*xs)
    w = np.cos(np.arange(y.size)).reshape(y.shape)
    first = dz.grad(F.sum(F.sin(y) * w), xs, create_graph=True)
    penalty = F.sum(first[0] ** 3)
    for g in first[1:]:
        penalty = penalty + F.sum(g * g)
    return [y.data, *[g.data for g in first], *[g.data for g in dz.grad(penalty, xs)]]


@pytest.mark.parametrize(
    ("f", "plain", "shape"),
    [
        (F.layer_norm, plain_layer_norm, (3, 2, 4)),
        (lambda x, g, b: F.rms_norm(x, g) + 0 * b, plain_rms_norm, (3, 4)),
        (lambda x, g, b: F.group_norm(x, 2, g, b), plain_group_norm, (3, 4)),
        (lambda x, g, b: F.group_norm(x, 2, g, b), plain_group_norm, (2, 4, 3, 2)),
    ],
)
def test_equals_its_parts_up_to_second_order(f, plain, shape):
    rng = np.random.RandomState(0)
    xs = rng.randn(*shape), rng.randn(4), rng.randn(4)
    for a, b in zip(derivatives(f, *xs), derivatives(plain, *xs), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("f", [F.layer_norm, lambda x, g, b: F.rms_norm(x, g)])
def test_third_order(f):
    rng = np.random.RandomState(0)
    xs = rng.randn(2, 4), rng.randn(4), rng.randn(4)
    check_gradients(f, *xs, order=3).assert_ok()


NORMS = [
    lambda x, **kw: F.layer_norm(x, None, None, **kw),
    lambda x, **kw: F.group_norm(x, 1, **kw),
    F.instance_norm,
]


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
@pytest.mark.parametrize("value", [0.0, 0.1, -300.3])
def test_equal_numbers_give_zero_and_finite_gradients(norm, dtype, value):
    x = Variable(np.full((2, 3, 7), value, dtype))
    y = norm(x)
    y.backward(grad=np.cos(np.arange(42.0)).reshape(x.shape).astype(dtype))
    assert y.dtype == x.grad.dtype == dtype
    np.testing.assert_array_equal(y.data, np.zeros(x.shape))
    assert np.isfinite(x.grad.data).all()


@pytest.mark.parametrize("norm", NORMS)
def test_a_large_offset_costs_no_digits(norm):
    x = np.random.RandomState(0).randn(2, 3, 1000).astype("f4") + np.float32(5000)
    exact = norm(x.astype("f8")).data
    np.testing.assert_allclose(norm(x).data, exact, rtol=1e-5, atol=2e-6)


@pytest.mark.parametrize("norm", [*NORMS, F.rms_norm])
def test_half_precision_does_not_overflow(norm):
    x = np.random.RandomState(0).uniform(-1000, 1000, (2, 3, 50)).astype("f2")
    y = norm(x).data
    assert y.dtype == np.float16
    np.testing.assert_allclose(y, norm(x.astype("f8")).data, atol=2e-3)


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
def test_vectors_of_zeros(dtype):
    x = Variable(np.zeros((2, 3), dtype))
    y = F.normalize(x, eps=1e-3)
    y.backward()
    np.testing.assert_array_equal(y.data, np.zeros((2, 3)))
    np.testing.assert_allclose(x.grad.data, np.full((2, 3), 1000), rtol=1e-3)
    assert np.isfinite(F.normalize(x).data).all()
    y = F.rms_norm(x)
    y.backward()
    assert np.isfinite(x.grad.data).all() and (y.data == 0).all()


def test_normalize_has_length_1_for_huge_and_tiny_vectors():
    for scale in (1e-30, 1.0, 1e30):
        y = F.normalize(np.array([[3, 4]], "f4") * np.float32(scale), eps=1e-37)
        np.testing.assert_allclose(y.data, [[0.6, 0.8]], rtol=1e-6)


@pytest.mark.parametrize("shape", [(0, 3), (2, 0), (2, 3, 0), (0, 3, 2), (2, 0, 3)])
def test_empty(shape):
    norms = NORMS if len(shape) > 2 else NORMS[:2]
    for norm in [*norms, F.rms_norm]:
        x = Variable(np.ones(shape))
        y = norm(x)
        y.backward()
        assert y.shape == x.grad.shape == shape
    D = shape[-1]
    gamma, beta = Variable(np.ones(D)), Variable(np.ones(D))
    F.layer_norm(np.ones(shape), gamma, beta).backward()
    np.testing.assert_array_equal(gamma.grad.data, np.zeros(D))
    np.testing.assert_array_equal(beta.grad.data, np.full(D, math.prod(shape[:-1])))


def test_without_scale_or_shift():
    x = np.random.RandomState(0).randn(2, 4, 3)
    one, zero = np.ones(3), np.zeros(3)
    y = F.layer_norm(x, one, zero).data
    np.testing.assert_array_equal(F.layer_norm(x, None, None).data, y)
    np.testing.assert_array_equal(F.layer_norm(x, one, None).data, y)
    beta = Variable(zero)
    z = F.layer_norm(x, None, beta)
    z.backward()
    np.testing.assert_array_equal(z.data, y)
    np.testing.assert_array_equal(beta.grad.data, [8, 8, 8])


def test_dtypes_meet():
    x, gamma, beta = np.ones((2, 3), "f4"), np.ones(3, "f8"), np.ones(3, "f4")
    assert F.layer_norm(x, gamma, beta).dtype == np.float64
    assert F.layer_norm(x, beta, gamma).dtype == np.float64
    half = np.ones((2, 3), "f2")
    assert F.layer_norm(half, beta, beta).dtype == np.float32
    assert F.layer_norm(np.ones((2, 3), int), None, None).dtype == np.float64
    assert F.normalize(np.ones((2, 3), int)).dtype == np.float64


x23, x243 = np.ones((2, 3)), np.ones((2, 4, 3))
ERRORS = [
    (
        lambda: F.layer_norm(np.ones(()), None, None),
        ValueError,
        r"layer_norm: expected at least one axis, got x of shape \(\)",
    ),
    (
        lambda: F.layer_norm(x23, np.ones(2), None),
        ValueError,
        r"layer_norm: expected gamma of shape \(3,\), got \(2,\)",
    ),
    (
        lambda: F.layer_norm(x23, np.ones(3), np.ones((1, 3))),
        ValueError,
        r"layer_norm: expected beta of shape \(3,\), got \(1, 3\)",
    ),
    (
        lambda: F.layer_norm(x23, None, None, eps=0),
        ValueError,
        r"layer_norm: expected eps > 0, got 0",
    ),
    (lambda: F.rms_norm(x23, np.ones(2)), ValueError, r"rms_norm: expected gamma of"),
    (lambda: F.rms_norm(np.ones(())), ValueError, r"rms_norm: expected at least one"),
    (lambda: F.rms_norm(x23, eps=-1), ValueError, r"rms_norm: expected eps > 0, got"),
    (
        lambda: F.group_norm(np.ones(3), 1),
        ValueError,
        r"group_norm: expected x of shape \(N, C, \.\.\.\), got shape \(3,\)",
    ),
    (
        lambda: F.group_norm(x243, 3),
        ValueError,
        r"group_norm: expected a number of groups that divides C = 4, got 3",
    ),
    (lambda: F.group_norm(x243, 0), ValueError, r"group_norm: .* C = 4, got 0"),
    (
        lambda: F.group_norm(x243, 2, np.ones(2)),
        ValueError,
        r"group_norm: expected gamma of shape \(4,\), got \(2,\)",
    ),
    (lambda: F.group_norm(x243, 2, eps=0), ValueError, r"group_norm: expected eps > 0"),
    (
        lambda: F.instance_norm(x23),
        ValueError,
        r"instance_norm: expected x of shape \(N, C, L\) or more .* got shape \(2, 3\)",
    ),
    (
        lambda: F.instance_norm(x243, None, np.ones(3)),
        ValueError,
        r"instance_norm: expected beta of shape \(4,\), got \(3,\)",
    ),
    (lambda: F.instance_norm(x243, eps=0), ValueError, r"instance_norm: expected eps"),
    (lambda: F.normalize(x23, axis=2), ValueError, r"normalize: .* got axis 2"),
    (lambda: F.normalize(x23, eps=0), ValueError, r"normalize: expected eps > 0"),
    *[
        (lambda f=f: f(eps=None), TypeError, rf"{name}: .* number as eps, got NoneType")
        for name, f in {
            "layer_norm": lambda eps: F.layer_norm(x23, None, None, eps),
            "rms_norm": lambda eps: F.rms_norm(x23, None, eps),
            "group_norm": lambda eps: F.group_norm(x23, 3, eps=eps),
            "instance_norm": lambda eps: F.instance_norm(x23[..., None], eps=eps),
            "normalize": lambda eps: F.normalize(x23, eps=eps),
        }.items()
    ],
    (
        lambda: F.group_norm(x23, 3.0),
        TypeError,
        r"group_norm: expected an integer as num_groups, got float",
    ),
]


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, bool, np.int64])
def test_integers_are_normalized_in_double_precision(dtype):
    x = np.arange(24).reshape(2, 4, 3).astype(dtype)
    for y, same in (
        (F.layer_norm(x, None, None), F.layer_norm(x.astype(float), None, None)),
        (F.rms_norm(x), F.rms_norm(x.astype(float))),
        (F.group_norm(x, 2), F.group_norm(x.astype(float), 2)),
        (F.instance_norm(x), F.instance_norm(x.astype(float))),
        (F.normalize(x), F.normalize(x.astype(float))),
    ):
        assert y.dtype == np.float64
        np.testing.assert_array_equal(y.data, same.data)
