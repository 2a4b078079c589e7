"""Arithmetic, elementary functions, comparison: element by element."""

import numpy as np
import torch

import dezero.functions as F
from torch_cases.case import (
    booleans,
    case,
    normal,
    positive,
    uniform,
    with_ties,
)


def one(function, peer=None, domain=normal, order=2):
    """A function of one argument, on two shapes."""
    peer = peer or function
    return [case(function, peer, domain(*shape), order=order) for shape in [(3, 4), ()]]


def two(function, peer=None, left=normal, right=normal, as_theirs=None, order=2):
    """A function of two arguments: of one shape, and broadcast either way."""
    peer = peer or function
    return [
        case(function, peer, left(*s0), right(*s1), as_theirs=as_theirs, order=order)
        for s0, s1 in [((3, 4), (3, 4)), ((2, 1, 4), (3, 1)), ((), (5,))]
    ]


def inside(*shape):
    return uniform(-0.95, 0.95, *shape)


def above_one(*shape):
    return uniform(1.05, 4, *shape)


def wide(*shape):
    return uniform(-8, 8, *shape)


def away_from_zero(*shape):
    return positive(*shape) * np.where(booleans(*shape), 1, -1)


def with_constant(function, peer, constant, domain=normal, left=False):
    """One argument is a number: on the right side, or on the left."""
    x = domain(3, 4)
    ours = getattr(F, function)
    theirs = getattr(torch, peer)
    if left:
        return case(
            function,
            peer,
            x,
            as_ours=lambda x: ours(constant, x),
            as_theirs=lambda x: theirs(constant, x),
            note=f"x0={constant}",
        )
    return case(
        function,
        peer,
        x,
        as_ours=lambda x: ours(x, constant),
        as_theirs=lambda x: theirs(x, constant),
        note=f"x1={constant}",
    )


def bounds(x, *limits, note):
    names = [
        name for name, given in zip(("x_min", "x_max"), note, strict=True) if given
    ]
    return case(
        "clip",
        "clamp",
        x,
        *limits,
        as_ours=lambda x, *b: F.clip(x, **dict(zip(names, b, strict=True))),
        as_theirs=lambda x, *b: torch.clamp(
            x, **dict(zip([n[2:] for n in names], b, strict=True))
        ),
        note="arrays as " + " and ".join(names),
    )


ARITHMETIC = [
    *two("add"),
    *two("sub"),
    *two("mul"),
    *two("div", right=away_from_zero),
    case("add", "add", normal(3, 1), ours={"x1": 2.5}, theirs={"other": 2.5}),
    case("sub", "sub", normal(3, 1), ours={"x1": 2.5}, theirs={"other": 2.5}),
    case("mul", "mul", normal(3, 1), ours={"x1": 2.5}, theirs={"other": 2.5}),
    case("div", "div", normal(3, 1), ours={"x1": 2.5}, theirs={"other": 2.5}),
    *two("rsub", "rsub"),
    *two("rdiv", "div(x1, x0)", away_from_zero, as_theirs=lambda a, b: b / a),
    *one("neg"),
    *one("reciprocal", domain=away_from_zero),
    *one("square"),
    *two("pow", left=positive),
    *[with_constant("pow", "pow", c) for c in (0, 1, 2, 3, 5)],
    *[with_constant("pow", "pow", c, away_from_zero) for c in (-1, -2)],
    *[with_constant("pow", "pow", c, positive) for c in (0.5, -1.5, 2.7)],
    with_constant("pow", "pow", 2.5, left=True),
    *two("rpow", "pow(x1, x0)", right=positive, as_theirs=lambda a, b: b**a),
    *two("mod", "remainder", wide, away_from_zero),
    with_constant("mod", "remainder", 1.5, wide),
    with_constant("mod", "remainder", -1.5, wide),
    *two(
        "floor_divide",
        "div(rounding_mode='floor')",
        wide,
        away_from_zero,
        lambda a, b: torch.div(a, b, rounding_mode="floor"),
    ),
]

ELEMENTARY = [
    *one("abs"),
    *one("sign"),
    *one("sqrt", domain=positive),
    *one(
        "exp",
    ),
    *one("exp2"),
    *one("expm1"),
    *one("log", domain=positive),
    *one("log2", domain=positive),
    *one("log10", domain=positive),
    *one("log1p", domain=positive),
    *two("logaddexp", left=wide),
    *one("sin", domain=wide),
    *one("cos", domain=wide),
    *one("tan", domain=inside),
    *one("arcsin", domain=inside),
    *one("arccos", domain=inside),
    *one("arctan", domain=wide),
    *two("arctan2"),
    *two("hypot"),
    *one("sinh"),
    *one("cosh"),
    *one("tanh"),
    *one("arcsinh", domain=wide),
    *one("arccosh", domain=above_one),
    *one("arctanh", domain=inside),
    *one("erf"),
    *one("erf", domain=wide),
    *one("erfc"),
    *one("erfc", domain=wide),
    case(
        "cbrt",
        "sign(x) * abs(x) ** (1/3)",
        away_from_zero(3, 4),
        as_theirs=lambda x: x.sign() * x.abs() ** (1 / 3),
    ),
]

x, y = with_ties(4, 6), with_ties(4, 6)

COMPARISON = [
    *two("maximum"),
    *two("minimum"),
    case("abs", "abs", x, note="at 0 too"),
    case("sign", "sign", x, note="at 0 too"),
    case(
        "clip",
        "clamp",
        x,
        ours={"x_min": -1, "x_max": 1},
        theirs={"min": -1, "max": 1},
        note="at the bounds too",
    ),
    case("maximum", "maximum", x, y, note="with ties"),
    case("minimum", "minimum", x, y, note="with ties"),
    *[
        case(
            "where",
            "where",
            normal(*s0),
            normal(*s1),
            as_ours=lambda a, b, c=condition: F.where(c, a, b),
            as_theirs=lambda a, b, c=condition: torch.where(torch.tensor(c), a, b),
            note=f"condition {condition.shape}",
        )
        for condition, s0, s1 in [
            (booleans(3, 4), (3, 4), (3, 4)),
            (booleans(4), (3, 1), ()),
            (booleans(2, 1, 1), (3, 1), (1, 4)),
        ]
    ],
    case(
        "clip",
        "clamp",
        normal(3, 4),
        ours={"x_min": -0.5, "x_max": 0.7},
        theirs={"min": -0.5, "max": 0.7},
    ),
    case("clip", "clamp", normal(7), ours={"x_min": -0.5}, theirs={"min": -0.5}),
    case("clip", "clamp", normal(7), ours={"x_max": 0.5}, theirs={"max": 0.5}),
    bounds(normal(3, 4), normal(4) - 1, normal(3, 1) + 1, note=(True, True)),
    bounds(normal(3, 4), normal(4), normal(3, 1), note=(True, True)),
    bounds(normal(3, 4), normal(3, 4), note=(True, False)),
    bounds(normal(3, 4), normal(4), note=(False, True)),
]

CASES = ARITHMETIC + ELEMENTARY + COMPARISON
