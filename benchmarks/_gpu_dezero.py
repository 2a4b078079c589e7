"""The workloads with DeZero on a card, or on the CPU for a test of this comparison."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import with_dezero
from _inputs import Inputs

import dezero as dz
import dezero.functions as F
from dezero import cuda, cudnn


class Side(with_dezero.Side):
    """A step of training, and the gradients that it left, on the host."""

    def gradients(self) -> list[np.ndarray]:
        return [cuda.as_numpy(g) for g in super().gradients()]


def _trained(inputs: Inputs, model: dz.Model, optimizer: Any, axis: int = 1) -> Side:
    here = inputs["x"]
    on_card = inputs["device"] == "cuda"
    if on_card:  # once, not at each step
        inputs = inputs | {key: cuda.as_cupy(inputs[key]) for key in ("x", "t")}
    side = with_dezero._trained(inputs, model, optimizer, axis, first=here)
    if on_card:
        model.to_gpu()
    return Side(side.step, side.parameters)


def mlp_sgd(inputs: Inputs) -> Side:
    model = dz.models.MLP(with_dezero._sizes(inputs), activation=F.relu)
    return _trained(inputs, model, dz.optimizers.SGD(lr=0.01))


def mlp_adam(inputs: Inputs) -> Side:
    model = dz.models.MLP(with_dezero._sizes(inputs), activation=F.relu)
    return _trained(inputs, model, dz.optimizers.Adam())


def conv_net(inputs: Inputs) -> Side:
    C1, C2 = (inputs["parameters"][i].size for i in (1, 3))
    model = with_dezero._ConvNet(C1, C2)
    return _trained(inputs, model, dz.optimizers.SGD(lr=0.01))


def resnet18(inputs: Inputs) -> Side:
    model = dz.models.ResNet18(num_classes=inputs["parameters"][-1].size)
    return _trained(inputs, model, dz.optimizers.SGD(lr=0.01))


def lstm(inputs: Inputs) -> Side:
    E, _, Wh, *_ = inputs["parameters"]
    model = with_dezero._CharModel(*E.shape, len(Wh))
    side = _trained(inputs, model, dz.optimizers.Adam(), axis=-1)
    model.state = ()
    return side


def gpt(inputs: Inputs) -> Side:
    token, position = inputs["parameters"][:2]
    sizes = len(token), len(position), token.shape[1]
    model = with_dezero._Gpt(*sizes, inputs["heads"], inputs["layers"])
    return _trained(inputs, model, dz.optimizers.Adam(), axis=-1)


WORKLOADS = {f.__name__: f for f in (mlp_sgd, mlp_adam, conv_net, resnet18, lstm, gpt)}


def synchronize() -> None:
    """Wait until the card has done all it was told. On the CPU that is always so."""
    cuda.synchronize()


def peak_memory(work: Callable[[], object]) -> int:
    """Bytes of the card in arrays at the highest, above what is in use now."""
    cupy = cuda.cupy
    pool = cupy.get_default_memory_pool()  # knows what is in use, but not the highest
    before = peak = pool.used_bytes()

    def allocate(size: int) -> Any:
        nonlocal peak
        memory = pool.malloc(size)
        peak = max(peak, pool.used_bytes())
        return memory

    with cupy.cuda.using_allocator(allocate):
        work()
    return peak - before


def versions() -> dict[str, Any]:
    """What computes on the card."""
    cupy = cuda.cupy
    runtime = cupy.cuda.runtime
    return {
        "cupy": cupy.__version__,
        "CUDA of cupy": cupy.cuda.get_local_runtime_version(),
        "CUDA of the driver": runtime.driverGetVersion(),
        "cuDNN of cupy": cudnn.version() or "none",
    }
