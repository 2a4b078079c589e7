"""The backward loop: order, sums, seeds, ownership, freeing, cutting, errors."""

import collections
import dataclasses
import gc
import threading
import weakref

import numpy as np
import pytest

import dezero as dz
import dezero.functions as F
from dezero.core import run_backward


def variable(*values, dtype=np.float64):
    return dz.Variable(np.array(values, dtype=dtype))


class Halves(dz.Function):
    """Two outputs: the two halves of a vector."""

    def forward(self, x):
        n = len(x) // 2
        return x[:n] * 1.0, x[n:] * 1.0

    def backward(self, ga, gb):
        return F.concatenate([ga, gb])


class Broken(dz.Function):
    """Fails in backward."""

    def forward(self, x):
        return x * 1.0

    def backward(self, gy):
        raise FloatingPointError("broken on purpose")


# ---- order and sums ----------------------------------------------------------


def test_diamond_runs_each_function_once_and_complete():
    order = []

    class Square(dz.Function):
        def __init__(self, name):
            self.label = name

        def forward(self, x):
            return x**2

        def backward(self, gy):
            order.append((self.label, float(gy.data[0])))
            (x,) = self.inputs
            return gy * 2 * x

    x = variable(2.0)
    a = Square("a")(x)
    y = Square("b")(a) + Square("c")(a)
    y.backward()
    assert float(x.grad.data[0]) == 64.0
    assert [name for name, _ in order][-1] == "a" and len(order) == 3
    assert order[-1] == ("a", 16.0)


def test_paths_of_unequal_length():
    x = variable(3.0)
    a = x * x
    y = a + F.exp(F.log(a * a)) * a  # a + a**3
    y.backward()
    np.testing.assert_allclose(x.grad.data, [2 * 3 + 6 * 3.0**5])


@pytest.mark.parametrize(
    ("f", "gradient"),
    [
        (lambda x: x * x, 6.0),
        (lambda x: x + x, 2.0),
        (lambda x: F.add(x, x), 2.0),
        (lambda x: x - x, 0.0),
        (lambda x: x * x * x * x, 108.0),
        (lambda x: x / x, 0.0),
    ],
)
@pytest.mark.parametrize("shape", [(), (1,), (2, 3)])
def test_same_variable_several_times(f, gradient, shape):
    x = dz.Variable(np.full(shape, 3.0))
    f(x).backward()
    assert x.grad.shape == shape
    np.testing.assert_allclose(x.grad.data, np.full(shape, gradient), atol=1e-15)


def test_0d_variable_used_four_times():
    x = dz.Variable(np.array(3.0))
    y = x + x + x + x
    y.backward()
    assert x.grad.data.shape == () and isinstance(x.grad.data, np.ndarray)
    assert float(x.grad) == 4.0


def test_gradients_add_up_over_passes_until_cleared():
    x = variable(1.0, 2.0)
    for n in (1, 2, 3):
        (x * 2).backward()
        np.testing.assert_array_equal(x.grad.data, [2.0 * n] * 2)
    x.cleargrad()
    assert x.grad is None


def test_a_gradient_taken_before_is_not_changed_by_the_next_pass():
    x = variable(1.0)
    (x * 2).backward()
    first = x.grad
    (x * 2).backward()
    np.testing.assert_array_equal(first.data, [2.0])
    np.testing.assert_array_equal(x.grad.data, [4.0])


def test_a_gradient_assigned_to_a_leaf_is_added_to_and_not_written_into():
    x = variable(1.0)
    mine = np.array([10.0])
    x.grad = dz.Variable(mine)
    (x * 2).backward()
    np.testing.assert_array_equal(x.grad.data, [12.0])
    np.testing.assert_array_equal(mine, [10.0])


def test_fan_out_of_10000_branches():
    x = variable(1.0)
    y = x * 1.0
    for i in range(1, 10_000):
        y = y + x * float(i % 7)
    y.backward()
    assert float(x.grad.data[0]) == 1.0 + sum(i % 7 for i in range(1, 10_000))


def test_wide_sum_of_one_intermediate_variable():
    x = variable(2.0)
    h = x * 3.0
    y = h
    for _ in range(999):
        y = y + h
    y.backward()
    assert float(x.grad.data[0]) == 3000.0


def test_chain_of_a_million_nodes():
    x = dz.Variable(np.array(1.0))
    y = x
    for _ in range(1_000_000):
        y = y + 1.0
    y.backward(retain_graph=False)
    assert float(x.grad) == 1.0
    del y  # must not overflow the C stack either


def test_long_chain_is_freed_without_recursion():
    x = dz.Variable(np.array(1.0))
    y = x
    for _ in range(300_000):
        y = y * 1.0
    del y


# ---- several outputs -----------------------------------------------------------


def test_dropped_output_counts_as_zero():
    x = dz.Variable(np.arange(4.0))
    first = Halves()(x)[0]
    gc.collect()
    F.sum(first * 3.0).backward()
    np.testing.assert_array_equal(x.grad.data, [3.0, 3.0, 0.0, 0.0])


def test_second_output_alone():
    x = dz.Variable(np.arange(4.0))
    _, second = Halves()(x)
    F.sum(second * second).backward()
    np.testing.assert_array_equal(x.grad.data, [0.0, 0.0, 4.0, 6.0])


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_the_zeros_of_an_unused_output_have_its_dtype(dtype):
    seen = []

    class Both(dz.Function):
        def forward(self, x):
            return x * 2, x * 3

        def backward(self, ga, gb):
            seen.append((ga.dtype, gb.dtype))
            return ga * 2 + gb * 3

    x = dz.Variable(np.ones(2, dtype))
    for i in range(2):
        F.sum(Both()(x)[i]).backward()
    assert seen == [(dtype, dtype)] * 2


