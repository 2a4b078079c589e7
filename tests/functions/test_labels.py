"""Negative log-likelihood; what class ids can be."""

import numpy as np
import pytest
from hypothesis import strategies as st

import dezero.functions as F
from dezero.core import Variable
from dezero.testing import Case, arrays, integers_below, positive


@st.composite
def options(draw, log_p):
    axis = draw(st.integers(-log_p.ndim, log_p.ndim - 1))
    C = log_p.shape[axis]
    return {
        "t": draw(integers_below(C, tuple(np.delete(log_p.shape, axis)))),
        "class_weights": draw(st.none() | positive(shape=(C,))),
        "ignore_label": draw(st.sampled_from([None, 0, 1, -1])),
        "reduction": draw(st.sampled_from(["mean", "sum", "none"])),
        "axis": axis,
    }


def nll_loss(log_p, t, class_weights, ignore_label, reduction, axis):
    picked = np.take_along_axis(log_p, np.expand_dims(t, axis), axis).squeeze(axis)
    w = np.ones(t.shape) if class_weights is None else class_weights[t]
    w = w * (t != (np.inf if ignore_label is None else ignore_label))
    losses = -w * picked
    mean = np.sum(losses) / (np.sum(w) or 1)
    return {"none": losses, "sum": np.sum(losses), "mean": mean}[reduction]


CASES = [Case(F.nll_loss, arrays(min_dims=1), reference=nll_loss, options=options)]

ERRORS = [
    (
        lambda: F.nll_loss(np.zeros((2, 3)), np.array([0, 3])),
        ValueError,
        r"nll_loss: expected labels in \[0, 3\) for 3 classes, got 3",
    ),
    (
        lambda: F.nll_loss(np.zeros((2, 3)), np.array([0, -1]), ignore_label=1),
        ValueError,
        r"nll_loss: expected labels in \[0, 3\) for 3 classes, got -1",
    ),
    (
        lambda: F.nll_loss(np.zeros((2, 3)), np.zeros(2)),
        TypeError,
        r"nll_loss: expected integer class ids as t, got dtype float64",
    ),
    (
        lambda: F.nll_loss(np.zeros((2, 3)), np.array([0])),
        ValueError,
        r"nll_loss: .* shape \(2, 3\), got t of shape \(1,\)",
    ),
    (
        lambda: F.nll_loss(np.zeros((2, 3, 4)), np.zeros((4, 2), int)),
        ValueError,
        r"nll_loss: expected t of shape \(2, 4\) .* along axis 1, got \(4, 2\)",
    ),
    (
        lambda: F.nll_loss(np.zeros((0, 3)), np.zeros(0, int)),
        ValueError,
        r"nll_loss: .* N and C > 0, got \(0, 3\)",
    ),
    (
        lambda: F.nll_loss(np.zeros((2, 3)), np.array([0, 1]), np.zeros((3, 1))),
        ValueError,
        r"nll_loss: expected class_weights of shape \(3,\), .* got \(3, 1\)",
    ),
    (
        lambda: F.nll_loss(np.zeros((2, 3)), np.array([0, 1]), reduction="max"),
        ValueError,
        r"nll_loss: expected 'mean', 'sum' or 'none' as reduction, got 'max'",
    ),
    (
        lambda: F.nll_loss(np.zeros((2, 3)), np.array([0, 1]), ignore_label=1.0),
        TypeError,
        r"nll_loss: expected an integer as ignore_label, got float",
    ),
]


def test_of_log_softmax_it_is_the_cross_entropy(derivatives):
    x = np.random.default_rng(0).normal(size=(4, 3))
    t, w = np.array([0, 2, 1, 2]), np.array([1.0, 2.0, 0.5])
    found = derivatives(lambda x: F.nll_loss(F.log_softmax(x), t, w, 1), x)
    expected = derivatives(lambda x: F.softmax_cross_entropy(x, t, w, 1), x)
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_ignoring_everything(reduction):
    log_p = Variable(np.full((2, 3), -np.inf, np.float32))
    loss = F.nll_loss(log_p, np.array([9, 9]), ignore_label=9, reduction=reduction)
    loss.backward()
    np.testing.assert_array_equal(loss.data, [0, 0] if reduction == "none" else 0)
    np.testing.assert_array_equal(log_p.grad.data, np.zeros((2, 3)))
    assert loss.dtype == log_p.grad.dtype == np.float32


def test_half_precision_does_not_overflow():
    log_p = Variable(np.full((3000, 2), -100, np.float16))
    loss = F.nll_loss(log_p, np.zeros(3000, int))
    np.testing.assert_allclose(loss.data, 100)


@pytest.mark.parametrize("dtype", [np.uint8, np.int64, bool])
def test_integers_count_as_floats(dtype):
    y = F.nll_loss(np.array([[0, 1]], dtype), np.array([1]))
    assert y.dtype == np.float64 and float(y) == -1


def test_an_ignored_label_that_the_dtype_of_the_labels_has_not():
    t = np.array([0, 1], np.uint8)
    log_p = np.log([[0.5, 0.5], [0.5, 0.5]])
    assert float(F.nll_loss(log_p, t, ignore_label=-100)) == np.log(2)
