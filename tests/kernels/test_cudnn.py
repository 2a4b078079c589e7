"""The products of cuDNN are those that DeZero makes without it, on a real card."""

import contextlib

import numpy as np
import pytest

import dezero as dz
from dezero import cuda
from dezero.functions import correlation
from dezero.functions.windows import window_on
from dezero.kernels import cudnn

from ..cudnn_stand_in.installing import installed
from ..cupy_stand_in.modules import MODULES

# batch, channels, sizes, kernel, stride, pads, dilation, groups
CASES = {
    "3x3": ((4, 16, 16), (9, 8), (3, 3), (1, 1), ((1, 1),) * 2, (1, 1), 1),
    "7x7 stride 2": ((2, 3, 8), (13, 12), (7, 7), (2, 2), ((3, 3),) * 2, (1, 1), 1),
    "1x1 stride 2": ((2, 8, 16), (9, 8), (1, 1), (2, 2), ((0, 0),) * 2, (1, 1), 1),
    "uneven": ((2, 4, 6), (9, 8), (3, 2), (2, 1), ((1, 2), (0, 1)), (1, 2), 1),
    "groups": ((2, 8, 12), (7, 6), (3, 3), (1, 1), ((1, 1),) * 2, (1, 1), 4),
    "depthwise": ((2, 8, 8), (7, 6), (3, 3), (2, 1), ((1, 1),) * 2, (1, 1), 8),
    "one axis": ((3, 4, 6), (17,), (5,), (2,), ((2, 2),), (1,), 1),
    "three axes": (
        (2, 4, 6),
        (4, 5, 6),
        (3,) * 3,
        (1,) * 3,
        ((1, 1),) * 3,
        (1,) * 3,
        2,
    ),
}
TOLERANCE = {2: 1e-3, 4: 1e-5, 8: 1e-12}


@pytest.fixture(autouse=True)
def used():
    """cuDNN, or its stand-in where CuPy has one."""
    alone = cuda.cupy is MODULES["cupy"]
    with installed() if alone else contextlib.nullcontext():
        if dz.cudnn.version() is None:
            pytest.skip("no cuDNN: not installed, or not for this driver")
        yield


def example(name, dtype):
    (N, C, O), *given, groups = CASES[name]
    window = window_on(*given, False)
    rng = np.random.default_rng(0)
    shapes = [(N, C, *window.sizes), (O, C // groups, *window.kernel)]
    shapes.append((N, O, *window.places))
    return [rng.standard_normal(s).astype(dtype) for s in shapes], window, groups


def products(module, x, W, y, *how):
    return [
        module.correlate(x, W, *how),
        module.correlate_transposed(y, W, *how),
        module.correlate_kernel(x, y, *how),
    ]


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("name", CASES)
def test_cudnn_computes_what_is_computed_without(name, dtype):
    arrays, *how = example(name, dtype)
    exact = products(correlation, *[a.astype(float) for a in arrays], *how)
    there = [cuda.as_cupy(a) for a in arrays]
    for found in (products(cudnn, *there, *how), products(correlation, *there, *how)):
        for a, b in zip(found, exact, strict=True):
            assert a.dtype == dtype and a.shape == b.shape
            # Relative to all of them: with TF32 a float32 would be off by 1e-4.
            error = np.linalg.norm(cuda.as_numpy(a) - b) / np.linalg.norm(b)
            assert error < TOLERANCE[a.itemsize], (a.shape, error)


@pytest.mark.gpu
def test_the_current_stream_is_waited_for():
    arrays, *how = example("3x3", np.float32)
    x, W, y = [cuda.as_cupy(a) for a in arrays]
    expected = cuda.as_numpy(cudnn.correlate(x, W, *how))
    for _ in range(20):  # written just before, read just after
        x = cuda.as_cupy(arrays[0]) * 2
        z = cudnn.correlate(x, W, *how) / 2
        np.testing.assert_allclose(cuda.as_numpy(z), expected, 1e-5, 1e-5)