def test_several_outputs_are_recorded_like_one():
    x = dz.Variable(np.arange(4.0))
    with dz.no_grad():
        outputs = Halves()(x)
    assert [(y.creator, y.requires_grad) for y in outputs] == [(None, False)] * 2
    outputs = Halves()(np.arange(4.0))
    assert [(y.creator, y.requires_grad) for y in outputs] == [(None, False)] * 2


def test_both_outputs_run_the_function_once():
    calls = []

    class Counted(Halves):
        def backward(self, ga, gb):
            calls.append(1)
            return super().backward(ga, gb)

    x = dz.Variable(np.arange(4.0))
    a, b = Counted()(x)
    F.sum(b * 2.0 + a * 3.0).backward()
    np.testing.assert_array_equal(x.grad.data, [3.0, 3.0, 2.0, 2.0])
    assert calls == [1]


def test_second_derivative_through_several_outputs():
    x = dz.Variable(np.array([1.0, 2.0, 3.0, 4.0]))
    a, b = Halves()(x)
    y = F.sum(a * a * b)
    (gx,) = dz.grad(y, [x], create_graph=True)
    np.testing.assert_array_equal(gx.data, [6.0, 16.0, 1.0, 4.0])
    (g2,) = dz.grad(F.sum(gx), [x])
    np.testing.assert_array_equal(g2.data, [2 * 3 + 2, 2 * 4 + 4, 2.0, 4.0])


# ---- seeds ----------------------------------------------------------------------


def test_leaf_gets_ones_added():
    x = variable(2.0, 3.0)
    x.backward()
    x.backward()
    np.testing.assert_array_equal(x.grad.data, [2.0, 2.0])


def test_seed_by_argument():
    x = variable(1.0, 2.0)
    y = x * 3.0
    y.backward(grad=np.array([1.0, 10.0]))
    np.testing.assert_array_equal(x.grad.data, [3.0, 30.0])


def test_assigned_gradient_is_the_seed_and_used_up():
    x = variable(1.0, 2.0)
    y = x * 3.0
    y.grad = dz.Variable(np.array([1.0, 10.0]))
    y.backward()
    np.testing.assert_array_equal(x.grad.data, [3.0, 30.0])
    assert y.grad is None
    x.cleargrad()
    y.backward()
    np.testing.assert_array_equal(x.grad.data, [3.0, 3.0])


def test_what_retain_grad_left_is_never_a_seed():
    x = variable(1.0, 2.0)
    y = x * 3.0
    y.backward(retain_grad=True, grad=np.array([5.0, 7.0]))
    np.testing.assert_array_equal(y.grad.data, [5.0, 7.0])
    x.cleargrad()
    y.backward()
    np.testing.assert_array_equal(x.grad.data, [3.0, 3.0])


def test_seed_is_cast_to_the_dtype_of_the_output():
    x = variable(1.0, dtype=np.float32)
    (x * 2).backward(grad=np.array([1.0]))
    assert x.grad.dtype == np.float32


@pytest.mark.parametrize(
    ("dtype", "seed"),
    [("f2", "f2"), ("f4", "f4"), ("i4", "i4"), ("u1", "i8"), ("?", "i8")],
)
def test_the_ones_to_start_with_have_the_dtype_of_the_result(dtype, seed):
    x = dz.Variable(np.ones(2, dtype), requires_grad=True)
    x.backward()
    assert x.grad.dtype == seed


def test_seed_errors():
    x = variable(1.0, 2.0)
    y = x * 3.0
    with pytest.raises(
        ValueError, match=r"backward: expected a gradient of shape \(2,\)"
    ):
        y.backward(grad=np.ones(3))
    with pytest.raises(TypeError, match="backward: expected a NumPy or CuPy array"):
        y.backward(grad="ones")
    with pytest.raises(ValueError, match=r"Variable.grad: expected shape \(2,\)"):
        y.grad = dz.Variable(np.ones(3))
    with pytest.raises(TypeError, match="Variable.grad: expected a Variable, an array"):
        y.grad = 1.0


# ---- retain_grad, create_graph, retain_graph -----------------------------------


def test_retain_grad():
    x = variable(2.0)
    a = x * x
    y = a * 3.0
    y.backward()
    assert a.grad is None and y.grad is None
    y.backward(retain_grad=True)
    np.testing.assert_array_equal(a.grad.data, [3.0])
    np.testing.assert_array_equal(y.grad.data, [1.0])


def test_higher_derivatives():
    x = variable(2.0)
    y = x**4 - 2 * x**2
    y.backward(create_graph=True)
    values = [float(x.grad.data[0])]
    for _ in range(3):
        g = x.grad
        x.cleargrad()
        g.backward(create_graph=True)
        values.append(float(x.grad.data[0]))
    assert values == [24.0, 44.0, 48.0, 24.0]


def test_second_derivative_of_a_straight_line():
    x = variable(1.0, -2.0)
    y = x - 2.0
    y.backward(create_graph=True)
    gx = x.grad
    np.testing.assert_array_equal(gx.data, [1.0, 1.0])
    x.cleargrad()
    gx.backward()
    assert x.grad is None or not np.any(x.grad.data)


def test_recorded_gradients_add_up_as_a_recorded_sum():
    x = variable(3.0)
    (x**2).backward(create_graph=True)
    before = x.grad
    (x**3).backward(create_graph=True)
    np.testing.assert_array_equal(before.data, [6.0])
    total = x.grad
    np.testing.assert_array_equal(total.data, [6.0 + 27.0])
    x.cleargrad()
    total.backward()
    np.testing.assert_array_equal(x.grad.data, [2.0 + 18.0])


