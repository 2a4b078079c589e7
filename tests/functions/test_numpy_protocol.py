"""What NumPy's functions do with Variables: answer from the data, write, or refuse."""

import io
from types import SimpleNamespace

import numpy as np
import pytest

import dezero as dz
import dezero.functions as F

A = np.array([[1.3, 2.1, 3.2], [4.7, 5.3, 7.9]])
B = np.array([[2.2, 0.6, 1.1], [1.7, 2.3, 0.9]])


def same(y, expected):
    np.testing.assert_allclose(np.asarray(y), expected)


def test_an_array_on_the_left_brings_the_gradient():
    x = dz.Variable(A)
    y = np.sum(B * x)
    assert isinstance(y, dz.Variable)
    y.backward()
    same(x.grad, B)
    x.cleargrad()
    np.matmul(B.T, x).backward(grad=np.ones((3, 3)))
    same(x.grad, np.repeat(B.sum(1)[:, None], 3, 1))


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


def test_a_variable_anywhere_in_a_list_is_found():
    x = dz.Variable(A)
    y = np.concatenate([B, x])
    y.backward()
    same(x.grad, np.ones_like(A))


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
