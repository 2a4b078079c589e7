"""Weight decay, clipping, noise and freezing."""

import numpy as np
import pytest

from dezero.core import Parameter, Variable
from dezero.layers import Layer
from dezero.optimizers import (
    SGD,
    ClipGrad,
    ClipGradValue,
    FreezeParam,
    GradientNoise,
    WeightDecay,
)


def parameter(data, grad, dtype=np.float64):
    p = Parameter(np.array(data, dtype))
    p.grad = np.array(grad, dtype)
    return p


def norm(params):
    grads = [p.grad.data.astype(np.float64).ravel() for p in params]
    return np.linalg.norm(np.concatenate(grads))


HOOKS = [WeightDecay(0.5), ClipGrad(0.1), ClipGradValue(0.1), GradientNoise(1.0)]


@pytest.mark.parametrize("hook", HOOKS, ids=lambda hook: type(hook).__name__)
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("shape", [(), (0,), (2, 3)])
def test_hooks_keep_dtype_and_shape_and_nobodys_array_is_changed(hook, dtype, shape):
    p = Parameter(np.ones(shape, dtype))
    mine = Variable(np.ones(shape, dtype))
    p.grad = mine
    hook([p])
    assert type(p.grad.data) is np.ndarray
    assert p.grad.dtype == dtype
    assert p.grad.shape == shape
    np.testing.assert_array_equal(mine.data, np.ones(shape))


def test_weight_decay_adds_the_weights():
    p = parameter([2.0, -4.0], [1.0, 1.0])
    WeightDecay(0.25)([p])
    np.testing.assert_array_equal(p.grad.data, [1.5, 0.0])
    np.testing.assert_array_equal(p.data, [2.0, -4.0])


def test_weight_decay_shrinks_weights_without_slope():
    p = parameter([2.0], [0.0])
    SGD(0.5).setup([p]).add_hook(WeightDecay(0.2)).update()
    np.testing.assert_allclose(p.data, [1.8])


def test_weight_decay_in_half_precision():
    # In float16 a rate of 1e-7 is 1.2e-7, and one of 1e-8 is 0.
    p = parameter([6e4], [0.0], np.float16)
    WeightDecay(1e-8)([p])
    np.testing.assert_allclose(p.grad.data, [6e-4], rtol=1e-3)


def test_clip_grad_bounds_the_norm_of_all_together():
    a, b = parameter([0.0], [3.0]), parameter([[0.0]], [[4.0]])
    ClipGrad(1.0)([a, b])
    np.testing.assert_allclose([a.grad.data[0], b.grad.data[0, 0]], [0.6, 0.8])


def test_clip_grad_leaves_short_gradients():
    p = parameter([0.0, 0.0], [3.0, 4.0])
    grad = p.grad
    ClipGrad(5.0)([p])
    assert p.grad is grad


@pytest.mark.parametrize(
    ("dtype", "size"), [(np.float16, 6e4), (np.float32, 1e30), (np.float64, 1e200)]
)
def test_clip_grad_bounds_gradients_whose_squares_overflow(dtype, size):
    params = [parameter([0.0] * 100, [size] * 100, dtype) for _ in range(2)]
    params.append(parameter([], [], dtype))
    ClipGrad(1.0)(params)
    np.testing.assert_allclose(norm(params), 1.0, rtol=1e-2)


@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan])
def test_clip_grad_leaves_a_norm_that_is_not_finite(value):
    p = parameter([0.0, 0.0], [1.0, value])
    ClipGrad(0.5)([p])
    np.testing.assert_array_equal(p.grad.data, [1.0, value])


def test_clip_grad_without_gradients():
    ClipGrad(1.0)([])


