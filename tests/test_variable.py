"""The Python face of a Variable: operators, comparison, conversion, copies, text."""

import ast
import copy
import inspect
import math
import operator
import pickle
import re

import numpy as np
import pytest

import dezero as dz
import dezero.functions as F
from dezero import core
from dezero.functions.variable_methods import METHODS

# No element, and no multiple of it, is near another: % and // jump there.
A = np.array([[1.5, 2.1, 3.2], [4.7, 5.3, 7.9]])
B = np.array([[2.2, 0.6, 1.1], [1.7, 2.3, 0.9]])


def central_difference(f, x, eps=1e-6):
    g = np.zeros_like(x)
    for i in np.ndindex(x.shape):
        d = np.zeros_like(x)
        d[i] = eps
        g[i] = np.sum(f(x + d) - f(x - d)) / (2 * eps)
    return g


# ---- making one -------------------------------------------------------------


@pytest.mark.parametrize("data", [3.0, 3, True, [1.0, 2.0], (1, 2), np.float64(1)])
def test_only_arrays_become_variables(data):
    with pytest.raises(
        TypeError,
        match=rf"Variable: .* got .*write np\.array\({re.escape(repr(data))}\)",
    ):
        dz.Variable(data)


def test_other_things_are_no_data_either():
    with pytest.raises(TypeError, match=r"got Variable; write x\.data, or x\.detach"):
        dz.Variable(dz.Variable(A))
    with pytest.raises(
        TypeError, match="expected booleans, integers or floats, .*complex"
    ):
        dz.Variable(np.ones(2, complex))
    with pytest.raises(TypeError, match="got str"):
        dz.Variable("1")


def test_attributes_are_those_of_the_data():
    x = dz.Variable(A, name="x")
    assert (x.shape, x.ndim, x.size, x.dtype) == ((2, 3), 2, 6, np.float64)
    assert x.name == "x" and x.data is A
    assert len(x) == 2
    assert x.creator is None and x.generation == 0
    assert (x * x).generation == 1


def test_requires_grad_by_default_unless_boolean():
    assert dz.Variable(A).requires_grad
    assert dz.Variable(np.arange(3)).requires_grad
    assert not dz.Variable(A > 2).requires_grad
    assert not dz.Variable(A, requires_grad=False).requires_grad
    assert not dz.as_variable(A).requires_grad
    assert not dz.as_variable(2.0).requires_grad
    assert not (dz.as_variable(A) * 2).requires_grad
    assert (dz.as_variable(A) * dz.Variable(B)).requires_grad


# ---- operators --------------------------------------------------------------

BINARY = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "**": operator.pow,
    "%": operator.mod,
    "//": operator.floordiv,
}


@pytest.mark.parametrize("op", BINARY.values(), ids=BINARY)
@pytest.mark.parametrize(
    "left, right",
    [(A, B), (A, 2.5), (2.5, B), (A, np.float64(2.5)), (np.float64(2.5), B), (A, B[0])],
    ids=["arrays", "scalar right", "scalar left", "np right", "np left", "broadcast"],
)
def test_binary_operators(op, left, right):
    """Every mix of Variable, array and scalar: NumPy's value and the right slopes."""
    expected = op(left, right)
    slope0 = central_difference(lambda x: op(x, right), np.asarray(left))
    slope1 = central_difference(lambda x: op(left, x), np.asarray(right))
    x0, x1 = dz.Variable(np.asarray(left)), dz.Variable(np.asarray(right))
    for a, b in (x0, x1), (x0, right), (left, x1):
        y = op(a, b)
        assert isinstance(y, dz.Variable)
        np.testing.assert_allclose(y.data, expected)
        y.backward()
        if a is x0:
            np.testing.assert_allclose(x0.grad.data, slope0, rtol=1e-6, atol=1e-8)
        if b is x1:
            np.testing.assert_allclose(x1.grad.data, slope1, rtol=1e-6, atol=1e-8)
        x0.cleargrad()
        x1.cleargrad()


