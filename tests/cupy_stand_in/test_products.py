"""Products of stacks of matrices: cuBLAS is told where they lie, and nothing else."""

import itertools

import numpy as np
import pytest

from dezero import cuda
from dezero.kernels import products

from .blas import CUBLASError
from .modules import MODULES

rng = np.random.default_rng(0)


def floats(*shape, dtype=np.float32):
    return rng.standard_normal(shape).astype(dtype)


def laid_out(shape, how, dtype=np.float32):
    """Arrays of that shape, on the device, that lie there in different ways."""
    if how == "transposed":
        return cuda.as_cupy(floats(*shape[:-2], shape[-1], shape[-2])).swapaxes(-1, -2)
    if how == "a part":
        return cuda.as_cupy(floats(*shape[:-1], shape[-1] + 3))[..., 1:-2]
    if how == "heads" and len(shape) == 4:
        N, H, T, D = shape
        return cuda.as_cupy(floats(N, T, H, D)).swapaxes(1, 2)
    if how == "every second":
        return cuda.as_cupy(floats(*shape[:-1], 2 * shape[-1]))[..., ::2]
    if how == "backwards":
        return cuda.as_cupy(floats(*shape))[..., ::-1, :]
    return cuda.as_cupy(floats(*shape, dtype=dtype))


WAYS = ["plain", "transposed", "a part", "heads", "every second", "backwards"]
SHAPES = [
    ((3, 2, 4, 5), (3, 2, 5, 6)),
    ((4, 5), (3, 5, 6)),
    ((3, 4, 5), (5, 6)),
    ((1, 2, 4, 5), (3, 1, 5, 6)),
    ((2, 4, 5), (3, 2, 5, 6)),
    ((3, 2, 1, 5), (3, 2, 5, 1)),
    ((3, 2, 4, 1), (3, 2, 1, 6)),
    ((1, 1, 4, 5), (1, 1, 5, 6)),
    ((4, 5), (5, 6)),
    ((3, 0, 5), (3, 5, 6)),
    ((3, 4, 0), (3, 0, 6)),
    ((0, 4, 5), (0, 5, 6)),
]


@pytest.mark.parametrize(("first", "second"), SHAPES)
def test_however_they_lie(first, second):
    for way, other in itertools.product(WAYS, repeat=2):
        a, b = laid_out(first, way), laid_out(second, other)
        expected = np.matmul(a.get(), b.get())
        y = products.matmul(a, b)
        assert y.dtype == np.float32
        np.testing.assert_allclose(y.get(), expected, 1e-5, 1e-5)
        assert products.matmul(a, b, y, alpha=-2.0) is y
        np.testing.assert_allclose(y.get(), -2 * expected, 1e-5, 1e-5)


@pytest.fixture
def called(monkeypatch):
    """How the stacks lie that cuBLAS is told of: (transposed, leading, step)."""
    calls = []
    gemm = cuda.strided_gemm

    def record(a, b, c, sizes, alpha):
        calls.append((b[1:], a[1:]))  # as in y = a @ b, which is y.T = b.T @ a.T
        gemm(a, b, c, sizes, alpha)

    monkeypatch.setattr(cuda, "strided_gemm", record)
    return calls


PLAIN = {
    "a stack": ((3, 4, 5), (3, 5, 6), (False, 5, 20), (False, 6, 30)),
    "shared": ((4, 5), (3, 5, 6), (False, 5, 0), (False, 6, 30)),
    "two axes": ((3, 2, 4, 5), (3, 2, 5, 6), (False, 5, 20), (False, 6, 30)),
    "shared by two axes": ((1, 4, 5), (3, 2, 5, 6), (False, 5, 0), (False, 6, 30)),
}


@pytest.mark.parametrize("name", PLAIN)
def test_nothing_is_copied(called, name):
    first, second, *expected = PLAIN[name]
    products.matmul(laid_out(first, "plain"), laid_out(second, "plain"))
    assert called == [tuple(expected)]


def test_a_transposed_stack_is_not_copied(called):
    a, b = laid_out((3, 4, 5), "transposed"), laid_out((3, 5, 6), "transposed")
    products.matmul(a, b)
    assert called == [((True, 4, 20), (True, 5, 30))]


def test_a_part_of_an_array_is_not_copied(called):
    products.matmul(laid_out((3, 4, 5), "a part"), laid_out((3, 5, 6), "a part"))
    assert called == [((False, 8, 32), (False, 9, 45))]


@pytest.mark.parametrize("dtype", [np.float16, np.int32])
def test_dtypes_that_this_routine_does_not_know(called, dtype):
    a, b = (cuda.as_cupy(rng.integers(5, size=(2, 3, 3)).astype(dtype)) for _ in "ab")
    y = products.matmul(a, b, alpha=2)
    assert y.dtype == dtype and not called
    np.testing.assert_array_equal(y.get(), 2 * np.matmul(a.get(), b.get()))


