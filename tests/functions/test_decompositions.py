import numpy as np
import pytest
from hypothesis import strategies as st

import dezero.functions as F
from dezero import Variable, no_grad
from dezero.testing import Case, arrays, broadcastable, shapes

LinAlgError = np.linalg.LinAlgError


def well_conditioned(draw, lead, n, signs=(-1.0, 1.0)):
    """Matrices whose diagonal outweighs the rest of each row."""
    x = draw(arrays((*lead, n, n), low=-1.0, high=1.0))
    diagonal = [draw(st.sampled_from(signs)) * (n + 0.5) for _ in range(n)]
    return x + np.diag(diagonal)


@st.composite
def matrices(draw, signs=(-1.0, 1.0)):
    return well_conditioned(
        draw, draw(shapes(max_dims=2, max_side=2)), draw(st.integers(1, 3)), signs
    )


@st.composite
def systems(draw, vector=False):
    lead, lead_b = draw(broadcastable(2, max_dims=2, max_side=2))
    n = draw(st.integers(1, 3))
    A = well_conditioned(draw, lead.shape, n)
    if vector:
        return A, draw(arrays((n,)))
    return A, draw(arrays((*lead_b.shape, n, draw(st.integers(1, 2)))))


def symmetric(x):
    return (x + F.swapaxes(x, -1, -2)) * 0.5


CASES = [
    Case(F.inv, matrices(), reference=np.linalg.inv),
    Case(F.solve, systems(), reference=np.linalg.solve),
    Case(F.solve, systems(vector=True), reference=np.linalg.solve),
    # Through a function that gives symmetric matrices: cholesky takes them to be.
    Case(
        lambda x: F.cholesky(symmetric(x)),
        matrices(signs=(1.0,)),
        reference=lambda x: np.linalg.cholesky((x + x.swapaxes(-1, -2)) / 2),
        name="cholesky",
    ),
]

SINGULAR = np.array([[1.0, 2.0], [2.0, 4.0]])

ERRORS = [
    (lambda: F.inv(np.ones(3)), ValueError, r"inv: .*square .*x of shape \(3,\)"),
    (lambda: F.inv(np.ones((2, 3))), ValueError, r"inv: .*square .*\(2, 3\)"),
    (lambda: F.inv(SINGULAR), LinAlgError, r"inv: .*invertible.*\(2, 2\)"),
    (lambda: F.solve(np.ones((2, 3)), np.ones(2)), ValueError, r"solve: .*A of shape"),
    (lambda: F.solve(np.eye(2), np.ones(3)), ValueError, r"solve: .*b \(N,\) .*\(3,\)"),
    (lambda: F.solve(np.eye(2), np.array(1.0)), ValueError, r"solve: .*shape \(\)"),
    (
        lambda: F.solve(np.eye(2), np.ones((1, 2))),
        ValueError,
        r"solve: .*b of shape \(1, 2\)",
    ),
    (
        lambda: F.solve(np.ones((2, 3, 3)), np.ones((4, 3, 1))),
        ValueError,
        r"solve: .*broadcast.*\(2, 3, 3\) .*\(4, 3, 1\)",
    ),
    (lambda: F.solve(SINGULAR, np.ones(2)), LinAlgError, r"solve: .*invertible"),
    (lambda: F.cholesky(np.ones((2, 1))), ValueError, r"cholesky: .*square"),
    (
        lambda: F.cholesky(np.stack([np.eye(2), -np.eye(2)])),
        LinAlgError,
        r"cholesky: .*positive definite.*\(2, 2, 2\)",
    ),
]


@pytest.mark.parametrize("lead", [(), (2,), (0,)])
def test_matrices_without_elements(lead):
    x = Variable(np.zeros((*lead, 0, 0)))
    b = Variable(np.zeros((*lead, 0, 3)))
    assert F.inv(x).shape == F.cholesky(x).shape == x.shape
    assert F.solve(x, b).shape == b.shape
    for y in (F.inv(x), F.cholesky(x), F.solve(x, b)):
        x.cleargrad()
        y.backward(create_graph=True)
        assert x.grad.shape == x.shape


def test_a_stack_of_no_matrices():
    x = Variable(np.zeros((0, 2, 2)))
    for y in (F.inv(x), F.cholesky(x), F.solve(x, x)):
        x.cleargrad()
        y.backward()
        assert x.grad.shape == (0, 2, 2)


def test_cholesky_reads_the_lower_triangle_and_shares_the_gradient():
    L = np.array([[2.0, 0.0], [1.0, 3.0]])
    x = L @ L.T
    lower = Variable(np.tril(x))
    y = F.cholesky(lower)
    assert np.allclose(y.data, L)
    F.sum(y).backward()
    assert lower.grad.data[0, 1] == lower.grad.data[1, 0] != 0


@pytest.mark.parametrize("dtype", ["int64", "uint8", "bool"])
def test_integers_give_double_precision(dtype):
    x = np.array([[1, 0], [1, 1]]).astype(dtype)
    ys = [F.inv(x), F.solve(x, x), F.solve(x, x[0])]
    assert {str(y.dtype) for y in [*ys, F.cholesky(np.eye(2, dtype=dtype))]} == {
        "float64"
    }
    assert F.inv(x).data.tolist() == [[1, 0], [-1, 1]]


def test_solve_gives_what_the_precisions_of_both_give():
    A, b = np.eye(2), np.ones(2)
    for dtypes, result in {
        ("float16", "float16"): "float16",
        ("float16", "float32"): "float32",
        ("float64", "float16"): "float64",
        ("float32", "int8"): "float64",
    }.items():
        y = F.solve(A.astype(dtypes[0]), b.astype(dtypes[1]))
        assert y.dtype == result


def test_solve_is_as_numpy_in_what_counts_as_a_vector():
    A = np.stack([np.eye(2), 2 * np.eye(2)])
    b = np.array([[1.0, 2.0], [3.0, 4.0]])
    assert np.array_equal(F.solve(A, b).data, np.linalg.solve(A, b))
    assert F.solve(A, b).shape == (2, 2, 2)
    assert F.solve(A, b[0]).shape == (2, 2)


def test_a_singular_matrix_among_others_is_found():
    with no_grad(), pytest.raises(ValueError, match=r"inv: .*\(2, 2, 2\)"):
        F.inv(np.stack([np.eye(2), SINGULAR]))
