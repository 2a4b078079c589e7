"""The stand-in refuses what CuPy refuses, and counts what is moved."""

import copy
import operator
import pickle
import sys

import numpy as np
import pytest

from dezero import cuda

from .installing import installed
from .names import CLASSES, MODULES, VERSION
from .transfers import transfers

# =============================================================================
# In CuPy's place, and gone afterwards
# =============================================================================


def test_it_stands_in_for_cupy(cupy):
    assert sys.modules["cupy"] is cupy is cuda.cupy
    assert cuda.gpu_enable and cuda.get_array_module(cupy.zeros(3)) is cupy
    assert cupy.__version__ == VERSION


def test_it_goes_away():
    outside = {
        name: sys.modules.pop(name) for name in list(sys.modules) if is_ours(name)
    }
    try:
        with installed():
            assert "cupy" in sys.modules and "cupyx" in sys.modules
        assert not [name for name in sys.modules if is_ours(name)]
    finally:
        sys.modules.update(outside)


def is_ours(name):
    return name.split(".")[0] in ("cupy", "cupyx", "cupy_backends")


# =============================================================================
# Names and arguments
# =============================================================================


def test_the_list_of_names():
    assert VERSION.split(".")[0] == "14"
    assert {"asarray", "einsum", "where"} <= MODULES["cupy"].keys()
    assert {"get", "item", "sum"} <= CLASSES["cupy.ndarray"].keys()
    assert "errstate" not in MODULES["cupy"] and "writeable" not in MODULES["cupy"]


ABSENT = [
    (lambda cupy: cupy.errstate, "CuPy .* has no cupy.errstate"),
    (lambda cupy: cupy.float128, "CuPy .* has no cupy.float128"),
    (lambda cupy: cupy.random.get_state, "CuPy .* has no cupy.random.get_state"),
    (lambda cupy: cupy.linalg.multi_dot, "CuPy .* has no cupy.linalg.multi_dot"),
    (lambda cupy: cupy.zeros(3).ctypes, "CuPy .* has no cupy.ndarray.ctypes"),
    (lambda cupy: cupy.zeros(3).__index__, "CuPy .* has no cupy.ndarray.__index__"),
    (lambda cupy: cupy.add.identity, "CuPy .* has no cupy.ufunc.identity"),
    (lambda cupy: cupy.fuse_all, "CuPy .* has no cupy.fuse_all"),
    (lambda cupy: cupy.zeros(3).toDlpack, "the stand-in has no .* though CuPy"),
]


@pytest.mark.parametrize(("look", "regex"), ABSENT)
def test_other_names_are_refused(cupy, look, regex):
    with pytest.raises(AttributeError, match=regex):
        look(cupy)


UNKNOWN = [
    lambda cupy, x: cupy.sum(x, where=True),
    lambda cupy, x: cupy.sum(x, initial=0),
    lambda cupy, x: x.max(initial=0),
    lambda cupy, x: cupy.add(x, x, where=x > 0),
    lambda cupy, x: cupy.exp(x, order="C"),
    lambda cupy, x: cupy.take(x, x.astype(int), mode="clip"),
    lambda cupy, x: cupy.einsum("i->", x, out=x),
    lambda cupy, x: cupy.zeros(3, like=x),
    lambda cupy, x: cupy.random.rand(3, d_type="f"),
    lambda cupy, x: cupy.add(x),
    lambda cupy, x: cupy.clip(x, 0),
]


@pytest.mark.parametrize("call", UNKNOWN)
def test_other_arguments_are_refused(cupy, call):
    with pytest.raises(TypeError):
        call(cupy, cupy.zeros(3))


# =============================================================================
# Apart from NumPy
# =============================================================================

