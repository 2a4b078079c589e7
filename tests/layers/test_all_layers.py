"""What holds for every layer: gradients, dtypes, files, copies, its first call."""

import copy
import pickle

import numpy as np
import pytest

import dezero.layers as L
from dezero import cuda
from dezero.core import Parameter, Variable, no_grad, test_mode
from dezero.layers import Layer
from dezero.testing import check_gradients


class Sizes:
    """How to make a layer: from its dtype, and with or without the size of x."""

    def __init__(self, make, shape, lazy="in_size", size=None, typed=True, order=2):
        self.make, self.shape, self.lazy, self.typed = make, shape, lazy, typed
        self.size, self.order = size, order

    def layer(self, dtype=np.float32, lazy=True):
        np.random.seed(1)
        options = {"dtype": dtype} if self.typed else {}
        if not lazy and self.lazy:
            options[self.lazy] = self.size or self.shape[-1]
        return self.make(**options)

    def x(self, dtype=np.float32):
        # Distinct numbers: no ties for pooling, nothing near the kink of ReLU.
        rng = np.random.RandomState(0)
        n = int(np.prod(self.shape))
        x = (rng.permutation(n) - n // 2 + 0.5) * (4 / n)
        return x.reshape(self.shape).astype(dtype)


def channels(make, shape, **options):
    return Sizes(make, shape, "in_channels", shape[1], **options)


def plain(make, shape, order=2):
    return Sizes(make, shape, None, typed=False, order=order)


LAYERS = {
    "Linear": Sizes(lambda **o: L.Linear(4, **o), (3, 5)),
    "Conv1d": channels(lambda **o: L.Conv1d(4, 3, pad=1, **o), (2, 2, 5)),
    "Conv2d": channels(
        lambda **o: L.Conv2d(4, (3, 2), stride=2, groups=2, **o), (2, 4, 5, 4)
    ),
    "Conv3d": channels(lambda **o: L.Conv3d(2, 2, nobias=True, **o), (1, 2, 3, 3, 2)),
    "Deconv1d": channels(lambda **o: L.Deconv1d(4, 3, stride=2, **o), (2, 2, 4)),
    "Deconv2d": channels(
        lambda **o: L.Deconv2d(4, 3, stride=2, pad=1, groups=2, **o), (2, 4, 3, 2)
    ),
    "Deconv3d": channels(lambda **o: L.Deconv3d(2, 2, **o), (1, 2, 2, 2, 2)),
    "BatchNorm": channels(L.BatchNorm, (4, 3, 2)),
    "LayerNorm": Sizes(L.LayerNorm, (2, 3, 5)),
    "RMSNorm": Sizes(L.RMSNorm, (3, 5)),
    "GroupNorm": channels(lambda **o: L.GroupNorm(2, **o), (2, 4, 3)),
    "InstanceNorm": channels(L.InstanceNorm, (2, 3, 4)),
    "RNN": Sizes(lambda **o: L.RNN(4, **o), (3, 5)),
    "LSTM": Sizes(lambda **o: L.LSTM(4, **o), (3, 5)),
    "GRU": Sizes(lambda **o: L.GRU(4, **o), (3, 5)),
    "SequenceRNN": Sizes(lambda **o: L.SequenceRNN(3, 2, **o), (3, 2, 4)),
    "SequenceLSTM": Sizes(lambda **o: L.SequenceLSTM(3, 1, True, **o), (3, 2, 4)),
    "SequenceGRU": Sizes(lambda **o: L.SequenceGRU(3, 2, True, **o), (3, 2, 4)),
    "MultiHeadAttention": Sizes(lambda **o: L.MultiHeadAttention(4, 2, **o), (2, 3, 5)),
    "TransformerBlock": Sizes(
        lambda **o: L.TransformerBlock(4, 2, 6, causal=True, **o), (2, 3, 4), None
    ),
    "ReLU": plain(L.ReLU, (3, 4)),
    "LeakyReLU": plain(L.LeakyReLU, (3, 4)),
    "PReLU": Sizes(lambda **o: L.PReLU(4, **o), (3, 4), None),
    "Sigmoid": plain(L.Sigmoid, (3, 4)),
    "Tanh": plain(L.Tanh, (3, 4)),
    "GELU": plain(L.GELU, (3, 4)),
    "SiLU": plain(L.SiLU, (3, 4)),
    "Softmax": plain(L.Softmax, (3, 4)),
    "MaxPool1d": plain(lambda: L.MaxPool1d(2), (2, 2, 6)),
    "MaxPool2d": plain(lambda: L.MaxPool2d(2, 1, "same"), (2, 2, 4, 3)),
    "MaxPool3d": plain(lambda: L.MaxPool3d(2), (1, 2, 2, 4, 2)),
    "AvgPool1d": plain(lambda: L.AvgPool1d(2), (2, 2, 6)),
    "AvgPool2d": plain(lambda: L.AvgPool2d(3, 2, 1), (2, 2, 4, 3)),
    "AvgPool3d": plain(lambda: L.AvgPool3d(2), (1, 2, 2, 4, 2)),
    "GlobalAveragePooling": plain(L.GlobalAveragePooling, (2, 2, 4, 3)),
    "Dropout": plain(L.Dropout, (3, 4)),
    "Flatten": plain(L.Flatten, (2, 3, 2)),
}
# Ids have no gradient: see test_embedding. Neither has a cache: see test_caches.
ELSEWHERE = {"Layer", "Embedding", "EmbedID", "KeyValueCache", "initializers"}


def test_every_layer_is_listed():
    assert set(LAYERS) | ELSEWHERE == set(L.__all__)


every_layer = pytest.mark.parametrize("case", LAYERS.values(), ids=LAYERS)
lazy_layers = pytest.mark.parametrize(
    "case",
    [c for c in LAYERS.values() if c.lazy],
    ids=[name for name, c in LAYERS.items() if c.lazy],
)


def run(layer, x):
    """The first output of a fresh start."""
    if hasattr(layer, "reset_state"):
        layer.reset_state()
    np.random.seed(2)
    y = layer(x)
    return y[0] if isinstance(y, tuple) else y


def trained(layer):
    """(owner, attribute) of each Parameter that is trained."""
    return [
        (owner, name.split("/")[-1])
        for name, p, owner in layer._walk()
        if isinstance(p, Parameter) and p.requires_grad
    ]


@every_layer
def test_gradients_by_input_and_parameters(case):
    layer, x = case.layer(np.float64), case.x(np.float64)
    run(layer, x)
    places = trained(layer)
    rng = np.random.RandomState(3)
    parameters = []
    for owner, name in places:
        p = getattr(owner, name)
        assert p.dtype == np.float64
        parameters.append(p.data + 0.1 * rng.randn(*p.shape))

    def f(x, *parameters):
        for (owner, name), p in zip(places, parameters, strict=True):
            setattr(owner, name, p)
        if not hasattr(layer, "reset_state"):
            return layer(x)
        layer.reset_state()
        layer(x)
        return layer(x * 0.5)  # the second step depends on the state

    check_gradients(f, x, *parameters, order=case.order, directions=1).assert_ok()


@every_layer
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_dtype(case, dtype):
    layer, x = case.layer(dtype), Variable(case.x(dtype))
    y = run(layer, x)
    y.sum().backward()
    assert y.dtype == x.grad.dtype == dtype
    for name, p in layer.named_params():
        if p.requires_grad:
            assert p.dtype == dtype, name
            assert p.grad is not None, name
            assert p.grad.dtype == dtype, name


@every_layer
def test_files(case, tmp_path):
    x = case.x()
    used, again, lazy = case.layer(), case.layer(lazy=False), case.layer()
    run(used, x)
    for p in used.params():
        p.data = p.data + 0.5
    used.save_weights(tmp_path / "w")
    with test_mode():
        want = run(used, x)
        for layer in again, lazy:
            layer.load_weights(tmp_path / "w")
            np.testing.assert_array_equal(run(layer, x).data, want.data)
            assert repr(layer) == repr(used)


@lazy_layers
def test_files_from_before_the_first_call(case, tmp_path):
    case.layer().save_weights(tmp_path / "w")
    layer = case.layer()
    layer.load_weights(tmp_path / "w")
    run(layer, case.x())


@every_layer
@pytest.mark.parametrize(
    "copied", [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))]
)
def test_copies(case, copied):
    x = case.x()
    fresh = copied(case.layer())
    used = case.layer()
    np.testing.assert_array_equal(run(used, x).data, run(fresh, x).data)
    again = copied(used)
    with test_mode():
        np.testing.assert_array_equal(run(again, x).data, run(used, x).data)
    for p, q in zip(again.params(), used.params(), strict=True):
        assert p is not q
        assert (p.name, p.requires_grad) == (q.name, q.requires_grad)


