"""NumPy's own functions on Variables: recorded, answered from the data, or refused."""

import io
from types import SimpleNamespace

import numpy as np
import pytest

import dezero as dz
import dezero.functions as F
from dezero.functions import numpy_protocol

A = np.array([[1.3, 2.1, 3.2], [4.7, 5.3, 7.9]])
B = np.array([[2.2, 0.6, 1.1], [1.7, 2.3, 0.9]])
U = A / 10  # inside the domain of arcsin and arctanh


def same(y, expected):
    np.testing.assert_allclose(np.asarray(y), expected)


# ---- ufuncs -----------------------------------------------------------------

UNARY = [u for u in numpy_protocol._RECORDED_UFUNCS if u.nin == 1]
BINARY = [u for u in numpy_protocol._RECORDED_UFUNCS if u.nin == 2]


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


def test_an_array_on_the_left_brings_the_gradient():
    x = dz.Variable(A)
    y = np.sum(B * x)
    assert isinstance(y, dz.Variable)
    y.backward()
    same(x.grad, B)
    x.cleargrad()
    np.matmul(B.T, x).backward(grad=np.ones((3, 3)))
    same(x.grad, np.repeat(B.sum(1)[:, None], 3, 1))


@pytest.mark.parametrize(
    "ufunc", sorted(numpy_protocol._UFUNCS_BY_DATA, key=name_of), ids=name_of
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


def test_ufunc_reductions():
    x = dz.Variable(A)
    for ufunc in np.add, np.multiply, np.maximum, np.minimum:
        y = ufunc.reduce(x)
        assert isinstance(y, dz.Variable)
        same(y, ufunc.reduce(A))
        same(ufunc.reduce(x, axis=1, keepdims=True), ufunc.reduce(A, 1, keepdims=True))
    np.add.reduce(x).backward()
    same(x.grad, np.ones_like(A))
    with pytest.raises(TypeError, match=r"np\.add\.reduce: .*unexpected .*'initial'"):
        np.add.reduce(x, initial=1.0)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda x: np.add.accumulate(x), r"np\.add\.accumulate: .* F\.cumsum"),
        (lambda x: np.multiply.outer(x, B), r"np\.multiply\.outer: .*reshape"),
        (lambda x: np.add.at(x, 0, B[0]), r"np\.add\.at: .* F\.scatter_add"),
        (lambda x: np.add.reduceat(x, [0, 1]), r"np\.add\.reduceat: .* F\.sum"),
        (lambda x: np.subtract.reduce(x), r"np\.subtract\.reduce: .* F\.sum"),
    ],
)
def test_other_ufunc_methods_name_the_functional_way(call, message):
    with pytest.raises(TypeError, match=message):
        call(dz.Variable(A))


def test_hints_name_functions_that_exist():
    for hint in numpy_protocol._METHOD_HINTS.values():
        for word in hint.replace(",", "").split():
            assert not word.startswith("F.") or hasattr(F, word[2:])


# ---- the other functions ----------------------------------------------------

X = dz.Variable(A)
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
    assert set(numpy_protocol._RECORDED) == {*CALLS, *others}


def test_a_variable_anywhere_in_a_list_is_found():
    x = dz.Variable(A)
    y = np.concatenate([B, x])
    y.backward()
    same(x.grad, np.ones_like(A))


def test_where_with_a_condition_only_gives_positions():
    x = dz.Variable(np.array([0.0, 1.0, 2.0]))
    (positions,) = np.where(x)
    np.testing.assert_array_equal(positions, [1, 2])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda x: np.sum(x, dtype=np.float32), r"np\.sum: .*'dtype'.*axis=None"),
        (lambda x: np.sum(x, 0, None), r"np\.sum: too many positional"),
        (lambda x: np.sum(x, where=A > 1), r"np\.sum: .*'where'"),
        (lambda x: np.sum(x, initial=1), r"np\.sum: .*'initial'"),
        (lambda x: np.reshape(x, 6, order="F"), r"np\.reshape: .*'order'"),
        (
            lambda x: np.concatenate([x, x], casting="no"),
            r"np\.concatenate: .*'casting'",
        ),
        (
            lambda x: np.add(x, x, where=A > 1),
            r"np\.add: expected no keyword .* got where",
        ),
        (lambda x: np.add(x, x, dtype=float), r"np\.add: expected no .* got dtype"),
        (lambda x: np.einsum("ij->j", x, optimize=True), r"np\.einsum: .*'optimize'"),
        (lambda x: np.median(x), r"np\.median: has no counterpart .* x\.data"),
        (lambda x: np.unique(x), r"np\.unique: has no counterpart"),
        (lambda x: np.fft.fft(x), r"np\.fft\.fft: has no counterpart"),
        (lambda x: np.linalg.eigh(x), r"np\.linalg\.eigh: has no counterpart"),
        (lambda x: np.arange(3, like=x), r"np\.arange: has no counterpart"),
        (lambda x: np.divmod(x, 2.0), r"np\.divmod: has no counterpart"),
        (lambda x: np.heaviside(x, 0.5), r"np\.heaviside: has no counterpart"),
        (lambda x: np.add([1.0, 2.0, 3.0], x), r"got list; write np\.array"),
    ],
)
def test_what_cannot_be_recorded_is_refused(call, message):
    with pytest.raises(TypeError, match=message):
        call(dz.Variable(A))


# ---- queries ----------------------------------------------------------------


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


