import tracemalloc
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st

import dezero as dz
import dezero.functions as F
from dezero.core import Variable
from dezero.functions.attention_parts import ROWS
from dezero.testing import Case, arrays, check_gradients

attend = F.scaled_dot_product_attention


@st.composite
def queries(draw, bias=False):
    """q, k, v, whose stacks broadcast, and numbers to add to the scores."""
    Tq, Tk, D, Dv = draw(st.tuples(*[st.integers(1, 3)] * 4))
    stacks = draw(
        st.sampled_from(
            [
                ((), (), ()),
                ((2,), (2,), (2,)),
                ((2, 3), (2, 1), (1, 1)),
                ((), (3,), ()),
                ((), (), (2,)),
            ]
        )
    )
    sides = (Tq, D), (Tk, D), (Tk, Dv)
    shapes = [(*stack, *side) for stack, side in zip(stacks, sides, strict=True)]
    if bias:
        shapes.append(draw(st.sampled_from([(Tq, Tk), (1, Tk), (), (Tq, 1)])))
    return tuple([draw(arrays(shape=shape)) for shape in shapes])


def masks(q, k, v, *others):
    sides = q.shape[-2], k.shape[-2]
    shape = st.sampled_from([sides, (1, sides[1])])
    booleans = st.tuples(shape, st.integers(0, 255)).map(
        lambda drawn: np.random.RandomState(drawn[1]).rand(*drawn[0]) < 0.7
    )
    mask = st.just({}) if others else st.fixed_dictionaries({"mask": booleans})
    causal = st.fixed_dictionaries({"causal": st.booleans()})
    return st.one_of(
        st.just({}), causal, st.tuples(mask, causal).map(lambda ab: {**ab[0], **ab[1]})
    )


def attention(q, k, v, mask=None, causal=False):
    Tq, Tk = q.shape[-2], k.shape[-2]
    s = q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1])
    open_ = np.ones((Tq, Tk), bool)
    if mask is not None and mask.dtype == bool:
        open_ = open_ & mask
    elif mask is not None:
        s = s + mask
    if causal:
        open_ = open_ & (np.arange(Tk) <= np.arange(Tq)[:, None] + Tk - Tq)
    e = np.exp(s) * open_
    total = e.sum(-1, keepdims=True)
    return e / np.where(total == 0, 1, total) @ v


CASES = [
    Case(attend, queries(), reference=attention, options=masks),
    Case(attend, queries(bias=True), reference=attention, options=masks),
    Case(
        attend,
        queries(),
        options=lambda *xs: st.just({"dropout_ratio": 0.5}),
        random=True,
    ),
]


def example(Tq=4, Tk=4, stack=(2, 3), D=2, Dv=5):
    rng = np.random.RandomState(0)
    return [rng.randn(*stack, *side) for side in ((Tq, D), (Tk, D), (Tk, Dv))]


def plain(q, k, v, bias):
    s = F.matmul(q, F.swapaxes(k, -1, -2)) / np.sqrt(q.shape[-1]) + bias
    return F.matmul(F.softmax(s, axis=-1), v)


