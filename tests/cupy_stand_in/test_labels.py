"""Labels on the device: nobody waits to look at them."""

import numpy as np
import pytest

import dezero.functions as F
from dezero import Variable, cuda
from dezero.testing.passes import map_arrays

from .transfers import transfers

X = np.linspace(-1, 1, 12).reshape(4, 3)
LABELS = np.array([0, 2, 1, 2])
WEIGHTS = np.array([0.2, 0.5, 1.5])


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize(
    "options",
    [
        {"class_weights": WEIGHTS},
        {"ignore_label": 2},
        {"ignore_label": 2, "class_weights": WEIGHTS},
        {"ignore_label": 2, "label_smoothing": 0.1},
    ],
)
def test_labels_that_do_not_count(options, reduction):
    results = []
    for move in (cuda.as_numpy, cuda.as_cupy):
        x, t = Variable(move(X)), move(LABELS)
        x.data[1] = np.nan  # of an ignored label: no harm is done
        if "ignore_label" not in options:
            x.data[1] = 0.5
        moved_options = map_arrays(options, move)
        with transfers() as moved:
            y = F.softmax_cross_entropy(x, t, **moved_options, reduction=reduction)
            y.backward()
        assert not moved.lines, moved
        results.append([cuda.as_numpy(a) for a in (y, x.grad)])
    for a, b in zip(*results, strict=True):
        np.testing.assert_allclose(b, a, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("weights", [None, WEIGHTS])
def test_where_no_label_counts_the_loss_is_0(weights):
    x, t = Variable(cuda.as_cupy(X)), cuda.as_cupy(np.zeros(4, int))
    if weights is not None:
        weights = cuda.as_cupy(weights)
    y = F.softmax_cross_entropy(x, t, weights, ignore_label=0)
    y.backward()
    assert float(y) == 0 and not cuda.as_numpy(x.grad).any()


# A label that a CPU refuses.
WRONG = {
    "softmax_cross_entropy": lambda move: F.softmax_cross_entropy(
        move(X), move(np.array([0, 3, 1, 2]))
    ),
    "softmax_cross_entropy_simple": lambda move: F.softmax_cross_entropy_simple(
        move(X), move(np.array([0, -1, 1, 2]))
    ),
    "nll_loss": lambda move: F.nll_loss(move(X), move(np.array([0, 3, 1, 2]))),
    "hinge": lambda move: F.hinge(move(X), move(np.array([0, 3, 1, 2]))),
}


@pytest.mark.parametrize("call", WRONG.values(), ids=WRONG)
def test_a_wrong_label_makes_the_loss_nan(call):
    with pytest.raises(ValueError):
        call(np.copy)
    with transfers() as moved:
        y = call(cuda.as_cupy)
        assert moved.to_host == 0, moved
    assert np.isnan(cuda.as_numpy(y))
