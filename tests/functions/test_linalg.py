import numpy as np
import pytest
from hypothesis import strategies as st

import dezero.functions as F
from dezero.core import Variable, run_backward
from dezero.testing import Case, arrays, broadcastable, shapes


@st.composite
def products(draw, vectors=True):
    """Operands of matmul: stacks of matrices that broadcast, and vectors."""
    N, K, M = draw(st.tuples(*[st.integers(1, 3)] * 3))
    batch0, batch1 = draw(broadcastable(2, max_dims=2, max_side=3))
    x = draw(arrays((*batch0.shape, N, K)))
    W = draw(arrays((*batch1.shape, K, M)))
    kind = draw(st.sampled_from(["matrices", "x", "W", "both"] if vectors else [""]))
    if kind in ("x", "both"):
        x = draw(arrays((K,)))
    if kind in ("W", "both"):
        W = draw(arrays((K,)))
    return x, W


@st.composite
def affine(draw, bias=True):
    D, O = draw(st.tuples(st.integers(1, 3), st.integers(1, 3)))
    lead = draw(shapes(max_dims=2))
    xs = draw(arrays((*lead, D))), draw(arrays((D, O)))
    return (*xs, draw(arrays((O,)))) if bias else xs


@st.composite
def dot_operands(draw):
    K = draw(st.integers(1, 3))
    kind = draw(st.sampled_from(["number", "vectors", "matrices", "stacks"]))
    if kind == "number":
        xs = draw(arrays(())), draw(arrays(max_dims=2))
        return xs[:: draw(st.sampled_from([1, -1]))]
    if kind == "vectors":
        return draw(arrays((K,))), draw(arrays((K,)))
    lead = draw(shapes(max_dims=2))
    W = draw(arrays((2, K, 3) if kind == "stacks" else (K, 2)))
    return draw(arrays((*lead, K))), W


def tensordot_pairs(x0, x1):
    return st.sampled_from([((0, 2), (2, 1)), ((2,), (1,)), (-3, -1), ((), ())]).map(
        lambda axes: {"axes": axes}
    )


CASES = [
    Case(F.matmul, products(), reference=np.matmul),
    Case(F.linear, affine(), reference=lambda x, W, b: x @ W + b),
    Case(F.linear, affine(bias=False), reference=np.matmul),
    Case(F.linear_simple, affine(), reference=lambda x, W, b: x @ W + b),
    Case(F.linear_simple, affine(bias=False), reference=np.matmul),
    Case(F.dot, dot_operands(), reference=np.dot),
    Case(
        F.tensordot,
        arrays((2, 3, 4)),
        arrays((5, 4, 2)),
        reference=np.tensordot,
        options=tensordot_pairs,
    ),
    Case(F.tensordot, arrays((2, 3, 4)), arrays((3, 4)), reference=np.tensordot),
    Case(F.outer, arrays(max_dims=2), arrays(max_dims=2), reference=np.outer),
    Case(F.inner, arrays((2, 3)), arrays((4, 1, 3)), reference=np.inner),
    Case(F.inner, arrays(()), arrays(max_dims=2), reference=np.inner),
]

