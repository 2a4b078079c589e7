"""NumPy's functions that have a counterpart run that one and record it."""

import numpy as np
import pytest

import dezero as dz
import dezero.functions as F
from dezero.functions import numpy_counterparts

A = np.array([[1.3, 2.1, 3.2], [4.7, 5.3, 7.9]])
B = np.array([[2.2, 0.6, 1.1], [1.7, 2.3, 0.9]])
U = A / 10  # inside the domain of arcsin and arctanh


def same(y, expected):
    np.testing.assert_allclose(np.asarray(y), expected)


UNARY = [u for u in numpy_counterparts.RECORDED_UFUNCS if u.nin == 1]
BINARY = [u for u in numpy_counterparts.RECORDED_UFUNCS if u.nin == 2]


def name_of(f):
    return getattr(f, "__name__", str(f))


@pytest.mark.parametrize("ufunc", UNARY, ids=name_of)
def test_unary_ufuncs_are_recorded(ufunc):
    a = A if ufunc is np.arccosh else U
    x = dz.Variable(a)
    y = ufunc(x)
    assert isinstance(y, dz.Variable)
    same(y, ufunc(a))
    y.backward()
    eps = 1e-6
    slope = (ufunc(a + eps) - ufunc(a - eps)) / (2 * eps)
    np.testing.assert_allclose(x.grad.data, slope, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("ufunc", BINARY, ids=name_of)
def test_binary_ufuncs_are_recorded(ufunc):
    b = B.T if ufunc is np.matmul else B
    x, y = dz.Variable(A), dz.Variable(b)
    for left, right in (x, y), (x, b), (A, y):
        z = ufunc(left, right)
        assert isinstance(z, dz.Variable) and z.requires_grad
        same(z, ufunc(A, b))
    if ufunc is not np.matmul:
        assert (
            ufunc(np.float64(2), dz.Variable(A.astype(np.float32))).dtype == np.float32
        )


@pytest.mark.parametrize(
    "ufunc", sorted(numpy_counterparts.UFUNCS_BY_DATA, key=name_of), ids=name_of
)
def test_queries_by_ufunc_are_plain(ufunc):
    x = dz.Variable(A)
    args, raw = ((x, B), (A, B)) if ufunc.nin == 2 else ((x,), (A,))
    result = ufunc(*args)
    assert type(result) is np.ndarray
    np.testing.assert_array_equal(result, ufunc(*raw))
    if ufunc.nin == 2:
        np.testing.assert_array_equal(ufunc(A, dz.Variable(B)), ufunc(A, B))
    assert np.logical_and.reduce(dz.Variable(A > 0), axis=None)


def test_hints_name_functions_that_exist():
    for hint in numpy_counterparts.METHOD_HINTS.values():
        for word in hint.replace(",", "").split():
            assert not word.startswith("F.") or hasattr(F, word[2:])


CALLS = {
    np.sum: [(A,), (A, 1), (A, (0, 1)), {"a": A, "axis": 0, "keepdims": True}],
    np.mean: [(A,), (A, 1)],
    np.max: [(A,), (A, 0)],
    np.min: [(A,), (A, 0)],
    np.amax: [(A,), (A, 0)],
    np.amin: [(A,), (A, 0)],
    np.prod: [(A,), (A, 0)],
    np.average: [(A,), (A, 1), (A, 1, B), {"a": A, "axis": 0, "weights": B}],
    np.var: [(A,), (A, 1), {"a": A, "ddof": 1}, {"a": A, "keepdims": True}],
    np.std: [(A,), (A, 1), {"a": A, "ddof": 1}, {"a": A, "keepdims": True}],
    np.cumsum: [(A,), (A, 1)],
    np.cumprod: [(A,), (A, 1)],
    np.where: [(A > 2, A, B), (A > 2, A, 0.0)],
    np.clip: [(A, 2, 4), (A, None, 4), {"a": A, "min": 2}, {"a": A, "max": 4}],
    np.take: [(A, [0, 2]), (A, [0, 0, 1], 1)],
    np.take_along_axis: [(A, np.array([[0], [2]]), 1), (A, np.array([[0], [2]]))],
    np.sort: [(B,), (B, 0), (B, None)],
    np.reshape: [(A, (3, 2)), (A, -1), (A, 6)],
    np.ravel: [(A,)],
    np.transpose: [(A,), (A, (1, 0)), {"a": A, "axes": None}],
    np.swapaxes: [(A, 0, 1)],
    np.moveaxis: [(A, 0, -1)],
    np.squeeze: [(A[:1],), (A[:1], 0)],
    np.expand_dims: [(A, 0), (A, -1)],
    np.broadcast_to: [(A[0], (4, 3))],
    np.concatenate: [([A, B],), ([A, B], 1), ((A, B), None)],
    np.stack: [([A, B],), ([A, B], -1)],
    np.vstack: [([A, B[0]],)],
    np.hstack: [([A, B],)],
    np.flip: [(A,), (A, 1)],
    np.roll: [(A, 1), (A, (1, 2), (0, 1))],
    np.tril: [(A,), (A, 1)],
    np.triu: [(A,), (A, 1)],
    np.diag: [(A[0],), (A, 1)],
    np.diagonal: [(A,), (A, 1)],
    np.tile: [(A, 2), (A, (2, 1))],
    np.repeat: [(A, 2), (A, 2, 1)],
    np.pad: [(A, 1), (A, ((0, 1), (2, 0)), "constant")],
    np.dot: [(A, B.T), (A[0], B[0])],
    np.inner: [(A, B)],
    np.outer: [(A[0], B[1])],
    np.tensordot: [(A, B), (A, B.T, 1), {"a": A, "b": B, "axes": ([0], [0])}],
    np.einsum: [("ij,kj->ik", A, B), ("ij->j", A)],
    np.trace: [(A,), (A, 1)],
    np.linalg.norm: [(A,), (A, None, 1), {"x": A, "axis": 0, "keepdims": True}],
}


def variables(value):
    """The same arguments with a Variable for the first floating array."""
    done = []

    def convert(v):
        if isinstance(v, np.ndarray) and v.dtype.kind == "f" and not done:
            done.append(v)
            return dz.Variable(v)
        if isinstance(v, (list, tuple)):
            return type(v)([convert(u) for u in v])
        if isinstance(v, dict):
            return {k: convert(u) for k, u in v.items()}
        return v

    return convert(value)


@pytest.mark.parametrize("function", CALLS, ids=name_of)
def test_functions_with_a_counterpart_are_recorded(function):
    for call in CALLS[function]:
        args, kwargs = ((), call) if isinstance(call, dict) else (call, {})
        y = function(*variables(args), **variables(kwargs))
        assert isinstance(y, dz.Variable) and y.requires_grad
        expected = function(*args, **kwargs)
        assert y.shape == np.shape(expected)
        same(y, expected)


def test_split_is_recorded():
    x = dz.Variable(A)
    parts = np.split(x, 3, axis=1)
    for part, expected in zip(parts, np.split(A, 3, axis=1), strict=True):
        assert isinstance(part, dz.Variable)
        same(part, expected)
    np.sum(parts[1]).backward()
    same(x.grad, [[0, 1, 0], [0, 1, 0]])


def test_broadcast_arrays_is_recorded():
    x = dz.Variable(A[0])
    y, b, two = np.broadcast_arrays(x, B, [2.0])
    assert y.shape == b.shape == two.shape == (2, 3)
    assert type(b) is type(two) is np.ndarray
    y.backward()
    same(x.grad, [2, 2, 2])


def test_every_function_of_the_table_is_called_here():
    others = {np.split, np.broadcast_arrays}
    assert set(numpy_counterparts.RECORDED) == {*CALLS, *others}


def test_where_with_a_condition_only_gives_positions():
    x = dz.Variable(np.array([0.0, 1.0, 2.0]))
    (positions,) = np.where(x)
    np.testing.assert_array_equal(positions, [1, 2])


def test_sizes_and_types():
    x = dz.Variable(A.astype(np.float32))
    assert np.shape(x) == (2, 3) and np.ndim(x) == 2 and np.size(x) == 6
    assert np.size(x, 1) == 3
    assert np.result_type(x, np.float16) == np.float32
    assert not np.iscomplexobj(x)
    assert np.shares_memory(x, x.data)


def test_comparisons_and_positions():
    x = dz.Variable(A)
    assert np.allclose(x, A) is True
    assert np.array_equal(x, dz.Variable(A)) is True
    np.testing.assert_array_equal(np.isclose(x, B), np.isclose(A, B))
    assert np.all(x) and np.any(x, axis=0).all()
    assert np.argmax(x) == 5 and type(np.argmax(x, 1)) is np.ndarray
    assert np.argmin(x) == 0
    np.testing.assert_array_equal(np.argsort(x), np.argsort(A))
    assert np.count_nonzero(x) == 6
    np.testing.assert_array_equal(np.round(x), np.round(A))


@pytest.mark.parametrize("make", [np.zeros_like, np.ones_like, np.empty_like])
def test_new_arrays_of_the_same_kind(make):
    a = make(dz.Variable(A.astype(np.float32)))
    assert type(a) is np.ndarray and a.dtype == np.float32 and a.shape == A.shape
    assert np.full_like(dz.Variable(A), 7)[0, 0] == 7


def test_atleast():
    assert type(np.atleast_1d(dz.Variable(np.array(1.0)))) is np.ndarray
    assert np.atleast_2d(dz.Variable(A[0])).shape == (1, 3)