def test_unary_operators():
    x = dz.Variable(A - 3)
    np.testing.assert_array_equal((-x).data, 3 - A)
    np.testing.assert_array_equal((+x).data, A - 3)
    np.testing.assert_array_equal(abs(x).data, np.abs(A - 3))
    F.sum(-abs(+x)).backward()
    np.testing.assert_array_equal(x.grad.data, -np.sign(A - 3))


def test_matmul_takes_arrays_on_either_side():
    x = dz.Variable(A)
    w = B.T.copy()
    for y in x @ w, x @ dz.Variable(w), A @ dz.Variable(w), x.matmul(w), x.dot(w):
        assert isinstance(y, dz.Variable)
        np.testing.assert_allclose(y.data, A @ w)
    y = B @ dz.Variable(A[0])
    np.testing.assert_allclose(y.data, B @ A[0])
    for bad in 2.0, np.float64(2):
        with pytest.raises((TypeError, ValueError), match="matmul"):
            x @ bad
        with pytest.raises((TypeError, ValueError), match="matmul"):
            bad @ x


def test_number_to_the_power_of_a_variable():
    x = dz.Variable(np.array([1.0, 3.0]))
    y = 2**x
    y.backward()
    np.testing.assert_allclose(y.data, [2.0, 8.0])
    np.testing.assert_allclose(x.grad.data, np.log(2) * np.array([2.0, 8.0]))


def test_power_by_a_variable_with_base_zero():
    a = dz.Variable(np.array([0.0, 2.0]))
    b = dz.Variable(np.array([1.0, 3.0]))
    y = a**b
    y.backward()
    np.testing.assert_allclose(y.data, [0.0, 8.0])
    np.testing.assert_allclose(a.grad.data, [1.0, 12.0])
    np.testing.assert_allclose(b.grad.data, [0.0, 8.0 * np.log(2)])


def test_hot_operators_are_the_functions_themselves():
    for name, function in [
        ("__add__", F.add),
        ("__radd__", F.add),
        ("__sub__", F.sub),
        ("__mul__", F.mul),
        ("__rmul__", F.mul),
        ("__truediv__", F.div),
        ("__pow__", F.pow),
        ("__neg__", F.neg),
        ("__matmul__", F.matmul),
        ("__getitem__", F.get_item),
    ]:
        assert getattr(dz.Variable, name) is function


def test_augmented_assignment_rebinds_the_name():
    x = y = dz.Variable(A.copy())
    for op in "+=", "-=", "*=", "/=", "**=", "//=", "%=":
        z = {"x": x}
        exec(f"x {op} 2", z)
        assert z["x"] is not y and z["x"].creator is not None
    np.testing.assert_array_equal(y.data, A)
    x += 1
    assert x is not y
    x.backward()
    np.testing.assert_array_equal(y.grad.data, np.ones_like(A))


@pytest.mark.parametrize("other", ["a", [1.0, 2.0], {}, object(), 1j], ids=type)
def test_operators_refuse_what_is_no_array(other):
    x = dz.Variable(A)
    for op in (
        operator.add,
        operator.mul,
        operator.truediv,
        operator.pow,
        operator.matmul,
    ):
        with pytest.raises(TypeError, match=type(other).__name__):
            op(x, other)
        with pytest.raises(TypeError):
            op(other, x)


# ---- comparison -------------------------------------------------------------


@pytest.mark.parametrize("name", ["eq", "ne", "lt", "le", "gt", "ge"])
def test_comparisons_give_plain_masks(name):
    op = getattr(operator, name)
    x, y = dz.Variable(A), dz.Variable(B)
    for left, right in (x, y), (x, B), (A, y):
        mask = op(left, right)
        assert type(mask) is np.ndarray and mask.dtype == bool
        np.testing.assert_array_equal(mask, op(A, B))
    ties = np.where(A > 3, A, B)
    np.testing.assert_array_equal(op(x, dz.Variable(ties)), op(A, ties))
    np.testing.assert_array_equal(op(x, ties), op(A, ties))
    np.testing.assert_array_equal(op(x, 2.0), op(A, 2.0))
    np.testing.assert_array_equal(op(2.0, x), op(2.0, A))
    np.testing.assert_array_equal(op(np.float64(2.0), x), op(2.0, A))