@pytest.mark.parametrize("shape", [(4, 4), (1, 4), (2, 1, 4, 4), ()])
def test_equals_its_parts_up_to_second_order(shape):
    found = []
    bias = np.random.RandomState(1).randn(*shape)
    for f in (attend, plain):
        xs = [Variable(a) for a in (*example(), np.asarray(bias))]
        y = f(*xs)
        loss = F.sum(F.sin(y))
        fused = dz.grad(loss, xs)
        first = dz.grad(loss, xs, create_graph=True)
        second = dz.grad(sum([F.sum(g**3) for g in first]), xs)
        found.append([v.data for v in (y, *fused, *first, *second)])
    for a, b in zip(*found, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("Tq", [1, ROWS, ROWS + 1, 2 * ROWS + 5])
@pytest.mark.parametrize("longer", [-ROWS - 3, -1, 0, 7, 2 * ROWS])
@pytest.mark.parametrize("mask", [None, "booleans", "numbers"])
def test_causal_in_parts_is_the_whole_with_a_mask(Tq, longer, mask):
    Tk = max(Tq + longer, 0)
    random = np.random.RandomState(2)
    past = np.tri(Tq, Tk, Tk - Tq, dtype=bool)
    whole: Any = past
    if mask == "booleans":
        mask = random.rand(3, Tq, Tk) < 0.7
        whole = past & mask
    elif mask == "numbers":
        mask = Variable(random.randn(3, 1, Tk))
        whole = Variable(np.where(past, mask.data, -np.inf))
    found = []
    for options in ({"mask": mask, "causal": True}, {"mask": whole}):
        xs = [Variable(a) for a in example(Tq, Tk)]
        if isinstance(mask, Variable):
            xs.append(options["mask"])
        y = attend(*xs[:3], **options)
        gs = dz.grad(F.sum(F.sin(y)), xs)
        found.append([v.data for v in (y, *gs)])
    if isinstance(mask, Variable):
        found[1][-1] = found[1][-1].sum(axis=1, keepdims=True)
    for a, b in zip(*found, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-14)


def test_third_order():
    check_gradients(attend, *example(2, 2, (), 2, 1), order=3).assert_ok()


@pytest.mark.parametrize("create_graph", [False, True])
@pytest.mark.parametrize("kind", ["booleans", "numbers"])
def test_a_query_that_may_look_at_nothing(kind, create_graph):
    mask = np.ones((4, 4), bool)
    mask[1] = False
    mask[2, 1:] = False
    if kind == "numbers":
        mask = Variable(np.where(mask, 0.0, -np.inf))
    xs = [Variable(a) for a in example()]
    y = attend(*xs, mask=mask)
    assert (y.data[:, :, 1] == 0).all()
    np.testing.assert_allclose(y.data[:, :, 2], xs[2].data[:, :, 0])
    gs = dz.grad(F.sum(F.sin(y)), xs, create_graph=create_graph)
    assert all([np.isfinite(g.data).all() for g in gs])
    assert (gs[0].data[:, :, 1:3] == 0).all()
    second = dz.grad(F.sum(dz.grad(F.sum(F.sin(y)), xs, create_graph=True)[0] ** 2), xs)
    assert all([np.isfinite(g.data).all() for g in second])


def test_masks_agree():
    q, k, v = example()
    mask = np.random.RandomState(2).rand(4, 4) < 0.6
    numbers = np.where(mask, 0, -np.inf)
    a, b = attend(q, k, v, mask), attend(q, k, v, numbers)
    np.testing.assert_allclose(a.data, b.data, rtol=1e-12)
    past = np.tri(4, dtype=bool)
    a, b = attend(q, k, v, mask & past), attend(q, k, v, mask, causal=True)
    np.testing.assert_allclose(a.data, b.data, rtol=1e-12)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("causal", [False, True])
def test_a_key_that_nobody_may_look_at_does_no_harm(value, causal):
    q, k, v = example(4, 4)
    open = np.arange(4) != 1
    expected = attend(q, k, v, open, causal=causal)
    k = k.copy()
    k[..., 1, 0] = value
    y = attend(q, k, v, open, causal=causal)
    np.testing.assert_allclose(y.data, expected.data, rtol=1e-12)


def test_causal_queries_are_the_last_places():
    q, k, v = example(5, 5)
    whole = attend(q, k, v, causal=True).data
    last = attend(q[:, :, 3:], k, v, causal=True).data
    np.testing.assert_allclose(last, whole[:, :, 3:], rtol=1e-12)
    # More queries than keys: the first see nothing.
    first = attend(q, k[:, :, :3], v[:, :, :3], causal=True).data
    assert (first[:, :, :2] == 0).all() and (first[:, :, 2:] != 0).all()


def test_huge_scores():
    for dtype in ("f2", "f4"):
        xs = [Variable((a * 100).astype(dtype)) for a in example()]
        y = attend(*xs)
        y.backward()
        for v in (y, *[x.grad for x in xs]):
            assert np.isfinite(v.data).all() and v.dtype == dtype


@pytest.mark.parametrize(
    "sizes",
    [(0, 2, (2,), 3, 1), (2, 0, (), 3, 1), (2, 3, (0,), 2, 2), (2, 3, (), 0, 1)],
)
@pytest.mark.parametrize("create_graph", [False, True])
@pytest.mark.parametrize("causal", [False, True])
def test_empty(sizes, create_graph, causal):
    xs = [Variable(a) for a in example(*sizes)]
    y = attend(*xs, causal=causal)
    assert y.shape == (*sizes[2], sizes[0], sizes[4])
    if sizes[1] == 0:
        assert (y.data == 0).all()
    y.backward(create_graph=create_graph)
    assert [x.grad.shape for x in xs] == [x.shape for x in xs]


def test_dropout():
    q, k = np.zeros((1, 1)), np.zeros((20000, 1))
    v = Variable(np.ones((20000, 1)))
    np.random.seed(0)
    y = attend(q, k, v, dropout_ratio=0.25)
    assert y.data != 1 and abs(y.data - 1) < 0.02
    y.backward()
    weights = np.unique(np.round(v.grad.data * 20000, 6))
    np.testing.assert_allclose(weights, [0, 4 / 3], rtol=1e-6)
    with dz.test_mode():
        np.testing.assert_allclose(attend(q, k, v, dropout_ratio=0.25).data, 1)
    assert (attend(q, k, v, dropout_ratio=1.0).data == 0).all()


@pytest.mark.parametrize("create_graph", [False, True])
def test_dropout_repeats_in_backward(create_graph):
    np.random.seed(0)
    xs = [Variable(a) for a in example()]
    y = attend(*xs, dropout_ratio=0.5)
    gs = [dz.grad(F.sum(y), xs, create_graph=create_graph) for _ in range(2)]
    for a, b in zip(*gs, strict=True):
        np.testing.assert_array_equal(a.data, b.data)


def test_dropout_in_parts_is_the_same_in_every_backward():
    np.random.seed(0)
    xs = [Variable(a) for a in example(2 * ROWS + 3, 2 * ROWS + 7)]
    y = attend(*xs, causal=True, dropout_ratio=0.5)
    fused, composed = [
        dz.grad(F.sum(F.sin(y)), xs, create_graph=create_graph)
        for create_graph in (False, True)
    ]
    for a, b in zip(fused, composed, strict=True):
        np.testing.assert_allclose(a.data, b.data, rtol=1e-12, atol=1e-14)


def test_dtypes_meet():
    q, k, v = [a.astype("f4") for a in example()]
    assert attend(q, k, v).dtype == np.float32
    assert attend(q, k, v, np.ones((4, 4), bool)).dtype == np.float32
    assert attend(q, k, v.astype("f8")).dtype == np.float64
    assert attend(q, k, v, np.zeros((4, 4))).dtype == np.float64
    ones = np.ones((2, 3), int)
    assert attend(ones, ones, ones).dtype == np.float64


q, k, v = example()
NAME = "scaled_dot_product_attention"
ERRORS = [
    (
        lambda: attend(q[0, 0, 0], k, v),
        ValueError,
        NAME + r": expected q \(\.\.\., Tq, D\), k \(\.\.\., Tk, D\) and v "
        r"\(\.\.\., Tk, Dv\), got q of shape \(2,\), k of shape \(2, 3, 4, 2\) and v",
    ),
    (lambda: attend(q, k[..., :1], v), ValueError, NAME + r": .* k of shape .* 1\)"),
    (lambda: attend(q, k, v[..., :1, :]), ValueError, NAME + r": .* v of .* 1, 5"),
    (
        lambda: attend(q, k[:, :2], v),
        ValueError,
        NAME + r": expected stacks that broadcast, got q of shape \(2, 3, 4, 2\), k of",
    ),
    (
        lambda: attend(q, k, v, np.ones((4, 4), int)),
        TypeError,
        NAME + r": expected a mask of booleans or floats, got dtype int64",
    ),
    (
        lambda: attend(q, k, v, np.ones((4, 3), bool)),
        ValueError,
        NAME + r": expected a mask that broadcasts to the scores \(2, 3, 4, 4\), got "
        r"shape \(4, 3\)",
    ),
    (
        lambda: attend(q, k, v, np.ones((1, 2, 3, 4, 4))),
        ValueError,
        NAME + r": expected a mask that broadcasts .* \(1, 2, 3, 4, 4\)",
    ),
    (
        lambda: attend(q, k, v, dropout_ratio=1.5),
        ValueError,
        NAME + r": expected dropout_ratio in \[0, 1\], got 1\.5",
    ),
    (
        lambda: attend(q, k, v, dropout_ratio=None),
        TypeError,
        NAME + r": expected a number as dropout_ratio, got NoneType",
    ),
]


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, bool, np.int64])
def test_integers_count_as_double_precision(dtype):
    q = np.arange(6).reshape(3, 2).astype(dtype)
    y = F.scaled_dot_product_attention(q, q, q)
    f = q.astype(float)
    assert y.dtype == np.float64
    expected = F.scaled_dot_product_attention(f, f, f)
    np.testing.assert_array_equal(y.data, expected.data)


