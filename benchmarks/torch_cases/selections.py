"""Elements picked, added, put in another order."""

import numpy as np
import torch

import dezero.functions as F
from torch_cases.case import as_tensor, booleans, case, integers, normal, with_ties

# Beside an array of integers, an integer is one too, as in NumPy: x[0, :, [1, 2]] has
# the shape (2, n). Torch takes the integer first: (n, 2). So none stands here with a
# slice in between.
INDICES = [
    1,
    -2,
    slice(1, 3),
    slice(None, None, 2),
    Ellipsis,
    None,
    (0, slice(None), -1),
    (Ellipsis, 1),
    (slice(None), None, slice(0, 3, 2)),
    (None, Ellipsis, None, 0),
    booleans(4),
    booleans(4, 3),
    booleans(4, 3, 5),
    integers(4, 6),
    integers(4, 2, 3) - 4,
    (integers(4, 6), integers(3, 6)),
    (integers(4, 2, 1), integers(3, 3)),
    (slice(1, None), integers(3, 7)),
    (integers(4, 6), slice(None), integers(5, 6)),
    (slice(None), integers(3, 6), integers(5, 6)),
    (integers(4, 3), None, slice(0, 2)),
    (booleans(4), slice(None), 2),
    (Ellipsis, integers(5, 2, 2)),
]


def index_for_torch(index):
    """An index with its arrays as tensors."""
    if isinstance(index, tuple):
        return tuple([as_tensor(part) for part in index])
    return as_tensor(index)


def added(shape, index, values_shape):
    """Values added at arrays of integers or booleans."""
    return case(
        "scatter_add",
        "index_put(accumulate=True)",
        normal(*shape),
        normal(*values_shape),
        as_ours=lambda x, values, index: F.scatter_add(x, index, values),
        as_theirs=lambda x, values: torch.index_put(
            x, index_for_torch(index), values, accumulate=True
        ),
        ours={"index": index},
    )


def cut(function, k, *shape):
    """A part of a matrix, by the number of a diagonal."""
    return case(
        function, function, normal(*shape), ours={"k": k}, theirs={"diagonal": k}
    )


INDEXING = [
    *[
        case(
            "get_item",
            "Tensor.__getitem__",
            normal(4, 3, 5),
            ours={"slices": index},
            as_theirs=lambda x, index=index: x[index_for_torch(index)],
        )
        for index in INDICES
    ],
    case(
        "get_item",
        "flip",
        normal(4, 3),
        ours={"slices": slice(None, None, -1)},
        theirs={"dims": (0,)},
    ),
    added((4, 3), (integers(4, 6),), (6, 3)),
    added((4, 3), (integers(4, 6), integers(3, 6)), (6,)),
    added((4, 3), (integers(4, 6),), (3,)),
    added((4, 3), (integers(4, 2, 1), integers(3, 3)), (2, 3)),
    added((4, 300), (integers(4, 6),), (6, 300)),
    added((4, 3), (np.array([True, False, True, True]),), (3, 3)),
]


def taken(shape, indices, axis):
    """One axis picked from; torch's ``take`` knows the flattened array alone."""
    if axis is None:
        return case(
            "take",
            "take",
            normal(*shape),
            ours={"indices": indices},
            theirs={"index": indices},
        )
    return case(
        "take",
        "index_select",
        normal(*shape),
        ours={"indices": indices, "axis": axis},
        theirs={"index": indices, "dim": axis},
    )


def taken_along(shape, indices, axis):
    return case(
        "take_along_axis",
        "take_along_dim",
        normal(*shape),
        ours={"indices": indices, "axis": axis},
        theirs={"indices": indices, "dim": axis},
    )


LOOKUP = [
    taken((4, 3), integers(12, 5), None),
    taken((4, 3), integers(12, 2, 5), None),
    taken((4, 3), integers(4, 6), 0),
    taken((2, 4, 3), integers(3, 5), -1),
    taken_along((4, 3), integers(4, 6, 3), 0),
    taken_along((4, 3), integers(3, 4, 2), 1),
    taken_along((4, 3), integers(3, 1, 2), -1),
    taken_along((4, 3), integers(12, 5), None),
    *[
        case(
            "embed_id",
            "nn.functional.embedding",
            normal(6, 3),
            as_ours=lambda W, x: F.embed_id(x, W),
            as_theirs=lambda W, input: torch.nn.functional.embedding(input, W),
            ours={"x": ids},
            theirs={"input": ids},
        )
        for ids in (integers(6, 9), integers(6, 2, 5))
    ],
    *[
        case(
            "one_hot",
            "nn.functional.one_hot",
            as_ours=lambda ids: F.one_hot(ids, 5),
            as_theirs=lambda ids: torch.nn.functional.one_hot(ids, 5).float(),
            ours={"ids": ids},
            theirs={"ids": ids},
            order=0,
        )
        for ids in (integers(5, 7), integers(5, 2, 3))
    ],
]

ARRANGING = [
    case("flip", "flip", normal(2, 3), theirs={"dims": (0, 1)}),
    case("flip", "flip", normal(2, 3), ours={"axis": 1}, theirs={"dims": (1,)}),
    case(
        "flip",
        "flip",
        normal(2, 3, 4),
        ours={"axis": (0, -1)},
        theirs={"dims": (0, -1)},
    ),
    *[
        case(
            "roll",
            "roll",
            normal(2, 3, 4),
            ours={"shift": shift, "axis": axis},
            theirs={"shifts": shift, "dims": axis},
        )
        for shift, axis in [(2, 1), (-3, -1), ((1, 2), (0, 2))]
    ],
    case("roll", "roll", normal(2, 3), ours={"shift": 2}, theirs={"shifts": 2}),
    *[
        case(
            "sort",
            "sort",
            normal(4, 5),
            ours={"axis": axis},
            as_theirs=lambda x, axis=axis: torch.sort(x, dim=axis).values,
        )
        for axis in (0, 1, -1)
    ],
    case(
        "sort",
        "sort(stable=True)",
        with_ties(4, 9),
        as_theirs=lambda x: torch.sort(x, stable=True).values,
        note="with ties",
    ),
    *[cut(f, k, *s) for f in ("tril", "triu") for k in (0, 1, -2) for s in [(4, 5)]],
    *[cut(f, 0, 2, 3, 3) for f in ("tril", "triu")],
    *[cut("diag", k, *s) for k in (0, 1, -2) for s in [(4,), (4, 5)]],
    *[
        case(
            "diagonal",
            "diagonal",
            normal(3, 4, 5),
            ours={"offset": k, "axis1": i, "axis2": j},
            theirs={"offset": k, "dim1": i, "dim2": j},
        )
        for k, i, j in [(0, 0, 1), (1, 1, 2), (-2, 2, 0), (0, -1, -2)]
    ],
]

CASES = INDEXING + LOOKUP + ARRANGING
