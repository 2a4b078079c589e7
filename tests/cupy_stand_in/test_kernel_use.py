"""Where fused kernels run: a function that leaves its own would only become slow."""

import numpy as np
import pytest

import dezero.functions as F
import dezero.optimizers as O
from dezero import Variable, cuda
from dezero.core import Parameter

rng = np.random.default_rng(0)


def floats(*shape, dtype=np.float32):
    return rng.standard_normal(shape).astype(dtype)


def on_gpu(*arrays):
    return [Variable(cuda.as_cupy(x)) for x in arrays]


def learn(function, *arrays):
    """Results and gradients on a GPU of the loss ``sum(function(...)**2)``."""
    results = []
    for variables in (on_gpu(*arrays), [Variable(x) for x in arrays]):
        y = function(*variables)
        F.sum(y * y).backward(retain_graph=False)
        results.append([cuda.as_numpy(v) for v in (y, *[v.grad for v in variables])])
    for there, here in zip(*results, strict=True):
        assert there.dtype == here.dtype
        np.testing.assert_allclose(there, here, rtol=2e-5, atol=2e-5)


def on_device_of(x, ids):
    return cuda.get_array_module(x).asarray(np.array(ids))


def batch_norm(x, gamma, beta):
    xp = cuda.get_array_module(x)
    mean, var = xp.zeros(4, np.float32), xp.ones(4, np.float32)
    return F.batch_norm(x, gamma, beta, mean, var)


X, IMAGE = floats(8, 4), floats(2, 4, 6, 6)
GAMMA, BETA = floats(4), floats(4)
CELL = floats(3, 4, 2), floats(4, 5), floats(4, 5), floats(2, 20), floats(5, 20)
GRU = floats(3, 4, 2), floats(4, 5), floats(2, 15), floats(5, 15)
RNN = floats(3, 4, 2), floats(4, 5), floats(2, 5), floats(5, 5)
TOKENS = floats(2, 3, 4), floats(2, 3, 4), floats(2, 3, 4)
NORM = ["deviations", "variance", "standardized"]
ATTENTION = ["softmax_sums", "softmax", "softmax_dot", "softmax_grad"]
USES = {
    "relu": (F.relu, [X], ["relu_grad"]),
    "sigmoid": (F.sigmoid, [X], ["sigmoid", "sigmoid_grad"]),
    "tanh": (F.tanh, [X], ["tanh_grad"]),
    "gelu": (F.gelu, [X], ["gelu", "gelu_grad"]),
    "softmax": (F.softmax, [X], ATTENTION),
    "lstm": (lambda *a: F.lstm(*a)[0], CELL, ["lstm"] * 3 + ["lstm_back"] * 3),
    "rnn": (lambda *a: F.rnn(*a)[0], RNN, ["rnn"] * 3 + ["rnn_back"] * 3),
    "gru": (lambda *a: F.gru(*a)[0], GRU, ["gru"] * 3 + ["gru_back"] * 3),
    "attention": (
        lambda *a: F.scaled_dot_product_attention(*a, causal=True),
        TOKENS,
        ATTENTION,
    ),
    "layer norm": (
        F.layer_norm,
        [X, GAMMA, BETA],
        [*NORM, *["gradient_sums"] * 2, "standardized_grad"],
    ),
    "batch norm": (
        batch_norm,
        [IMAGE, GAMMA, BETA],
        [*NORM, "running", "gradient_sums", "standardized_grad"],
    ),
    "convolution": (
        lambda x, W: F.conv2d(x, W, pad=1),
        [IMAGE, floats(3, 4, 3, 3)],
        ["fill_columns", "add_columns", "fill_columns"],
    ),
    "convolution by channel": (
        lambda x, W: F.conv2d(x, W, pad=1, groups=4),
        [IMAGE, floats(8, 1, 3, 3)],
        ["depthwise", "depthwise_transposed", "depthwise_kernel"],
    ),
    "pooling": (
        lambda x: F.pooling(x, 3, 2, 1),
        [IMAGE],
        ["max_pool", "first_maxima", "give"],
    ),
    "average pooling": (
        lambda x: F.average_pooling(x, 3, 2, 1),
        [IMAGE],
        ["average_pool", "give_equally"],
    ),
    "embedding": (
        lambda W: F.embed_id(on_device_of(W, [[1, 7], [1, 0]]), W),
        [X],
        ["look_up", "add_rows"],
    ),
}


@pytest.mark.parametrize("name", USES)
def test_functions(launched, name):
    function, arrays, expected = USES[name]
    learn(function, *arrays)
    assert launched == expected


