"""detect_anomaly: what it finds, what it takes as meant, and what it leaves behind."""

import re
import threading

import numpy as np
import pytest

import dezero as dz
import dezero.functions as F
import dezero.layers as L
from dezero import Function, Parameter, Variable
from dezero.diagnostics import detect_anomaly


def variable(*values, name=None, dtype=np.float64):
    return Variable(np.array(values, dtype), name=name)


# ---- forward -----------------------------------------------------------------------


def test_the_function_that_makes_an_infinity_is_named_with_ranges_and_lines():
    x = variable(1.0, 0.0, 2.0, name="x")
    with pytest.raises(FloatingPointError) as caught, detect_anomaly():
        F.exp(F.log(x))
    lines = str(caught.value).splitlines()
    assert lines[0] == "Log.forward: expected a finite result, got -inf"
    assert lines[1] == "  input 0 ('x'): float64 of shape (3,), from 0 to 2"
    assert lines[2] == (
        "  output 0: float64 of shape (3,), from 0 to 0.6931, 1 of 3 infinite"
    )
    assert lines[3] == "  called at (innermost first)"
    assert re.fullmatch(
        r"    test_anomaly\.py:\d+ in test_the_function\w+: F\.exp\(F\.log\(x\)\)",
        lines[4],
    )


def test_nan_out_of_finite_numbers_is_found():
    with (
        pytest.raises(FloatingPointError, match=r"^Sqrt\.forward: .*got NaN\n"),
        detect_anomaly(),
    ):
        F.sqrt(variable(-1.0, 4.0))


def test_nan_out_of_infinite_constants_is_found():
    with (
        pytest.raises(FloatingPointError, match=r"^Sub\.forward: .*got NaN\n"),
        detect_anomaly(),
    ):
        F.sub(np.array([np.inf]), np.array([np.inf]))


def test_overflow_in_half_precision_is_found():
    x = variable(300.0, dtype=np.float16)
    with (
        pytest.raises(FloatingPointError, match=r"^Mul\.forward: .*got inf\n"),
        detect_anomaly(),
    ):
        x * x


def test_nothing_recorded_is_checked_too():
    with (
        pytest.raises(FloatingPointError, match=r"^Log\.forward"),
        detect_anomaly(),
        dz.no_grad(),
    ):
        F.log(variable(0.0))


@pytest.mark.parametrize("data", [np.nan, np.inf, -np.inf])
def test_a_leaf_that_was_never_finite_is_named(data):
    w = Parameter(np.array([1.0, data]), name="w")
    text = (
        rf"^Mul: expected finite numbers, got {str(data).replace('nan', 'NaN')} in "
        r"input 0 \('w'\), before anything was computed here\n  input 0 \('w'\)"
    )
    with pytest.raises(FloatingPointError, match=text), detect_anomaly():
        w * 2.0


def test_nan_in_a_constant_is_named():
    with (
        pytest.raises(FloatingPointError, match=r"^Add: .*got NaN in input 1, before"),
        detect_anomaly(),
    ):
        variable(1.0) + np.array([np.nan])


@pytest.mark.parametrize("infinity", [-np.inf, np.array([-np.inf])])
def test_a_mask_of_infinities_is_meant(infinity):
    x = variable(1.0, 2.0, 3.0)
    with detect_anomaly():
        masked = F.where(np.array([True, False, True]), x, infinity)
        F.softmax(masked, axis=0)[0].backward()
    assert np.isfinite(x.grad.data).all()


def test_a_function_that_changes_its_input_is_named():
    class Halve(Function):
        def forward(self, x):
            x /= 2
            return x.copy()

        def backward(self, gy):
            return gy / 2

    with (
        pytest.raises(
            RuntimeError,
            match=r"^Halve\.forward: expected to leave its inputs as they are, got "
            r"input 0 \('x'\) changed in place\n  called at",
        ),
        detect_anomaly(),
    ):
        Halve()(variable(1.0, name="x"))


# ---- backward ----------------------------------------------------------------------


def test_an_infinite_gradient_is_laid_to_the_line_of_the_forward_pass():
    x = variable(0.0, 4.0)
    with detect_anomaly():
        y = F.sqrt(x)  # this line
        loss = F.sum(y)
        with pytest.raises(FloatingPointError) as caught:
            loss.backward()
    text = str(caught.value)
    assert text.startswith(
        "Sqrt.backward: expected a finite gradient, got inf in the gradient by input 0"
        "\n  gradient by input 0: float64 of shape (2,), from 0.25 to 0.25, 1 of 2 inf"
    )
    assert "\n  incoming gradient 0: float64 of shape (2,), from 1 to 1\n" in text
    assert "y = F.sqrt(x)  # this line" in text
    assert x.grad is None


