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


@pytest.mark.parametrize("dtype", ["e", "f", "d"])
def test_one_id_in_a_table_of_numbers(dtype):
    """Both are 0-d then, the row and its gradient."""
    results = []
    for move in (cuda.as_numpy, cuda.as_cupy):
        W = Variable(move(np.arange(3, dtype=dtype)))
        y = F.embed_id(move(np.array(1)), W)
        (y * 2.0).backward()
        assert y.shape == () and W.grad.dtype == np.dtype(dtype)
        results.append([cuda.as_numpy(a) for a in (y, W.grad)])
    np.testing.assert_equal(*results)
    np.testing.assert_array_equal(results[1][1], [0, 2, 0])


ON_TWO_SIDES = {
    "embed_id": lambda W, ids: F.embed_id(ids[0], W),
    "take": lambda W, ids: F.take(W, ids, 0),
    "take_along_axis": lambda W, ids: F.take_along_axis(W, ids),
}


@pytest.mark.parametrize("name", ON_TWO_SIDES)
def test_ids_on_the_other_side(name):
    """Those of a CPU are moved, those of a GPU are not."""
    ids = np.array([[0, 2]])
    y = ON_TWO_SIDES[name](cuda.as_cupy(X), ids)
    assert cuda.device_of(y) == "cuda:0"
    message = f"{name}: expected all arguments on one device, got cpu, cuda:0"
    with pytest.raises(TypeError, match=message):
        ON_TWO_SIDES[name](X, cuda.as_cupy(ids))
