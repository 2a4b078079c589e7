import numpy as np
import pytest
from hypothesis import strategies as st

import dezero.functions as F
from dezero.core import Variable
from dezero.testing import Case, arrays

EQUATIONS = [
    ("ij,jk->ik", (2, 3), (3, 4)),
    ("ij,jk", (2, 3), (3, 4)),
    ("ij->ji", (2, 3)),
    ("ba", (2, 3)),
    ("ij->", (2, 3)),
    ("ij->j", (2, 3)),
    ("ii", (3, 3)),
    ("ii->i", (3, 3)),
    ("iij->j", (3, 3, 2)),
    ("iii,i->", (2, 2, 2), (2,)),
    ("i,j->", (2,), (3,)),
    ("i,i", (3,), (3,)),
    ("ij,ij->i", (2, 3), (2, 1)),
    ("ab,ab", (1, 3), (2, 3)),
    ("a,b,c->ca", (2,), (3,), (2,)),
    ("ij,jk,kl", (2, 3), (3, 4), (4, 2)),
    ("bhid,bhjd->bhij", (2, 2, 3, 4), (2, 2, 3, 4)),
    ("...ij,...jk->...ik", (5, 2, 3), (3, 4)),
    ("...ij,jk", (1, 2, 3), (3, 4)),
    ("i...->...", (2, 3)),
    (" i j , j -> i ", (2, 3), (3,)),
    ("->", ()),
    (",i->i", (), (3,)),
]


@st.composite
def operands(draw, shapes):
    return tuple([draw(arrays(shape)) for shape in shapes])


def of(equation, einsum):
    return lambda *xs: einsum(equation, *xs)


CASES = [
    Case(
        of(equation, F.einsum),
        operands(shapes),
        reference=of(equation, np.einsum),
        name="einsum",
    )
    for equation, *shapes in EQUATIONS
]


def refusal(equation, *shapes):
    return lambda: F.einsum(equation, *map(np.ones, shapes))


ERRORS = [
    (
        lambda: F.einsum(np.ones(2), [0]),
        TypeError,
        "einsum: expected subscripts like 'ij,jk->ik' first, got ndarray",
    ),
    (refusal("ij,jk", (2, 3)), ValueError, "einsum: .* per operand, got 1 operands in"),
    (refusal("i1->i", (2, 3)), ValueError, "einsum: .* letters .* got 'i1'"),
    (refusal("i......", (2, 3)), ValueError, "einsum: .* one '...' per term"),
    (
        refusal("ijk", (2, 3)),
        ValueError,
        r"einsum: .* axis of shape \(2, 3\), got 'ijk'",
    ),
    (refusal("i", (2, 3)), ValueError, r"einsum: .* axis of shape \(2, 3\), got 'i'"),
    (refusal("ijk...", (2, 3)), ValueError, r"einsum: .* one letter per axis"),
    (refusal("i...->i", (2, 3)), ValueError, "einsum: expected '...' in the result"),
    (refusal("ij->ii", (2, 3)), ValueError, "einsum: expected different letters"),
    (refusal("ij->ik", (2, 3)), ValueError, "einsum: .* of the operands .*, got 'k'"),
    (refusal("ij,jk", (2, 3), (4, 2)), ValueError, "einsum: .* for 'j', got 3 and 4"),
    (refusal("ii", (2, 3)), ValueError, "einsum: .* sizes for 'i', got 2 and 3"),
    (refusal("ii", (1, 3)), ValueError, "einsum: .* sizes for 'i', got 1 and 3"),
    (lambda: F.einsum("i", [1.0]), TypeError, "as_variable: .* got list"),
]


def test_a_summed_axis_beside_one_of_size_1():
    # b broadcasts along j, which is summed: the gradient of a has j in full.
    a, b = Variable(np.ones((2, 3))), Variable(np.full((2, 1), 2.0))
    F.einsum("ij,ij->i", a, b).backward()
    np.testing.assert_array_equal(a.grad.data, np.full((2, 3), 2.0))
    np.testing.assert_array_equal(b.grad.data, [[3.0], [3.0]])


@pytest.mark.parametrize("equation", ["ij->ji", "ij->ij"])
def test_a_view_is_not_added_to(equation):
    x = Variable(np.ones((2, 2)))
    seed = np.ones((2, 2))
    y = F.einsum(equation, x)
    for _ in range(2):
        y.backward(grad=seed)
    np.testing.assert_array_equal(x.grad.data, np.full((2, 2), 2.0))
    np.testing.assert_array_equal(seed, np.ones((2, 2)))


def test_third_derivative():
    x = Variable(np.array([1.0, 2.0]))
    y = F.einsum("i,i,i->", x, x, x)
    for expected in ([3.0, 12.0], [6.0, 12.0], [6.0, 6.0]):
        x.cleargrad()
        y.backward(create_graph=True)
        np.testing.assert_allclose(x.grad.data, expected)
        y = F.sum(x.grad)
