"""The products behind convolution on a device: each way gives what the CPU gives."""

import numpy as np
import pytest

import dezero.functions as F
from dezero import cuda
from dezero.functions import correlation, correlation_on_gpu
from dezero.functions.window_arguments import make_window
from dezero.kernels import Kernel

from ..functions.test_correlation import GEOMETRIES, problem

PRODUCTS = [
    (correlation.correlate, ("x", "W")),
    (correlation.correlate_transposed, ("y", "W")),
    (correlation.correlate_kernel, ("x", "y")),
]


def compare(function, arrays, window, groups, tolerance):
    there = function(*[cuda.as_cupy(a) for a in arrays], window, groups)
    here = function(*arrays, window, groups)
    assert there.dtype == here.dtype
    np.testing.assert_allclose(cuda.as_numpy(there), here, tolerance, tolerance)


# Elements of columns at a time: one image after the other, a few, all at once. Images
# side by side: always, as they have few places; or where there are groups only.
@pytest.mark.parametrize("part", [1, 1000, 1 << 30])
@pytest.mark.parametrize("tile", [0, 128])
@pytest.mark.parametrize("name", GEOMETRIES)
def test_each_way_gives_the_same(name, part, tile, monkeypatch):
    monkeypatch.setattr(correlation_on_gpu, "PART", part)
    monkeypatch.setattr(correlation_on_gpu, "TILE", tile)
    for dtype, tolerance in {"d": 1e-12, "f": 1e-4, "e": 2e-2}.items():
        x, W, y, window, G = problem(name, dtype=dtype)
        arrays = {"x": x, "W": W, "y": y}
        for function, names in PRODUCTS:
            compare(function, [arrays[k] for k in names], window, G, tolerance)


@pytest.mark.parametrize("name", ["plain", "grouped", "of one element"])
def test_an_empty_batch(name):
    x, W, y, window, G = problem(name, N=0)
    for function, names in PRODUCTS:
        arrays = [{"x": x, "W": W, "y": y}[k] for k in names]
        compare(function, arrays, window, G, 0)


def test_integers():
    x, W, y, window, G = [
        np.round(3 * a).astype(int) if isinstance(a, np.ndarray) else a
        for a in problem("padded")
    ]
    for function, names in PRODUCTS:
        compare(function, [{"x": x, "W": W, "y": y}[k] for k in names], window, G, 0)


# (channels, size of the image, groups), and the products: of two matrices, or of stacks
# with a step from one left matrix to the next.
WORK = {
    "many places": ((4, 16, 1), [("stack", 0), ("stack", 0), ("stack", 4 * 256)]),
    "few places": ((4, 5, 1), ["matrices"] * 3),
    "groups": ((4, 6, 2), [("stack", 36), ("stack", 36), ("stack", 360)]),
}


@pytest.mark.parametrize("name", WORK)
def test_how_much_is_done(name, monkeypatch, cupy):
    (C, size, groups), products = WORK[name]
    found, ran = [], []
    gemm, matmul, call = cuda.strided_gemm, cupy.matmul, Kernel.__call__

    def one(a, b, c, sizes, alpha):
        found.append(("stack", b[3]))
        gemm(a, b, c, sizes, alpha)

    def other(a, b, out=None):
        assert a.ndim == b.ndim == 2  # else CuPy copies, and makes pointers
        found.append("matrices")
        return matmul(a, b, out=out)

    def launch(self, *args, **options):
        ran.append(self)
        return call(self, *args, **options)

    monkeypatch.setattr(cuda, "strided_gemm", one)
    monkeypatch.setattr(cupy, "matmul", other)
    monkeypatch.setattr(Kernel, "__call__", launch)
    window = make_window("f", (size, size), 3, 1, 1, 1)
    x = cupy.asarray(np.ones((5, C, size, size), np.float32))
    W = cupy.asarray(np.ones((C, C // groups, 3, 3), np.float32))
    counts = []
    for function, names in PRODUCTS:
        before = len(ran)
        function(*[{"x": x, "W": W, "y": x}[k] for k in names], window, groups)
        counts.append(len(ran) - before)
    assert (counts, found) == ([1, 1, 1], products)


def test_the_shared_kernel_has_a_step_of_nothing(monkeypatch):
    told = []
    monkeypatch.setattr(cuda, "strided_gemm", lambda a, b, *rest: told.append((a, b)))
    window = make_window("f", (16, 16), 3, 1, 1, 1)
    x = cuda.as_cupy(np.ones((5, 4, 16, 16), np.float32))
    W = cuda.as_cupy(np.ones((6, 4, 3, 3), np.float32))
    correlation.correlate(x, W, window)
    ((column, kernel),) = told
    assert column[1:] == (False, 256, 36 * 256) and kernel[1:] == (False, 36, 0)
    y = cuda.as_cupy(np.ones((5, 6, 16, 16), np.float32))
    correlation.correlate_transposed(y, W, window)
    assert told[1][1][1:] == (True, 36, 0)


@pytest.mark.parametrize("groups", [1, 2, 4])
def test_an_image_that_is_padding_only(groups):
    window = make_window("conv2d", (0, 3), (2, 2), (1, 1), (1, 1), (1, 1))
    x, W = np.ones((2, 4, 0, 3)), np.ones((4, 4 // groups, 2, 2))
    y = np.ones((2, 4, *window.places))
    arrays = {"x": x, "W": W, "y": y}
    for function, names in PRODUCTS:
        compare(function, [arrays[k] for k in names], window, groups, 0)


@pytest.mark.parametrize("groups", [1, 2, 4])
def test_a_kernel_on_the_other_side(groups):
    x, W = np.ones((2, 4, 3, 3)), np.ones((4, 4 // groups, 2, 2))
    message = "Conv2d: expected all arguments on one device, got "
    for a, b, places in (
        (cuda.as_cupy(x), W, "cuda:0, cpu"),
        (x, cuda.as_cupy(W), "cpu, cuda:0"),
    ):
        with pytest.raises(TypeError, match=message + places):
            F.conv2d(a, b, groups=groups)