@lazy_layers
def test_the_first_call_tells_the_size(case):
    lazy, sized = case.layer(), case.layer(lazy=False)
    names = [name for name, _ in lazy.named_params()]
    before = list(lazy.params())
    assert names == [name for name, _ in sized.named_params()]
    assert any(p.data is None for p in before)
    run(lazy, case.x())
    assert list(map(id, lazy.params())) == list(map(id, before))
    shapes = [p.shape for p in lazy.params()]
    assert shapes == [p.shape for p in sized.params()]
    assert repr(lazy) == repr(sized)


@every_layer
def test_parameters_have_the_name_of_their_attribute(case):
    for name, p in case.layer().named_params():
        assert p.name == name.split("/")[-1]


@every_layer
def test_nothing_in_the_batch(case):
    layer, x = case.layer(), Variable(case.x()[:0])  # or a sequence of no steps
    with test_mode():  # batch normalization needs something to learn from
        y = run(layer, x)
    assert y.size == 0
    y.sum().backward()
    assert x.grad.shape == x.shape
    for p in layer.params():
        assert p.grad is None or not p.grad.data.any()


@every_layer
def test_no_grad_builds_no_graph(case):
    with no_grad():
        y = run(case.layer(), Variable(case.x()))
    assert y.creator is None
    assert not y.requires_grad