def test_an_unrecorded_pass_adds_to_a_recorded_gradient_without_writing_into_it():
    x = variable(3.0)
    (x**2).backward(create_graph=True)
    before = x.grad
    (x**2).backward()
    np.testing.assert_array_equal(before.data, [6.0])
    np.testing.assert_array_equal(x.grad.data, [12.0])


def test_gradient_penalty_trains_what_the_gradient_depends_on():
    x, w = variable(1.0, 2.0), variable(0.5, -0.5)
    y = F.sum(F.tanh(x * w))
    (gx,) = dz.grad(y, [x], create_graph=True)
    F.sum(gx * gx).backward()
    eps = 1e-6

    def penalty(w):
        g = w * (1 - np.tanh(np.array([1.0, 2.0]) * w) ** 2)
        return (g * g).sum()

    for i in range(2):
        d = eps * np.eye(2)[i]
        slope = (penalty(w.data + d) - penalty(w.data - d)) / (2 * eps)
        np.testing.assert_allclose(w.grad.data[i], slope, rtol=1e-7)


def test_retain_graph_false_frees_arrays_as_the_pass_goes():
    x = variable(*range(1000))
    h = x * x
    ref = weakref.ref(h)
    y = F.sum(h * h)
    del h
    assert ref() is not None
    y.backward(retain_graph=False)
    assert ref() is None


def test_second_pass_after_freeing_says_so():
    x = variable(2.0)
    y = x * x
    y.backward(retain_graph=False)
    for again in y.backward, lambda: dz.grad(y, [x]):
        with pytest.raises(RuntimeError) as caught:
            again()
        assert str(caught.value) == (
            "backward: what Mul had recorded was freed by an earlier pass with "
            "retain_graph=False; call that one with retain_graph=True"
        )
    np.testing.assert_array_equal(x.grad.data, [4.0])
    y.unchain_backward()  # nothing left to cut, and no error


def test_retain_graph_true_allows_two_passes():
    x = variable(2.0)
    y = F.exp(x) * x
    y.backward()
    y.backward()
    np.testing.assert_allclose(x.grad.data, [2 * 3 * np.exp(2.0)])


# ---- ownership ------------------------------------------------------------------


def assert_unaliased(leaves, *others):
    arrays = [x.grad.data for x in leaves]
    for i, a in enumerate(arrays):
        assert a.flags.writeable
        for b in arrays[:i] + list(others) + [x.data for x in leaves]:
            assert not np.shares_memory(a, b)


@pytest.mark.parametrize("create_graph", [False, True])
def test_leaf_gradients_share_no_memory(create_graph):
    a, b, c = (dz.Variable(np.ones((2, 3))) for _ in range(3))
    seed = np.ones((2, 3))
    y = a + b - F.reshape(F.transpose(c), (2, 3))
    y.backward(grad=seed, create_graph=create_graph)
    assert_unaliased([a, b, c], seed, y.data)


def test_leaf_gradient_of_a_sum_is_writable():
    x = dz.Variable(np.ones((2, 3)))
    F.sum(x).backward()
    x.grad.data += 1.0
    np.testing.assert_array_equal(x.grad.data, np.full((2, 3), 2.0))


def test_user_function_that_returns_a_stored_array():
    stored = np.array([5.0, 5.0])

    class Odd(dz.Function):
        def forward(self, x, y):
            return x + y

        def backward(self, gy):
            return stored, dz.as_variable(stored)

    x, y = variable(1.0, 2.0), variable(1.0, 2.0)
    Odd()(x, y).backward()
    (x * 1.0).backward()
    assert_unaliased([x, y], stored)
    np.testing.assert_array_equal(stored, [5.0, 5.0])
    np.testing.assert_array_equal(x.grad.data, [6.0, 6.0])


def test_user_function_that_returns_its_stored_array_twice_for_one_leaf():
    stored = np.array([5.0])

    class Odd(dz.Function):
        def forward(self, x, y):
            return x + y

        def backward(self, gy):
            return stored, stored

    x = variable(1.0)
    (Odd()(x, x) + Odd()(x, x)).backward()
    np.testing.assert_array_equal(x.grad.data, [20.0])
    np.testing.assert_array_equal(stored, [5.0])


# ---- what requires a gradient ----------------------------------------------------


def test_raw_arrays_and_scalars_are_constants():
    c = np.ones(2)
    x = variable(1.0, 2.0)
    y = F.mul(c, x)
    assert y.creator.needs_grad[0] is False and y.creator.needs_grad[1] is True
    assert not F.mul(c, c).requires_grad and F.mul(c, c).creator is None


@pytest.mark.parametrize(
    "make",
    [
        lambda x: dz.as_variable(np.ones(2)) * 2.0,
        lambda x: (x * 2.0).detach(),
        lambda x: dz.no_grad()(lambda: x * 2.0)(),
        lambda x: dz.Variable(np.ones(2), requires_grad=False),
    ],
    ids=["constants", "detached", "no_grad", "requires_grad=False"],
)
def test_backward_of_a_constant_says_why(make):
    y = make(variable(1.0, 2.0))
    with pytest.raises(RuntimeError) as caught:
        y.backward()
    assert str(caught.value) == (
        "backward: this variable requires no gradient: it was computed under no_grad, "
        "or from constants only (a raw array is a constant; Variable(array) is not), "
        "or it was detached, or it is a gradient from a pass without create_graph=True"
    )


def test_requires_grad_can_be_switched():
    x, w = variable(1.0), variable(2.0)
    w.requires_grad = False
    (x * w).backward()
    assert w.grad is None and float(x.grad.data[0]) == 2.0


