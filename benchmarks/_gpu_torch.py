"""The workloads with PyTorch, eager, on a card, or on the CPU for a test of this."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
import with_torch
from _inputs import Inputs
from torch import nn

# Products and convolutions in full float32, as CuPy has them: TF32 has 10 bits. torch
# leaves it out of products by itself, but not out of convolutions.
torch.backends.cuda.matmul.allow_tf32 = False
torch.backends.cudnn.allow_tf32 = False


class Side(with_torch.Side):
    """A step of training, and the gradients that it left, on the host."""

    def gradients(self) -> list[np.ndarray]:
        gs = [p.grad.numpy(force=True) for p in self.parameters]
        return [g.T if i in self.turned else g for i, g in enumerate(gs)]


def _trained(
    inputs: Inputs, model: nn.Module, optimizer: Any, lr: float, parameters: Any = None
) -> Side:
    device = inputs["device"]
    model.to(device)  # keeps the parameters, and moves what they hold
    if parameters is None:
        parameters = list(model.parameters())
    turned = with_torch._turned(model, parameters)
    with_torch._start(parameters, inputs["parameters"], turned)
    x = torch.from_numpy(inputs["x"]).to(device)
    t = torch.from_numpy(inputs["t"]).to(device).ravel()
    optimizer = optimizer(parameters, lr=lr)

    def step() -> Any:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x).reshape(len(t), -1), t)
        loss.backward()
        optimizer.step()
        return loss.detach()

    return Side(step, parameters, turned)


def mlp_sgd(inputs: Inputs) -> Side:
    model = with_torch._mlp(inputs, nn.ReLU)
    return _trained(inputs, model, torch.optim.SGD, 0.01)


def mlp_adam(inputs: Inputs) -> Side:
    model = with_torch._mlp(inputs, nn.ReLU)
    return _trained(inputs, model, torch.optim.Adam, 0.001)


def conv_net(inputs: Inputs) -> Side:
    W1, _, W2, _, W3, _ = inputs["parameters"]
    layers: list[Any] = []
    for W in (W1, W2):
        conv = nn.Conv2d(W.shape[1], len(W), 3, padding=1)
        layers += [conv, nn.ReLU(), nn.MaxPool2d(2)]
    model = nn.Sequential(*layers, nn.Flatten(), nn.Linear(*W3.shape))
    return _trained(inputs, model, torch.optim.SGD, 0.01)


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


def lstm(inputs: Inputs) -> Side:
    E, _, Wh, *_ = inputs["parameters"]
    model = with_torch._CharModel(*E.shape, len(Wh))
    second = model.lstm.bias_hh_l0  # one bias is enough
    nn.init.zeros_(second)
    second.requires_grad = False
    parameters = [p for p in model.parameters() if p.requires_grad]
    return _trained(inputs, model, torch.optim.Adam, 0.001, parameters)


def gpt(inputs: Inputs) -> Side:
    token, position = inputs["parameters"][:2]
    sizes = len(token), len(position), token.shape[1]
    model = with_torch._Gpt(*sizes, inputs["heads"], inputs["layers"])
    return _trained(inputs, model, torch.optim.Adam, 0.001)


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
