"""The harness has teeth: every planted fault is caught by the property made for it."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis.vendor.pretty import pretty

from dezero import Config, Function, Variable, as_variable, cuda, using_config
from dezero.functions.elementwise import Elementwise
from dezero.testing import Case, arrays, axis_and_keepdims, broadcastable, properties
from dezero.testing.properties import check_property, properties_of


def holds(case, name):
    """Does the property hold for ``case``, on the same examples each time?"""

    @settings(max_examples=12, database=None, derandomize=True, phases=[Phase.generate])
    @given(case.examples())
    def run(example):
        check_property(name, case, *example)

    try:
        run()
    except (AssertionError, ValueError):
        return False
    return True


def check(case):
    """The names of the properties that fail for ``case``."""
    return [name for name in properties_of(case) if not holds(case, name)]


class Product(Elementwise):
    """y = x0 * x1, right in everything; the faults below change one line each."""

    def forward(self, x0, x1):
        return x0 * x1

    def backward(self, gy):
        x0, x1 = self.inputs
        return gy * x1, gy * x0


class Square(Function):
    def forward(self, x):
        return x * x

    def backward(self, gy):
        (x,) = self.inputs
        return gy * x * 2.0


class Same(Function):
    def forward(self, x):
        return x.copy()

    def backward(self, gy):
        return gy


def product(cls=Product, **kwargs):
    def case(x0, x1):
        return cls()(x0, x1)

    return Case(case, broadcastable(2), reference=np.multiply, **kwargs)


def square(cls, **kwargs):
    return Case(
        lambda x: cls()(x), arrays(), reference=np.square, name="square", **kwargs
    )


def same(cls, **kwargs):
    return Case(lambda x: cls()(x), arrays(), reference=np.copy, name="same", **kwargs)


def test_right_functions_pass():
    assert check(product()) == []
    assert check(square(Square)) == []
    assert check(same(Same)) == []


def test_several_outputs_pass():
    class SumAndDifference(Elementwise):
        def forward(self, x0, x1):
            return x0 + x1, x0 - x1

        def backward(self, gy0, gy1):
            return gy0 + gy1, gy0 - gy1

    case = Case(
        lambda x0, x1: SumAndDifference()(x0, x1),
        broadcastable(2),
        reference=lambda x0, x1: (x0 + x1, x0 - x1),
        name="sum_and_difference",
    )
    assert check(case) == []


def test_functions_without_gradient_and_reference_pass():
    case = Case(
        lambda x, axis, keepdims: as_variable(np.any(x > 0, axis=axis)),
        arrays(),
        options=axis_and_keepdims,
        differentiable=False,
        name="any_positive",
    )
    assert "gradients" not in properties_of(case)
    assert "reference" not in properties_of(case)
    assert check(case) == []


def test_wrong_value_is_caught():
    class Wrong(Square):
        def forward(self, x):
            return x * x + 1e-8

    assert "reference" in check(square(Wrong))


def test_wrong_shape_is_caught():
    case = Case(Square(), arrays(), reference=lambda x: x[None] ** 2, name="square")
    assert "reference" in check(case)


def test_wrong_number_of_outputs_is_caught():
    case = Case(Square(), arrays(), reference=lambda x: (x, x), name="square")
    assert "reference" in check(case)


def test_integers_for_floats_are_caught():
    case = Case(Same(), arrays(), reference=lambda x: x > 0, name="same")
    assert "reference" in check(case)


@pytest.mark.parametrize("factor", [-2.0, 4.0])
def test_wrong_sign_or_factor_is_caught(factor):
    class Wrong(Square):
        def backward(self, gy):
            return gy * self.inputs[0] * factor

    assert check(square(Wrong)) == ["gradients"]


def test_missing_gradient_is_caught():
    class Wrong(Product):
        def backward(self, gy):
            return gy * self.inputs[1], None

    assert "gradients" in check(product(Wrong))


def test_missing_sum_over_broadcast_axes_is_caught():
    class Wrong(Function):  # not Elementwise
        forward = Product.forward
        backward = Product.backward

    assert "gradients" in check(product(Wrong))


def test_constant_in_backward_is_caught_by_the_second_order_alone():
    class Wrong(Square):
        def backward(self, gy):
            return gy * self.inputs[0].data * 2.0

    assert check(square(Wrong)) == ["gradients"]
    assert check(square(Wrong, order=1)) == []


def test_array_kept_by_forward_is_caught_by_the_second_order():
    class Wrong(Square):
        def forward(self, x):
            self.slope = 2 * x
            return x * x

        def backward(self, gy):
            return gy * self.slope

    assert "gradients" in check(square(Wrong))


def test_gradient_that_ignores_needs_grad_is_caught():
    class Wrong(Product):
        def backward(self, gy):
            gx0, gx1 = super().backward(gy)
            return (gx0, gx1) if all(self.needs_grad) else (-gx0, -gx1)

    assert check(product(Wrong)) == ["one_variable"]


def test_create_graph_that_changes_the_gradient_is_caught():
    class Wrong(Square):
        def backward(self, gy):
            return gy * self.inputs[0] * (2.0 if Config.enable_backprop else 2.1)

    assert "passes" in check(square(Wrong))


def test_outputs_that_are_read_but_not_kept_are_caught():
    class Wrong(Square):
        reads_outputs = False

        def backward(self, gy):
            y = self.outputs[0]()
            return gy * self.inputs[0] * 2.0 + 0 * y

    assert check(square(Wrong)) == ["passes"]
    with pytest.raises(
        AssertionError,
        match=r"backward fails once nobody holds the outputs: is reads_outputs False "
        r"in a class that reads self\.outputs\? \(TypeError: ",
    ):
        check_property("passes", square(Wrong), (np.ones(2),), {})


def test_float64_output_is_caught():
    class Wrong(Square):
        def forward(self, x):
            return np.asarray(x * x, dtype=np.float64)

    assert check(square(Wrong)) == ["precision"]
    assert check(square(Wrong, dtypes=())) == []


def test_imprecise_float32_is_caught():
    class Wrong(Square):
        def forward(self, x):
            return x * x if x.dtype == np.float64 else (x * x).round(4)

    assert check(square(Wrong)) == ["precision"]


def test_float16_in_between_is_caught():
    class Wrong(Square):
        def backward(self, gy):
            low = gy.dtype != np.float64
            return super().backward(gy.astype(np.float16) if low else gy)

    assert check(square(Wrong)) == ["precision"]


def test_changed_input_is_caught():
    class Wrong(Square):
        def forward(self, x):
            y = x * x
            x *= 1.0 + 1e-15
            return y

    assert "unchanged" in check(square(Wrong))


def test_changed_incoming_gradient_is_caught():
    class Wrong(Square):
        def backward(self, gy):
            gx = gy * self.inputs[0] * 2.0
            gy.data *= 2
            return gx

    assert "unchanged" in check(square(Wrong))


def test_changed_output_is_caught():
    class Wrong(Square):
        def backward(self, gy):
            self.outputs[0]().data[...] = 0
            return super().backward(gy)

    assert "unchanged" in check(square(Wrong))


def test_changed_option_is_caught():
    def scaled(x, by):
        y = Same()(x)
        by += 1
        return y

    case = Case(scaled, arrays(), options=lambda x: arrays().map(lambda a: {"by": a}))
    assert check(case) == ["unchanged"]


def test_gy_called_fresh_is_caught():
    class Wrong(Same):
        fresh_gradients = True

    assert {"separate", "add_up"} <= set(check(same(Wrong)))


def test_one_array_for_two_inputs_called_fresh_is_caught():
    class Wrong(Elementwise):
        fresh_gradients = True

        def forward(self, x0, x1):
            return x0 + x1

        def backward(self, gy):
            gx = gy * 1.0
            return gx, gx

    assert "separate" in check(Case(Wrong(), broadcastable(2), name="add"))


def test_kept_array_called_fresh_is_caught():
    class Wrong(Function):
        fresh_gradients = True

        def forward(self, x):
            self.ones = np.ones_like(x)
            return np.asarray(x.sum())

        def backward(self, gy):
            self.ones[...] = gy.data
            return Variable(self.ones)

    assert "add_up" in check(Case(Wrong(), arrays(min_dims=1), name="sum"))


def test_read_only_view_called_fresh_is_caught():
    class Wrong(Function):
        fresh_gradients = True

        def forward(self, x):
            return np.asarray(x.sum())

        def backward(self, gy):
            x = self.inputs[0]
            return Variable(np.broadcast_to(gy.data, x.shape))

    assert "separate" in check(Case(Wrong(), arrays(min_dims=1), name="sum"))


def test_layout_that_matters_is_caught():
    class Wrong(Same):
        def forward(self, x):
            return x.ravel(order="K").reshape(x.shape).copy()

    assert "layout" in check(same(Wrong))


def test_recording_under_no_grad_is_caught():
    def stubborn(x):
        with using_config("enable_backprop", True):
            return Same()(x)

    assert check(Case(stubborn, arrays())) == ["no_grad"]


def test_gradient_for_constants_is_caught():
    def stubborn(x):
        return Same()(x if isinstance(x, Variable) else Variable(x))

    assert check(Case(stubborn, arrays())) == ["constants"]


def test_random_functions_are_called_from_the_same_state():
    class Noise(Function):
        def forward(self, x):
            self.scale = np.random.uniform(1, 2, x.shape).astype(x.dtype)
            return x * self.scale

        def backward(self, gy):
            return gy * self.scale

    def noise(x):
        return Noise()(x)

    def reference(x):
        return x * np.random.uniform(1, 2, x.shape)

    assert check(Case(noise, arrays(), reference=reference, random=True)) == []


def test_failures_name_case_and_property():
    case = Case(Square(), arrays(), reference=np.negative, name="square")
    with pytest.raises(AssertionError) as raised:
        check_property("reference", case, [np.ones(2)], {})
    assert raised.value.__notes__ == [
        "Case(square): property 'reference' does not hold"
    ]
    assert pretty(case) == "Case(square)"


@pytest.mark.parametrize(
    ("to_device", "agrees"),
    [
        (np.copy, True),
        (lambda x: np.asarray(x + 1e-6), False),  # other values
        (lambda x: x.astype("f4"), False),  # another dtype
        (lambda x: x[None], False),  # another shape
    ],
)
def test_devices_that_differ_are_caught(monkeypatch, to_device, agrees):
    device = SimpleNamespace(zeros_like=np.zeros_like)
    stand_in = SimpleNamespace(
        as_cupy=to_device,
        as_numpy=np.asarray,
        is_array=cuda.is_array,
        get_array_module=lambda x: device,
    )
    monkeypatch.setattr(properties, "cuda", stand_in)
    assert holds(square(Square), "devices") is agrees


def test_result_that_left_the_device_is_caught(monkeypatch):
    monkeypatch.setattr(cuda, "as_cupy", np.copy)
    assert not holds(square(Square), "devices")