MIXED = [
    lambda cupy, x, a: cupy.ascontiguousarray(a),
    lambda cupy, x, a: x + a,
    lambda cupy, x, a: a + x,
    lambda cupy, x, a: a * x,
    lambda cupy, x, a: x == a,
    lambda cupy, x, a: a @ x,
    lambda cupy, x, a: operator.iadd(x, a),
    lambda cupy, x, a: operator.iadd(a, x),
    lambda cupy, x, a: np.add(x, a),
    lambda cupy, x, a: np.add(a, a, out=x),
    lambda cupy, x, a: np.dot(x, a),
    lambda cupy, x, a: np.concatenate([x, a]),
    lambda cupy, x, a: cupy.sin(a),
    lambda cupy, x, a: cupy.sum(a),
    lambda cupy, x, a: cupy.where(a > 0, x, x),
    lambda cupy, x, a: cupy.where(x > 0, x, a),
    lambda cupy, x, a: cupy.matmul(x, a),
    lambda cupy, x, a: cupy.stack([x, a]),
    lambda cupy, x, a: cupy.asarray([x, a]),
    lambda cupy, x, a: cupy.copyto(x, a),
    lambda cupy, x, a: cupy.clip(x, a, None),
    lambda cupy, x, a: np.asarray(x),
    lambda cupy, x, a: operator.index(x[0].astype(int)),
    lambda cupy, x, a: a[x.astype(int)],
    lambda cupy, x, a: hash(x),
]


@pytest.mark.parametrize("call", MIXED)
def test_arrays_do_not_mix(cupy, call):
    with pytest.raises(TypeError):
        call(cupy, cupy.ones(3), np.ones(3))


def test_a_part_takes_no_numpy_array(cupy):
    x = cupy.ones((3, 2))
    with pytest.raises(ValueError, match="non-scalar numpy.ndarray"):
        x[1:] = np.ones((2, 2))


@pytest.mark.parametrize("dtype", [object, np.longdouble, "U3", "M8[s]"])
def test_other_dtypes_are_refused(cupy, dtype):
    with pytest.raises(ValueError, match="Unsupported dtype"):
        cupy.zeros(3, dtype)


def test_numpy_functions_work_through_the_protocols(cupy):
    x = cupy.arange(3.0)
    for y in np.sin(x), np.sum(x, axis=0), np.concatenate([x, x]), np.linalg.norm(x):
        assert type(y) is cupy.ndarray
    with pytest.raises(TypeError):
        np.nanquantile(x, 0.5)  # CuPy has none


# =============================================================================
# Numbers
# =============================================================================


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_python_numbers_are_weak_and_those_of_numpy_are_not(cupy, dtype):
    x = cupy.ones(3, dtype)
    for y in (x + 1, x * 2.5, 1 / x, x**2, -x, abs(x), cupy.maximum(x, 0.0)):
        assert y.dtype == dtype
    assert (x + np.float64(1)).dtype == np.float64
    assert (np.float64(1) + x).dtype == np.float64
    assert (x.astype("i4") + 1.5).dtype == np.float64
    assert cupy.where(x > 0, x, 0).dtype == dtype


@pytest.mark.parametrize("name", ["exp", "sqrt", "true_divide", "arctan2", "power"])
@pytest.mark.parametrize("dtypes", ["ff", "ef", "ii", "bd", "?f", "BH"])
def test_results_have_the_dtype_of_numpys(cupy, name, dtypes):
    xs = [np.ones(3, d) for d in dtypes]
    xs = xs[: getattr(np, name).nin]
    expected = getattr(np, name)(*xs)
    y = getattr(cupy, name)(*[cupy.asarray(x) for x in xs])
    # From small integers CuPy makes single or double precision as it sees fit.
    assert y.dtype.kind == expected.dtype.kind
    np.testing.assert_allclose(y.get(), expected, rtol=1e-3)


def test_reductions_give_arrays(cupy):
    x = cupy.ones((2, 3), np.float16)
    for y in (x.sum(), cupy.sum(x), x.max(), x.mean(), x.argmax(), x[1, 2], x.std()):
        assert type(y) is cupy.ndarray and y.shape == ()
    assert x.sum().dtype == np.float16


def test_memory_that_nobody_wrote_to(cupy):
    assert cupy.isnan(cupy.empty(3)).all()
    assert cupy.isnan(cupy.empty_like(cupy.ones(3))).all()


# =============================================================================
# Indices
# =============================================================================


def test_indices_out_of_bounds_wrap(cupy):
    x = cupy.arange(3)
    assert x[cupy.asarray([0, 4])].tolist() == [0, 1]
    assert cupy.take(x, cupy.asarray([5])).tolist() == [2]
    x[cupy.asarray([3])] = 7
    assert x.tolist() == [7, 1, 2]
    with pytest.raises(IndexError):
        x[3]