def test_saving(tmp_path):
    x = dz.Variable(A)
    np.save(tmp_path / "x.npy", x)
    np.testing.assert_array_equal(np.load(tmp_path / "x.npy"), A)
    np.savez(tmp_path / "x.npz", x, y=x)
    with np.load(tmp_path / "x.npz") as saved:
        np.testing.assert_array_equal(saved["arr_0"], A)
        np.testing.assert_array_equal(saved["y"], A)
    text = io.StringIO()
    np.savetxt(text, x)
    assert len(text.getvalue().splitlines()) == 2
    assert np.array2string(x) == np.array2string(A)


def test_assertions_of_numpy_testing_take_variables():
    x, s = dz.Variable(A), dz.Variable(np.array(2.0))
    np.testing.assert_allclose(x, dz.Variable(A))
    np.testing.assert_array_equal(x, A)
    np.testing.assert_array_equal(A, x)
    np.testing.assert_array_almost_equal(x, x)
    np.testing.assert_array_less(B - 3, x)
    np.testing.assert_almost_equal(s, 2.0)
    np.testing.assert_equal(x, A)
    with pytest.raises(AssertionError):
        np.testing.assert_allclose(x, B)


# ---- writing into plain arrays ----------------------------------------------


def test_in_place_operators_on_a_plain_array_work_by_data():
    w = A.copy()
    alias = w
    x = dz.Variable(B)
    w -= 0.5 * x
    w *= x
    w /= x
    w += x
    w **= dz.Variable(np.array(2.0))
    assert w is alias and type(w) is np.ndarray
    same(w, (A + 0.5 * B) ** 2)


def test_an_update_written_on_raw_arrays():
    for data in np.array([1.0, 2.0]), np.array(3.0), np.array([1, 2], np.float32):
        w = dz.Variable(data.copy())
        memory = w.data
        F.sum(w * w).backward()
        w.data -= 0.1 * w.grad
        assert type(w.data) is np.ndarray and w.data.dtype == data.dtype
        np.testing.assert_allclose(w.data, data * 0.8, rtol=1e-6)
        assert w.ndim == 0 or w.data is memory


def test_out_takes_a_plain_array():
    x, out = dz.Variable(A), np.empty_like(A)
    assert np.add(x, B, out=out) is out
    same(out, A + B)
    np.exp(x, out)
    same(out, np.exp(A))
    total = np.empty(3)
    assert np.sum(x, axis=0, out=total) is total
    same(total, A.sum(0))
    np.add.reduce(x, axis=0, out=total)
    same(total, A.sum(0))
    np.clip(x, 2, 3, out=out)
    same(out, A.clip(2, 3))
    np.copyto(out, x)
    np.copyto(dst=out, src=x)
    same(out, A)
    np.add.at(out, 0, x[0])
    same(out[0], 2 * A[0])
    out[0] = x[0]
    same(out, A)


def test_out_refuses_a_variable():
    x = dz.Variable(A.copy())
    for call in (
        lambda: np.add(B, B, out=x),
        lambda: np.exp(x, x),
        lambda: np.sum(A, out=x),
        lambda: np.add.reduce(A, out=x),
        lambda: np.copyto(x, B),
        lambda: np.copyto(dst=x, src=B),
        lambda: np.fill_diagonal(x, 0),
    ):
        with pytest.raises(
            TypeError, match=r"np\.\S+: expected out to be a plain array"
        ):
            call()
    same(x, A)


# ---- CuPy -------------------------------------------------------------------


class Kernel:
    """What the call protocol needs of a ufunc of CuPy; it computes on NumPy arrays."""

    def __init__(self, name):
        self.name = f"cupy_{name}"
        self.ufunc = getattr(np, name)
        self.nin = self.ufunc.nin

    def __call__(self, *args, **kwargs):
        for arg in args:
            if hasattr(arg, "__cupy_override_elementwise_kernel__"):
                return arg.__cupy_override_elementwise_kernel__(self, *args, **kwargs)
        return self.ufunc(*args, **kwargs)


def test_kernels_of_cupy_are_recorded_or_work_by_data():
    x, out = dz.Variable(A), np.empty_like(A)
    y = Kernel("sin")(x)
    assert isinstance(y, dz.Variable) and y.requires_grad
    y = Kernel("true_divide")(B, x)
    same(y, B / A)
    assert y.requires_grad
    assert type(Kernel("isnan")(x)) is np.ndarray
    assert Kernel("subtract")(B, x, out) is out  # B -= x
    same(out, B - A)
    assert Kernel("add")(B, x, out=out) is out
    same(out, B + A)


def test_kernels_of_cupy_that_cannot_be_recorded_are_refused():
    x = dz.Variable(A)
    with pytest.raises(TypeError, match=r"cupy\.heaviside: has no counterpart"):
        Kernel("heaviside")(x, B)
    with pytest.raises(TypeError, match=r"cupy\.my_kernel: has no counterpart"):
        x.__cupy_override_elementwise_kernel__(
            SimpleNamespace(name="my_kernel", nin=1), x
        )
    for call in lambda: Kernel("add")(B, B, x), lambda: Kernel("add")(x, B, out=x):
        with pytest.raises(TypeError, match=r"cupy\.add: expected out to be a plain"):
            call()
    with pytest.raises(TypeError, match=r"cupy\.add: expected no keyword .* got dtype"):
        Kernel("add")(x, B, dtype=np.float32)


def test_cupy_must_not_take_a_variable_for_an_array():
    for name in "__cupy_get_ndarray__", "__cuda_array_interface__":
        assert not hasattr(dz.Variable, name)