def test_a_leaf_frozen_after_it_was_used_gets_no_gradient():
    x, w = variable(2.0), variable(3.0)
    y = x * w
    x.requires_grad = False
    y.backward()
    assert x.grad is None
    np.testing.assert_array_equal(w.grad.data, [2.0])


def test_input_without_gradient_is_not_computed():
    asked = []

    class Product(dz.Function):
        def forward(self, a, b):
            return a * b

        def backward(self, gy):
            asked.append(tuple(self.needs_grad))
            a, b = self.inputs
            return gy * b, gy * a

    x, c = variable(2.0), dz.as_variable(np.array([3.0]))
    Product()(x, c).backward()
    assert asked == [(True, False)]
    assert c.grad is None


def test_none_reaches_forward_as_none():
    class MaybeScale(dz.Function):
        def forward(self, x, scale):
            return x * 1.0 if scale is None else x * scale

        def backward(self, gy):
            return gy, None

    x = variable(2.0)
    y = MaybeScale()(x, None)
    y.backward()
    np.testing.assert_array_equal(x.grad.data, [1.0])


# ---- Function -------------------------------------------------------------------


def test_subclass_without_super_init():
    class Scale(dz.Function):
        def __init__(self, factor):
            self.factor = factor

        def forward(self, x):
            return x * self.factor

        def backward(self, gy):
            return gy * self.factor

    x = variable(2.0)
    Scale(3.0)(x).backward()
    np.testing.assert_array_equal(x.grad.data, [3.0])


def test_calling_a_recorded_function_again_works_on_a_copy():
    class Power(dz.Function):
        def __init__(self, c):
            self.c = c

        def forward(self, x):
            self.slope = self.c * x ** (self.c - 1)
            return x**self.c

        def backward(self, gy):
            return gy * self.slope

    cube = Power(3)
    x, z = variable(2.0), variable(3.0)
    y = cube(x) + cube(z)
    y.backward()
    np.testing.assert_array_equal(x.grad.data, [12.0])
    np.testing.assert_array_equal(z.grad.data, [27.0])
    x.cleargrad()
    cube(cube(x)).backward()
    np.testing.assert_array_equal(x.grad.data, [9 * 2.0**8])


def test_dead_output_is_there_again_in_backward():
    class Exp(dz.Function):
        reads_inputs = False

        def forward(self, x):
            return np.exp(x)

        def backward(self, gy):
            (y,) = [ref() for ref in self.outputs]
            return gy * y

    x = variable(0.5)
    y = Exp()(x) + 1.0  # nobody keeps the output of Exp
    gc.collect()
    y.backward(create_graph=True)
    np.testing.assert_allclose(x.grad.data, np.exp([0.5]))
    g = x.grad
    x.cleargrad()
    g.backward()
    np.testing.assert_allclose(x.grad.data, np.exp([0.5]))


def test_function_of_several_outputs_returned_as_one_tuple_of_one():
    class One(dz.Function):
        def forward(self, x):
            return (x * 2.0,)

        def backward(self, gy):
            return [gy * 2.0]

    x = variable(1.0)
    y = One()(x)
    assert isinstance(y, dz.Variable)
    y.backward()
    np.testing.assert_array_equal(x.grad.data, [2.0])


class Returns(dz.Function):
    """Returns what it is told to."""

    def __init__(self, y=None, gx=None):
        self.y, self.gx = y, gx

    def forward(self, *xs):
        return xs[0] * 1.0 if self.y is None else self.y

    def backward(self, gy):
        return self.gx


@pytest.mark.parametrize(
    ("gx", "error", "message"),
    [
        (np.ones(3), ValueError, r"Returns.backward: .* shape \(2,\).* got \(3,\)"),
        ((np.ones(2), np.ones(2)), ValueError, "Returns.backward: expected 1 .*got 2"),
        ("text", TypeError, "Returns.backward: expected Variables.* got str"),
    ],
)
def test_wrong_gradients_name_the_function(gx, error, message):
    x = variable(1.0, 2.0)
    y = Returns(gx=gx)(x)
    with pytest.raises(error, match=message):
        y.backward()
    assert x.grad is None


@pytest.mark.parametrize(
    ("y", "got"), [("text", "str"), ([1.0], "list"), ((1.0, "text"), "str")]
)
def test_wrong_forward_names_the_function(y, got):
    with pytest.raises(
        TypeError, match=f"Returns.forward: expected an array.* got {got}"
    ):
        Returns(y=y)(variable(1.0))


def test_forward_that_returns_a_variable():
    with pytest.raises(TypeError, match="Returns.forward: .* got Variable"):
        Returns(y=variable(1.0))(variable(1.0))


def test_missing_methods():
    class Empty(dz.Function):
        pass

    class Half(dz.Function):
        def forward(self, x):
            return x * 1.0

    with pytest.raises(TypeError, match="Empty: expected a method forward"):
        Empty()(variable(1.0))
    with pytest.raises(TypeError, match="Half: expected a method backward"):
        Half()(variable(1.0)).backward()


@pytest.mark.parametrize("x", ["text", [1.0, 2.0], {"a": 1}, np.array(["a"]), 1j])
def test_wrong_inputs_name_the_function(x):
    with pytest.raises(TypeError, match="Mul: expected"):
        F.mul(variable(1.0), x)


def test_gradient_is_cast_to_a_floating_input_and_left_for_an_integer_one():
    class Wide(dz.Function):
        def forward(self, x):
            return x * 1.0

        def backward(self, gy):
            return np.ones(gy.shape, np.float64)

    x = variable(1.0, dtype=np.float32)
    Wide()(x).backward()
    assert x.grad.dtype == np.float32
    n = dz.Variable(np.array([3]))
    Wide()(n).backward()
    assert n.grad.dtype == np.float64


