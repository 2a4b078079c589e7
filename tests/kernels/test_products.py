"""Products of stacks of matrices on a GPU: however they lie there."""

import itertools

import numpy as np
import pytest

from dezero import cuda
from dezero.kernels import products

SHAPES = [
    ((3, 2, 4, 5), (3, 2, 5, 6)),
    ((4, 5), (3, 5, 6)),
    ((1, 2, 4, 5), (3, 1, 5, 6)),
    ((8, 33, 65), (8, 65, 129)),
]


def stored(x, transposed):
    """The same array on the GPU, its last two axes stored the other way round."""
    if not transposed:
        return cuda.as_cupy(x)
    return cuda.as_cupy(np.ascontiguousarray(x.swapaxes(-1, -2))).swapaxes(-1, -2)


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize(("first", "second"), SHAPES)
@pytest.mark.parametrize("flags", [*itertools.product([False, True], repeat=2)])
def test_it_computes_what_numpy_does(first, second, flags, dtype):
    rng = np.random.default_rng(0)
    a, b = (rng.standard_normal(shape).astype(dtype) for shape in (first, second))
    there = [stored(x, flag) for x, flag in zip((a, b), flags, strict=True)]
    y = products.matmul(*there, alpha=0.5)
    tolerance = {"e": 2e-2, "f": 1e-4, "d": 1e-12}[y.dtype.char]
    expected = np.matmul(a.astype(float), b.astype(float)) / 2
    np.testing.assert_allclose(cuda.as_numpy(y), expected, tolerance, tolerance)


def test_matrices_farther_apart_than_the_library_counts():
    """cuBLAS takes an int from row to row, and a long one from matrix to matrix."""
    far = products.MOST
    for rows, expected in ((far, (False, far, 9)), (far + 1, None)):
        strides = 4 * np.array([9, rows, 1])
        layout = products.layout_of((3, 2, 5), tuple(strides.tolist()), 4, (3,))
        assert layout == expected
