import numpy as np
import pytest
import scipy.special as sp
from hypothesis import strategies as st

import dezero.functions as F
from dezero.core import Variable
from dezero.testing import Case, arrays, between, integers_below, same_shape


def labels(x):
    shape = st.sampled_from([(len(x),), (len(x), 1), (1, len(x))])
    ids = shape.flatmap(lambda s: integers_below(x.shape[1], s))
    return st.fixed_dictionaries({"t": ids})


@st.composite
def with_probabilities(draw, first):
    (like,) = draw(same_shape(1))
    return draw(first(shape=like.shape)), draw(between(0.0, 1.0, shape=like.shape))


def probabilities(shape):
    return between(0.1, 0.9, shape=shape)


def batch(x):
    return len(x) if x.ndim else 1


def mean_squared_error(x0, x1):
    return np.sum((x0 - x1) ** 2) / batch(x0)


def softmax_cross_entropy(x, t):
    return -np.mean(sp.log_softmax(x, 1)[np.arange(len(x)), t.ravel()])


def sigmoid_cross_entropy(x, t):
    return binary_cross_entropy(sp.expit(x), t)


def binary_cross_entropy(p, t):
    return -np.sum(t * np.log(p) + (1 - t) * np.log(1 - p)) / batch(p)


scores = arrays(min_dims=2, max_dims=2)

CASES = [
    Case(F.mean_squared_error, same_shape(2), reference=mean_squared_error),
    Case(F.mean_squared_error_simple, same_shape(2), reference=mean_squared_error),
    Case(
        F.softmax_cross_entropy,
        scores,
        reference=softmax_cross_entropy,
        options=labels,
    ),
    Case(
        F.softmax_cross_entropy_simple,
        scores,
        reference=softmax_cross_entropy,
        options=labels,
    ),
    Case(
        F.sigmoid_cross_entropy,
        with_probabilities(arrays),
        reference=sigmoid_cross_entropy,
    ),
    Case(
        F.sigmoid_cross_entropy_simple,
        with_probabilities(arrays),
        reference=sigmoid_cross_entropy,
    ),
    Case(
        F.binary_cross_entropy,
        with_probabilities(probabilities),
        reference=binary_cross_entropy,
    ),
    Case(
        F.binary_cross_entropy_simple,
        with_probabilities(probabilities),
        reference=binary_cross_entropy,
    ),
]


def zeros(*shape):
    return np.zeros(shape)


def classes(*ids):
    return np.array(ids)


ERRORS = [
    (
        lambda: F.mean_squared_error(zeros(3, 1), zeros(3)),
        ValueError,
        r"mean_squared_error: expected .* one shape, got \(3, 1\) and \(3,\)",
    ),
    (
        lambda: F.mean_squared_error(zeros(0, 2), zeros(0, 2)),
        ValueError,
        r"mean_squared_error: .* one sample, got x of shape \(0, 2\)",
    ),
    (
        lambda: F.mean_squared_error_simple(zeros(3, 1), zeros(3)),
        ValueError,
        r"mean_squared_error_simple: expected .* got \(3, 1\) and \(3,\)",
    ),
    (
        lambda: F.mean_squared_error_simple(zeros(0, 2), zeros(0, 2)),
        ValueError,
        r"mean_squared_error_simple: .* one sample, got x of shape \(0, 2\)",
    ),
    (
        lambda: F.mean_squared_error([1.0], zeros(1)),
        TypeError,
        r"as_variable: .* got list",
    ),
    (
        lambda: F.softmax_cross_entropy(zeros(2, 3), classes(0, -1)),
        ValueError,
        r"softmax_cross_entropy: .* in \[0, 3\) for 3 classes, got -1",
    ),
    (
        lambda: F.softmax_cross_entropy(zeros(2, 3), classes(3, 0)),
        ValueError,
        r"softmax_cross_entropy: .* in \[0, 3\) for 3 classes, got 3",
    ),
    (
        lambda: F.softmax_cross_entropy_simple(zeros(2, 3), classes(3, 0)),
        ValueError,
        r"softmax_cross_entropy_simple: .* for 3 classes, got 3",
    ),
    (
        lambda: F.softmax_cross_entropy(zeros(2, 3), zeros(2)),
        TypeError,
        r"softmax_cross_entropy: expected integer class ids as t, got dtype float64",
    ),
    (
        lambda: F.softmax_cross_entropy(zeros(2, 3), zeros(2) == 0),
        TypeError,
        r"softmax_cross_entropy: expected integer class ids as t, got dtype bool",
    ),
    (
        lambda: F.softmax_cross_entropy(zeros(2, 3), classes(0, 1, 2)),
        ValueError,
        r"softmax_cross_entropy: .* shape \(2, 3\), got t of shape \(3,\)",
    ),
    (
        lambda: F.softmax_cross_entropy(zeros(3), classes(0)),
        ValueError,
        r"softmax_cross_entropy: .* shape \(N, C\) .* got \(3,\)",
    ),
    (
        lambda: F.softmax_cross_entropy(zeros(0, 3), np.zeros(0, int)),
        ValueError,
        r"softmax_cross_entropy: .* N and C > 0, got \(0, 3\)",
    ),
    (
        lambda: F.sigmoid_cross_entropy(zeros(3, 1), zeros(1, 3)),
        ValueError,
        r"sigmoid_cross_entropy: expected t of shape \(3, 1\), .* got \(1, 3\)",
    ),
    (
        lambda: F.sigmoid_cross_entropy(zeros(0), zeros(0)),
        ValueError,
        r"sigmoid_cross_entropy: .* one sample, got x of shape \(0,\)",
    ),
    (
        lambda: F.sigmoid_cross_entropy_simple(zeros(3), zeros(2)),
        ValueError,
        r"sigmoid_cross_entropy_simple: expected t of shape \(3,\), .* got \(2,\)",
    ),
    (
        lambda: F.binary_cross_entropy(zeros(3), zeros(2)),
        ValueError,
        r"binary_cross_entropy: expected t of shape \(3,\), .* got \(2,\)",
    ),
    (
        lambda: F.binary_cross_entropy(np.array([0.5, 1.5]), zeros(2)),
        ValueError,
        r"binary_cross_entropy: .* in \[0, 1\], got 1\.5; sigmoid_cross_entropy",
    ),
    (
        lambda: F.binary_cross_entropy(np.array([-0.5, 0.5]), zeros(2)),
        ValueError,
        r"binary_cross_entropy: .* in \[0, 1\], got -0\.5",
    ),
    (
        lambda: F.binary_cross_entropy_simple(zeros(0), zeros(0)),
        ValueError,
        r"binary_cross_entropy_simple: .* one sample, got x of shape \(0,\)",
    ),
]