ERRORS = [
    (
        lambda: F.linear_simple(np.ones((2, 3)), np.ones((4, 5))),
        ValueError,
        r"linear_simple: expected x .* \(2, 3\), W of shape \(4, 5\) and b None",
    ),
    (
        lambda: F.dot(np.ones((2, 3)), np.ones((4, 5))),
        ValueError,
        r"dot: .* x0 of shape \(2, 3\) and x1 of shape \(4, 5\)",
    ),
    (
        lambda: F.tensordot(np.ones(3), np.ones(3), 0.5),
        TypeError,
        "tensordot: expected a number or a pair of axes, got float",
    ),
    (
        lambda: F.matmul(np.ones((2, 3)), np.ones((4, 5))),
        ValueError,
        r"matmul: .* \(2, 3\) and W of shape \(4, 5\)",
    ),
    (
        lambda: F.matmul(np.ones(3), 2.0),
        ValueError,
        r"matmul: .* W of shape \(\); .*\*",
    ),
    (
        lambda: F.matmul(np.ones((2, 3, 4)), np.ones((3, 4, 5))),
        ValueError,
        r"matmul: .* x of shape \(2, 3, 4\) and W of shape \(3, 4, 5\)",
    ),
    (
        lambda: F.linear(np.ones((2, 3)), np.ones((4, 5))),
        ValueError,
        r"linear: .* x of shape \(2, 3\), W of shape \(4, 5\) and b None",
    ),
    (
        lambda: F.linear(np.ones((2, 3)), np.ones((3, 5)), np.ones(4)),
        ValueError,
        r"linear: .* \(2, 3\), W of shape \(3, 5\) and b of shape \(4,\)",
    ),
    (
        lambda: F.linear(np.ones((1, 3)), np.ones((3, 5)), np.ones((2, 5))),
        ValueError,
        r"linear: .* b of shape \(2, 5\)",
    ),
    (
        lambda: F.tensordot(np.ones((2, 3)), np.ones((2, 3)), 3),
        ValueError,
        r"tensordot: expected axes in \[0, 2\], got 3",
    ),
    (
        lambda: F.tensordot(np.ones((2, 3)), np.ones((2, 3)), 1),
        ValueError,
        r"tensordot: .* \(1,\) of shape \(2, 3\) and axes \(0,\) of shape \(2, 3\)",
    ),
    (
        lambda: F.tensordot(np.ones(2), np.ones(2), (0, 0, 0)),
        ValueError,
        r"tensordot: expected a number or a pair of axes, got \(0, 0, 0\)",
    ),
    (
        lambda: F.inner(np.ones((2, 3)), np.ones(2)),
        ValueError,
        r"inner: .* \(2, 3\) and \(2,\)",
    ),
]