@pytest.mark.parametrize(
    "index",
    [1, slice(1, None), (..., 0), (None, 1), [0, 1], ([0, 1], slice(None), [1, 0])],
)
def test_indexing(cupy, index):
    a = np.arange(24).reshape(2, 3, 4)
    x = cupy.asarray(a)
    np.testing.assert_array_equal(x[index].get(), a[index])
    x[index] = 0
    a[index] = 0
    np.testing.assert_array_equal(x.get(), a)


def test_adding_at_indices(cupy):
    x = cupy.zeros(3, np.float32)
    cupy.add.at(x, cupy.asarray([0, 0, 2]), cupy.ones(3, np.float32))
    assert x.tolist() == [2, 0, 1]
    with pytest.raises(TypeError, match="does not support int16"):
        cupy.add.at(x.astype("h"), cupy.asarray([0]), 1)
    with pytest.raises(NotImplementedError):
        cupy.multiply.at(x, cupy.asarray([0]), 1)


def test_what_is_old_warns(cupy):
    with pytest.warns(DeprecationWarning, match="cupy.add.at"):
        sys.modules["cupyx"].scatter_add(cupy.zeros(3), [0], 1)


# =============================================================================
# Transfers
# =============================================================================

TO_HOST = [
    lambda cupy, x: x.get(),
    lambda cupy, x: cupy.asnumpy(x),
    lambda cupy, x: float(x.sum()),
    lambda cupy, x: int(x.sum()),
    lambda cupy, x: bool((x > 0).all()),
    lambda cupy, x: x.sum().item(),
    lambda cupy, x: x.tolist(),
    lambda cupy, x: repr(x),
    lambda cupy, x: f"{x.sum():.2f}",
    lambda cupy, x: x[x > 0],
    lambda cupy, x: operator.setitem(x, x > 0, 0),
    lambda cupy, x: cupy.nonzero(x),
    lambda cupy, x: cupy.where(x),
    lambda cupy, x: cupy.bincount(x[0].astype(int)),
    lambda cupy, x: pickle.dumps(x),
]
TO_DEVICE = [
    lambda cupy, x: cupy.asarray(np.ones(3)),
    lambda cupy, x: cupy.asarray([1, 2]),
    lambda cupy, x: x[[0, 1]],
    lambda cupy, x: x.take([0, 1]),
    lambda cupy, x: x.set(np.ones((2, 3))),
]
NOWHERE = [
    lambda cupy, x: x + 1,
    lambda cupy, x: cupy.asarray(2.0),
    lambda cupy, x: cupy.full((2, 2), 3.0),
    lambda cupy, x: x[0, 1:],
    lambda cupy, x: operator.setitem(x, (slice(None), 1), 5),
    lambda cupy, x: x[cupy.zeros(2, int)],
    lambda cupy, x: cupy.where(x > 0, x, 0),
    lambda cupy, x: copy.deepcopy(x),
    lambda cupy, x: cupy.stack([x, x]),
    lambda cupy, x: (x.shape, x.dtype, len(x), x.flags.c_contiguous),
]


@pytest.mark.parametrize(
    ("call", "counts"),
    [(call, (1, 0)) for call in TO_HOST]
    + [(call, (0, 1)) for call in TO_DEVICE]
    + [(call, (0, 0)) for call in NOWHERE],
)
def test_transfers_are_counted(cupy, call, counts):
    x = cupy.ones((2, 3))
    with transfers() as moved:
        call(cupy, x)
    assert (moved.to_host, moved.to_device) == counts, moved


def test_a_transfer_says_where_it_was(cupy):
    with transfers() as moved:
        cuda.as_numpy(cupy.zeros(3))
    assert "get: cuda.py:" in repr(moved)


# =============================================================================
# Two devices
# =============================================================================


def test_devices(cupy):
    x = cupy.zeros(3)
    with cupy.cuda.Device(1):
        y = cupy.ones(3)
        assert (x.device.id, y.device.id) == (0, 1)
        with pytest.raises(ValueError, match="where the array resides"):
            x + y
        assert (cupy.asarray(x) + y).device.id == 1
    with pytest.raises(RuntimeError, match="invalid device"):
        cupy.cuda.Device(2)
