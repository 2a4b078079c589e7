"""Products of matrices and what is made of them."""

import numpy as np
import torch

import dezero.functions as F
from torch_cases.case import case, normal


def products(function, peer, *pairs, **options):
    return [
        case(function, peer, normal(*s0), normal(*s1), **options) for s0, s1 in pairs
    ]


VECTORS_AND_MATRICES = [((4,), (4,)), ((2, 4), (4,)), ((4,), (4, 3)), ((2, 4), (4, 3))]
STACKS = [
    ((5, 2, 4), (5, 4, 3)),
    ((5, 2, 4), (4, 3)),
    ((2, 4), (5, 4, 3)),
    ((6, 1, 2, 4), (5, 4, 3)),
    ((5, 2, 4), (4,)),
    ((4,), (5, 4, 3)),
]


def affine(x, W, b=None):
    return torch.nn.functional.linear(x, W.T, b)


def linear(function):
    return [
        case(function, "nn.functional.linear(x, W.T, b)", *arrays, as_theirs=affine)
        for arrays in [
            (normal(5, 4), normal(4, 3), normal(3)),
            (normal(5, 4), normal(4, 3)),
            (normal(2, 5, 4), normal(4, 3), normal(3)),
            (normal(4), normal(4, 3), normal(3)),
        ]
    ]


def einsum(subscripts, *shapes):
    return case(
        "einsum",
        "einsum",
        *[normal(*shape) for shape in shapes],
        as_ours=lambda *xs: F.einsum(subscripts, *xs),
        as_theirs=lambda *xs: torch.einsum(subscripts, *xs),
        note=f"'{subscripts}'",
    )


def norms():
    cases = [
        case("norm", "linalg.vector_norm", normal(*shape)) for shape in [(7,), (3, 4)]
    ]
    for axis in (0, -1, (0, 2)):
        for keep in (False, True):
            cases.append(
                case(
                    "norm",
                    "linalg.vector_norm",
                    normal(2, 3, 4),
                    ours={"axis": axis, "keepdims": keep},
                    theirs={"dim": axis, "keepdim": keep},
                )
            )
    for ord in (1, 1.5, 2, 3, np.inf):
        cases.append(
            case(
                "norm",
                "linalg.vector_norm",
                normal(3, 4),
                ours={"ord": ord, "axis": 1},
                theirs={"ord": ord, "dim": 1},
            )
        )
    return [
        *cases,
        case(
            "norm",
            "linalg.vector_norm",
            np.zeros((2, 3)),
            ours={"axis": 1},
            theirs={"dim": 1},
            note="zeros",
            order=1,
        ),
        case(
            "norm",
            "linalg.norm",
            normal(3, 4),
            ours={"ord": "fro"},
            theirs={"ord": "fro"},
        ),
    ]


def stacks(*n):
    """Matrices far from singular."""
    return [normal(*shape) + 3 * np.eye(shape[-1]) for shape in n]


def covariance(*shape):
    """Symmetric matrices with positive eigenvalues."""
    a = normal(*shape)
    return a @ a.swapaxes(-1, -2) + np.eye(shape[-1])


SHAPES = [(3, 3), (2, 4, 4), (2, 3, 2, 2)]

CASES = [
    *products("matmul", "matmul", *VECTORS_AND_MATRICES, *STACKS),
    *products("dot", "dot", VECTORS_AND_MATRICES[0]),
    *products("dot", "matmul", *VECTORS_AND_MATRICES[1:]),
    *products("dot", "mul", ((), (3,)), ((3,), ())),
    *products(
        "dot",
        "tensordot",
        ((2, 4), (5, 4, 3)),
        ((3, 2, 4), (5, 4, 3)),
        theirs={"dims": ((-1,), (-2,))},
    ),
    *products("inner", "inner", ((4,), (4,)), ((2, 3, 4), (5, 4)), ((), (3,))),
    *products("outer", "outer", ((4,), (3,))),
    *products(
        "outer",
        "outer of flattened",
        ((2, 2), (3, 1)),
        as_theirs=lambda a, b: torch.outer(a.flatten(), b.flatten()),
    ),
    *[
        case(
            "tensordot",
            "tensordot",
            normal(*s0),
            normal(*s1),
            ours={"axes": axes},
            theirs={"dims": axes},
        )
        for s0, s1, axes in [
            ((2, 3, 4), (3, 4, 5), 2),
            ((2, 3), (3, 4), 1),
            ((2,), (3,), 0),
            ((2, 3, 4), (4, 5, 2), ((0, 2), (2, 0))),
            ((2, 3), (5, 3), ((-1,), (-1,))),
        ]
    ],
    *linear("linear"),
    *linear("linear_simple"),
    einsum("ij,jk->ik", (2, 3), (3, 4)),
    einsum("ij,jk", (2, 3), (3, 4)),
    einsum("bij,bjk->bik", (5, 2, 3), (5, 3, 4)),
    einsum("...ij,...jk->...ik", (5, 2, 3), (3, 4)),
    einsum("...ij,...jk->...ik", (6, 1, 2, 3), (5, 3, 4)),
    einsum("ii", (3, 3)),
    einsum("ii->i", (3, 3)),
    einsum("bii->b", (2, 3, 3)),
    einsum("ij->ji", (2, 3)),
    einsum("ij->", (2, 3)),
    einsum("ij->j", (2, 3)),
    einsum("i,j->ij", (2,), (3,)),
    einsum("i,i->", (4,), (4,)),
    einsum("bi,ij,bj->b", (2, 3), (3, 4), (2, 4)),
    einsum("ii,ij->j", (3, 3), (3, 2)),
    case("trace", "trace", normal(3, 4)),
    *[
        case(
            "trace",
            "diagonal(x).sum(-1)",
            normal(3, 4, 5),
            ours={"offset": k, "axis1": i, "axis2": j},
            as_theirs=lambda x, k=k, i=i, j=j: torch.diagonal(x, k, i, j).sum(-1),
        )
        for k, i, j in [(0, 0, 1), (1, 1, 2), (-1, 2, 0)]
    ],
    *norms(),
    *[case("inv", "linalg.inv", x) for x in stacks(*SHAPES)],
    *[case("det", "linalg.det", x) for x in stacks(*SHAPES)],
    *[case("slogdet", "linalg.slogdet", x) for x in stacks(*SHAPES)],
    *[
        case("slogdet", "linalg.slogdet", x * [-1, 1, 1], note="negative")
        for x in stacks((3, 3))
    ],
    *[case("cholesky", "linalg.cholesky", covariance(*s)) for s in SHAPES],
    *[
        case("solve", "linalg.solve", a, normal(*s))
        for a, s in zip(
            stacks((3, 3), (3, 3), (2, 4, 4), (2, 1, 4, 4)),
            [(3,), (3, 2), (2, 4, 3), (3, 4, 2)],
            strict=True,
        )
    ],
]
