"""The workloads with DeZero, as a user would write them: layers, optimizers, F."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from _inputs import Inputs

import dezero as dz
import dezero.functions as F
import dezero.layers as L


class Side:
    """A step of training, and the gradients that it left."""

    def __init__(self, step: Callable[[], Any], parameters: Sequence[dz.Variable]):
        self.step, self.parameters = step, parameters

    def gradients(self) -> list[np.ndarray]:
        """In the order of the parameters."""
        return [p.grad.data for p in self.parameters if p.grad is not None]


def _functional(
    inputs: Inputs, loss_of: Callable[[list[dz.Parameter]], dz.Variable]
) -> Side:
    """Loss and gradients by parameters without layers; no update."""
    parameters = [dz.Parameter(p.copy()) for p in inputs["parameters"]]

    def step() -> dz.Variable:
        for p in parameters:
            p.cleargrad()
        loss = loss_of(parameters)
        loss.backward(retain_graph=False)
        return loss

    return Side(step, parameters)


def _trained(
    inputs: Inputs, model: dz.Model, optimizer: Any, axis: int = 1, first: Any = None
) -> Side:
    """Training steps of a classifier that starts from the given parameters."""
    with dz.no_grad(), dz.test_mode():
        model(inputs["x"] if first is None else first)  # makes what depends on x
    model = _start(model, inputs["parameters"])
    optimizer = optimizer.setup(model)
    x, t = inputs["x"], inputs["t"]

    def step() -> dz.Variable:
        loss = F.softmax_cross_entropy(model(x), t, axis=axis)
        model.cleargrads()
        loss.backward(retain_graph=False)
        optimizer.update()
        return loss

    return Side(step, _parameters(model))


def _parameters(model: L.Layer) -> list[dz.Parameter]:
    # The running statistics of batch norm are not trained.
    return [p for p in model.params() if p.requires_grad]


def _start(model: Any, arrays: Sequence[np.ndarray]) -> Any:
    for p, array in zip(_parameters(model), arrays, strict=True):
        assert p.shape == array.shape, f"{p.name}: {p.shape} and {array.shape}"
        p.data = array.copy()
    return model


# ---- graphs ----------------------------------------------------------------------


def tiny(inputs: Inputs) -> Side:
    x, repeats = inputs["x"], inputs["repeats"]

    def loss_of(parameters: list[dz.Parameter]) -> dz.Variable:
        w, b = parameters
        h = x
        for _ in range(repeats):
            h = F.sin(h * w + b) ** 2
        return F.sum(h)

    return _functional(inputs, loss_of)


def deep(inputs: Inputs) -> Side:
    x, repeats = inputs["x"], inputs["repeats"]

    def loss_of(parameters: list[dz.Parameter]) -> dz.Variable:
        w, b = parameters
        h = x
        for _ in range(repeats):
            h = h * w
            h = h + b
        return F.sum(h)

    return _functional(inputs, loss_of)


def wide(inputs: Inputs) -> Side:
    first, *others = inputs["constants"]

    def loss_of(parameters: list[dz.Parameter]) -> dz.Variable:
        (x,) = parameters
        y = x * first
        for c in others:
            y = y + x * c
        return F.sum(y)

    return _functional(inputs, loss_of)


# ---- networks --------------------------------------------------------------------


def _sizes(inputs: Inputs) -> list[int]:
    """Of the linear layers of an MLP."""
    return [b.size for b in inputs["parameters"][1::2]]


def mlp_sgd(inputs: Inputs) -> Side:
    model = dz.models.MLP(_sizes(inputs), activation=F.relu)
    return _trained(inputs, model, dz.optimizers.SGD(lr=0.01))


def mlp_adam(inputs: Inputs) -> Side:
    model = dz.models.MLP(_sizes(inputs), activation=F.relu)
    return _trained(inputs, model, dz.optimizers.Adam())


def norm_mlp(inputs: Inputs) -> Side:
    *hidden, out = [b.size for b in inputs["parameters"][1::4]]
    layers: list[Any] = []
    for size in hidden:
        layers += [L.Linear(size), L.BatchNorm(eps=1e-5), F.relu]
        if inputs["dropout"]:
            layers.append(L.Dropout(inputs["dropout"]))
    model = dz.models.Sequential(*layers, L.Linear(out))
    return _trained(inputs, model, dz.optimizers.SGD(lr=0.01))


class _ConvNet(dz.Model):
    def __init__(self, C1: int, C2: int):
        super().__init__()
        self.conv1 = L.Conv2d(C1, 3, pad=1)
        self.conv2 = L.Conv2d(C2, 3, pad=1)
        self.fc = L.Linear(10)

    def forward(self, x):
        x = F.pooling(F.relu(self.conv1(x)), 2, 2)
        x = F.pooling(F.relu(self.conv2(x)), 2, 2)
        return self.fc(F.flatten(x))


def conv_net(inputs: Inputs) -> Side:
    C1, C2 = (inputs["parameters"][i].size for i in (1, 3))
    return _trained(inputs, _ConvNet(C1, C2), dz.optimizers.SGD(lr=0.01))


def conv_block(inputs: Inputs) -> Side:
    g = inputs["g"]

    def loss_of(parameters: list[dz.Parameter]) -> dz.Variable:
        x, W, b = parameters
        return F.sum(F.relu(F.conv2d(x, W, b, pad=1)) * g)

    return _functional(inputs, loss_of)


class _ResnetBlock(L.Layer):
    def __init__(self, channels: int):
        super().__init__()
        self.conv1 = L.Conv2d(channels, 3, pad=1, nobias=True)
        self.bn1 = L.BatchNorm(eps=1e-5)
        self.conv2 = L.Conv2d(channels, 3, pad=1, nobias=True)
        self.bn2 = L.BatchNorm(eps=1e-5)

    def forward(self, x):
        y = F.relu(self.bn1(self.conv1(x)))
        return F.relu(x + self.bn2(self.conv2(y)))


def resnet_block(inputs: Inputs) -> Side:
    g = inputs["g"]
    first, *others = inputs["parameters"]
    block = _ResnetBlock(first.shape[1])
    with dz.no_grad(), dz.test_mode():
        block(first)
    _start(block, others)
    x = dz.Parameter(first.copy())

    def step() -> dz.Variable:
        x.cleargrad()
        block.cleargrads()
        loss = F.sum(block(x) * g)
        loss.backward(retain_graph=False)
        return loss

    return Side(step, [x, *_parameters(block)])


class _CharModel(dz.Model):
    def __init__(self, vocabulary: int, embedding: int, hidden: int):
        super().__init__()
        self.embedding = L.Embedding(vocabulary, embedding)
        self.lstm = L.SequenceLSTM(hidden, in_size=embedding)
        self.head = L.Linear(vocabulary)
        self.state: tuple[Any, ...] = ()

    def forward(self, x):
        y, h, c = self.lstm(self.embedding(x), *self.state)
        self.state = h.detach(), c.detach()
        return self.head(y)


def lstm(inputs: Inputs) -> Side:
    E, _, Wh, *_ = inputs["parameters"]
    model = _CharModel(*E.shape, len(Wh))
    side = _trained(inputs, model, dz.optimizers.Adam(), axis=-1)
    model.state = ()
    return side


class _Gpt(dz.Model):
    def __init__(self, V: int, T: int, D: int, heads: int, layers: int):
        super().__init__()
        self.token = L.Embedding(V, D)
        self.position = L.Embedding(T, D)
        self.blocks = [
            L.TransformerBlock(
                D, heads, causal=True, activation=lambda x: F.gelu(x, approximate=True)
            )
            for _ in range(layers)
        ]
        self.norm = L.LayerNorm()
        self.head = L.Linear(V)

    def forward(self, ids):
        x = self.token(ids) + self.position.W
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


def gpt(inputs: Inputs) -> Side:
    V, T = (len(p) for p in inputs["parameters"][:2])
    D = inputs["parameters"][0].shape[1]
    model = _Gpt(V, T, D, inputs["heads"], inputs["layers"])
    return _trained(inputs, model, dz.optimizers.Adam(), axis=-1)


class _Products:
    """The gradients that are looked at are the products."""

    def __init__(self, inputs: Inputs):
        model = dz.models.MLP(_sizes(inputs), activation=F.tanh)
        x, t = inputs["x"], inputs["t"]
        with dz.no_grad():
            model(x)
        _start(model, inputs["parameters"])
        parameters, v = list(model.params()), inputs["v"]

        def step() -> dz.Variable:
            loss = F.softmax_cross_entropy(model(x), t)
            gs = dz.grad(loss, parameters, create_graph=True)
            self.products = dz.grad(gs, parameters, v)
            return loss

        self.step = step

    def gradients(self) -> list[np.ndarray]:
        return [p.data for p in self.products]


def hvp(inputs: Inputs) -> _Products:
    return _Products(inputs)


WORKLOADS = {
    f.__name__: f
    for f in (
        *(tiny, deep, wide, mlp_sgd, mlp_adam, norm_mlp, conv_net, conv_block),
        *(resnet_block, lstm, gpt, hvp),
    )
}
