"""Normalization: by batch, layer, group, instance, root mean square, length."""

import numpy as np
import torch

import dezero as dz
import dezero.functions as F
from torch_cases.case import case, normal, positive

nn = torch.nn.functional
EPS = 1e-3  # large enough to show where it stands in the formula


def batch_norm(*shape, function="batch_norm", affine=True, decay=0.9):
    """In training, with the running statistics as further results."""
    C = shape[1]
    mean, var = normal(C), positive(C)

    def ours(x, gamma=None, beta=None):
        running = mean.copy(), var.copy()
        y = getattr(F, function)(x, gamma, beta, *running, decay, EPS)
        return [y, *map(dz.as_variable, running)]

    def theirs(x, gamma=None, beta=None):
        running = torch.tensor(mean), torch.tensor(var)
        y = nn.batch_norm(x, *running, gamma, beta, True, 1 - decay, EPS)
        return [y, *running]

    return case(
        function,
        "nn.functional.batch_norm(training=True)",
        normal(*shape),
        *([positive(C), normal(C)] if affine else []),
        as_ours=ours,
        as_theirs=theirs,
        note=f"decay={decay}",
    )


def batch_norm_in_test_mode(*shape, affine=True):
    """With running statistics, which stay as they are."""
    C = shape[1]
    mean, var = normal(C), positive(C)

    @dz.test_mode()
    def ours(x, gamma=None, beta=None):
        return F.batch_norm(x, gamma, beta, mean, var, eps=EPS)

    def theirs(x, gamma=None, beta=None):
        running = torch.tensor(mean), torch.tensor(var)
        return nn.batch_norm(x, *running, gamma, beta, False, eps=EPS)

    return case(
        "batch_norm",
        "nn.functional.batch_norm(training=False)",
        normal(*shape),
        *([positive(C), normal(C)] if affine else []),
        as_ours=ours,
        as_theirs=theirs,
        note="test mode",
    )


def fixed_batch_norm(*shape):
    """By formula: torch gives the statistics no gradient."""
    C = shape[1]
    each = (C, *[1] * (len(shape) - 2))

    def theirs(x, gamma, beta, mean, var):
        gamma, beta, mean, var = [a.reshape(each) for a in (gamma, beta, mean, var)]
        return gamma * (x - mean) / torch.sqrt(var + EPS) + beta

    return [
        case(
            "fixed_batch_norm",
            "gamma * (x - mean) / sqrt(var + eps) + beta",
            normal(*shape),
            *[positive(C), normal(C), normal(C), positive(C)],
            as_theirs=theirs,
            ours={"eps": EPS},
        ),
        case(
            "fixed_batch_norm",
            "nn.functional.batch_norm(training=False)",
            normal(*shape),
            positive(C),
            normal(C),
            ours={"mean": (mean := normal(C)), "var": (var := positive(C)), "eps": EPS},
            as_theirs=lambda x, gamma, beta: nn.batch_norm(
                x, torch.tensor(mean), torch.tensor(var), gamma, beta, False, eps=EPS
            ),
        ),
    ]


def layer_norm(*shape, affine=True):
    D = shape[-1]
    return case(
        "layer_norm",
        "nn.functional.layer_norm",
        normal(*shape),
        *([positive(D), normal(D)] if affine else []),
        as_ours=lambda x, gamma=None, beta=None: F.layer_norm(x, gamma, beta, EPS),
        as_theirs=lambda x, *p: nn.layer_norm(x, (D,), *p, eps=EPS),
    )


def rms_norm(*shape, affine=True):
    D = shape[-1]
    return case(
        "rms_norm",
        "nn.functional.rms_norm",
        normal(*shape),
        *([positive(D)] if affine else []),
        as_ours=lambda x, gamma=None: F.rms_norm(x, gamma, EPS),
        as_theirs=lambda x, gamma=None: nn.rms_norm(x, (D,), gamma, EPS),
    )


def groups(*shape, num_groups=2, affine=True):
    C = shape[1]
    return case(
        "group_norm",
        "nn.functional.group_norm",
        normal(*shape),
        *([positive(C), normal(C)] if affine else []),
        as_ours=lambda x, *p: F.group_norm(x, num_groups, *p, eps=EPS),
        as_theirs=lambda x, *p: nn.group_norm(x, num_groups, *p, eps=EPS),
        note=f"num_groups={num_groups}",
    )


def instances(*shape, affine=True):
    C = shape[1]
    return case(
        "instance_norm",
        "nn.functional.instance_norm",
        normal(*shape),
        *([positive(C), normal(C)] if affine else []),
        as_ours=lambda x, *p: F.instance_norm(x, *p, eps=EPS),
        as_theirs=lambda x, *p: nn.instance_norm(x, None, None, *p, eps=EPS),
    )


CASES = [
    batch_norm(5, 3),
    batch_norm(5, 3, affine=False),
    batch_norm(4, 3, 5),
    batch_norm(4, 3, 5, 2, decay=0.5),
    batch_norm(2, 3, 2, 2, 3),
    batch_norm(5, 3, function="batch_nrom"),
    batch_norm_in_test_mode(5, 3),
    batch_norm_in_test_mode(5, 3, affine=False),
    batch_norm_in_test_mode(4, 3, 5, 2),
    *fixed_batch_norm(5, 3),
    *fixed_batch_norm(4, 3, 5, 2),
    layer_norm(4, 5),
    layer_norm(2, 3, 7),
    layer_norm(5),
    layer_norm(4, 5, affine=False),
    rms_norm(4, 5),
    rms_norm(2, 3, 7),
    rms_norm(4, 5, affine=False),
    groups(3, 4),
    groups(3, 4, 5),
    groups(3, 6, 3, 2, num_groups=3),
    groups(3, 6, 3, 2, num_groups=1, affine=False),
    instances(2, 3, 5),
    instances(2, 3, 4, 3),
    instances(2, 3, 4, 3, affine=False),
    *[
        case(
            "normalize",
            "nn.functional.normalize",
            normal(*shape),
            ours={"axis": axis},
            theirs={"dim": axis},
        )
        for shape, axis in [((3, 4), 1), ((3, 4), 0), ((2, 3, 4), -1)]
    ],
    case(
        "normalize",
        "nn.functional.normalize",
        np.where(np.arange(3)[:, None] == 1, 0.01, 1) * normal(3, 4),
        ours={"eps": 0.5},
        theirs={"eps": 0.5},
    ),
]
