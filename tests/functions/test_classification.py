"""Cross-entropy by class ids and by probabilities."""

import tracemalloc

import numpy as np
import pytest
import scipy.special as sp
from hypothesis import strategies as st

import dezero.functions as F
from dezero.core import Variable
from dezero.testing import Case, arrays, between, integers_below, positive


def labels(x):
    shape = st.sampled_from([(len(x),), (len(x), 1), (1, len(x))])
    ids = shape.flatmap(lambda s: integers_below(x.shape[1], s))
    return st.fixed_dictionaries({"t": ids})


def simple(x, t):
    return -np.mean(sp.log_softmax(x, 1)[np.arange(len(x)), t.ravel()])


REDUCTIONS = st.sampled_from(["mean", "sum", "none"])


@st.composite
def options(draw, x):
    """Everything that :func:`F.softmax_cross_entropy` can be asked for."""
    axis = draw(st.integers(-x.ndim, x.ndim - 1))
    C = x.shape[axis]
    shape = np.delete(x.shape, axis)
    return {
        "t": draw(integers_below(C, tuple(shape))),
        "class_weights": draw(st.none() | positive(shape=(C,))),
        "ignore_label": draw(st.sampled_from([None, 0, 1, -1])),
        "label_smoothing": draw(st.sampled_from([0, 0.1, 1.0])),
        "reduction": draw(REDUCTIONS),
        "axis": axis,
    }


def reference(x, t, class_weights, ignore_label, label_smoothing, reduction, axis):
    """Label by label, as the docstring says."""
    C, e = x.shape[axis], label_smoothing
    log_p = np.moveaxis(sp.log_softmax(x, axis), axis, -1)
    w = np.ones(C) if class_weights is None else class_weights
    losses, total = np.zeros(t.shape), 0.0
    for i in np.ndindex(t.shape):
        if t[i] != ignore_label:
            target = (1 - e) * (np.arange(C) == t[i]) + e / C
            losses[i] = -np.sum(w * target * log_p[i])
            total += w[t[i]]
    return reduce(losses, reduction, total or 1)


def reduce(losses, reduction, N):
    return {"none": losses, "sum": np.sum(losses), "mean": np.sum(losses) / N}[
        reduction
    ]


@st.composite
def with_probabilities(draw):
    x = draw(arrays(min_dims=2))
    return x, draw(between(0.0, 1.0, shape=x.shape))


@st.composite
def options_of_probabilities(draw, x, t):
    axis = draw(st.integers(-x.ndim, x.ndim - 1))
    return {
        "class_weights": draw(st.none() | positive(shape=(x.shape[axis],))),
        "label_smoothing": draw(st.sampled_from([0, 0.1])),
        "reduction": draw(REDUCTIONS),
        "axis": axis,
    }


def of_probabilities(x, t, class_weights, label_smoothing, reduction, axis):
    C = x.shape[axis]
    x, t = np.moveaxis(x, axis, -1), np.moveaxis(t, axis, -1)
    w = 1 if class_weights is None else class_weights
    t = (1 - label_smoothing) * t + label_smoothing / C
    losses = -np.sum(w * t * sp.log_softmax(x, -1), -1)
    return reduce(losses, reduction, losses.size)


scores = arrays(min_dims=2, max_dims=2)


CASES = [
    Case(F.softmax_cross_entropy, scores, reference=simple, options=labels),
    Case(
        F.softmax_cross_entropy,
        arrays(min_dims=1),
        reference=reference,
        options=options,
    ),
    Case(
        F.softmax_cross_entropy,
        with_probabilities(),
        reference=of_probabilities,
        options=options_of_probabilities,
    ),
    Case(F.softmax_cross_entropy_simple, scores, reference=simple, options=labels),
]


def zeros(*shape):
    return np.zeros(shape)


def classes(*ids):
    return np.array(ids)


