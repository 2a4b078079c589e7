"""What is compared on a card: workloads with their sizes and goals, and two sides."""

from __future__ import annotations

import functools

import _inputs
import numpy as np
from _workloads import OURS, Goal, SideInfo, Workload
from _workloads import WORKLOADS as ON_CPU

TORCH = "torch"  # the side that the other one is compared with

SIDES = {
    side.name: side
    for side in [
        SideInfo(TORCH, "_gpu_torch", "torch"),
        SideInfo(OURS, "_gpu_dezero", "dezero"),
    ]
}

_BLOCKS, _CHANNELS = 2, (64, 128, 256, 512)  # of ResNet-18


def resnet18(
    rng: np.random.Generator, batch: int = 64, size: int = 64, classes: int = 10
) -> _inputs.Inputs:
    """ResNet with 18 layers on small images; softmax cross entropy; SGD."""
    parameters: list[np.ndarray] = []

    def conv(outs: int, ins: int, k: int) -> None:
        # With batch norm after each, as every convolution has here.
        kernel = _inputs._normal(rng, outs, ins, k, k, fan_in=ins * k * k)
        parameters.extend([kernel, *_inputs._norm(outs)])

    conv(64, 3, 7)
    ins = 64
    for outs in _CHANNELS:
        for _ in range(_BLOCKS):
            conv(outs, ins, 3)
            conv(outs, outs, 3)
            if ins != outs:
                conv(outs, ins, 1)  # fits the shortcut
            ins = outs
    parameters += _inputs._linear(rng, ins, classes)
    x = _inputs._normal(rng, batch, 3, size, size)
    return {"x": x, "t": rng.integers(0, classes, batch), "parameters": parameters}


_MATMUL, _CONVOLUTION = (Goal(1.3, TORCH),), (Goal(3.0, TORCH),)
_BY_CUDNN = (Goal(1.3, TORCH),)

# DeZero computes these with cuDNN, as torch always does, and all others without.
WITH_CUDNN = ("conv_net_cudnn", "resnet18_cudnn")

WORKLOADS = {
    w.name: w
    for w in [
        Workload(
            "mlp_sgd",
            "MLP 784-1000-1000-10, batch 128, SGD",
            _MATMUL,
            _inputs.mlp,
            ON_CPU["mlp_sgd"].small,
        ),
        Workload(
            "mlp_adam",
            "the same, Adam",
            _MATMUL,
            _inputs.mlp,
            ON_CPU["mlp_adam"].small,
            tolerance=1e-3,
        ),
        Workload(
            "mlp_large",
            "MLP 1024-4096-4096-10, batch 2048, Adam: products of matrices",
            _MATMUL,
            functools.partial(_inputs.mlp, sizes=(1024, 4096, 4096, 10), batch=2048),
            ON_CPU["mlp_adam"].small,
            computes="mlp_adam",
            tolerance=1e-3,
        ),
        Workload(
            "conv_net",
            "as LeNet: conv 32, pool, conv 64, pool, linear; 256x1x28x28, SGD",
            _CONVOLUTION,
            functools.partial(_inputs.conv_net, batch=256, channels=(32, 64)),
            ON_CPU["conv_net"].small,
            tolerance=1e-3,
        ),
        Workload(
            "conv_net_cudnn",
            "the same, convolutions of DeZero by cuDNN",
            _BY_CUDNN,
            functools.partial(_inputs.conv_net, batch=256, channels=(32, 64)),
            ON_CPU["conv_net"].small,
            computes="conv_net",
            tolerance=1e-3,
        ),
        Workload(
            "resnet18",
            "ResNet-18; 64x3x64x64, SGD",
            _CONVOLUTION,
            resnet18,
            {"batch": 3, "size": 65},
            tolerance=2e-2,
        ),
        Workload(
            "resnet18_cudnn",
            "the same, convolutions of DeZero by cuDNN",
            _BY_CUDNN,
            resnet18,
            {"batch": 3, "size": 65},
            computes="resnet18",
            tolerance=2e-2,
        ),
        Workload(
            "lstm",
            "LSTM 512, 65 characters, batch 64, 64 steps, Adam",
            (),
            functools.partial(_inputs.lstm, hidden=512, batch=64, length=64),
            ON_CPU["lstm"].small,
            tolerance=1e-3,
        ),
        Workload(
            "gpt",
            "GPT: batch 16, 256 tokens, width 512, 8 heads, 4 layers, Adam",
            _MATMUL,
            functools.partial(
                _inputs.gpt, batch=16, length=256, width=512, heads=8, layers=4
            ),
            ON_CPU["gpt"].small | {"layers": 2},
            tolerance=1e-3,
        ),
    ]
}
