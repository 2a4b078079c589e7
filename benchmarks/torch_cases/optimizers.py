"""Optimizers, hooks and averages: the same small network, trained by both libraries.

Each side computes its own gradients from its own weights, on the same batches.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import torch
from _trajectories import LIMIT, STEPS, Trajectory
from torch.nn.utils import clip_grad_norm_, clip_grad_value_
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

import dezero.functions as F
from dezero import optimizers
from dezero.core import Parameter
from torch_cases.case import normal

START = [normal(5, 3), normal(3)]  # W and b
BATCHES = [(normal(8, 5), normal(8, 3)) for _ in range(STEPS)]

OurHooks = Callable[[list[Parameter]], list[Any]]
TheirHook = Callable[[list[torch.Tensor]], object]


def our_loss(W: Parameter, b: Parameter, x: np.ndarray, t: np.ndarray) -> Any:
    return F.mean((F.tanh(F.matmul(x, W) + b) - t) ** 2)


def their_loss(W: torch.Tensor, b: torch.Tensor, x: Any, t: Any) -> torch.Tensor:
    x, t = torch.tensor(x), torch.tensor(t)
    return torch.mean((torch.tanh(x @ W + b) - t) ** 2)


# =============================================================================
# One training
# =============================================================================


def trained(
    name: str,
    peer: str,
    ours: Mapping[str, Any] | None = None,
    theirs: Mapping[str, Any] | None = None,
    *,
    of: str = "",
    note: str = "",
    our_hooks: OurHooks = lambda params: [],
    their_hook: TheirHook = lambda params: None,
    groups: Mapping[str, Any] | None = None,
    size: float = 1.0,
    limit: float = LIMIT,
    reason: str = "",
) -> Trajectory:
    """The weights at first and after each of the updates.

    Args:
        name: What is compared, in ``dezero.optimizers.__all__``.
        peer: The optimizer below ``torch.optim``.
        ours: Keyword arguments of our optimizer.
        theirs: Keyword arguments of the other one.
        of: Our optimizer, where ``name`` is a hook.
        note: What the hooks are, to be printed.
        our_hooks: Makes our hooks from the parameters.
        their_hook: Called with their parameters before each step.
        groups: Numbers of a group for b alone.
        size: Multiplies the loss, and with it the gradients.
        limit: Of the relative difference.
        reason: Why it is higher than that of the others.
    """
    options, peer_options = dict(ours or {}), dict(theirs or {})

    def our_side() -> Iterator[list[np.ndarray]]:
        W, b = params = [Parameter(x.copy()) for x in START]
        split = [{"params": [W]}, {"params": [b], **(groups or {})}]
        optimizer = getattr(optimizers, of or name)(**options)
        optimizer.setup(split if groups else params)
        for hook in our_hooks(params):
            optimizer.add_hook(hook)
        yield [p.data for p in params]
        for x, t in BATCHES:
            optimizer.cleargrads()
            (our_loss(W, b, x, t) * size).backward()
            optimizer.update()
            yield [p.data for p in params]

    def their_side() -> Iterator[list[np.ndarray]]:
        W, b = params = [torch.tensor(x, requires_grad=True) for x in START]
        split = [{"params": [W]}, {"params": [b], **(groups or {})}]
        optimizer = getattr(torch.optim, peer)(
            split if groups else params, **peer_options
        )
        yield [p.numpy(force=True) for p in params]
        for x, t in BATCHES:
            optimizer.zero_grad()
            (their_loss(W, b, x, t) * size).backward()
            their_hook(params)
            optimizer.step()
            yield [p.numpy(force=True) for p in params]

    texts = [note, *[f"{k}={v}" for k, v in options.items()]]
    texts += [f"of b: {k}={v}" for k, v in (groups or {}).items()]
    return Trajectory(
        name,
        ", ".join([text for text in texts if text]),
        f"optim.{peer}",
        our_side,
        their_side,
        limit,
        reason,
    )


RULES = [
    trained("SGD", "SGD", {"lr": 0.1}, {"lr": 0.1}),
    trained("SGD", "SGD", {"lr": 0.1}, {"lr": 0.1}, groups={"lr": 0.01}),
    *[
        trained("MomentumSGD", "SGD", options, options)
        for options in [
            {"lr": 0.02, "momentum": 0.9},
            {"lr": 0.02, "momentum": 0.8, "nesterov": True},
        ]
    ],
    *[
        trained("AdaGrad", "Adagrad", options, options)
        for options in [{"lr": 0.1, "eps": 1e-8}, {"lr": 0.5, "eps": 0.1}]
    ],
    *[
        trained("AdaDelta", "Adadelta", options, options)
        for options in [
            {"rho": 0.95, "eps": 1e-6, "lr": 1.0},
            {"rho": 0.5, "eps": 1e-3, "lr": 0.7},
        ]
    ],
    *[
        trained(
            "RMSprop",
            "RMSprop",
            {"lr": 0.01, "rho": rho, "eps": eps, **options},
            {"lr": 0.01, "alpha": rho, "eps": eps, **options},
        )
        for rho, eps, options in [
            (0.99, 1e-8, {}),
            (0.9, 1e-8, {"momentum": 0.5}),
            (0.9, 1e-3, {"centered": True}),
            (0.9, 1e-2, {"momentum": 0.9, "centered": True}),
        ]
    ],
    *[
        trained(
            name,
            name,
            {"lr": lr, "beta1": beta1, "beta2": beta2, "eps": eps, **options},
            {"lr": lr, "betas": (beta1, beta2), "eps": eps, **options},
        )
        for name, lr, beta1, beta2, eps, options in [
            ("Adam", 0.02, 0.9, 0.999, 1e-8, {}),
            ("Adam", 0.02, 0.5, 0.9, 0.1, {}),
            ("Adam", 0.05, 0.9, 0.9, 1e-8, {"amsgrad": True}),
            ("AdamW", 0.02, 0.9, 0.999, 1e-8, {"weight_decay": 0.1}),
            ("AdamW", 0.02, 0.9, 0.9, 1e-8, {"weight_decay": 0.5, "amsgrad": True}),
        ]
    ],
    trained("AdamW", "AdamW", {"lr": 0.01}, {"lr": 0.01}, groups={"weight_decay": 0.5}),
]


# =============================================================================
# Hooks
# =============================================================================


def frozen(params: list[torch.Tensor]) -> None:
    """No gradient, as of a parameter that ``requires_grad_(False)`` was said of."""
    params[0].grad = None


HOOKS = [
    *[
        trained(
            "WeightDecay",
            rule,
            {"lr": 0.02},
            {"lr": 0.02, "weight_decay": 0.3},
            of=rule,
            note=f"0.3, of {rule}",
            our_hooks=lambda params: [optimizers.WeightDecay(0.3)],
        )
        for rule in ("SGD", "Adam")
    ],
    *[
        trained(
            "ClipGrad",
            rule,
            {"lr": lr},
            {"lr": lr},
            of=rule,
            note=f"{most:g}, of {rule}, gradients times {size:g}",
            our_hooks=lambda params, most=most: [optimizers.ClipGrad(most)],
            their_hook=lambda params, most=most: clip_grad_norm_(params, most),
            size=size,
            limit=limit,
            reason=reason,
        )
        for rule, lr, most, size, limit, reason in [
            ("SGD", 0.1, 0.4, 1e9, LIMIT, ""),
            ("Adam", 0.02, 4e8, 1e9, LIMIT, ""),  # above some of the norms
            ("SGD", 0.002, 50.0, 200.0, 1e-6, "torch adds 1e-6 to the norm"),
        ]
    ],
    trained(
        "ClipGradValue",
        "SGD",
        {"lr": 0.1},
        {"lr": 0.1},
        of="SGD",
        note="0.05, of SGD",
        our_hooks=lambda params: [optimizers.ClipGradValue(0.05)],
        their_hook=lambda params: clip_grad_value_(params, 0.05),
    ),
    trained(
        "FreezeParam",
        "Adam",
        {"lr": 0.02},
        {"lr": 0.02},
        of="Adam",
        note="W, of Adam",
        our_hooks=lambda params: [optimizers.FreezeParam(params[0])],
        their_hook=frozen,
    ),
]


# =============================================================================
# Averages
# =============================================================================


def averaged(decay: float) -> Trajectory:
    """The averages of weights that jump about."""

    def weights() -> Iterator[list[np.ndarray]]:
        for x, t in [*BATCHES, BATCHES[0]]:
            yield [x, t]

    def our_side() -> Iterator[list[np.ndarray]]:
        params = [Parameter(x.copy()) for x in BATCHES[0]]
        average = optimizers.ExponentialMovingAverage(params, decay)
        for arrays in weights():
            for p, x in zip(params, arrays, strict=True):
                p.data = x.copy()
            average.update()
            with average.applied():
                yield [p.data for p in params]

    def their_side() -> Iterator[list[np.ndarray]]:
        model = torch.nn.ParameterList([torch.tensor(x) for x in BATCHES[0]])
        average = AveragedModel(model, multi_avg_fn=get_ema_multi_avg_fn(decay))
        for arrays in weights():
            for p, x in zip(model, arrays, strict=True):
                p.data = torch.tensor(x)
            average.update_parameters(model)
            yield [p.numpy(force=True) for p in average.module]

    return Trajectory(
        "ExponentialMovingAverage",
        f"decay={decay}",
        "optim.swa_utils.AveragedModel",
        our_side,
        their_side,
    )


AVERAGES = [averaged(decay) for decay in (0.9, 0.999)]

CASES = RULES + HOOKS + AVERAGES