def test_nodes_are_checked_after_the_block_too():
    with detect_anomaly():
        y = F.sum(F.sqrt(variable(0.0)))
    with pytest.raises(FloatingPointError, match=r"^Sqrt\.backward"):
        y.backward()


def test_a_second_derivative_is_checked():
    x = variable(0.0)
    with detect_anomaly():
        y = F.sum(x**1.5)
        y.backward(create_graph=True)  # 1.5 sqrt(x): its slope at 0 is infinite
        gx = x.grad
        with pytest.raises(FloatingPointError, match=r"backward: expected a finite"):
            F.sum(gx).backward()


def test_a_bad_seed_is_told_from_a_bad_rule():
    x = variable(1.0)
    with detect_anomaly():
        y = x * 2.0
        with pytest.raises(
            FloatingPointError,
            match=r"^Mul\.backward: expected a finite incoming gradient, got NaN in "
            r"gradient 0: what it started from, or a sum",
        ):
            y.backward(grad=np.array([np.nan]))


def test_an_input_changed_between_the_passes_is_named():
    x = variable(1.0, 2.0, name="x")
    with detect_anomaly():
        y = x * x
        x.data += 1
        with pytest.raises(
            RuntimeError,
            match=r"^Mul\.backward: expected the arrays of the forward pass, got "
            r"input 0 \('x'\) changed since then; gradients would be wrong",
        ) as caught:
            y.backward()
    assert ": y = x * x" in str(caught.value)


def test_an_output_changed_between_the_passes_is_named():
    with detect_anomaly():
        y = F.exp(variable(1.0))
        y.data[...] = 0
        with pytest.raises(
            RuntimeError, match=r"^Exp\.backward: .*got output 0 changed"
        ):
            y.backward()


def test_an_output_of_several_changed_between_the_passes_is_found():
    class Powers(Function):
        reads_inputs = False

        def forward(self, x):
            return x, np.exp(x)

        def backward(self, gy0, gy1):
            return gy0 + gy1 * self.outputs[1]()

    with detect_anomaly():
        _, y = Powers()(variable(1.0))
        y.data += 1
        with pytest.raises(RuntimeError, match=r"^Powers\.backward: .*got output 1"):
            y.backward()


def test_what_backward_does_not_read_may_change():
    x, b = variable(1.0), variable(2.0)
    with detect_anomaly():
        y = x + b
        b.data += 1
        y.backward()
    assert x.grad.data == 1


def test_a_backward_that_changes_the_incoming_gradient_is_named():
    class Double(Function):
        def forward(self, x):
            return 2 * x

        def backward(self, gy):
            gy.data *= 2
            return gy

    with detect_anomaly():
        y = F.sum(Double()(variable(1.0, 2.0)))
        with pytest.raises(
            RuntimeError,
            match=r"^Double\.backward: expected to leave the incoming gradients and "
            r"what it reads as they are, got one changed in place\n",
        ):
            y.backward()


def test_a_function_object_called_twice_makes_two_nodes():
    f = F.Sin()
    with detect_anomaly():
        f(variable(1.0)).backward()
        x = variable(2.0)
        f(x).backward()
    np.testing.assert_allclose(x.grad.data, np.cos([2.0]))
    z = variable(3.0)
    f(z).backward()
    np.testing.assert_allclose(z.grad.data, np.cos([3.0]))


# ---- a sound training, and no trace ------------------------------------------------


def test_a_sound_training_step_passes_and_has_the_same_gradients():
    x = np.random.RandomState(0).randn(4, 2, 8, 8).astype(np.float32)
    t = np.array([0, 1, 2, 0])

    def gradients():
        np.random.seed(0)
        layers = L.Conv2d(4, 3), L.BatchNorm(), F.relu, L.Flatten(), F.dropout
        model = dz.models.Sequential(*layers, L.Linear(3))
        F.softmax_cross_entropy(model(x), t).backward(retain_graph=False)
        # The running statistics of the batch normalization have none.
        return [p.grad.data for p in model.params() if p.grad is not None]

    expected = gradients()
    with detect_anomaly():
        found = gradients()
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_array_equal(a, b)