@every_layer
def test_inputs_stay_as_they_are(case):
    layer, x = case.layer(), case.x()
    x.flags.writeable = False
    run(layer, x)
    np.testing.assert_array_equal(x, case.x())


@every_layer
def test_summary_leaves_the_layer_as_it_is(case):
    layer = case.layer()
    before = repr(layer), np.random.get_state()[1].tolist()
    text = layer.summary(case.x())
    assert (repr(layer), np.random.get_state()[1].tolist()) == before
    run(layer, case.x())
    total = sum([p.size for p in layer.params()])
    assert f"{total:,} parameters" in text


@pytest.mark.gpu
@every_layer
def test_devices_agree(case):
    here, x = case.layer(), case.x()
    run(here, x)
    there = copy.deepcopy(here)
    there.to_gpu()
    results = []
    for layer, v in (here, Variable(x)), (there, Variable(cuda.as_cupy(x))):
        with test_mode():  # dropout draws other numbers there
            y = run(layer, v)
        y.sum().backward()
        grads = [p.grad for p in layer.params() if p.grad is not None]
        xp = cuda.get_array_module(v.data)
        assert all(cuda.get_array_module(a.data) is xp for a in (y, v.grad, *grads))
        results.append([cuda.as_numpy(a) for a in (y, v.grad, *grads)])
    for a, b in zip(*results, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-4)


@pytest.mark.gpu
@every_layer
def test_the_first_call_on_a_gpu(case):
    layer, x = case.layer(), cuda.as_cupy(case.x())
    layer.to_gpu()
    y = run(layer, x)
    xp = cuda.get_array_module(x)
    assert xp is not np
    for v in [y, *layer.params()]:
        assert cuda.get_array_module(v.data) is xp


@every_layer
def test_the_doc_says_what_it_is(case):
    layer = case.layer()
    assert type(layer).__doc__
    assert isinstance(layer, Layer)