def test_a_result_that_is_kept_does_not_keep_the_weights():
    x = Variable(np.random.randn(300, 2))
    tracemalloc.start()
    try:
        y = F.scaled_dot_product_attention(x, x, x, dropout_ratio=0.5)
        y.backward(retain_graph=False)
        x.cleargrad()
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert y.shape == (300, 2)
    assert held < 50_000  # the weights are 720 kB


def test_second_derivatives_of_a_graph_that_was_freed():
    x = Variable(np.random.randn(3, 2))
    gxs = []
    for retain_graph in (True, False):
        np.random.seed(0)
        x.cleargrad()
        y = F.scaled_dot_product_attention(x, x, x, dropout_ratio=0.5)
        y.backward(create_graph=True, retain_graph=retain_graph)
        gx = x.grad
        x.cleargrad()
        F.sum(gx * gx).backward()
        gxs.append(x.grad.data)
    np.testing.assert_array_equal(*gxs)


@pytest.mark.parametrize("causal", [False, True])
def test_numbers_far_apart_that_are_added_to_the_scores(causal):
    # Their difference overflows to -inf, whose exponential is 0, without a warning.
    x = Variable(np.array([[0, 0], [0, 0]], np.float32))
    v = Variable(np.array([[1, 2], [3, 4]], np.float32))
    y = attend(x, x, v, np.array([3e38, -3e38], np.float32), causal)
    assert y.data.tolist() == [[1, 2], [1, 2]]
    (gv,) = dz.grad(y, [v], create_graph=True)
    y.backward()
    assert v.grad.data.tolist() == gv.data.tolist() == [[2, 2], [0, 0]]


@pytest.mark.parametrize("number", [2.0, np.float64(2), np.float32(2)])
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_a_number_as_mask_takes_the_dtype_of_the_scores(number, dtype):
    x = np.arange(6).reshape(3, 2).astype(dtype)
    y = attend(x, x, x, number)
    assert y.dtype == dtype
    np.testing.assert_allclose(y.data, attend(x, x, x).data, rtol=1e-6)