def test_linear_equals_its_composition_to_second_order():
    rng = np.random.default_rng(0)
    arrays = rng.normal(size=(2, 3, 4)), rng.normal(size=(4, 5)), rng.normal(size=5)
    results = []
    for linear in (F.linear, F.linear_simple):
        x, W, b = (Variable(a) for a in arrays)
        y = linear(x, W, b)
        F.sum(F.tanh(y)).backward(create_graph=True)
        first = [x.grad, W.grad, b.grad]
        for v in (x, W, b):
            v.cleargrad()
        sum(F.sum(g * g) for g in first).backward()
        second = [x.grad, W.grad, b.grad]
        results.append([y, *first, *second])
    for fused, simple in zip(*results, strict=True):
        np.testing.assert_allclose(fused.data, simple.data, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize(
    "shapes",
    [
        ((4, 3), (3, 2)),
        ((5, 4, 3), (3, 2)),
        ((0, 3), (3, 2)),
        ((3,), (3, 2)),
        ((4, 3), (3,)),
        ((4, 3), (5, 3, 2)),
        ((6, 1, 4, 3), (5, 3, 2)),
    ],
)
@pytest.mark.parametrize("dtypes", ["ff", "fd", "df", "ee"])
def test_a_pass_that_is_not_recorded_gives_the_same(shapes, dtypes):
    rng = np.random.default_rng(0)
    arrays = [
        rng.normal(size=shape).astype(dtype)
        for shape, dtype in zip(shapes, dtypes, strict=True)
    ]
    b = rng.normal(size=shapes[1][-1:]).astype(dtypes[1])
    calls = [(F.matmul, arrays)]
    if len(shapes[1]) == 2:
        calls.append((F.linear, [*arrays, b]))
    for function, operands in calls:
        found, expected = ([Variable(a) for a in operands] for _ in range(2))
        y = function(*found)
        gy = rng.normal(size=y.shape).astype(y.dtype)
        y.backward(grad=gy)
        function(*expected).backward(create_graph=True, grad=gy)
        for v, w in zip(found, expected, strict=True):
            assert v.grad.dtype == w.grad.dtype == v.dtype
            np.testing.assert_allclose(v.grad.data, w.grad.data, rtol=1e-5, atol=1e-5)


def test_linear_computes_no_gradient_for_a_constant():
    x, W = np.ones((2, 3)), Variable(np.ones((3, 4)))
    y = F.linear(x, W, np.ones(4))
    gx, gW, gb = y.creator.backward(Variable(np.ones((2, 4))))
    assert gx is None and gb is None and gW.shape == (3, 4)


def test_matmul_computes_no_gradient_for_a_constant():
    y = F.matmul(np.ones((2, 3)), Variable(np.ones((3, 4))))
    gx, gW = y.creator.backward(Variable(np.ones((2, 4))))
    assert gx is None and gW.shape == (3, 4)


@pytest.mark.parametrize("shape", [(5,), (1, 5), (1,), (), (2, 1)])
def test_linear_takes_a_bias_that_broadcasts(shape):
    x, W, b = np.ones((2, 3)), np.ones((3, 5)), Variable(np.full(shape, 2.0))
    y = F.linear(x, W, b)
    y.backward()
    np.testing.assert_array_equal(y.data, np.full((2, 5), 5.0))
    np.testing.assert_array_equal(b.grad.data, np.full(shape, 10 / b.size))


@pytest.mark.parametrize("lead", [(), (1,)])
def test_linear_of_one_sample_leaves_the_incoming_gradient_alone(lead):
    b = Variable(np.zeros(2))
    seed = Variable(np.ones((*lead, 2)))
    y = F.linear(np.ones((*lead, 3)), np.ones((3, 2)), b)
    table = run_backward([y, y], [seed, seed])
    np.testing.assert_array_equal(table[b].data, [2.0, 2.0])
    np.testing.assert_array_equal(seed.data, np.ones((*lead, 2)))


def test_linear_takes_a_bias_of_wider_dtype():
    x, W = np.ones((2, 3), np.float32), np.ones((3, 2), np.float32)
    assert F.linear(x, W, np.full(2, 0.1)).dtype == np.float64
    assert F.linear(x, W, np.ones(2, np.float16)).dtype == np.float32


@pytest.mark.parametrize(
    "shapes", [((0, 3), (3, 2)), ((2, 0), (0, 3)), ((4, 0, 3), (3, 2))]
)
@pytest.mark.parametrize("product", [F.matmul, F.linear])
def test_products_of_empty_arrays(product, shapes):
    x, W = (Variable(np.ones(shape)) for shape in shapes)
    y = product(x, W)
    y.backward()
    np.testing.assert_array_equal(y.data, x.data @ W.data)
    assert x.grad.shape == x.shape and W.grad.shape == W.shape


def test_matmul_of_a_repeated_row():
    row = np.broadcast_to(np.arange(3.0), (4, 3))  # stride 0
    W = np.arange(6.0).reshape(3, 2)
    np.testing.assert_array_equal(F.matmul(row, W).data, np.array(row) @ W)


def test_matmul_of_integers():
    y = F.matmul(np.arange(4).reshape(2, 2), np.arange(2))
    np.testing.assert_array_equal(y.data, [1, 3])
    assert y.dtype.kind == "i"


@pytest.mark.parametrize("number", [2.0, np.float64(2)])
@pytest.mark.parametrize(
    "product",
    [
        F.outer,
        F.dot,
        F.inner,
        lambda x, y: F.tensordot(x, y, 0),
        lambda x, y: F.einsum("i,->i", x, y),
        lambda x, y: F.linear(x, np.ones((3, 2), np.float32), y),
        lambda x, y: F.linear_simple(x, np.ones((3, 2), np.float32), y),
    ],
)
def test_a_number_does_not_widen(product, number):
    assert product(np.ones(3, np.float32), number).dtype == np.float32


def test_dot_and_inner_name_themselves_where_sizes_differ():
    x, cube = np.ones((2, 3)), np.ones((2, 4, 5))
    with pytest.raises(ValueError, match="^dot: "):
        F.dot(x, cube)
    with pytest.raises(ValueError, match="^inner: "):
        F.inner(x, cube)