@pytest.mark.parametrize("function", [F.softmax, F.log_softmax])
def test_no_axis_of_no_axes(function):
    here, there = (
        function(move(np.array(3.0)), ()) for move in (np.asarray, cuda.as_cupy)
    )
    np.testing.assert_equal(cuda.as_numpy(there), here.data)


def test_dropout(launched):
    (x,) = on_gpu(np.ones((100, 100), np.float32))
    y = F.dropout(x, 0.5)
    F.sum(y).backward()
    assert launched == ["masked"] * 2
    assert set(np.unique(cuda.as_numpy(y))) == {0, 2}
    np.testing.assert_array_equal(cuda.as_numpy(x.grad), cuda.as_numpy(y))


@pytest.mark.parametrize("options", [{}, {"label_smoothing": 0.1}])
def test_cross_entropy(launched, options):
    results = []
    for x in (on_gpu(X)[0], Variable(X)):
        t = cuda.get_array_module(x).asarray(np.arange(8) % 4)
        loss = F.softmax_cross_entropy(x, t, **options)
        loss.backward()
        results.append([cuda.as_numpy(v) for v in (loss, x.grad)])
    assert launched == ["softmax_sums", "cross_entropy", "cross_entropy_grad"]
    for there, here in zip(*results, strict=True):
        np.testing.assert_allclose(there, here, rtol=1e-5, atol=1e-6)


def test_an_unknown_label():
    (x,) = on_gpu(X)
    for label in (-1, 4):
        t = cuda.as_cupy(np.full(8, label))
        assert np.isnan(F.softmax_cross_entropy(x, t).item())


RULES = {
    "sgd": lambda: O.SGD(),
    "momentum_sgd": lambda: O.MomentumSGD(),
    "lion": lambda: O.Lion(),
    "adagrad": lambda: O.AdaGrad(),
    "adadelta": lambda: O.AdaDelta(),
    "rmsprop": lambda: O.RMSprop(),
    "adam": lambda: O.AdamW(),
}


@pytest.mark.parametrize("name", RULES)
def test_few_launches_update_all_parameters(launched, name):
    shapes = [(3, 4), (5,), (), (2500,)] * 18 + [(0, 3)]
    params = [Parameter(np.asarray(floats(*shape))) for shape in shapes]
    for p in params:
        p.to_gpu()
        p.grad = cuda.as_cupy(np.asarray(floats(*p.shape)))
    optimizer = RULES[name]().setup(params)
    optimizer.add_hook(O.WeightDecay(0.1)).add_hook(O.ClipGrad(0.1))
    optimizer.update()
    hooks = ["many decayed", "many square_sum", "clipping_scale", "many scaled"]
    assert launched == [*hooks, f"many {name}"]


# ---- what the kernels are not made for -------------------------------------------


def test_windows_on_four_axes(launched):
    learn(lambda x: F.im2col(x, 2, pad=1), floats(1, 2, 3, 3, 2, 3))
    learn(lambda x: F.pooling(x, 2, 1), floats(1, 2, 3, 3, 2, 3))
    assert not launched


def test_far_from_zero():
    for x in (X + np.float32(1e4), np.full((8, 4), 1e6, np.float32)):
        there, here = F.layer_norm(*on_gpu(x), None, None), F.layer_norm(x, None, None)
        np.testing.assert_allclose(
            cuda.as_numpy(there), here.data, rtol=1e-4, atol=1e-4
        )


def test_a_batch_that_is_summed_in_stages():
    learn(batch_norm, floats(96, 4, 3), GAMMA, BETA)
    learn(F.layer_norm, floats(96, 4), GAMMA, BETA)
    learn(lambda *a: F.group_norm(a[0], 2, *a[1:]), floats(96, 4, 3), GAMMA, BETA)


def test_dtypes_that_differ(launched):
    mask = cuda.as_cupy(np.array([True, False]))
    wide, narrow = on_gpu(floats(2, dtype=np.float64), floats(2))
    F.safe.SafeMul()(mask, narrow), F.safe.SafeMul()(narrow, narrow)
    assert F.safe.SafeMul()(wide, narrow).dtype == np.float64
    assert launched == ["safe_mul"] * 2


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.int32])
def test_sums_of_many_rows(dtype):
    x = rng.integers(-1, 2, (2, 1024, 3)).astype(dtype)
    y = F.sum_to(cuda.as_cupy(x), (3,)).data
    here = F.sum_to(x, (3,)).data
    assert y.dtype == here.dtype
    np.testing.assert_array_equal(y.get(), here)
