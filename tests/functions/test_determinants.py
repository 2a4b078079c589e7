import numpy as np
import pytest
from hypothesis import strategies as st

import dezero.functions as F
from dezero import Variable
from dezero.testing import Case, arrays, check_gradients, shapes

LinAlgError = np.linalg.LinAlgError


@st.composite
def matrices(draw):
    """Matrices whose diagonal outweighs the rest of each row."""
    n = draw(st.integers(1, 3))
    lead = draw(shapes(max_dims=2, max_side=2))
    x = draw(arrays((*lead, n, n), low=-1.0, high=1.0))
    signs = [draw(st.sampled_from([-1.0, 1.0])) for _ in range(n)]
    return x + np.diag(signs) * (n + 0.5)


CASES = [
    Case(F.det, matrices(), reference=np.linalg.det, order=3),
    Case(F.slogdet, matrices(), reference=np.linalg.slogdet),
]

SINGULAR = np.array([[1.0, 2.0], [2.0, 4.0]])

ERRORS = [
    (lambda: F.det(np.ones((1, 2, 3))), ValueError, r"det: .*square .*\(1, 2, 3\)"),
    (lambda: F.slogdet(np.ones(())), ValueError, r"slogdet: .*square .*shape \(\)"),
    (
        lambda: F.slogdet(Variable(SINGULAR))[1].backward(),
        LinAlgError,
        r"slogdet, gradient: .*invertible",
    ),
]


@pytest.mark.parametrize("n", [2, 3, 4])
@pytest.mark.parametrize("lost", [1, 2, 3])
def test_det_has_its_derivatives_where_the_rank_falls_short(n, lost):
    rng = np.random.RandomState(n)
    rank = max(n - lost, 0)
    x = rng.randn(2, n, rank) @ rng.randn(2, rank, n)
    check_gradients(F.det, x, order=2).assert_ok(1e-5)


def test_the_gradient_of_det_is_the_adjugate_at_a_singular_matrix():
    x = Variable(np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]]))
    F.det(x).backward()
    adjugate = np.array([[-3.0, 6.0, -3.0], [6.0, -12.0, 6.0], [-3.0, 6.0, -3.0]])
    assert np.allclose(x.grad.data, adjugate.T, atol=1e-13)


def test_third_derivatives_of_det_at_a_singular_matrix_are_refused():
    x = Variable(SINGULAR)
    for _ in range(2):
        y = F.det(x) if x.grad is None else F.sum(x.grad**2)
        x.cleargrad()
        y.backward(create_graph=True)
    y = F.sum(x.grad**2)
    with pytest.raises(LinAlgError, match="det, third derivative: .*invertible"):
        y.backward()


@pytest.mark.parametrize("lead", [(), (2,), (0,)])
def test_matrices_without_elements(lead):
    x = Variable(np.zeros((*lead, 0, 0)))
    assert F.det(x).data.tolist() == np.ones(lead).tolist()
    sign, y = F.slogdet(x)
    assert sign.data.tolist() == np.ones(lead).tolist()
    assert y.data.tolist() == np.zeros(lead).tolist()
    for y in (F.det(x), F.slogdet(x)[1]):
        x.cleargrad()
        y.backward(create_graph=True)
        assert x.grad.shape == x.shape


def test_a_stack_of_no_matrices():
    x = Variable(np.zeros((0, 2, 2)))
    for y in (F.det(x), F.slogdet(x)[1]):
        x.cleargrad()
        y.backward(create_graph=True)
        gx = x.grad
        x.cleargrad()
        gx.backward()
        assert x.grad.shape == gx.shape == (0, 2, 2)


@pytest.mark.parametrize("dtype", ["int64", "uint8", "bool"])
def test_integers_give_double_precision(dtype):
    x = np.array([[1, 0], [1, 1]]).astype(dtype)
    assert {str(y.dtype) for y in (F.det(x), *F.slogdet(x))} == {"float64"}


def test_slogdet_of_a_singular_matrix():
    sign, y = F.slogdet(SINGULAR)
    assert (sign.item(), y.item()) == (0.0, -np.inf)


def test_slogdet_does_not_overflow_and_its_sign_is_a_constant():
    x = Variable(np.diag(np.full(300, -100.0)))
    x.data[0, 0] = 100.0
    sign, y = F.slogdet(x)
    assert sign.item() == -1.0 and not sign.requires_grad
    assert np.isclose(y.item(), 300 * np.log(100.0))
    y.backward()
    assert np.allclose(np.diag(x.grad.data), [0.01] + [-0.01] * 299)


@pytest.mark.parametrize("create_graph", [False, True])
def test_no_number_stays_in_its_matrix(create_graph):
    stack = np.array([[[2.0, 1.0], [0.0, 3.0]], [[np.nan, 1.0], [0.0, 3.0]]])
    for f in (F.det, lambda x: F.slogdet(x)[1]):
        x = Variable(stack)
        y = f(x)
        y.backward(create_graph=create_graph)
        gx = x.grad
        one = Variable(stack[0])
        f(one).backward()
        np.testing.assert_allclose(gx.data[0], one.grad.data)
        assert np.isfinite(y.data[0]) and np.isnan(y.data[1])
        assert np.isnan(gx.data[1]).any()
        if create_graph:
            x.cleargrad()
            F.sum(gx).backward()
            assert np.isfinite(x.grad.data[0]).all()
