"""The workloads with PyTorch, eager, as a user would write them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from _inputs import Inputs
from torch import nn


class Side:
    """A step of training, and the gradients that it left, laid out as by hand."""

    def __init__(
        self,
        step: Callable[[], Any],
        parameters: Sequence[Any],
        turned: Sequence[int] = (),
    ):
        self.step, self.parameters, self.turned = step, parameters, turned

    def gradients(self) -> list[np.ndarray]:
        gs = [p.grad.numpy(force=True) for p in self.parameters]
        return [g.T if i in self.turned else g for i, g in enumerate(gs)]


def _functional(inputs: Inputs, loss_of: Callable[[list[Any]], Any]) -> Side:
    parameters = [torch.tensor(p, requires_grad=True) for p in inputs["parameters"]]

    def step() -> Any:
        for p in parameters:
            p.grad = None
        loss = loss_of(parameters)
        loss.backward()
        return loss.detach()

    return Side(step, parameters)


def _start(
    parameters: Sequence[Any], arrays: Sequence[np.ndarray], turned: Sequence[int]
) -> None:
    with torch.no_grad():
        for i, (p, a) in enumerate(zip(parameters, arrays, strict=True)):
            p.copy_(torch.from_numpy(np.ascontiguousarray(a.T) if i in turned else a))


def _turned(model: nn.Module, parameters: Sequence[Any]) -> list[int]:
    """Where weights are that torch has as (out, in), the others as (in, out)."""
    found = {
        id(p)
        for m in model.modules()
        if isinstance(m, (nn.Linear, nn.LSTM))
        for p in m.parameters()
        if p.ndim == 2
    }
    return [i for i, p in enumerate(parameters) if id(p) in found]


def _trained(
    inputs: Inputs, model: nn.Module, optimizer: Any, lr: float, parameters: Any = None
) -> Side:
    device = inputs.get("device", "cpu")
    model.to(device)  # keeps the parameters, and moves what they hold
    if parameters is None:
        parameters = list(model.parameters())
    turned = _turned(model, parameters)
    _start(parameters, inputs["parameters"], turned)
    x = torch.from_numpy(inputs["x"]).to(device)
    t = torch.from_numpy(inputs["t"]).to(device).ravel()
    optimizer = optimizer(parameters, lr=lr)

    def step() -> Any:
        optimizer.zero_grad()
        z = model(x)
        loss = F.cross_entropy(z.reshape(len(t), -1), t)
        loss.backward()
        optimizer.step()
        return loss.detach()

    return Side(step, parameters, turned)


def tiny(inputs: Inputs) -> Side:
    x, repeats = torch.from_numpy(inputs["x"]), inputs["repeats"]

    def loss_of(parameters: list[Any]) -> Any:
        w, b = parameters
        h = x
        for _ in range(repeats):
            h = torch.sin(h * w + b) ** 2
        return h.sum()

    return _functional(inputs, loss_of)


def deep(inputs: Inputs) -> Side:
    x, repeats = torch.from_numpy(inputs["x"]), inputs["repeats"]

    def loss_of(parameters: list[Any]) -> Any:
        w, b = parameters
        h = x
        for _ in range(repeats):
            h = h * w
            h = h + b
        return h.sum()

    return _functional(inputs, loss_of)


def wide(inputs: Inputs) -> Side:
    first, *others = [torch.from_numpy(c) for c in inputs["constants"]]

    def loss_of(parameters: list[Any]) -> Any:
        (x,) = parameters
        y = x * first
        for c in others:
            y = y + x * c
        return y.sum()

    return _functional(inputs, loss_of)


def _mlp(inputs: Inputs, activation: Any) -> nn.Sequential:
    layers: list[Any] = []
    for W in inputs["parameters"][::2]:
        layers += [nn.Linear(*W.shape), activation()]
    return nn.Sequential(*layers[:-1])


def mlp_sgd(inputs: Inputs) -> Side:
    return _trained(inputs, _mlp(inputs, nn.ReLU), torch.optim.SGD, 0.01)


def mlp_adam(inputs: Inputs) -> Side:
    return _trained(inputs, _mlp(inputs, nn.ReLU), torch.optim.Adam, 0.001)


def norm_mlp(inputs: Inputs) -> Side:
    *hidden, last = inputs["parameters"][::4]
    layers: list[Any] = []
    for W in hidden:
        layers += [nn.Linear(*W.shape), nn.BatchNorm1d(W.shape[1]), nn.ReLU()]
        if inputs["dropout"]:
            layers.append(nn.Dropout(inputs["dropout"]))
    model = nn.Sequential(*layers, nn.Linear(*last.shape))
    return _trained(inputs, model, torch.optim.SGD, 0.01)


def conv_net(inputs: Inputs) -> Side:
    W1, _, W2, _, W3, _ = inputs["parameters"]
    layers: list[Any] = []
    for W in (W1, W2):
        conv = nn.Conv2d(W.shape[1], len(W), 3, padding=1)
        layers += [conv, nn.ReLU(), nn.MaxPool2d(2)]
    model = nn.Sequential(*layers, nn.Flatten(), nn.Linear(*W3.shape))
    return _trained(inputs, model, torch.optim.SGD, 0.01)


def conv_block(inputs: Inputs) -> Side:
    g = torch.from_numpy(inputs["g"])

    def loss_of(parameters: list[Any]) -> Any:
        x, W, b = parameters
        return (F.relu(F.conv2d(x, W, b, padding=1)) * g).sum()

    return _functional(inputs, loss_of)


def resnet_block(inputs: Inputs) -> Side:
    g = torch.from_numpy(inputs["g"])
    channels = inputs["g"].shape[1]
    statistics = [torch.zeros(channels), torch.ones(channels)] * 2

    def loss_of(parameters: list[Any]) -> Any:
        x, W1, gamma1, beta1, W2, gamma2, beta2 = parameters
        y = F.conv2d(x, W1, padding=1)
        y = F.relu(F.batch_norm(y, *statistics[:2], gamma1, beta1, training=True))
        y = F.conv2d(y, W2, padding=1)
        y = F.batch_norm(y, *statistics[2:], gamma2, beta2, training=True)
        return (F.relu(x + y) * g).sum()

    return _functional(inputs, loss_of)


class _CharModel(nn.Module):
    def __init__(self, vocabulary: int, embedding: int, hidden: int):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, embedding)
        self.lstm = nn.LSTM(embedding, hidden)
        self.head = nn.Linear(hidden, vocabulary)
        self.state: Any = None

    def forward(self, x):
        y, state = self.lstm(self.embedding(x), self.state)
        self.state = [s.detach() for s in state]
        return self.head(y)


def lstm(inputs: Inputs) -> Side:
    E, _, Wh, *_ = inputs["parameters"]
    model = _CharModel(*E.shape, len(Wh))
    second = model.lstm.bias_hh_l0  # one bias is enough
    with torch.no_grad():
        second.zero_()
    second.requires_grad = False
    parameters = [p for p in model.parameters() if p.requires_grad]
    return _trained(inputs, model, torch.optim.Adam, 0.001, parameters)


class _Block(nn.Module):
    def __init__(self, D: int, heads: int):
        super().__init__()
        self.norm1 = nn.LayerNorm(D)
        self.query, self.key, self.value, self.out = (nn.Linear(D, D) for _ in range(4))
        self.norm2 = nn.LayerNorm(D)
        self.fc1, self.fc2 = nn.Linear(D, 4 * D), nn.Linear(4 * D, D)
        self.heads = heads

    def forward(self, x):
        N, T, D = x.shape
        h = self.norm1(x)
        q, k, v = (
            f(h).view(N, T, self.heads, -1).transpose(1, 2)
            for f in (self.query, self.key, self.value)
        )
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(y.transpose(1, 2).reshape(N, T, D))
        h = F.gelu(self.fc1(self.norm2(x)), approximate="tanh")
        return x + self.fc2(h)


class _Gpt(nn.Module):
    def __init__(self, V: int, T: int, D: int, heads: int, layers: int):
        super().__init__()
        self.token, self.position = nn.Embedding(V, D), nn.Embedding(T, D)
        self.blocks = nn.ModuleList([_Block(D, heads) for _ in range(layers)])
        self.norm, self.head = nn.LayerNorm(D), nn.Linear(D, V)

    def forward(self, ids):
        x = self.token(ids) + self.position.weight
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


def gpt(inputs: Inputs) -> Side:
    (V, D), T = inputs["parameters"][0].shape, len(inputs["parameters"][1])
    model = _Gpt(V, T, D, inputs["heads"], inputs["layers"])
    return _trained(inputs, model, torch.optim.Adam, 0.001)


class _Products:
    """The gradients that are looked at are the products."""

    def __init__(self, inputs: Inputs):
        model = _mlp(inputs, nn.Tanh)
        parameters = list(model.parameters())
        self.turned = _turned(model, parameters)
        _start(parameters, inputs["parameters"], self.turned)
        x, t = torch.from_numpy(inputs["x"]), torch.from_numpy(inputs["t"])
        v = [torch.tensor(a) for a in inputs["v"]]
        v = [a.T.contiguous() if i in self.turned else a for i, a in enumerate(v)]

        def step() -> Any:
            loss = F.cross_entropy(model(x), t)
            gs = torch.autograd.grad(loss, parameters, create_graph=True)
            self.products = torch.autograd.grad(gs, parameters, v)
            return loss.detach()

        self.step = step

    def gradients(self) -> list[np.ndarray]:
        gs = [p.numpy() for p in self.products]
        return [g.T if i in self.turned else g for i, g in enumerate(gs)]


def hvp(inputs: Inputs) -> _Products:
    return _Products(inputs)


WORKLOADS = {
    f.__name__: f
    for f in (
        *(tiny, deep, wide, mlp_sgd, mlp_adam, norm_mlp, conv_net, conv_block),
        *(resnet_block, lstm, gpt, hvp),
    )
}