def test_none_is_never_equal():
    x = dz.Variable(A)
    assert (x == None) is False  # noqa: E711 - the comparison is what is tested
    assert (x != None) is True  # noqa: E711
    assert (None == x) is False  # noqa: E711


def test_hash_is_identity():
    x, y = dz.Variable(A), dz.Variable(A)
    assert len({x, y, x}) == 2
    assert {x: 1}[x] == 1


# ---- conversion -------------------------------------------------------------


def test_scalar_conversions():
    x = dz.Variable(np.array(2.5))
    assert float(x) == 2.5 and int(x) == 2 and x.item() == 2.5
    assert bool(x) is True and bool(dz.Variable(np.array(0.0))) is False
    assert math.sqrt(x) == math.sqrt(2.5)
    assert type(x.item()) is float
    assert round(float(x), 1) == 2.5
    i = dz.Variable(np.array(2))
    assert [10, 20, 30][i] == 30 and list(range(i)) == [0, 1]


def test_conversions_of_arrays_fail_as_numpys_do():
    x = dz.Variable(A)
    with pytest.raises(ValueError, match="ambiguous"):
        bool(x)
    with pytest.raises(TypeError):
        float(x)
    with pytest.raises(TypeError):
        operator.index(dz.Variable(np.array(2.0)))
    with pytest.raises(TypeError):
        len(dz.Variable(np.array(2.0)))


def test_asarray_gives_the_numbers():
    x = dz.Variable(A)
    assert np.asarray(x).dtype == np.float64
    np.testing.assert_array_equal(np.asarray(x), A)
    assert np.asarray(x) is A
    copied = np.array(x)
    assert not np.shares_memory(copied, A)
    assert np.asarray(x, dtype=np.float32).dtype == np.float32
    np.testing.assert_array_equal(np.array([x[0, 0], x[0, 1]]), A[0, :2])


def test_as_array():
    assert dz.as_array(A) is A
    for number in 2.5, np.float32(2.5), [2.5]:
        x = dz.as_array(number)
        assert type(x) is np.ndarray and x.ravel().tolist() == [2.5]
    assert dz.as_array(2.5).shape == ()


def test_as_variable_names_itself():
    with pytest.raises(TypeError, match="^as_variable: expected a NumPy or CuPy array"):
        dz.as_variable("text")


def test_to_cpu_keeps_what_is_there():
    x = dz.Variable(A)
    x.to_cpu()
    assert x.data is A and x.grad is None
    F.sum(x).backward()
    x.to_cpu()
    np.testing.assert_array_equal(x.grad.data, np.ones_like(A))
    lazy = dz.Parameter(None)
    lazy.to_cpu()
    assert lazy.data is None


@pytest.mark.skipif(dz.cuda.gpu_enable, reason="a device answers here")
def test_to_gpu_without_a_device():
    x = dz.Variable(A)
    with pytest.raises(RuntimeError, match="as_cupy"):
        x.to_gpu()
    assert x.data is A
    lazy = dz.Parameter(None)
    lazy.to_gpu()
    assert lazy.data is None


def test_iteration():
    x = dz.Variable(A)
    rows = list(x)
    assert all(isinstance(row, dz.Variable) for row in rows)
    np.testing.assert_array_equal(rows[1].data, A[1])
    a, b = x
    F.sum(b * b).backward()
    np.testing.assert_array_equal(x.grad.data, [[0, 0, 0], 2 * A[1]])
    assert list(dz.Variable(np.zeros((0, 2)))) == []


def test_iterating_a_scalar_is_an_error():
    text = "^Variable: expected at least one axis to iterate over$"
    with pytest.raises(TypeError, match=text):
        iter(dz.Variable(np.array(1.0)))


def test_contains():
    x = dz.Variable(A)
    assert 1.5 in x and 9.0 not in x
    assert dz.Variable(np.array(1.5)) in x


