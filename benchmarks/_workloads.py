"""The registry: every workload with its inputs and goals, and the sides to compare."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import _inputs
import numpy as np

BY_HAND, OURS = "by hand", "DeZero"


@dataclass(frozen=True)
class SideInfo:
    """Who computes: the module with its ``WORKLOADS``, and what has to be installed."""

    name: str
    module: str
    package: str
    threads: int | None = None  # of torch; all others take what BLAS takes

    def missing(self) -> bool:
        return importlib.util.find_spec(self.package) is None

    def workloads(self) -> Mapping[str, Callable[[Any], Any]]:
        """Those that this side has, by name."""
        return importlib.import_module(self.module).WORKLOADS


SIDES = {
    side.name: side
    for side in [
        SideInfo(BY_HAND, "by_hand", "numpy"),
        SideInfo(OURS, "with_dezero", "dezero"),
        SideInfo("torch1", "with_torch", "torch", threads=1),
        SideInfo("torch2", "with_torch", "torch", threads=2),
        SideInfo("mygrad", "with_mygrad", "mygrad"),
        SideInfo("autograd", "with_autograd", "autograd"),
        SideInfo("jax", "with_jax", "jax"),
    ]
}
PEERS = [name for name in SIDES if name not in (BY_HAND, OURS)]


@dataclass(frozen=True)
class Goal:
    """DeZero shall take at most ``ratio`` times what the side ``than`` takes."""

    ratio: float
    than: str = BY_HAND
    pooled: bool | None = None  # only with (True) or without (False) kept memory


@dataclass(frozen=True)
class Workload:
    """One row of the table.

    Args:
        name: As on the command line.
        title: What is computed.
        goals: What to reach.
        inputs: Makes them, from a random generator and sizes.
        small: Sizes for a test.
        kind: ``"time"`` of a step, ``"memory"`` that it takes, or time of ``"import"``.
        computes: Whose entry in the ``WORKLOADS`` of a side this is, if not ``name``.
        cpu: Compare CPU time: the work is in Python, so nothing runs beside it.
        tolerance: Greatest difference of a gradient, relative to its norm.
    """

    name: str
    title: str
    goals: tuple[Goal, ...]
    inputs: Callable[..., _inputs.Inputs] | None = None
    small: Mapping[str, Any] = field(default_factory=dict)
    kind: str = "time"
    computes: str = ""
    cpu: bool = False
    tolerance: float = 1e-4

    def make_inputs(self, small: bool = False, check: bool = False) -> _inputs.Inputs:
        """The same at each call; to check, nothing random is left in the step."""
        assert self.inputs is not None
        sizes = self.small if small else {}
        inputs = self.inputs(np.random.default_rng(0), **sizes)
        return inputs | {"dropout": 0.0} if check and "dropout" in inputs else inputs

    @property
    def entry(self) -> str:
        return self.computes or self.name

    @property
    def unit(self) -> str:
        return "MB" if self.kind == "memory" else "ms"


def _ahead_of_torch(ratio: float) -> tuple[Goal, ...]:
    return Goal(ratio), Goal(1.0, "torch1"), Goal(1.0, "torch2")


_MLP = {"sizes": (6, 5, 4, 3), "batch": 7}
_CONV_BLOCK = {"batch": 2, "channels": 3, "size": 6}
_GPT = {"vocabulary": 7, "batch": 2, "length": 5, "width": 8, "heads": 2}

WORKLOADS = {
    w.name: w
    for w in [
        Workload(
            "tiny",
            "graph of 49 nodes, 8 elements",
            _ahead_of_torch(5.5),
            _inputs.tiny,
            {"repeats": 3},
            cpu=True,
        ),
        Workload(
            "deep",
            "chain of 10,000 nodes, 8 elements",
            _ahead_of_torch(5.5),
            _inputs.deep,
            {"repeats": 10},
            cpu=True,
        ),
        Workload(
            "wide",
            "5,000 branches, 8 elements",
            _ahead_of_torch(12),
            _inputs.wide,
            {"branches": 7},
            cpu=True,
        ),
        Workload(
            "mlp_sgd",
            "MLP 784-1000-1000-10, batch 128, SGD",
            (Goal(1.1),),
            _inputs.mlp,
            _MLP,
        ),
        Workload("mlp_adam", "the same, Adam", (Goal(1.1),), _inputs.mlp, _MLP),
        Workload(
            "norm_mlp",
            "the same with batch norm and dropout, SGD",
            (Goal(1.1),),
            _inputs.norm_mlp,
            _MLP,
        ),
        Workload(
            "conv_net",
            "conv 16, pool, conv 32, pool, linear; 64x1x28x28, SGD",
            (Goal(1.0), Goal(1.2, "torch2", pooled=True)),
            _inputs.conv_net,
            {"batch": 3, "size": 8, "channels": (2, 3)},
        ),
        Workload(
            "conv_block",
            "VGG block: conv 3x3, relu; 16x64x56x56",
            (Goal(0.9), Goal(1.2, "torch2", pooled=True)),
            _inputs.conv_block,
            _CONV_BLOCK,
            tolerance=5e-3,
        ),
        Workload(
            "resnet_block",
            "ResNet block: conv, batch norm, twice; 16x64x28x28",
            (Goal(1.1),),
            _inputs.resnet_block,
            _CONV_BLOCK,
            tolerance=5e-3,
        ),
        Workload(
            "lstm",
            "LSTM 256, 65 characters, batch 32, 32 steps, Adam",
            (Goal(1.1), Goal(1.5, "torch2", pooled=True)),
            _inputs.lstm,
            {"vocabulary": 5, "embedding": 4, "hidden": 6, "batch": 3, "length": 4},
        ),
        Workload(
            "gpt",
            "GPT: batch 8, 128 tokens, width 128, 4 heads, 2 layers, Adam",
            (Goal(1.1), Goal(1.2, "torch2", pooled=True)),
            _inputs.gpt,
            _GPT,
            tolerance=1e-3,
        ),
        Workload(
            "hvp",
            "Hessian-vector product, tanh MLP 784-256-256-10",
            (Goal(2.0),),
            _inputs.hvp,
            _MLP,
        ),
        *[
            Workload(
                f"memory_{entry}",
                f"peak memory of {entry}",
                (Goal(1.1, "torch1"), Goal(1.1, "torch2")),
                inputs,
                small,
                kind="memory",
                computes=entry,
            )
            for entry, inputs, small in [
                ("mlp_sgd", _inputs.mlp, _MLP),
                ("conv_block", _inputs.conv_block, _CONV_BLOCK),
                ("gpt", _inputs.gpt, _GPT),
            ]
        ],
        Workload(
            "import", "import; by hand that is numpy", (Goal(2.0),), kind="import"
        ),
    ]
}