def test_dtypes_that_differ(called):
    a, b = laid_out((2, 3, 3), "plain"), laid_out((2, 3, 3), "plain", np.float64)
    assert products.matmul(a, b).dtype == np.float64 and not called
    b = laid_out((2, 3, 3), "plain")
    wide = cuda.as_cupy(np.empty((2, 3, 3)))
    products.matmul(a, b, wide)
    np.testing.assert_allclose(wide.get(), np.matmul(a.get(), b.get()), 1e-5)


def test_results_that_do_not_lie_in_order(called):
    a, b = laid_out((2, 3, 3), "plain"), laid_out((2, 3, 4), "plain")
    y = cuda.as_cupy(np.zeros((2, 4, 3), np.float32)).swapaxes(1, 2)
    products.matmul(a, b, y)
    assert not called
    np.testing.assert_allclose(y.get(), np.matmul(a.get(), b.get()), 1e-5)


@pytest.mark.parametrize(
    ("a", "b", "out"),
    [
        ((2, 3, 4), (2, 3, 4), None),
        ((2, 3, 4), (3, 4, 3), None),
        ((2, 3, 4), (2, 4, 3), (2, 3, 4)),
    ],
)
def test_shapes_that_do_not_fit(called, a, b, out):
    a, b = laid_out(a, "plain"), laid_out(b, "plain")
    with pytest.raises(ValueError):
        products.matmul(a, b, None if out is None else laid_out(out, "plain"))
    assert not called


def test_two_devices():
    with cuda.device(1):
        a = laid_out((2, 3, 3), "plain")
    b = laid_out((2, 3, 3), "plain")
    with pytest.raises(ValueError, match=r"strided_gemm: .* one device, got \[0, 1, 0"):
        products.matmul(a, b)


# ---- cuBLAS itself: a mistake is found, not computed -----------------------------


def gemm(cupy, **changed):
    """y = a @ b for two stacks (3, 4, 5) and (3, 5, 6), but for what is changed."""
    a, b = laid_out((3, 4, 5), "plain"), laid_out((3, 5, 6), "plain")
    y = cupy.empty((3, 4, 6), np.float32)
    one, zero = np.ones(1, np.float32), np.zeros(1, np.float32)
    arguments = {
        **{"handle": cupy.cuda.get_cublas_handle(), "transa": 0, "transb": 0},
        **{"m": 6, "n": 4, "k": 5, "alpha": one.ctypes.data},
        **{"A": b.data.ptr, "Atype": 0, "lda": 6, "strideA": 30},
        **{"B": a.data.ptr, "Btype": 0, "ldb": 5, "strideB": 20},
        **{"beta": zero.ctypes.data},
        **{"C": y.data.ptr, "Ctype": 0, "ldc": 6, "strideC": 24},
        **{"batchCount": 3, "computeType": 0, "algo": -1},
    }
    call = MODULES["cupy_backends.cuda.libs"].cublas.gemmStridedBatchedEx
    call(*(arguments | changed).values())
    return y.get(), np.matmul(a.get(), b.get())


def test_by_columns(cupy):
    np.testing.assert_allclose(*gemm(cupy), 1e-5, 1e-5)


MISTAKES = [
    ({"lda": 5}, CUBLASError, "a leading dimension of 5 for columns of 6"),
    ({"transa": 1, "lda": 4}, CUBLASError, "a leading dimension of 4 for columns of 5"),
    ({"ldc": 5}, CUBLASError, "a leading dimension of 5 for columns of 6"),
    ({"strideC": 23}, CUBLASError, "results of 6x4 lie 23 apart"),
    ({"Atype": 1}, CUBLASError, "types 1, 0, 0, 0"),
    ({"transb": 3}, CUBLASError, "operations"),
    ({"handle": 0}, CUBLASError, "handle 0"),
    ({"lda": 7}, RuntimeError, "out of bounds"),
    ({"strideA": 31}, RuntimeError, "out of bounds"),
    ({"strideB": -20}, RuntimeError, "out of bounds"),
    ({"batchCount": 4}, RuntimeError, "out of bounds"),
    ({"A": 64}, RuntimeError, "no array has asked for the address 0x40"),
    ({"alpha": 1.0}, TypeError, "an integer is required"),
    (
        {"Atype": 1, "Btype": 1, "Ctype": 1, "computeType": 1},
        RuntimeError,
        "memory of float32 is used as float64",
    ),
]


@pytest.mark.parametrize(("changed", "error", "regex"), MISTAKES)
def test_mistakes(cupy, changed, error, regex):
    with pytest.raises(error, match=regex):
        gemm(cupy, **changed)


def test_memory_that_is_gone(cupy):
    ptr = laid_out((3, 5, 6), "plain").data.ptr
    with pytest.raises(RuntimeError, match="or is gone"):
        gemm(cupy, A=ptr)