def test_indexing_is_recorded_and_assignment_refused():
    x = dz.Variable(A)
    y = x[1, 1:] * 2
    y.backward()
    np.testing.assert_array_equal(x.grad.data, [[0, 0, 0], [0, 2, 2]])
    with pytest.raises(TypeError) as caught:
        x[0] = 1.0
    assert str(caught.value) == (
        "Variable: item assignment would change a recorded value; use F.where(mask, "
        "value, x) or, outside the graph, x.data[...] = value"
    )
    np.testing.assert_array_equal(x[x > 3].data, A[A > 3])


# ---- text -------------------------------------------------------------------


def test_repr():
    assert repr(dz.Variable(np.array([1, 2, 3]))) == "variable([1 2 3])"
    assert repr(dz.Variable(np.array(1.5))) == "variable(1.5)"
    x = dz.Variable(np.array([[1, 2, 3], [4, 5, 6]]))
    assert repr(x) == "variable([[1 2 3]\n          [4 5 6]])"
    assert str(x) == repr(x)
    assert repr(dz.Variable(None)) == "variable(None)"


def test_format():
    x = dz.Variable(np.array(1.23456))
    assert f"{x:.2f}" == "1.23"
    assert f"{x}" == "variable(1.23456)"
    with pytest.raises(TypeError):
        f"{dz.Variable(A):.2f}"


# ---- copies -----------------------------------------------------------------


def pickled(x):
    return pickle.loads(pickle.dumps(x))


@pytest.mark.parametrize("duplicate", [copy.deepcopy, pickled])
def test_copies_leave_the_graph_behind(duplicate):
    x = dz.Variable(A.copy(), name="x")
    (x * x).backward()
    y = duplicate(x)
    assert type(y) is dz.Variable and y.name == "x" and y.requires_grad
    np.testing.assert_array_equal(y.data, A)
    np.testing.assert_array_equal(y.grad.data, 2 * A)
    assert not np.shares_memory(y.data, x.data)
    assert not np.shares_memory(y.grad.data, x.grad.data)
    z = duplicate(x * 2)
    assert z.creator is None and z.generation == 0
    assert not duplicate(dz.as_variable(A)).requires_grad
    assert type(duplicate(dz.Parameter(A))) is dz.Parameter
    assert duplicate(dz.Parameter(None)).data is None


class Sized(dz.Parameter):
    """A subclass with another signature, and attributes of both kinds."""

    __slots__ = ("__dict__", "size_given", "unset")

    def __init__(self, n):
        super().__init__(np.zeros(n), "sized")
        self.size_given = n
        self.note = ["free"]


@pytest.mark.parametrize(
    "duplicate",
    [copy.copy, copy.deepcopy]
    + [lambda x, n=n: pickle.loads(pickle.dumps(x, n)) for n in range(6)],
)
def test_copies_of_a_subclass_keep_its_attributes(duplicate):
    x = Sized(3)
    x.grad = np.ones(3)
    twin = duplicate(x)
    assert type(twin) is Sized
    assert (twin.name, twin.size_given, twin.note) == ("sized", 3, ["free"])
    np.testing.assert_array_equal(twin.grad.data, np.ones(3))


def test_copies_of_a_parameter_without_data_and_of_a_circle():
    twin = copy.deepcopy(dz.Parameter(None, "W"))
    assert (twin.data, twin.name, twin.requires_grad) == (None, "W", True)
    x = dz.Variable(np.ones(2))
    x.grad = x
    twin = copy.deepcopy(x)
    assert twin.grad is twin is not x


def test_a_million_node_graph_is_no_problem_for_a_copy():
    x = dz.Variable(np.array(1.0))
    for _ in range(5000):
        x = x * 1.0
    assert float(copy.deepcopy(x)) == 1.0


def test_detach():
    x = dz.Variable(A)
    y = x.detach()
    assert y.data is x.data and not y.requires_grad
    (x * y).backward()
    np.testing.assert_array_equal(x.grad.data, A)


# ---- methods ----------------------------------------------------------------


