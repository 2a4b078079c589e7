"""cuBLAS, as far as it is used: on addresses, and with matrices stored by columns."""

import ctypes

import numpy as np

from . import memory

CUBLAS_OP_N, CUBLAS_OP_T = 0, 1
CUBLAS_GEMM_DEFAULT = -1
# Of CUDA itself, for which number each dtype goes.
CUDA_R_32F, CUDA_R_64F = 0, 1
DTYPES = {CUDA_R_32F: np.float32, CUDA_R_64F: np.float64}
HANDLE = 0xB1A5


class CUBLASError(RuntimeError):
    """What cuBLAS says of arguments that cannot be."""

    def __init__(self, reason):
        super().__init__(f"CUBLAS_STATUS_INVALID_VALUE: {reason}")


def gemm_strided_batched_ex(
    handle,
    transa,
    transb,
    m,
    n,
    k,
    alpha,
    A,
    Atype,
    lda,
    strideA,
    B,
    Btype,
    ldb,
    strideB,
    beta,
    C,
    Ctype,
    ldc,
    strideC,
    batchCount,
    computeType,
    algo,
):
    """``C = alpha * op(A) @ op(B) + beta * C`` for each of a stack of matrices.

    Element (i, j) of a matrix lies at ``i + j * ld``, matrix b at ``b * stride``.
    """
    numbers = [transa, transb, m, n, k, lda, ldb, ldc, strideA, strideB, strideC]
    if any([type(number) is not int for number in [*numbers, A, B, C, alpha, beta]]):
        raise TypeError("an integer is required")
    if handle != HANDLE or algo != CUBLAS_GEMM_DEFAULT:
        raise CUBLASError(f"handle {handle}, algo {algo}")
    if not Atype == Btype == Ctype == computeType or Atype not in DTYPES:
        raise CUBLASError(f"types {Atype}, {Btype}, {Ctype}, {computeType}")
    if {transa, transb} - {CUBLAS_OP_N, CUBLAS_OP_T} or min(m, n, k, batchCount) < 0:
        raise CUBLASError(f"operations {transa, transb}, sizes {m, n, k, batchCount}")
    if batchCount > 1 and abs(strideC) < m * n:
        raise CUBLASError(f"results of {m}x{n} lie {strideC} apart")
    dtype = DTYPES[Atype]
    a = _matrices(A, dtype, transa, m, k, lda, strideA, batchCount)
    b = _matrices(B, dtype, transb, k, n, ldb, strideB, batchCount)
    c = _matrices(C, dtype, CUBLAS_OP_N, m, n, ldc, strideC, batchCount)
    alpha, beta = _number(alpha, dtype), _number(beta, dtype)
    with np.errstate(all="ignore"):
        product = alpha * np.matmul(a, b)
        c[...] = product if beta == 0 else product + beta * c


def _matrices(address, dtype, operation, rows, columns, ld, stride, count):
    """A stack (count, rows, columns), after the operation."""
    stored = rows if operation == CUBLAS_OP_N else columns
    if ld < max(1, stored):
        raise CUBLASError(f"a leading dimension of {ld} for columns of {stored}")
    steps = (1, ld) if operation == CUBLAS_OP_N else (ld, 1)
    return memory.at(address, dtype, (count, rows, columns), (stride, *steps))


def _number(address, dtype):
    """The number at an address of the host."""
    kind = ctypes.c_float if dtype is np.float32 else ctypes.c_double
    return dtype(kind.from_address(address).value)


BLAS = {
    "CUBLASError": CUBLASError,
    "CUBLAS_OP_N": CUBLAS_OP_N,
    "CUBLAS_OP_T": CUBLAS_OP_T,
    "CUBLAS_GEMM_DEFAULT": CUBLAS_GEMM_DEFAULT,
    "gemmStridedBatchedEx": gemm_strided_batched_ex,
}