def test_integer_variables_get_gradients():
    x = dz.Variable(np.array([2, 3]))
    y = x * x
    y.backward()
    assert y.dtype == np.int64
    np.testing.assert_array_equal(x.grad.data, [4, 6])
    x.cleargrad()
    z = x * 0.5
    z.backward()
    assert z.dtype == np.float64
    np.testing.assert_array_equal(x.grad.data, [0.5, 0.5])


def test_integer_leaf_with_integer_and_floating_uses():
    x = dz.Variable(np.array([2, 3]))
    (x * 2 + x * 0.5).backward()
    np.testing.assert_array_equal(x.grad.data, [2.5, 2.5])


# ---- exceptions leave things as they were ----------------------------------------


def test_exception_in_backward_leaves_gradients_and_config():
    x, w = variable(1.0), variable(2.0)
    w.grad = dz.Variable(np.array([7.0]))
    y = Broken()(x) * w
    with pytest.raises(FloatingPointError):
        y.backward(create_graph=True)
    assert x.grad is None
    np.testing.assert_array_equal(w.grad.data, [7.0])
    assert dz.Config.enable_backprop is True
    with pytest.raises(FloatingPointError):
        with dz.no_grad():
            y.backward()
    assert dz.Config.enable_backprop is True


def test_gradient_of_another_shape_on_a_leaf_is_refused_before_anything_changes():
    x, w = variable(1.0, 2.0), variable(1.0, 2.0)
    w.grad = dz.Variable(np.ones(2))
    y = x * w
    w.data = np.ones(2)
    w._grad = dz.Variable(np.ones(3))
    with pytest.raises(ValueError, match=r"already there to have shape \(2,\).*\(3,\)"):
        y.backward()
    assert x.grad is None


# ---- unchain ----------------------------------------------------------------------


def test_unchain_makes_a_leaf():
    x = variable(2.0)
    h = x * 3.0
    y = h * h
    h.unchain()
    assert h.creator is None and h.generation == 0
    y.backward()
    assert x.grad is None
    np.testing.assert_array_equal(h.grad.data, [12.0])


def test_unchain_one_of_two_outputs():
    x = dz.Variable(np.arange(4.0))
    a, b = Halves()(x)
    y = F.sum(a * 2.0) + F.sum(b * 3.0)
    a.unchain()
    y.backward()
    np.testing.assert_array_equal(a.grad.data, [2.0, 2.0])
    np.testing.assert_array_equal(x.grad.data, [0.0, 0.0, 3.0, 3.0])


def test_unchain_backward_stops_passes_at_this_step():
    w = variable(0.5)
    h = variable(1.0)
    for _ in range(3):
        previous = h
        h = F.tanh(h * w)
    loss = h * h
    loss.unchain_backward()
    loss.unchain_backward()
    assert h.creator is None and previous.creator is None
    loss.backward()
    assert w.grad is None
    np.testing.assert_allclose(h.grad.data, 2 * h.data)


def test_unchain_backward_frees_the_past():
    w, h = variable(0.5), variable(1.0)
    first = h * w
    ref = weakref.ref(first)
    h = first * w
    del first
    loss = h * 2.0
    assert ref() is not None
    loss.unchain_backward()
    assert ref() is None


def test_unchain_backward_after_backward_and_on_a_leaf():
    x = variable(2.0)
    y = x * x * x
    y.backward()
    y.unchain_backward()
    y.unchain_backward()
    x.unchain_backward()
    x.unchain()
    np.testing.assert_array_equal(x.grad.data, [12.0])


def test_set_creator():
    f = Returns()
    y = f(variable(1.0))
    y.unchain()
    y.set_creator(f)
    assert y.creator is f and y.generation == 1
    with pytest.raises(
        ValueError,
        match="^set_creator: expected a Function with this variable among its outputs, "
        "got Returns$",
    ):
        variable(1.0).set_creator(f)


def test_set_creator_of_a_second_output():
    x = dz.Variable(np.arange(4.0))
    f = Halves()
    _, b = f(x)
    b.creator, b._index = None, 0
    b.set_creator(f)
    F.sum(b * 3.0).backward()
    np.testing.assert_array_equal(x.grad.data, [0.0, 0.0, 3.0, 3.0])


def test_unchain_both_outputs():
    x = dz.Variable(np.arange(4.0))
    a, b = Halves()(x)
    y = F.sum(a * 2.0) + F.sum(b * 3.0)
    a.unchain()
    b.unchain()
    y.backward()
    assert x.grad is None
    np.testing.assert_array_equal(a.grad.data, [2.0, 2.0])
    np.testing.assert_array_equal(b.grad.data, [3.0, 3.0])


def test_gradients_of_two_unchained_outputs_share_no_memory():
    a, b = Halves()(dz.Variable(np.arange(4.0)))
    y = F.sum(a + b)
    a.unchain()
    b.unchain()
    y.backward()
    assert not np.shares_memory(a.grad.data, b.grad.data)
    a.grad.data += 1
    np.testing.assert_array_equal(b.grad.data, [1.0, 1.0])


def test_an_unchained_output_that_wants_no_gradient_gets_none():
    x = dz.Variable(np.arange(4.0))
    a, b = Halves()(x)
    y = F.sum(a + b)
    a.unchain()
    a.requires_grad = False
    y.backward()
    assert a.grad is None
    np.testing.assert_array_equal(x.grad.data, [0.0, 0.0, 1.0, 1.0])


def test_a_function_with_all_outputs_unchained_does_not_end_the_pass():
    x, z = dz.Variable(np.arange(4.0)), variable(2.0)
    early = z * z  # in the queue until the last
    a, b = Halves()(x * 1.0 * 1.0)
    y = F.sum(a + b) + F.sum(early)
    a.unchain()
    b.unchain()
    y.backward()
    np.testing.assert_array_equal(z.grad.data, [4.0])


