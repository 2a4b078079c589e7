"""Losses by their formulas, and their floors, against the functions and by hand."""

import numpy as np
import pytest

import dezero.functions as F
from dezero import Variable
from dezero.diagnostics.known_losses import expected_at_start, floor, recomputed

rng = np.random.default_rng(0)
X = rng.standard_normal((6, 3)).astype(np.float32)
T = np.array([0, 1, 2, 0, 1, 2])
YES = (X > 0).astype(np.float32)
SOFT = rng.uniform(size=(6, 3)).astype(np.float32)


@pytest.mark.parametrize(
    "f",
    [
        lambda x: F.softmax_cross_entropy(x, T),
        lambda x: F.mean_squared_error(x, SOFT),
        lambda x: F.sigmoid_cross_entropy(x, YES),
        lambda x: F.sigmoid_cross_entropy(x * 1000, YES),
        lambda x: F.sigmoid_cross_entropy(x, SOFT),
        lambda x: F.binary_cross_entropy(F.sigmoid(x), YES),
        lambda x: F.mean_squared_error(F.sum(x), 3.0),
    ],
)
def test_formulas(f):
    loss = f(Variable(X))
    assert recomputed(loss) == pytest.approx(loss.item(), rel=1e-5)


def test_what_is_not_known():
    x = Variable(X)
    for loss in (
        F.sum(x),
        x,
        F.softmax_cross_entropy(x, T, reduction="none"),
        F.softmax_cross_entropy(x, T) + 1.0,
    ):
        assert recomputed(loss) is None and floor(loss, [X]) is None
        assert expected_at_start(loss) is None or loss.creator is not None
    loss = F.softmax_cross_entropy(x, T)
    loss.backward(retain_graph=False)
    assert recomputed(loss) is expected_at_start(loss) is floor(loss, [X]) is None


def test_the_start_of_a_classifier():
    C, expected = expected_at_start(F.softmax_cross_entropy(Variable(X), T))
    assert (C, expected) == (3, pytest.approx(np.log(3)))
    assert expected_at_start(F.mean_squared_error(Variable(X), SOFT)) is None


def test_floors():
    x = Variable(X)
    assert floor(F.softmax_cross_entropy(x, T), [X]) == 0
    assert floor(F.mean_squared_error(x, SOFT), [X]) == 0
    same = np.zeros_like(X)
    # Three classes, each a third of what equal inputs are labelled.
    assert floor(F.softmax_cross_entropy(x, T), [same]) == pytest.approx(np.log(3))
    expected = ((SOFT - SOFT.mean(0)) ** 2).sum() / 6
    assert floor(F.mean_squared_error(x, SOFT), [same]) == pytest.approx(expected, 1e-5)
    # Inputs are equal only if all of them are.
    assert floor(F.softmax_cross_entropy(x, T), [same, X]) == 0
    # Nothing to compare.
    assert floor(F.softmax_cross_entropy(x, T), ["text"]) == 0
    assert floor(F.mean_squared_error(x, SOFT), [X[:2]]) == 0
    assert floor(F.mean_squared_error(F.sum(x), 3.0), [X]) == 0
    expected = -(SOFT * np.log(SOFT) + (1 - SOFT) * np.log(1 - SOFT)).sum() / 6
    assert floor(F.sigmoid_cross_entropy(x, SOFT), [X]) == pytest.approx(expected, 1e-5)
    assert floor(F.sigmoid_cross_entropy(x, YES), [X]) == 0
