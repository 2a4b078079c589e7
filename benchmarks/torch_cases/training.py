"""What differs between training and use: noise, where it can be fixed; checkpoints."""

import numpy as np
import torch
from torch.utils.checkpoint import checkpoint

import dezero as dz
import dezero.functions as F
from torch_cases.case import case, normal

nn = torch.nn.functional


def seeded(function, *args, **options):
    """The function with the same random numbers each time."""
    np.random.seed(0)
    return getattr(F, function)(*args, **options)


def drawn(function, *args, **options):
    """What the seeded function makes of arguments without a gradient, for torch."""
    return torch.tensor(seeded(function, *args, **options).data)


@dz.test_mode()
def tested(function, x, ratio):
    return getattr(F, function)(x, ratio)


def ours_in_block(x, W):
    return F.tanh(F.matmul(x, W)) * x


def theirs_in_block(x, W):
    return torch.tanh(x @ W) * x


DROPOUT = [
    *[
        case(
            function,
            "mul by the mask of the same seed",
            normal(*shape),
            as_ours=lambda x, f=function, ratio=ratio: seeded(f, x, ratio),
            as_theirs=lambda x, f=function, ratio=ratio: (
                x * drawn(f, np.ones(x.shape), ratio)
            ),
            note=f"dropout_ratio={ratio}",
        )
        for function, shape in [
            ("dropout", (5, 6)),
            ("dropout2d", (3, 4, 2, 2)),
            ("dropout2d", (5, 6)),
        ]
        for ratio in (0.3, 0.5)
    ],
    *[
        c
        for name in ("dropout", "dropout2d")
        for c in [
            case(
                name,
                f"nn.functional.{name}(training=False)",
                normal(3, 4, 2, 2),
                as_ours=lambda x, name=name: tested(name, x, 0.5),
                as_theirs=lambda x, name=name: getattr(nn, name)(x, 0.5, False),
                note="test mode",
            ),
            case(
                name,
                f"nn.functional.{name}",
                normal(3, 4, 2, 2),
                ours={"dropout_ratio": 1},
                theirs={"p": 1.0},
            ),
        ]
    ],
]


def shared_seed(function, peer, inputs, as_theirs, **options):
    """A random function: torch puts together what it says, of the same noise."""
    return case(
        function,
        peer,
        *inputs,
        as_ours=lambda *xs, **options: seeded(function, *xs, **options),
        as_theirs=as_theirs,
        ours=options,
    )


def gumbel(temperature, hard=False, axis=1):
    """The logarithm of what comes of equal scores is the noise, but for a constant."""

    def theirs(x):
        g = drawn("gumbel_softmax", np.zeros(x.shape), axis=axis).log()
        y = nn.softmax((x + g) / temperature, axis)
        if not hard:
            return y
        best = torch.zeros_like(y).scatter(axis, y.argmax(axis, keepdim=True), 1.0)
        return best - y.detach() + y

    return theirs


NOISE = [
    shared_seed(
        "gaussian",
        "mean + exp(log_var / 2) * e",
        [normal(4, 5), normal(4, 5)],
        lambda mean, log_var: (
            mean
            + torch.exp(log_var / 2)
            * drawn("gaussian", np.zeros((4, 5)), np.zeros((4, 5)))
        ),
    ),
    shared_seed(
        "gaussian_noise",
        "x + std * e",
        [normal(4, 5)],
        lambda x: x + drawn("gaussian_noise", np.zeros(x.shape), 0.3),
        std=0.3,
    ),
    *[
        shared_seed(
            "gumbel_softmax",
            "nn.functional.softmax((x + g) / temperature)"
            + (", straight through" if options.get("hard") else ""),
            [normal(4, 5)],
            gumbel(**options),
            **options,
        )
        for options in [
            {"temperature": 1.0},
            {"temperature": 0.4, "axis": 0},
            {"temperature": 0.7, "hard": True},
        ]
    ],
]

CHECKPOINT = [
    case(
        "checkpoint",
        "utils.checkpoint.checkpoint",
        normal(5, 4),
        normal(4, 4),
        as_ours=lambda x, W: F.checkpoint(ours_in_block, x, W),
        as_theirs=lambda x, W: checkpoint(theirs_in_block, x, W, use_reentrant=False),
        note="f(x, W) = tanh(x @ W) * x",
    )
]

CASES = DROPOUT + NOISE + CHECKPOINT