def derivatives(f, *arrays, order=3):
    """The value of f at the arrays and its derivatives, each of a weighted sum."""
    xs = [Variable(a) for a in arrays]
    y = f(*xs)
    results = [y.data]
    for _ in range(order):
        for x in xs:
            x.cleargrad()
        y.backward(create_graph=True)
        zeros = [Variable(np.zeros_like(x.data)) for x in xs]
        # A straight line has no second derivative.
        gs = [z if x.grad is None else x.grad for x, z in zip(xs, zeros, strict=True)]
        results += [g.data for g in gs]
        weights = [np.linspace(0.5, 1.5, g.size).reshape(g.shape) for g in gs]
        y = sum(F.sum(g * w) for g, w in zip(gs, weights, strict=True))
    return results


rng = np.random.default_rng(0)
X, P, T = rng.normal(size=(4, 3)), rng.uniform(0.2, 0.8, (4, 3)), rng.random((4, 3))
IDS = np.array([0, 2, 1, 2])


@pytest.mark.parametrize(
    ("name", "arrays", "order"),
    [
        ("mean_squared_error", (X, T), 2),
        ("softmax_cross_entropy", (X,), 3),
        ("sigmoid_cross_entropy", (X, T), 3),
        ("binary_cross_entropy", (P, T), 3),
    ],
)
def test_fused_equals_simple(name, arrays, order):
    fixed = (IDS,) if name == "softmax_cross_entropy" else ()

    def found(f):
        return derivatives(lambda *xs: f(*xs, *fixed), *arrays, order=order)

    fused, simple = found(getattr(F, name)), found(getattr(F, name + "_simple"))
    for a, b in zip(fused, simple, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
def test_softmax_cross_entropy_of_extreme_scores(dtype):
    x = Variable(np.array([[1e4, 0, -1e4], [1e4, 1e4, 0]], dtype))
    loss = F.softmax_cross_entropy(x, np.array([0, 0]))
    loss.backward()
    np.testing.assert_allclose(loss.data, np.log(2) / 2, rtol=1e-3)
    expected = [[0, 0, 0], [-0.25, 0.25, 0]]
    np.testing.assert_allclose(x.grad.data, expected, atol=1e-3)
    assert loss.dtype == x.grad.dtype == dtype


def test_softmax_cross_entropy_of_close_large_scores():
    # log(sum(exp(x))) rounded to single precision would be off by 5e-4.
    x = Variable(np.array([[1e4, 1e4 - 1]], np.float32))
    F.softmax_cross_entropy(x, np.array([1])).backward()
    p = 1 / (1 + np.exp(-1.0))
    np.testing.assert_allclose(x.grad.data, [[p, -p]], rtol=1e-6)


def test_softmax_cross_entropy_of_masked_scores():
    x = Variable(np.array([[0.0, -np.inf, 0.0]]))
    loss = F.softmax_cross_entropy(x, np.array([0]))
    loss.backward()
    np.testing.assert_allclose(loss.data, np.log(2))
    np.testing.assert_allclose(x.grad.data, [[-0.5, 0, 0.5]])


@pytest.mark.parametrize("dtype", ["u1", "i4", "i8"])
def test_labels_as_a_variable_of_integers(dtype):
    t = Variable(IDS.astype(dtype))
    x = Variable(X.copy())
    F.softmax_cross_entropy(x, t).backward()
    assert t.grad is None
    again = Variable(X.copy())
    F.softmax_cross_entropy(again, IDS).backward()
    np.testing.assert_array_equal(x.grad.data, again.grad.data)


def test_softmax_cross_entropy_class_takes_scores_and_labels():
    loss = F.SoftmaxCrossEntropy()(Variable(X), IDS[:, None])
    np.testing.assert_array_equal(loss.data, F.softmax_cross_entropy(X, IDS).data)


def test_softmax_cross_entropy_of_integer_scores():
    x = np.array([[250, 0], [3, 5]], np.uint8)
    ids = np.array([1, 0])
    found = F.softmax_cross_entropy(x, ids).data
    expected = F.softmax_cross_entropy(x.astype("f8"), ids).data
    np.testing.assert_allclose(found, expected)


def test_mean_squared_error_of_other_kinds():
    x = Variable(np.array([1.0, 2.0], np.float32))
    loss = F.mean_squared_error(x, np.array([0, 0]))
    assert loss.dtype == np.float32 and loss.data == 2.5
    assert F.mean_squared_error(np.array(3, np.float32), 1.0).dtype == np.float32
    assert F.mean_squared_error(np.array(3.0), 1).data == 4
    small = np.array([1], np.uint8), np.array([2], np.uint8)
    assert F.mean_squared_error(*small).data == 1


def test_mean_squared_error_gives_integers_a_gradient():
    x0, x1 = Variable(np.array([1, 2])), Variable(np.array([3, 3]))
    F.mean_squared_error(x0, x1).backward()
    np.testing.assert_array_equal(x0.grad.data, [-2, -1])
    np.testing.assert_array_equal(x1.grad.data, [2, 1])


def test_mean_squared_error_in_half_precision_does_not_overflow():
    x = Variable(np.full(1000, 20, np.float16))
    loss = F.mean_squared_error(x, np.zeros(1000, np.float16))
    assert loss.data == 400 and loss.dtype == np.float16


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
def test_sigmoid_cross_entropy_of_extreme_scores(dtype):
    x = Variable(np.array([1e4, -1e4, 1e4, 20], dtype))
    loss = F.sigmoid_cross_entropy(x, np.array([1, 0, 1, 1]))
    loss.backward()
    np.testing.assert_allclose(loss.data, np.exp(-20.0) / 4, rtol=1e-2, atol=1e-7)
    np.testing.assert_allclose(x.grad.data, np.zeros(4), atol=1e-7)
    assert loss.dtype == x.grad.dtype == dtype


def test_sigmoid_cross_entropy_of_a_sure_answer_is_not_rounded_away():
    loss = F.sigmoid_cross_entropy(np.array([20.0], np.float32), np.array([1]))
    np.testing.assert_allclose(loss.data, np.exp(-20.0), rtol=1e-6)


@pytest.mark.parametrize("f", [F.sigmoid_cross_entropy, F.binary_cross_entropy])
def test_targets_as_a_vector_beside_a_column(f):
    column, vector = np.full((3, 1), 0.5), np.array([1, 0, 1])
    x = Variable(column)
    loss = f(x, vector)
    loss.backward()
    np.testing.assert_array_equal(loss.data, f(column, vector[:, None]).data)
    assert x.grad.shape == (3, 1)


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
def test_binary_cross_entropy_at_0_and_1(dtype):
    tiny = float(np.finfo(dtype).tiny)
    p = Variable(np.array([0, 0, 1, 1], dtype))
    loss = F.binary_cross_entropy(p, np.array([0, 1, 1, 0]))
    loss.backward()
    np.testing.assert_allclose(loss.data, -np.log(tiny) / 2, rtol=1e-3)
    expected = [0.25, -0.25 / tiny, -0.25, 0.25 / tiny]
    np.testing.assert_allclose(x := p.grad.data, expected, rtol=1e-3)
    assert np.isfinite(x).all() and loss.dtype == x.dtype == dtype


def test_binary_cross_entropy_of_small_probabilities():
    # log(1 - p) would be 0 in single precision.
    loss = F.binary_cross_entropy(np.array([1e-10], np.float32), np.array([0]))
    np.testing.assert_allclose(loss.data, 1e-10, rtol=1e-6)


def test_binary_cross_entropy_second_derivative_of_a_perfect_answer():
    p = Variable(np.array([1.0, 0.0], np.float32))
    F.binary_cross_entropy(p, np.array([1, 0])).backward(create_graph=True)
    g = p.grad
    p.cleargrad()
    F.sum(g).backward()
    np.testing.assert_allclose(p.grad.data, [0.5, 0.5])