def test_grad_of_an_unchained_output_and_of_its_sibling():
    x = dz.Variable(np.arange(4.0))
    a, b = Halves()(x)
    y = F.sum(a * 2.0) + F.sum(b * 3.0)
    a.unchain()
    (ga,) = dz.grad(y, [a])
    np.testing.assert_array_equal(ga.data, [2.0, 2.0])
    (gx,) = dz.grad(y, [x])
    np.testing.assert_array_equal(gx.data, [0.0, 0.0, 3.0, 3.0])
    b.unchain()  # now no path leads to x
    (gb,) = dz.grad(y, [b])
    np.testing.assert_array_equal(gb.data, [3.0, 3.0])


# ---- run_backward ------------------------------------------------------------------


def test_run_backward_touches_no_grad_and_runs_only_the_path():
    ran = []

    class Traced(dz.Function):
        def __init__(self, label):
            self.label = label

        def forward(self, x):
            return x * 2.0

        def backward(self, gy):
            ran.append(self.label)
            return gy * 2.0

    x, z = variable(1.0), variable(1.0)
    h = Traced("x")(x)
    y = h * Traced("z")(z)
    table = run_backward([y], [dz.as_variable(np.array([1.0]))], [h])
    assert list(table) == [h] and ran == []
    np.testing.assert_array_equal(table[h].data, [2.0])
    table = run_backward([y], [dz.as_variable(np.array([1.0]))], [x, h])
    assert set(table) == {x, h} and ran == ["x"]
    assert x.grad is None and z.grad is None and h.grad is None


def test_grad_by_each_of_several_outputs():
    a, b = Halves()(dz.Variable(np.arange(4.0)))
    y = F.sum(a * 2.0) + F.sum(b * 3.0)
    for wanted, expected in ([a], [2.0]), ([b], [3.0]), ([b, a], [3.0, 2.0]):
        found = [float(g.data[0]) for g in dz.grad(y, wanted)]
        assert found == expected


def test_gradients_by_intermediate_variables_share_no_memory():
    x, seed = variable(1.0, 2.0), np.ones(2)
    h, k = x * 2.0, x * 3.0
    y = h + k
    gh, gk = dz.grad(y, [h, k], seed)
    for one, other in (gh.data, gk.data), (gh.data, seed), (gk.data, seed):
        assert not np.shares_memory(one, other)


def test_run_backward_from_several_outputs():
    x = variable(2.0)
    one = dz.as_variable(np.array([1.0]))
    table = run_backward([x * x, x * 3.0, x], [one, one, one])
    np.testing.assert_array_equal(table[x].data, [4.0 + 3.0 + 1.0])


# ---- memory and threads ----------------------------------------------------------


def test_graph_is_freed_without_the_collector():
    gc.collect()
    gc.disable()
    try:
        x = dz.Variable(np.ones(10))
        h = F.exp(x)
        refs = [weakref.ref(h), weakref.ref(h.creator)]
        y = F.sum(h * 2.0)
        y.backward(create_graph=True, retain_grad=True)
        del h, y
        x.cleargrad()
        assert [ref() for ref in refs] == [None, None]
    finally:
        gc.enable()


def test_inputs_that_backward_does_not_read_are_not_kept():
    x = dz.Variable(np.ones(10))
    h = x * 2.0
    ref = weakref.ref(h)
    y = h + 1.0
    del h
    assert ref() is None
    y.backward()
    np.testing.assert_array_equal(x.grad.data, np.full(10, 2.0))