def test_higher_derivatives_come_out_the_same():
    x = variable(2.0)
    with detect_anomaly():
        (x**4).backward(create_graph=True)
        gx = x.grad
        x.cleargrad()
        gx.backward()
    np.testing.assert_allclose(x.grad.data, [48.0])


def test_integers_pass_and_numpy_warns_of_nothing():
    with detect_anomaly():
        F.argmax(np.array([1, 2]), axis=0)
        with pytest.raises(FloatingPointError, match=r"^Div\.forward: .*got inf"):
            variable(1.0) / 0.0


def test_it_decorates_a_function():
    @detect_anomaly()
    def step(x):
        """Take a step."""
        return F.log(x)

    assert step.__name__ == "step"
    with pytest.raises(FloatingPointError):
        step(variable(0.0))
    assert step(variable(1.0)).data == 0


def test_outside_nothing_is_checked_and_the_engine_is_as_it_was():
    before = Function.__call__
    with detect_anomaly(), detect_anomaly():
        assert Function.__call__ is not before
    assert Function.__call__ is before
    with pytest.raises(FloatingPointError), detect_anomaly():
        F.log(variable(0.0))
    assert Function.__call__ is before
    with np.errstate(divide="ignore"):
        assert np.isneginf(F.log(variable(0.0)).data)


def test_other_threads_are_left_alone():
    results = []
    entered, done = threading.Event(), threading.Event()

    def other():
        entered.wait()
        with np.errstate(divide="ignore"):
            results.append(F.log(variable(0.0)).data)
        done.set()

    thread = threading.Thread(target=other)
    thread.start()
    with detect_anomaly():
        entered.set()
        done.wait()
    thread.join()
    assert np.isneginf(results[0])


def test_empty_arrays_and_none_pass():
    with detect_anomaly():
        F.sum(F.linear(np.zeros((0, 3)), Variable(np.zeros((3, 2))), None)).backward()


def test_it_decorates_a_generator_function():
    @detect_anomaly()
    def losses(n):
        """Losses."""
        got = None
        for i in range(n):
            got = yield F.log(variable(1.0 - i)), got
        return "end"

    steps = losses(2)
    assert losses.__doc__ == "Losses."
    assert next(steps)[1] is None
    F.log(np.ones(1) * 0.5)  # the loop around it runs outside
    with pytest.raises(FloatingPointError, match=r"Log\.forward: expected a finite"):
        steps.send(3)
    assert [y.item() for y, _ in losses(1)] == [0.0]
    steps = losses(1)
    next(steps)
    with pytest.raises(StopIteration) as end:
        next(steps)
    assert end.value.value == "end"
    steps = losses(1)
    next(steps)
    with pytest.raises(KeyError):
        steps.throw(KeyError)
    with np.errstate(divide="ignore"):
        assert F.log(np.zeros(1)).data == -np.inf


def test_classes_that_refuse_or_count_their_subclasses():
    made = []

    class Meta(type):
        def __init__(cls, *args, **kwargs):
            made.append(cls)
            super().__init__(*args, **kwargs)

    class Base(Function, metaclass=Meta):
        def __init_subclass__(cls, tag, **kwargs):
            if tag == "never":
                raise TypeError("final")
            super().__init_subclass__(**kwargs)

    class Double(Base, tag="double"):
        def forward(self, x):
            return x * 2

        def backward(self, gy):
            assert type(self) is Double  # it may ask for its class
            return gy * 2

    x = variable(1.0)
    with detect_anomaly(), detect_anomaly():
        y = Double()(x)
        y.backward()
        y.backward()
    assert x.grad.data == 4.0
    assert made == [Base, Double] and Double.__subclasses__() != []


def test_a_checkpoint_is_run_again_inside_and_outside():
    layer = L.Linear(3, in_size=3)
    x = np.random.RandomState(0).randn(2, 3).astype(np.float32)

    def made():
        return F.sum(F.checkpoint(lambda x: F.tanh(layer(x)), Variable(x)) ** 2)

    made().backward()
    expected = layer.W.grad.data.copy()
    outside = made()
    with detect_anomaly():
        inside = made()
        for loss in (inside, outside):
            layer.cleargrads()
            loss.backward()
            np.testing.assert_array_equal(layer.W.grad.data, expected)
    layer.cleargrads()
    inside.backward()
    np.testing.assert_array_equal(layer.W.grad.data, expected)
