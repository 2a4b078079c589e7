"""Gradients by layer, of one step and over many."""

import numpy as np
import pytest
from matplotlib.figure import Figure

import dezero.functions as F
import dezero.layers as L
from dezero import Parameter
from dezero.models import MLP
from dezero.optimizers import SGD, ClipGrad
from dezero.visualize import GradientRecorder, plot_gradient_flow

X = np.random.default_rng(0).standard_normal((8, 3)).astype(np.float32)


def trained(steps=1):
    """A model after some steps, and what recorded them."""
    np.random.seed(0)
    model = MLP((4, 2))
    model(X)
    recorder = GradientRecorder(model)
    optimizer = SGD(0.1).setup(model).add_hook(recorder).add_hook(ClipGrad(1e-6))
    for _ in range(steps):
        model.cleargrads()
        F.mean(model(X) ** 2).backward()
        optimizer.update()
    return model, recorder


def rms(p):
    return float(np.sqrt(np.mean(p.grad.data.astype(np.float64) ** 2)))


def rows(ax):
    return [label.get_text() for label in ax.get_yticklabels()]


def drawn(ax):
    ax.figure.draw_without_rendering()
    return ax


def test_bars_of_a_model():
    model, _ = trained()
    model.cleargrads()
    F.mean(model(X) ** 2).backward()
    ax = drawn(plot_gradient_flow(model))
    ends = [bar.get_x() + bar.get_width() for bar in ax.patches]
    np.testing.assert_allclose(ends, [rms(p) for p in model.params()], rtol=1e-6)
    assert rows(ax) == [name for name, _ in model.named_params()]
    assert ax.get_xscale() == "log"
    low, high = ax.get_ylim()
    assert low > high  # the first layer stands at the top


def params(*gradients):
    made = [Parameter(np.ones(2), name=f"p{i}") for i in range(len(gradients))]
    for p, g in zip(made, gradients, strict=True):
        p.grad = None if g is None else np.full(2, float(g))
    return made


def test_what_has_no_bar_has_a_word():
    ax = drawn(plot_gradient_flow(params(1e-3, None, 0, np.nan, np.inf)))
    assert len(ax.patches) == 1
    words = [text.get_text().strip() for text in ax.texts]
    assert words == ["no gradient", "zero", "not finite", "not finite"]
    drawn(plot_gradient_flow(params(0)))


def test_the_gradient_may_be_half_precision_and_large():
    p = Parameter(np.ones(4, np.float16))
    p.grad = np.full(4, 6e4, np.float16)
    ax = drawn(plot_gradient_flow([p]))
    assert ax.patches[0].get_x() + ax.patches[0].get_width() == pytest.approx(6e4, 1e-2)


def test_an_empty_parameter_has_no_size():
    p = Parameter(np.ones((0, 3)))
    p.grad = np.ones((0, 3))
    ax = drawn(plot_gradient_flow([*params(1), p]))
    assert [text.get_text().strip() for text in ax.texts] == ["zero"]


def test_a_recorder_sees_what_the_next_hooks_change():
    model, recorder = trained(steps=5)
    assert len(recorder) == 5 and recorder.steps == [1, 2, 3, 4, 5]
    assert recorder.names == [name for name, _ in model.named_params()]
    assert recorder.values.shape == (4, 5)
    assert recorder.values.min() > 1e-6  # ClipGrad came after it


def test_map_of_a_recorder():
    _, recorder = trained(steps=5)
    ax = drawn(plot_gradient_flow(recorder))
    np.testing.assert_array_equal(ax.images[0].get_array(), recorder.values)
    assert rows(ax) == recorder.names and ax.get_xlabel() == "step"
    assert ax.get_title() == "Gradient flow"
    assert ax.images[0].get_extent() == [0.5, 5.5, 3.5, -0.5]
    drawn(plot_gradient_flow(trained(steps=1)[1]))


def test_every_so_many_steps():
    ps = params(1)
    recorder = GradientRecorder(ps, every=3)
    for i in range(7):
        ps[0].grad = np.full(2, i + 1.0)
        recorder.record()
    assert recorder.steps == [1, 4, 7] and recorder.values.tolist() == [[1, 4, 7]]


def test_gaps_in_a_map():
    ps = params(1, None, 0)
    recorder = GradientRecorder(iter(ps))
    recorder()
    ps[1].grad = np.full(2, 2.0)
    ps[2].grad = np.full(2, np.nan)
    recorder.record()
    np.testing.assert_array_equal(recorder.values, [[1, 1], [np.nan, 2], [0, np.inf]])
    ax = drawn(plot_gradient_flow(recorder))
    missing = np.ma.getmaskarray(ax.images[0].get_array())
    np.testing.assert_array_equal(missing, [[0, 0], [1, 0], [1, 1]])
    assert ax.get_title() == "Gradient flow (grey: none, zero or not finite)"


def test_layers_that_come_later():
    model = MLP((4, 2))
    recorder = GradientRecorder(model)
    recorder.record()
    F.sum(model(X)).backward()
    recorder.record()
    assert np.isnan(recorder.values[:, 0]).all()
    assert (recorder.values[:, 1] > 0).all()


def test_nothing_is_changed():
    model, _ = trained()
    before = [(p.data.copy(), p.grad, p.grad.data.copy()) for p in model.params()]
    plot_gradient_flow(model)
    for p, (data, grad, g) in zip(model.params(), before, strict=True):
        assert p.grad is grad and (p.data == data).all() and (grad.data == g).all()


def test_given_axes():
    model, recorder = trained()
    for source in model, recorder:
        ax = Figure().subplots()
        assert drawn(plot_gradient_flow(source, ax=ax)) is ax


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: plot_gradient_flow(params(None)),
            RuntimeError,
            r"plot_gradient_flow: expected gradients, got none .* call loss.backward\(",
        ),
        (
            lambda: plot_gradient_flow(GradientRecorder(params(1))),
            RuntimeError,
            "plot_gradient_flow: expected recorded steps, got none; add the recorder",
        ),
        (
            lambda: plot_gradient_flow(3),
            TypeError,
            "plot_gradient_flow: expected a Layer or an iterable of P.*, got int",
        ),
        (
            lambda: plot_gradient_flow(L.ReLU()),
            ValueError,
            "plot_gradient_flow: expected parameters, got ReLU without any",
        ),
        (
            lambda: GradientRecorder(3),
            TypeError,
            "GradientRecorder: expected a Layer or an iterable of Parameters, got int",
        ),
        (
            lambda: GradientRecorder(params(1), every=0),
            ValueError,
            "GradientRecorder: expected every >= 1, got 0",
        ),
    ],
)
def test_errors(call, error, message):
    with pytest.raises(error, match=f"^{message}"):
        call()


def test_only_zeros_in_a_recorder():
    recorder = GradientRecorder(params(0))
    recorder.record()
    with pytest.raises(RuntimeError, match="expected gradients, got none above zero"):
        plot_gradient_flow(recorder)
