"""Inputs and first parameters of every workload: the same for all sides, float32."""

from __future__ import annotations

from typing import Any

import numpy as np

Inputs = dict[str, Any]


def _normal(rng: np.random.Generator, *shape: int, fan_in: int = 1) -> np.ndarray:
    x = rng.standard_normal(shape, dtype=np.float32)
    return x / np.float32(np.sqrt(fan_in))


def _zeros(size: int) -> np.ndarray:
    return np.zeros(size, np.float32)


def _linear(rng: np.random.Generator, *sizes: int) -> list[np.ndarray]:
    """``W`` (in, out) and ``b`` of one linear layer after the other."""
    parameters = []
    for n, m in zip(sizes, sizes[1:], strict=False):
        parameters += [_normal(rng, n, m, fan_in=n), _zeros(m)]
    return parameters


def _norm(size: int) -> list[np.ndarray]:
    """Scale and shift of a normalization."""
    return [np.ones(size, np.float32), _zeros(size)]


def _kernel(rng: np.random.Generator, outs: int, ins: int) -> np.ndarray:
    return _normal(rng, outs, ins, 3, 3, fan_in=9 * ins)


def tiny(rng: np.random.Generator, repeats: int = 12) -> Inputs:
    """``h = sin(h * w + b) ** 2`` over and over on 8 elements, then the sum."""
    x, b = rng.random((2, 8), dtype=np.float32)
    w = 1 + rng.random(8, dtype=np.float32)
    return {"x": x, "parameters": [w, b], "repeats": repeats}


def deep(rng: np.random.Generator, repeats: int = 5_000) -> Inputs:
    """``h = h * w`` and ``h = h + b`` by turns on 8 elements, then the sum."""
    # So near to 1 and 0 that h stays of the order of 1 over the whole chain.
    w = 1 + 1e-4 * rng.standard_normal(8, dtype=np.float32)
    b = 1e-3 * rng.random(8, dtype=np.float32)
    x = rng.random(8, dtype=np.float32)
    return {"x": x, "parameters": [w, b], "repeats": repeats}


def wide(rng: np.random.Generator, branches: int = 5_000) -> Inputs:
    """``x * c`` for many constants, added one after the other, then the sum."""
    constants = list(rng.random((branches, 8), dtype=np.float32))
    return {"parameters": [rng.random(8, dtype=np.float32)], "constants": constants}


def mlp(
    rng: np.random.Generator,
    sizes: tuple[int, ...] = (784, 1000, 1000, 10),
    batch: int = 128,
) -> Inputs:
    """Linear layers with relu between them, softmax cross entropy, an update."""
    x, t = _normal(rng, batch, sizes[0]), rng.integers(0, sizes[-1], batch)
    return {"x": x, "t": t, "parameters": _linear(rng, *sizes)}


def norm_mlp(
    rng: np.random.Generator,
    sizes: tuple[int, ...] = (784, 1000, 1000, 10),
    batch: int = 128,
) -> Inputs:
    """As ``mlp``, with batch norm before each relu and dropout of one half after it."""
    inputs = mlp(rng, sizes, batch)
    plain = inputs["parameters"]
    parameters = []
    for i, size in enumerate(sizes[1:-1]):
        parameters += [*plain[2 * i : 2 * i + 2], *_norm(size)]
    return inputs | {"parameters": parameters + plain[-2:], "dropout": 0.5}


def conv_net(
    rng: np.random.Generator,
    batch: int = 64,
    size: int = 28,
    channels: tuple[int, int] = (16, 32),
) -> Inputs:
    """Convolution 3x3, relu, pooling 2x2, twice; linear; softmax cross entropy; SGD."""
    C1, C2 = channels
    parameters = [_kernel(rng, C1, 1), _zeros(C1), _kernel(rng, C2, C1), _zeros(C2)]
    parameters += _linear(rng, C2 * (size // 4) ** 2, 10)
    x, t = _normal(rng, batch, 1, size, size), rng.integers(0, 10, batch)
    return {"x": x, "t": t, "parameters": parameters}


def conv_block(
    rng: np.random.Generator, batch: int = 16, channels: int = 64, size: int = 56
) -> Inputs:
    """``sum(relu(conv(x, W) + b) * g)``, gradients of x, W and b, no update."""
    C = channels
    x = _normal(rng, batch, C, size, size)
    g = rng.random(x.shape, dtype=np.float32)
    return {"parameters": [x, _kernel(rng, C, C), _zeros(C)], "g": g}


def resnet_block(
    rng: np.random.Generator, batch: int = 16, channels: int = 64, size: int = 28
) -> Inputs:
    """``sum(relu(x + bn(conv(relu(bn(conv(x)))))) * g)``, all gradients, no update."""
    C = channels
    x = _normal(rng, batch, C, size, size)
    g = rng.random(x.shape, dtype=np.float32)
    parameters = [x, _kernel(rng, C, C), *_norm(C), _kernel(rng, C, C), *_norm(C)]
    return {"parameters": parameters, "g": g}


def lstm(
    rng: np.random.Generator,
    vocabulary: int = 65,
    embedding: int = 64,
    hidden: int = 256,
    batch: int = 32,
    length: int = 32,
) -> Inputs:
    """Embedding, LSTM (gates i, f, g, o), linear; the state is carried over; Adam."""
    V, E, H = vocabulary, embedding, hidden
    ids = rng.integers(0, V, (length + 1, batch))  # (T + 1, N)
    parameters = [
        _normal(rng, V, E),
        _normal(rng, E, 4 * H, fan_in=E),
        _normal(rng, H, 4 * H, fan_in=H),
        _zeros(4 * H),
        *_linear(rng, H, V),
    ]
    return {"x": ids[:-1], "t": ids[1:], "parameters": parameters}


def gpt(
    rng: np.random.Generator,
    vocabulary: int = 65,
    batch: int = 8,
    length: int = 128,
    width: int = 128,
    heads: int = 4,
    layers: int = 2,
) -> Inputs:
    """Embeddings, causal transformer blocks (tanh gelu), norm, linear; Adam."""
    V, D = vocabulary, width
    parameters = [_normal(rng, V, D, fan_in=100), _normal(rng, length, D, fan_in=100)]
    for _ in range(layers):
        parameters += _norm(D)
        for _ in ("query", "key", "value", "out"):
            parameters += _linear(rng, D, D)
        parameters += [*_norm(D), *_linear(rng, D, 4 * D, D)]
    parameters += [*_norm(D), *_linear(rng, D, V)]
    x, t = rng.integers(0, V, (2, batch, length))
    return {"x": x, "t": t, "parameters": parameters, "heads": heads, "layers": layers}


def hvp(
    rng: np.random.Generator,
    sizes: tuple[int, ...] = (784, 256, 256, 10),
    batch: int = 128,
) -> Inputs:
    """Hessian of the loss of a tanh MLP times a vector; that is the gradient here."""
    inputs = mlp(rng, sizes, batch)
    return inputs | {"v": [_normal(rng, *p.shape) for p in inputs["parameters"]]}