ERRORS = [
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
        lambda: F.softmax_cross_entropy(zeros(2, 3, 4), zeros(2, 3).astype(int)),
        ValueError,
        r"softmax_cross_entropy: expected t of shape \(2, 4\) for scores of shape "
        r"\(2, 3, 4\) with classes along axis 1, got \(2, 3\)",
    ),
    (
        lambda: F.softmax_cross_entropy(zeros(2, 3), classes(0, -1), ignore_label=-2),
        ValueError,
        r"softmax_cross_entropy: .* in \[0, 3\) for 3 classes, got -1",
    ),
    (
        lambda: F.softmax_cross_entropy(zeros(2, 3), classes(0, 3), ignore_label=0),
        ValueError,
        r"softmax_cross_entropy: .* in \[0, 3\) for 3 classes, got 3",
    ),
    (
        lambda: F.softmax_cross_entropy(zeros(2, 3), classes(0, 1), zeros(2)),
        ValueError,
        r"softmax_cross_entropy: .* class_weights of shape \(3,\), .* got \(2,\)",
    ),
    (
        lambda: F.softmax_cross_entropy(zeros(2, 3), zeros(2, 3), zeros(2)),
        ValueError,
        r"softmax_cross_entropy: .* class_weights of shape \(3,\), .* got \(2,\)",
    ),
    (
        lambda: F.softmax_cross_entropy(zeros(2, 3), classes(0, 1), label_smoothing=2),
        ValueError,
        r"softmax_cross_entropy: expected label_smoothing in \[0, 1\], got 2",
    ),
    (
        lambda: F.softmax_cross_entropy(zeros(2, 3), classes(0, 1), label_smoothing=-1),
        ValueError,
        r"softmax_cross_entropy: expected label_smoothing >= 0, got -1",
    ),
    (
        lambda: F.softmax_cross_entropy(
            zeros(2, 3), classes(0, 1), label_smoothing="0.1"
        ),
        TypeError,
        r"softmax_cross_entropy: expected a number as label_smoothing, got str",
    ),
    (
        lambda: F.softmax_cross_entropy(zeros(2, 3), classes(0, 1), reduction="max"),
        ValueError,
        r"softmax_cross_entropy: expected 'mean', 'sum' or 'none' .* got 'max'",
    ),
    (
        lambda: F.softmax_cross_entropy(zeros(2, 3), zeros(2, 3), ignore_label=0),
        ValueError,
        r"softmax_cross_entropy: .* beside ignore_label, got probabilities",
    ),
    (
        lambda: F.softmax_cross_entropy(zeros(2, 3, 4), zeros(2, 4)),
        TypeError,
        r"softmax_cross_entropy: expected integer class ids as t, got dtype float64",
    ),
    (
        lambda: F.softmax_cross_entropy(zeros(2, 3, 4), classes(0, 1), axis=3),
        ValueError,
        r"softmax_cross_entropy: .* axis 3 for an array of shape \(2, 3, 4\)",
    ),
    *[
        (
            lambda label=label: F.softmax_cross_entropy(
                zeros(2, 3), classes(0, 1), ignore_label=label
            ),
            TypeError,
            r"softmax_cross_entropy: expected an integer as ignore_label, got ",
        )
        for label in ("pad", 1.5, [1, 2])
    ],
]


rng = np.random.default_rng(0)
X = rng.normal(size=(4, 3))
IDS = np.array([0, 2, 1, 2])


def test_fused_equals_simple(derivatives):
    fused = derivatives(lambda x: F.softmax_cross_entropy(x, IDS), X)
    simple = derivatives(lambda x: F.softmax_cross_entropy_simple(x, IDS), X)
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


@pytest.mark.parametrize("f", [F.softmax_cross_entropy, F.softmax_cross_entropy_simple])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_scores_farther_apart_than_the_greatest_one(f, dtype):
    most = np.finfo(dtype).max
    x = Variable(np.array([[most, -most], [0, 0]], dtype))
    y = f(x, np.array([0, 1]))
    y.backward(create_graph=True)
    gx = x.grad
    x.cleargrad()
    F.sum(gx * gx).backward()
    assert y.dtype == gx.dtype == x.grad.dtype == dtype
    assert gx.data.tolist() == [[0, 0], [0.25, -0.25]]
    np.testing.assert_allclose(x.grad.data, [[0, 0], [0.125, -0.125]], rtol=1e-3)


def test_a_loss_that_is_kept_does_not_keep_the_exponentials():
    x = Variable(np.zeros((1000, 100)))
    tracemalloc.start()
    try:
        y = F.softmax_cross_entropy(x, np.zeros(1000, int))
        y.backward(retain_graph=False)
        x.cleargrad()
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert held < 100_000 and float(y) > 0


