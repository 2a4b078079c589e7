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


def kept(x, ratio):
    """What dropout multiplies ``x`` by."""
    return torch.tensor(seeded("dropout", np.ones(x.shape), ratio).data)


@dz.test_mode()
def tested(x, ratio):
    return F.dropout(x, ratio)


def ours_in_block(x, W):
    return F.tanh(F.matmul(x, W)) * x


def theirs_in_block(x, W):
    return torch.tanh(x @ W) * x


DROPOUT = [
    *[
        case(
            "dropout",
            "mul by the mask of the same seed",
            normal(5, 6),
            as_ours=lambda x, ratio=ratio: seeded("dropout", x, ratio),
            as_theirs=lambda x, ratio=ratio: x * kept(x, ratio),
            note=f"dropout_ratio={ratio}",
        )
        for ratio in (0.3, 0.5)
    ],
    case(
        "dropout",
        "nn.functional.dropout(training=False)",
        normal(5, 6),
        as_ours=lambda x: tested(x, 0.5),
        as_theirs=lambda x: nn.dropout(x, 0.5, training=False),
        note="test mode",
    ),
    case(
        "dropout",
        "nn.functional.dropout",
        normal(5, 6),
        ours={"dropout_ratio": 1},
        theirs={"p": 1.0},
    ),
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

CASES = DROPOUT + CHECKPOINT
