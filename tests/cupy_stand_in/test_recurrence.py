"""Sequences on a device: the CPU's numbers, and three calls for a step."""

import numpy as np
import pytest

import dezero.functions as F
from dezero import Variable, cuda

from .arrays import ndarray

T, N, I, H = 4, 3, 2, 5
NETWORKS = {"rnn": (F.rnn, 1, 1), "lstm": (F.lstm, 4, 2), "gru": (F.gru, 3, 1)}
HOLES = np.array([[1, 1, 0], [1, 0, 0], [1, 1, 1], [0, 1, 1]], bool)
PADDING = {
    "none": {},
    "lengths": {"lengths": np.array([4, 0, 2])},
    "holes": {"mask": HOLES},
}


def arguments(name, dtype=float, time=T):
    """x, first states, Wx, Wh, b; and bh in a GRU."""
    rng = np.random.default_rng(0)
    _, gates, states = NETWORKS[name]
    weights = [(I, gates * H), (H, gates * H), (gates * H,)]
    weights += [(gates * H,)] * (name == "gru")
    shapes = [(time, N, I), *[(N, H)] * states, *weights]
    return [rng.standard_normal(shape).astype(dtype) for shape in shapes]


def learn(name, arrays, padding, move):
    """Outputs and gradients of a loss of all outputs."""
    inputs = [None if a is None else Variable(move(a)) for a in arrays]
    padding = {k: move(a) for k, a in padding.items()}
    ys = NETWORKS[name][0](*inputs, **padding)
    F.sum(sum([F.sum(y * y) for y in ys])).backward()
    results = [*ys, *[v.grad for v in inputs if v is not None]]
    return [cuda.as_numpy(v) for v in results]


@pytest.mark.parametrize("padding", PADDING)
@pytest.mark.parametrize("name", NETWORKS)
def test_it_learns_what_the_cpu_learns(name, padding):
    for dtype, tolerance in {"d": 1e-12, "f": 1e-5, "e": 1e-2}.items():
        arrays = arguments(name, dtype)
        here, there = (
            learn(name, arrays, PADDING[padding], move)
            for move in (np.copy, cuda.as_cupy)
        )
        for a, b in zip(here, there, strict=True):
            assert a.dtype == b.dtype
            np.testing.assert_allclose(b, a, tolerance, tolerance)


@pytest.mark.parametrize("name", NETWORKS)
def test_without_states_and_biases(name):
    arrays = arguments(name)
    states = NETWORKS[name][2]
    arrays[1 : 1 + states] = [None] * states
    arrays[3 + states :] = [None] * len(arrays[3 + states :])
    here, there = (
        learn(name, arrays, PADDING["lengths"], move)
        for move in (np.copy, cuda.as_cupy)
    )
    for a, b in zip(here, there, strict=True):
        np.testing.assert_allclose(b, a, 1e-12, 1e-12)


@pytest.mark.parametrize("padding", PADDING)
def test_a_network_without_kernels(padding, monkeypatch):
    monkeypatch.setattr(F.RNN, "kernels", None)
    arrays = arguments("rnn")
    here, there = (
        learn("rnn", arrays, PADDING[padding], move) for move in (np.copy, cuda.as_cupy)
    )
    for a, b in zip(here, there, strict=True):
        np.testing.assert_allclose(b, a, 1e-12, 1e-12)


@pytest.mark.parametrize("padding", ["none", "holes"])
@pytest.mark.parametrize("name", NETWORKS)
def test_calls_of_a_step(name, padding, monkeypatch, cupy):
    """A view, a product and a launch each way; no more for padding."""
    counts = dict.fromkeys(["views", "products"], 0)
    get, matmul = ndarray.__getitem__, cupy.matmul

    def count_view(self, slices):
        counts["views"] += 1
        return get(self, slices)

    def count_product(*args, **options):
        counts["products"] += 1
        return matmul(*args, **options)

    monkeypatch.setattr(ndarray, "__getitem__", count_view)
    monkeypatch.setattr(cupy, "matmul", count_product)
    found = []
    for time in (T, 3 * T):
        masks = {"mask": np.tile(HOLES, (time // T, 1))} if padding == "holes" else {}
        counts.update(views=0, products=0)
        learn(name, arguments(name, time=time), masks, cuda.as_cupy)
        found.append(dict(counts))
    more = {k: found[1][k] - found[0][k] for k in counts}
    assert more == {"views": 2 * 2 * T, "products": 2 * 2 * T}


@pytest.mark.parametrize("name", NETWORKS)
def test_a_mask_on_the_other_side(name):
    arrays = [cuda.as_cupy(a) for a in arguments(name)]
    mask = np.ones(arrays[0].shape[:2], bool)
    message = f"{name}: expected all arguments on one device, got cuda:0, cpu"
    with pytest.raises(TypeError, match=message):
        getattr(F, name)(*arrays, mask=mask)