def test_two_threads_train_on_shared_parameters():
    w = dz.Variable(np.arange(1.0, 9.0))
    failures = []

    def work(k):
        for _ in range(100):
            x = dz.Variable(np.full(8, float(k)))
            (gx, gw) = dz.grad(F.sum(F.exp(w * x * 0.01) * x), [x, w])
            expected = np.exp(w.data * k * 0.01) * 0.01 * k * k
            if not np.allclose(gw.data, expected):
                failures.append(k)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(1, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


def test_two_threads_in_the_same_graph():
    x = dz.Variable(np.linspace(0.1, 1.0, 50))
    y = x
    for _ in range(50):
        y = F.tanh(y * 1.1)
    (expected,) = dz.grad(y, [x])
    failures = []

    def work():
        for _ in range(30):
            (gx,) = dz.grad(y, [x])
            if not np.array_equal(gx.data, expected.data):
                failures.append(gx)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


# ---- seeds, gradients and classes of unusual kinds ---------------------------


class Square(dz.Function):
    """What backward returns is given from outside, as a function of (self, gy)."""

    def __init__(self, derivative=None):
        self.derivative = derivative

    def forward(self, x):
        return x * x

    def backward(self, gy):
        return self.derivative(self, gy)


@pytest.mark.parametrize("f", [lambda x: +x, lambda x: x + 2.0, lambda x: x * 1.0])
def test_a_parameter_as_seed(f):
    x, seed = variable(1.0, 2.0), dz.Parameter(np.array([3.0, 4.0]))
    f(x).backward(grad=seed)
    np.testing.assert_array_equal(x.grad.data, [3.0, 4.0])
    assert not np.shares_memory(x.grad.data, seed.data)
    x.cleargrad()
    f(x).backward(grad=seed, create_graph=True)
    x.grad.backward()
    np.testing.assert_array_equal(seed.grad.data, [1.0, 1.0])


def test_a_floating_seed_on_an_integer_leaf():
    x = variable(1, 2, dtype=np.int64)
    x.backward(grad=np.array([0.5, 1.5]))
    np.testing.assert_array_equal(x.grad.data, [0.5, 1.5])
    np.testing.assert_array_equal(dz.grad(x, x, np.array([0.5, 1.5])).data, [0.5, 1.5])


def test_backward_that_returns_a_parameter():
    x = variable(1.0, 2.0)
    f = Square(lambda f, gy: dz.Parameter(2 * f.inputs[0].data * gy.data))
    (f(x) + x).backward()
    np.testing.assert_array_equal(x.grad.data, [3.0, 5.0])
    f(x).backward()
    np.testing.assert_array_equal(x.grad.data, [5.0, 9.0])


def test_backward_that_returns_a_list_or_a_named_tuple():
    Gradients = collections.namedtuple("Gradients", ["x"])
    for wrap in (list, tuple, Gradients._make):
        x = variable(1.0, 2.0)
        Square(lambda f, gy, wrap=wrap: wrap([2 * f.inputs[0] * gy]))(x).backward()
        np.testing.assert_array_equal(x.grad.data, [2.0, 4.0])


def test_forward_that_returns_a_named_tuple():
    class Eigenvalues(dz.Function):
        def forward(self, x):
            return np.linalg.eigh(x)

        def backward(self, gw, gv):
            v = self.outputs[1]()
            return F.matmul(v * gw, v.T)

    x = dz.Variable(np.diag([3.0, 1.0]))
    w, _ = Eigenvalues()(x)
    F.sum(w * np.array([10.0, 20.0])).backward()
    np.testing.assert_allclose(x.grad.data, np.diag([20.0, 10.0]))


def test_forward_that_returns_a_tuple_in_a_tuple():
    class Nested(dz.Function):
        def forward(self, x):
            return (x, x), x

    with pytest.raises(TypeError, match=r"Nested.forward: expected .* got tuple"):
        Nested()(variable(1.0))


def test_an_array_from_backward_would_break_a_recorded_pass():
    x = variable(1.0, 2.0)
    y = Square(lambda f, gy: 2 * f.inputs[0].data * gy.data)(x)
    y.backward()
    np.testing.assert_array_equal(x.grad.data, [2.0, 4.0])
    with pytest.raises(TypeError) as caught:
        y.backward(create_graph=True)
    assert str(caught.value) == (
        "Square.backward: expected Variables with create_graph=True, got ndarray: an "
        "array has left the graph, and with it its further derivatives"
    )
    np.testing.assert_array_equal(x.grad.data, [2.0, 4.0])


def test_a_complex_gradient_of_a_real_input():
    x = variable(1.0, 2.0)
    y = Square(lambda f, gy: gy.data * 1j)(x)
    with pytest.raises(TypeError, match=r"^Square.backward: .* got dtype complex128$"):
        y.backward()
    # Where a cast would be needed, and where a sum has begun.
    f = Square(lambda f, gy: [gy.data.astype(np.complex64), gy.data][0])
    with pytest.raises(TypeError, match=r"^Square.backward: .* got dtype complex64$"):
        (f(x) + x).backward()


def test_functions_are_told_apart_by_identity():
    class Scale(dz.Function):
        def __init__(self, c):
            self.c = c

        def __eq__(self, other):
            return self.c == other.c

        def __hash__(self):
            return hash(self.c)

        def forward(self, x):
            return x * self.c

        def backward(self, gy):
            return gy * self.c

    @dataclasses.dataclass
    class Shift(dz.Function):
        c: float

        def forward(self, x):
            return x + self.c

        def backward(self, gy):
            return gy

    x, w = variable(1.0), variable(2.0)
    y = Scale(3.0)(x) + Scale(3.0)(w) * 10.0 + Shift(1.0)(x) + Shift(1.0)(w) * 5.0
    y.backward()
    np.testing.assert_array_equal(x.grad.data, [4.0])
    np.testing.assert_array_equal(w.grad.data, [35.0])


def test_a_variable_class_with_an_eq_of_its_own_is_hashed_by_identity():
    class Named(dz.Parameter):
        def __eq__(self, other):
            return self.name == other.name

    x, w = Named(np.array([1.0]), "p"), Named(np.array([2.0]), "p")
    (x * w).backward()
    np.testing.assert_array_equal(x.grad.data, [2.0])
    np.testing.assert_array_equal(w.grad.data, [1.0])


def test_function_with_slots():
    class Scale(dz.Function):
        __slots__ = ("c", "unused")

        def __init__(self, c):
            self.c = c

        def forward(self, x):
            return x * self.c

        def backward(self, gy):
            return gy * self.c

    f, x = Scale(3.0), variable(2.0)
    np.testing.assert_array_equal(dz.grad(f(f(x)), x).data, [9.0])


def test_attributes_of_a_function_are_its_own():
    class Total(dz.Function):
        def forward(self, x):
            self._shape, self._dtype = x.shape, x.dtype
            self._output, self._kept, self._cut = x.sum(), "kept", "cut"
            return self._output

        def backward(self, gy):
            assert (self._kept, self._cut) == ("kept", "cut")
            return F.broadcast_to(gy, self._shape)

    x = variable(1.0, 2.0)
    Total()(x).backward()
    np.testing.assert_array_equal(x.grad.data, [1.0, 1.0])


class Tower(dz.Function):
    """``x**2 * w`` and ``x * w``; backward reads the outputs."""

    def forward(self, x, w):
        return x * x * w, x * w

    def backward(self, ga, gb):
        (x, w), (_, b) = self.inputs, [ref() for ref in self.outputs]
        return ga * 2.0 * b + gb * w, ga * x * x + gb * x


def test_second_derivative_through_an_output_that_was_made_again():
    # The gradient by x alone reads an output that nobody kept. By w it must still
    # lead on, although the first pass did not go there.
    x, w = variable(2.0), variable(5.0)
    y = F.sum(Tower()(x, w)[0])
    gx = dz.grad(y, x, create_graph=True)  # 2 * x * w
    np.testing.assert_array_equal(gx.data, [20.0])
    np.testing.assert_array_equal(dz.grad(gx, w).data, [4.0])
    gx.backward()
    np.testing.assert_array_equal(x.grad.data, [10.0])
    np.testing.assert_array_equal(w.grad.data, [4.0])


# ---- arrays and numbers of unusual kinds -------------------------------------


@pytest.mark.parametrize("char", "BHIL")
def test_gradients_of_unsigned_integers_can_be_negative(char):
    x = variable(1, 2, dtype=char)
    (5 - x).backward()
    np.testing.assert_array_equal(x.grad.data, [-1, -1])
    np.testing.assert_array_equal(dz.grad(5 - x, x).data, [-1, -1])


def test_gradients_of_booleans_are_counted():
    x = dz.Variable(np.array([True, False]), requires_grad=True)
    x.backward()
    x.backward()
    np.testing.assert_array_equal(x.grad.data, [2, 2])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_gradient_assigned_in_another_dtype_is_added_to(dtype):
    other = np.float64 if dtype == np.float32 else np.float32
    x = dz.Variable(np.ones(2, dtype))
    x.grad = np.full(2, 0.5, other)
    (x * 3).backward()
    np.testing.assert_array_equal(x.grad.data, [3.5, 3.5])
    assert x.grad.dtype == dtype


def test_a_gradient_assigned_in_another_dtype_does_not_change_that_of_the_leaf():
    x = variable(1.0, 2.0, dtype=np.float32)
    x.grad = np.ones(2)
    (x * 2.0).backward()
    np.testing.assert_array_equal(x.grad.data, [3.0, 3.0])
    assert x.grad.dtype == np.float32


@pytest.mark.parametrize(
    "number", [np.complex128(1j), np.str_("a"), np.timedelta64(1, "s"), np.void(b"a")]
)
def test_numpy_scalars_that_are_no_real_numbers(number):
    with pytest.raises(TypeError, match=r"Add: expected booleans, .* got dtype"):
        F.add(variable(1.0), number)


def test_a_long_scalar_is_weak_too():
    class Affine(dz.Function):
        def forward(self, x, w, b):
            return x * w + b

    x = variable(1.0, dtype=np.float32)
    assert Affine()(x, x, np.longdouble(2.0)).dtype == np.float32


@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
def test_a_matrix_is_taken_as_the_array_that_it_is():
    m = np.matrix([[1.0, 2.0], [3.0, 4.0]])
    x = dz.Variable(m)
    y = x * m
    assert type(x.data) is np.ndarray and np.shares_memory(x.data, m)
    y.backward(grad=np.matrix(np.ones((2, 2))))
    np.testing.assert_array_equal(y.data, np.square(np.asarray(m)))
    assert type(x.grad.data) is np.ndarray
    np.testing.assert_array_equal(x.grad.data, np.asarray(m))


def test_a_memory_map_is_updated_in_place(tmp_path):
    m = np.memmap(tmp_path / "w", dtype=np.float64, mode="w+", shape=(3,))
    w = dz.Variable(m)
    F.sum(w * 2.0).backward()
    w.data -= w.grad
    np.testing.assert_array_equal(m, [-2.0, -2.0, -2.0])


@pytest.mark.parametrize(
    "use",
    [
        dz.Variable,
        dz.as_variable,
        lambda a: variable(1.0, 2.0) * a,
        lambda a: variable(1.0, 2.0).backward(grad=a),
    ],
)
def test_a_mask_is_not_lost_in_silence(use):
    with pytest.raises(TypeError, match=r": expected an array without a mask, .*fill"):
        use(np.ma.array([1.0, 2.0], mask=[False, True]))


def test_big_endian_arrays():
    x = variable(1.0, 2.0, dtype=">f4")
    F.sum(x * x + x).backward()
    F.sum(x * x + x).backward()
    np.testing.assert_array_equal(x.grad.data, [6.0, 10.0])
    assert x.grad.dtype.itemsize == 4


def test_data_that_became_a_scalar():
    # array - array is a NumPy scalar where both are 0-d.
    w = dz.Variable(np.array(3.0))
    for _ in range(3):
        w.cleargrad()
        (w * w + F.sin(w)).backward()
        w.data = w.data - 0.1 * w.grad.data
    assert isinstance(w.data, np.float64)
    assert w.grad.shape == ()


def test_backward_of_a_variable_without_data():
    text = (
        "^backward: expected a Variable with data, got one without: a layer makes its "
        "parameters when it is first called$"
    )
    with pytest.raises(RuntimeError, match=text):
        dz.Parameter(None).backward()


def test_generations_count_the_functions_on_the_longest_way():
    x = variable(1.0)
    y = x * 2
    z = y * 2
    assert [v.generation for v in (x, y, z, x + z, z + x)] == [0, 1, 2, 3, 3]


def test_raw_arrays_are_variables_in_inputs():
    seen = []

    class Watched(dz.Function):
        def forward(self, x0, x1, x2):
            return x0 * x1

        def backward(self, gy):
            seen.extend(self.inputs)
            return gy * self.inputs[1], None, None

    x = variable(1.0, 2.0)
    Watched()(x, np.array([3.0, 4.0]), None).backward()
    assert [type(v) for v in seen] == [dz.Variable, dz.Variable, type(None)]
    np.testing.assert_array_equal(x.grad.data, [3, 4])


def test_a_forward_that_returns_complex_numbers():
    class Turned(dz.Function):
        def forward(self, x):
            return x, x * 1j

    with pytest.raises(TypeError, match=r"^Turned.forward: expected .* complex128$"):
        Turned()(variable(1.0))
