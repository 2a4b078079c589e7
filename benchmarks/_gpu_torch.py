"""The workloads with PyTorch, eager, on a card, or on the CPU for a test of this."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from _inputs import Inputs
from torch import nn
from with_torch import Side, _trained, conv_net, gpt, lstm, mlp_adam, mlp_sgd

# Products and convolutions in full float32, as CuPy has them: TF32 has 10 bits. torch
# leaves it out of products by itself, but not out of convolutions.
torch.backends.cuda.matmul.allow_tf32 = False
torch.backends.cudnn.allow_tf32 = False


class _Conv(nn.Sequential):
    """Convolution, and batch norm with the eps of DeZero."""

    def __init__(self, ins: int, outs: int, size: int, stride: int = 1, pad: int = 0):
        conv = nn.Conv2d(ins, outs, size, stride, pad, bias=False)
        super().__init__(conv, nn.BatchNorm2d(outs, eps=2e-5))


class _Block(nn.Module):
    def __init__(self, ins: int, outs: int, stride: int):
        super().__init__()
        self.first = _Conv(ins, outs, 3, stride, 1)
        self.second = _Conv(outs, outs, 3, 1, 1)
        self.shortcut = _Conv(ins, outs, 1, stride) if stride > 1 else nn.Identity()

    def forward(self, x):
        return F.relu(self.second(F.relu(self.first(x))) + self.shortcut(x))


def resnet18(inputs: Inputs) -> Side:
    layers: list[Any] = [_Conv(3, 64, 7, 2, 3), nn.ReLU()]
    layers.append(nn.MaxPool2d(3, 2, ceil_mode=True))
    ins = 64
    for outs in (64, 128, 256, 512):
        layers += [_Block(ins, outs, 1 if ins == outs else 2), _Block(outs, outs, 1)]
        ins = outs
    layers += [nn.AdaptiveAvgPool2d(1), nn.Flatten()]
    model = nn.Sequential(*layers, nn.Linear(*inputs["parameters"][-2].shape))
    return _trained(inputs, model, torch.optim.SGD, 0.01)


WORKLOADS = {f.__name__: f for f in (mlp_sgd, mlp_adam, conv_net, resnet18, lstm, gpt)}


def synchronize() -> None:
    """Wait until the card has done all it was told. On the CPU that is always so."""
    if torch.cuda.is_initialized():
        torch.cuda.synchronize()


def peak_memory(work: Callable[[], object]) -> int:
    """Bytes of the card in tensors at the highest, above what is in use now."""
    before = torch.cuda.memory_allocated()
    torch.cuda.reset_peak_memory_stats()
    work()
    return torch.cuda.max_memory_allocated() - before


def versions() -> dict[str, Any]:
    """What computes on the card."""
    return {
        "CUDA of torch": torch.version.cuda,
        "cuDNN of torch": torch.backends.cudnn.version(),
    }


def activity(work: Callable[[], object]) -> dict[str, int] | None:
    """How many kernels the card ran, and how often it copied from and to the host.

    The driver tells torch of all that this process does there, not only of what torch
    does. None if it tells nothing: it can be forbidden.
    """
    # Alone, that of the card is an error where the driver forbids it.
    kinds = [torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]
    with torch.profiler.profile(activities=kinds) as profile:
        work()
        torch.cuda.synchronize()
    cuda = torch.autograd.DeviceType.CUDA
    return counted([e.name for e in profile.events() if e.device_type == cuda])


def counted(names: list[str]) -> dict[str, int] | None:
    """What :func:`activity` returns, from the names of what the card did."""
    copies = {
        key: sum(name.startswith(f"Memcpy {key}") for name in names)
        for key in ("HtoD", "DtoH")
    }
    kernels = sum(not name.startswith(("Memcpy", "Memset")) for name in names)
    return {"kernels": kernels, **copies} if kernels else None