def test_third_derivatives_of_losses_by_row(derivatives):
    def composed(x):
        rows = np.arange(len(IDS))
        return -F.log_softmax(x)[rows, IDS]

    found = derivatives(lambda x: F.softmax_cross_entropy(x, IDS, reduction="none"), X)
    for a, b in zip(found, derivatives(composed, X), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize("smoothing", [0.1, 0.75, 1.0])
@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_label_smoothing_put_together_from_functions(reduction, smoothing, derivatives):
    def composed(x):
        log_p = F.log_softmax(x)
        picked, others = log_p[np.arange(len(IDS)), IDS], F.mean(log_p, 1)
        losses = -(picked * (1 - smoothing)) - others * smoothing
        return {"mean": F.mean, "sum": F.sum, "none": lambda y: y}[reduction](losses)

    def fused(x):
        options = {"label_smoothing": smoothing, "reduction": reduction}
        return F.softmax_cross_entropy(x, IDS, **options)

    np.testing.assert_allclose(fused(X).data, composed(X).data, rtol=1e-13)
    pairs = zip(derivatives(fused, X), derivatives(composed, X), strict=True)
    for found, expected in pairs:  # to the third
        np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("smoothing", [0, 0.1])
@pytest.mark.parametrize("weights", [None, np.array([1.0, 2.0, 3.0])])
def test_ignoring_everything(reduction, smoothing, weights):
    x = Variable(np.full((2, 3), np.nan))
    t = np.array([-1, -1])
    loss = F.softmax_cross_entropy(x, t, weights, -1, smoothing, reduction)
    loss.backward()
    np.testing.assert_array_equal(loss.data, [0, 0] if reduction == "none" else 0)
    np.testing.assert_array_equal(x.grad.data, zeros(2, 3))


def test_what_is_ignored_may_be_anything():
    x = X.copy()
    x[1] = [np.nan, np.inf, -np.inf]
    t = np.where(np.arange(4) == 1, 255, IDS).astype(np.uint8)
    v = Variable(x)
    loss = F.softmax_cross_entropy(v, t, ignore_label=255)
    loss.backward()
    kept = Variable(X[[0, 2, 3]])
    expected = F.softmax_cross_entropy(kept, IDS[[0, 2, 3]])
    expected.backward()
    np.testing.assert_array_equal(loss.data, expected.data)
    np.testing.assert_array_equal(v.grad.data[[0, 2, 3]], kept.grad.data)
    np.testing.assert_array_equal(v.grad.data[1], [0, 0, 0])


def test_weights_that_are_all_0():
    x = Variable(X)
    loss = F.softmax_cross_entropy(x, IDS, zeros(3))
    loss.backward()
    assert loss.data == 0
    np.testing.assert_array_equal(x.grad.data, zeros(4, 3))


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
@pytest.mark.parametrize("smoothing", [0, 0.1])
def test_weights_and_smoothing_keep_the_dtype(dtype, smoothing):
    x = Variable(X.astype(dtype))
    weights = np.array([1.0, 2.0, 3.0])
    for reduction in ("mean", "sum", "none"):
        loss = F.softmax_cross_entropy(x, IDS, weights, None, smoothing, reduction)
        assert loss.dtype == dtype
        loss.backward()
        assert x.grad.dtype == dtype


def test_probabilities_in_double_precision_do_not_widen_the_loss():
    x = Variable(X.astype("f4"))
    t = Variable(sp.softmax(X, 1))
    loss = F.softmax_cross_entropy(x, t)
    loss.backward()
    assert loss.dtype == x.grad.dtype == np.float32 and t.grad.dtype == np.float64


def test_one_hot_probabilities_are_labels():
    hot = np.eye(3)[IDS]
    found, expected = Variable(X), Variable(X)
    loss = F.softmax_cross_entropy(found, hot)
    loss.backward()
    np.testing.assert_allclose(loss.data, F.softmax_cross_entropy(X, IDS).data)
    F.softmax_cross_entropy(expected, IDS).backward()
    np.testing.assert_allclose(found.grad.data, expected.grad.data, atol=1e-15)


def test_a_masked_class_of_probability_0_adds_nothing():
    x = Variable(np.array([[0.0, -np.inf, 0.0]]))
    loss = F.softmax_cross_entropy(x, np.array([[0.5, 0.0, 0.5]]))
    loss.backward()
    np.testing.assert_allclose(loss.data, np.log(2))
    np.testing.assert_allclose(x.grad.data, zeros(1, 3))


@pytest.mark.parametrize("smoothing", [0, 0.1])
def test_extreme_scores_with_weights(smoothing):
    x = Variable(np.array([[1e4, 0, -1e4], [1e4, 1e4, 0]], np.float32))
    t, weights = np.array([0, 0]), np.ones(3)
    loss = F.softmax_cross_entropy(x, t, weights, label_smoothing=smoothing)
    loss.backward()
    assert np.isfinite(loss.data) and np.isfinite(x.grad.data).all()


def test_many_labels_in_half_precision():
    x = Variable(np.zeros((70_000, 2), np.float16))
    t = np.zeros(70_000, int)
    t[0] = -1
    for weights in (None, np.ones(2)):
        loss = F.softmax_cross_entropy(x, t, weights, ignore_label=-1)
        np.testing.assert_allclose(loss.data, np.log(2), rtol=1e-3)


def test_labels_may_keep_the_axis_of_classes():
    x = rng.normal(size=(2, 3, 4))
    t = rng.integers(0, 3, (2, 4))
    expected = F.softmax_cross_entropy(x, t).data
    assert F.softmax_cross_entropy(x, t[:, None]).data == expected


def test_one_sample_without_a_batch():
    loss = F.softmax_cross_entropy(X[0], np.array(2), axis=0)
    np.testing.assert_allclose(loss.data, -sp.log_softmax(X[0])[2])
