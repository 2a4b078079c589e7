"""Activation functions."""

import numpy as np
import torch

from torch_cases.case import case, normal, uniform


def wide(*shape):
    return uniform(-8, 8, *shape)


def plain(function, peer=None, ours=None, theirs=None, order=2):
    """On two shapes, of usual and of larger numbers."""
    return [
        case(
            function,
            f"nn.functional.{peer or function}",
            x,
            ours=ours,
            theirs=theirs,
            order=order,
        )
        for x in (normal(3, 4), wide(2, 3, 5))
    ]


def at_kinks(function, peer=None, order=2, **theirs):
    """At small whole numbers, where the pieces of some functions meet.

    Of order 1 where a slope jumps or bends there: then it has no derivative.
    """
    return case(
        function,
        f"nn.functional.{peer or function}",
        np.arange(-7.0, 8),
        theirs=theirs,
        note="whole numbers",
        order=order,
    )


def hard_sigmoid(x):
    """The values by its name; the slope there is 1/6 in single precision."""
    return [
        case("hard_sigmoid", "nn.functional.hardsigmoid", x, order=0),
        case(
            "hard_sigmoid",
            "nn.functional.relu6(x + 3) / 6",
            x,
            as_theirs=lambda x: torch.nn.functional.relu6(x + 3) / 6,
        ),
    ]


def over_axis(function, peer, shapes_and_axes=None):
    pairs = shapes_and_axes or [
        ((3, 4), 1),
        ((3, 4), 0),
        ((2, 3, 4), -1),
        ((2, 3, 4), 1),
    ]
    return [
        case(
            function,
            f"nn.functional.{peer}",
            3 * normal(*shape),
            ours={"axis": axis},
            theirs={"dim": axis},
        )
        for shape, axis in pairs
    ]


CASES = [
    at_kinks("relu"),
    at_kinks("leaky_relu", negative_slope=0.2),
    at_kinks("elu", order=1),
    at_kinks("selu", order=1),
    at_kinks("softsign", order=1),
    at_kinks("hard_tanh", "hardtanh"),
    at_kinks("relu6"),
    *[c for f in ("sigmoid", "sigmoid_simple") for c in plain(f, "sigmoid")],
    *plain("relu"),
    *plain("leaky_relu", ours={"slope": 0.2}, theirs={"negative_slope": 0.2}),
    *plain("leaky_relu", ours={"slope": 0.01}, theirs={"negative_slope": 0.01}),
    *plain("elu"),
    *plain("elu", ours={"alpha": 0.5}, theirs={"alpha": 0.5}),
    *plain("selu"),
    *plain("gelu"),
    *plain("gelu", ours={"approximate": True}, theirs={"approximate": "tanh"}),
    *plain("silu"),
    *plain("mish"),
    *plain("softplus", theirs={"threshold": 100}),
    *plain("softsign"),
    *[
        c
        for x in (np.arange(-7.0, 8), normal(3, 4), wide(2, 3, 5))
        for c in hard_sigmoid(x)
    ],
    *plain("hard_tanh", "hardtanh"),
    *plain("relu6"),
    *[
        case("prelu", "nn.functional.prelu", normal(*shape), np.array(slope))
        for shape, slope in [((2, 3, 4), [0.1, -0.2, 0.3]), ((2, 3), [0.25])]
    ],
    *over_axis("glu", "glu", [((3, 4), 1), ((2, 3), 0), ((2, 3, 4), -1)]),
    *over_axis("softmax", "softmax"),
    *over_axis("softmax_simple", "softmax"),
    *over_axis("log_softmax", "log_softmax"),
]
