"""Sums, means, extremes, products: over axes."""

import torch

import dezero.functions as F
from torch_cases.case import booleans, case, normal, positive, with_ties

AXES = [None, 1, -1, (0, 2), (2, 0, 1)]


def over_axes(function, peer=None, domain=normal, keepdims=(False, True), order=2):
    """A reduction over all, one and several axes."""
    cases = []
    for axis in AXES:
        for keep in keepdims:
            if axis is None and keep:
                continue  # torch needs the axes named
            options = {} if axis is None else {"axis": axis, "keepdims": keep}
            theirs = {} if axis is None else {"dim": axis, "keepdim": keep}
            cases.append(
                case(
                    function,
                    peer or function,
                    domain(2, 3, 4),
                    ours=options,
                    theirs=theirs,
                    order=order,
                )
            )
    return [*cases, case(function, peer or function, domain(), order=order)]


def spread(function):
    """Variance or standard deviation, with and without ddof."""
    return [
        case(
            function,
            function,
            normal(2, 3, 4),
            ours={"axis": axis, "ddof": ddof, "keepdims": keep},
            theirs={"dim": axis, "correction": ddof, "keepdim": keep},
        )
        for axis in AXES
        for ddof, keep in [(0, False), (1, True)]
    ]


def one_axis(function, peer, name="axis", shapes=((2, 3, 4),), order=2, domain=normal):
    """Along one axis, each in turn."""
    return [
        case(
            function,
            peer,
            domain(*shape),
            ours={name: axis},
            theirs={"dim": axis},
            order=order,
        )
        for shape in shapes
        for axis in (*range(len(shape)), -1)
    ]


def flat(function, peer, domain=normal):
    return case(
        function,
        f"{peer} of flatten(x)",
        domain(2, 3),
        as_theirs=lambda x: getattr(torch, peer)(x.flatten(), 0),
    )


def with_zeros(*shape):
    """Integers as floats; a zero here and there, somewhere two in a line."""
    return with_ties(*shape)


def averages():
    def whole(x, w):
        return (x * w).sum() / w.sum()

    def along(x, w):
        return (x * w[:, None]).sum(1) / w.sum()

    return [
        case(
            "average",
            "sum(w * x) / sum(w)",
            normal(3, 4),
            positive(3, 4),
            as_ours=lambda x, w: F.average(x, weights=w),
            as_theirs=whole,
            note="weights as array",
        ),
        case(
            "average",
            "sum(w * x) / sum(w)",
            normal(2, 3, 4),
            positive(3),
            as_ours=lambda x, w: F.average(x, axis=1, weights=w),
            as_theirs=along,
            note="weights as array, axis=1",
        ),
    ]


CASES = [
    *over_axes("sum"),
    *over_axes("mean"),
    *over_axes("average", "mean"),
    *averages(),
    *spread("var"),
    *spread("std"),
    *over_axes("max", "amax"),
    *over_axes("max", "amax", with_ties),
    *over_axes("min", "amin"),
    *over_axes("min", "amin", with_ties),
    *one_axis("argmax", "argmax", order=0),
    *one_axis("argmin", "argmin", order=0),
    case("argmax", "argmax", normal(3, 4), order=0),
    case("argmin", "argmin", normal(3, 4), order=0),
    case(
        "argmax",
        "argmax",
        normal(3, 4),
        ours={"axis": 1, "keepdims": True},
        theirs={"dim": 1, "keepdim": True},
        order=0,
    ),
    case(
        "argmin",
        "argmin",
        normal(3, 4),
        ours={"axis": 0, "keepdims": True},
        theirs={"dim": 0, "keepdim": True},
        order=0,
    ),
    *over_axes("all", domain=booleans, order=0),
    *over_axes("any", domain=booleans, order=0),
    *[
        case(
            "logsumexp",
            "logsumexp",
            normal(2, 3, 4),
            ours={"axis": axis, "keepdims": keep},
            theirs={"dim": axis, "keepdim": keep},
        )
        for axis in AXES[1:]
        for keep in (False, True)
    ],
    case(
        "logsumexp",
        "logsumexp",
        1000 + normal(3, 4),
        note="around 1000",
        theirs={"dim": (0, 1)},
    ),
    case("prod", "prod", normal(3, 4)),
    case("prod", "prod", with_zeros(3, 4), note="with zeros"),
    *one_axis("prod", "prod"),
    *one_axis("prod", "prod", domain=with_zeros),
    *one_axis("cumsum", "cumsum"),
    *one_axis("cumprod", "cumprod"),
    *one_axis("cumprod", "cumprod", domain=with_zeros),
    flat("cumsum", "cumsum"),
    flat("cumprod", "cumprod"),
]