def test_clip_grad_value_bounds_every_element():
    p = parameter([0.0] * 5, [-3.0, -0.5, 0.25, np.inf, np.nan])
    ClipGradValue(0.5)([p])
    np.testing.assert_array_equal(p.grad.data, [-0.5, -0.5, 0.25, 0.5, np.nan])


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_clip_grad_value_with_a_limit_beyond_the_dtype(dtype):
    largest = np.finfo(dtype).max
    p = parameter([0.0] * 3, [1.0, largest, np.inf], dtype)
    ClipGradValue(1e308)([p])
    expected = min(np.float64(largest), 1e308)
    np.testing.assert_array_equal(
        p.grad.data, np.array([1.0, expected, expected], dtype)
    )


def test_gradient_noise_has_the_variance_of_its_formula():
    np.random.seed(0)
    noise = GradientNoise(eta=0.3, gamma=0.55)
    for t in range(4):
        p = parameter(np.zeros(100_000), np.full(100_000, 5.0))
        noise([p])
        np.testing.assert_allclose(p.grad.data.mean(), 5.0, atol=0.01)
        variance = 0.3 / (1 + t) ** 0.55
        np.testing.assert_allclose(p.grad.data.var(), variance, rtol=0.03)


def test_gradient_noise_follows_the_global_seed():
    grads = []
    for _ in range(2):
        np.random.seed(3)
        p = parameter([0.0, 0.0], [0.0, 0.0])
        GradientNoise()([p])
        grads.append(p.grad.data)
    np.testing.assert_array_equal(*grads)
    assert grads[0][0] != grads[0][1]


def test_freeze_param_takes_layers_and_parameters():
    layer = Layer()
    layer.blocks = [parameter([1.0], [1.0])]
    a, b = parameter([1.0], [1.0]), parameter([1.0], [1.0])
    optimizer = SGD(0.5).setup([a, b, layer.blocks[0]])
    optimizer.add_hook(FreezeParam(layer, a))
    layer.blocks.append(b)  # layers are looked through at each update
    optimizer.update()
    assert a.data == b.data == layer.blocks[0].data == [1.0]
    layer.blocks.pop()
    b.grad = np.array([1.0])
    optimizer.update()
    assert b.data == [0.5]


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: WeightDecay(-1), ValueError, r"WeightDecay: expected rate in \[0, "),
        (lambda: WeightDecay("a"), TypeError, "expected rate to be a number, got str"),
        (lambda: ClipGrad(-1), ValueError, r"ClipGrad: expected max_norm in \[0, inf"),
        (lambda: ClipGrad(0), ValueError, "expected max_norm to be positive, got 0"),
        (
            lambda: ClipGradValue(0),
            ValueError,
            "ClipGradValue: expected limit to be positive, got 0",
        ),
        (lambda: ClipGradValue(-1), ValueError, r"ClipGradValue: expected limit in"),
        (lambda: GradientNoise(-1), ValueError, r"GradientNoise: expected eta in \[0"),
        (lambda: GradientNoise(1, -1), ValueError, r"GradientNoise: expected gamma in"),
        (
            lambda: FreezeParam([1]),
            TypeError,
            "FreezeParam: expected Layers and Parameters, got list",
        ),
    ],
)
def test_wrong_values(make, error, message):
    with pytest.raises(error, match=message):
        make()


def test_gradients_of_integers_that_a_user_assigned():
    for hook, expected in (
        (WeightDecay(0.5), [3.5, 4.5]),
        (ClipGrad(1), [0.6, 0.8]),
        (ClipGradValue(3.5), [3.0, 3.5]),
        (GradientNoise(0.0), [3.0, 4.0]),
    ):
        p = Parameter(np.ones(2, np.float32))
        p.grad = np.array([3, 4])
        hook([p])
        assert p.grad.dtype == np.float32
        np.testing.assert_allclose(p.grad.data, expected, rtol=1e-6)


def test_the_remedy_fits_what_was_given():
    with pytest.raises(TypeError, match="got Parameter; parameters are given to setup"):
        ClipGrad(Parameter(np.ones(2)))
    with pytest.raises(TypeError, match="got NoneType$"):
        ClipGrad(None)
    with pytest.raises(TypeError, match="FreezeParam: .* got type$"):
        FreezeParam(Layer)