def test_reshape_and_transpose_take_a_tuple_or_separate_numbers():
    x = dz.Variable(np.arange(6.0).reshape(1, 2, 3))
    for y in x.reshape(3, 2), x.reshape((3, 2)), x.reshape([3, 2]), x.reshape(3, -1):
        assert y.shape == (3, 2)
    assert x.reshape(-1).shape == x.reshape(6).shape == (6,)
    assert x.reshape(np.int64(6)).shape == (6,)
    assert x[:, :1, :1].reshape(()).shape == x[:, :1, :1].reshape().shape == ()
    for y in x.transpose(2, 0, 1), x.transpose((2, 0, 1)), x.transpose([2, 0, 1]):
        assert y.shape == (3, 1, 2)
    for y in x.T, x.transpose(), x.transpose(None):
        assert y.shape == (3, 2, 1)
        np.testing.assert_array_equal(y.data, x.data.T)
    assert dz.Variable(A[0]).transpose(0).shape == (3,)


METHOD_CALLS = {
    "T": (),
    "abs": (),
    "all": (0,),
    "any": (),
    "argmax": (1,),
    "argmin": (1,),
    "clip": (2.0, 4.0),
    "cos": (),
    "cumprod": (0,),
    "cumsum": (1,),
    "diagonal": (),
    "dot": (B.T,),
    "exp": (),
    "log": (),
    "matmul": (B.T,),
    "max": (1, True),
    "mean": (0,),
    "min": (),
    "prod": (0,),
    "ravel": (),
    "repeat": (2, 1),
    "reshape": (3, 2),
    "sin": (),
    "sqrt": (),
    "squeeze": (),
    "std": (0,),
    "sum": ((0, 1), True),
    "swapaxes": (0, 1),
    "take": ([0, 0, 2], 1),
    "tanh": (),
    "trace": (),
    "transpose": (1, 0),
    "var": (1,),
}


@pytest.mark.parametrize("name", [m for m in METHODS if not m.startswith("__")])
def test_methods_agree_with_numpy(name):
    if name == "astype":
        assert dz.Variable(A).astype(np.float32).dtype == np.float32
        return
    args = METHOD_CALLS[name]
    x = dz.Variable(A)
    y = x.T if name == "T" else getattr(x, name)(*args)
    if name == "max":  # the third argument of ndarray.max is keepdims
        expected = A.max(1, keepdims=True)
    elif name == "sum":
        expected = A.sum(keepdims=True)
    elif name == "T":
        expected = A.T
    elif name == "matmul":
        expected = A @ B.T
    elif hasattr(A, name):
        expected = getattr(A, name)(*args)
    else:
        expected = getattr(np, name)(A, *args)
    np.testing.assert_allclose(y.data, expected)
    assert isinstance(y, dz.Variable)


def test_stubs_of_variable_are_the_names_of_the_table():
    (variable,) = [
        node
        for node in ast.parse(inspect.getsource(core)).body
        if isinstance(node, ast.ClassDef) and node.name == "Variable"
    ]
    stubs = set()
    for block in variable.body:
        if isinstance(block, ast.If) and ast.unparse(block.test) == "TYPE_CHECKING":
            for node in block.body:
                target = getattr(node, "target", None)
                stubs.add(node.name if target is None else target.id)
    assert stubs == set(METHODS)


def test_attach_can_be_repeated():
    before = {name: getattr(dz.Variable, name) for name in METHODS}
    dz.setup_variable()
    assert {name: getattr(dz.Variable, name) for name in METHODS} == before


def test_array_in_another_dtype():
    x = dz.Variable(np.ones(2, np.float32))
    assert x.__array__(np.float64).dtype == np.float64
    assert x.__array__().dtype == np.float32


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, pickled])
def test_a_copy_of_a_seeded_result_starts_anew(duplicate):
    parts = F.split(dz.Variable(np.arange(4.0)), 2)
    parts[1].grad = np.array([5.0, 7.0])
    leaf = duplicate(parts[1])
    (leaf * 3).backward()
    np.testing.assert_array_equal(leaf.grad.data, [8, 10])  # onto the one it brought
    y = duplicate(parts[1])
    y.backward()  # ones; a leaf has no seed of its own
    np.testing.assert_array_equal(y.grad.data, [6, 8])
