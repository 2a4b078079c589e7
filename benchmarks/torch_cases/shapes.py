"""Arrays reshaped, joined, cut, extended."""

import numpy as np
import torch

import dezero.functions as F
from torch_cases.case import case, normal


def joined(function, *shapes, peer=None, **options):
    """A function of several arrays, which both sides take as a list."""
    peer = peer or function
    theirs = {"dim": options["axis"]} if "axis" in options else {}
    return case(
        function,
        peer,
        *[normal(*shape) for shape in shapes],
        as_ours=lambda *xs, **kw: getattr(F, function)(xs, **kw),
        as_theirs=lambda *xs, **kw: getattr(torch, peer)(xs, **kw),
        ours=options,
        theirs=theirs,
    )


def padded(shape, pad_width, mode="constant", peer_mode="constant", value=0.0):
    """Torch counts the axes from the last one and takes only these."""
    widths = [n for pair in reversed(pad_width) for n in pair]
    while len(widths) > 2 and widths[-2:] == [0, 0]:
        widths = widths[:-2]
    options = {"pad_width": pad_width, "mode": mode}
    theirs = {"pad": widths, "mode": peer_mode}
    if mode == "constant":
        options["constant_values"] = theirs["value"] = value
    return case("pad", "nn.functional.pad", normal(*shape), ours=options, theirs=theirs)


JOINING = [
    joined("concatenate", (2, 3), (4, 3)),
    joined("concatenate", (2, 3), (2, 1), (2, 2), axis=1),
    joined("concatenate", (2, 3, 2), (2, 3, 1), axis=-1),
    case(
        "concatenate",
        "concatenate of flattened",
        normal(2, 3),
        normal(4),
        as_ours=lambda *xs: F.concatenate(xs, axis=None),
        as_theirs=lambda *xs: torch.concatenate([x.flatten() for x in xs]),
        note="axis=None",
    ),
    joined("stack", (2, 3), (2, 3)),
    joined("stack", (2, 3), (2, 3), (2, 3), axis=1),
    joined("stack", (2,), (2,), axis=-1),
    joined("vstack", (2, 3), (4, 3)),
    joined("vstack", (3,), (3,)),
    joined("hstack", (2, 3), (2, 1)),
    joined("hstack", (3,), (2,)),
    *[
        case(
            "split",
            "tensor_split",
            normal(*shape),
            ours={"indices_or_sections": parts, "axis": axis},
            theirs={name: parts, "dim": axis},
        )
        for shape, name, parts, axis in [
            ((6, 2), "sections", 3, 0),
            ((2, 6), "sections", 2, 1),
            ((2, 6), "indices", (1, 4), -1),
            ((7,), "indices", (0, 3), 0),
        ]
    ],
]

RESHAPING = [
    case("reshape", "reshape", normal(2, 6), ours={"shape": s}, theirs={"shape": s})
    for s in [(3, 4), (-1,), (2, -1, 2)]
]

AXES = [
    case("transpose", "permute", normal(2, 3), theirs={"dims": (1, 0)}),
    case(
        "transpose",
        "permute",
        normal(2, 3, 4),
        ours={"axes": (2, 0, 1)},
        theirs={"dims": (2, 0, 1)},
    ),
    case(
        "transpose",
        "permute",
        normal(2, 3, 4),
        ours={"axes": (-1, -3, -2)},
        theirs={"dims": (-1, -3, -2)},
    ),
    *[
        case(
            "swapaxes",
            "swapaxes",
            normal(2, 3, 4),
            ours={"axis1": i, "axis2": j},
            theirs={"axis0": i, "axis1": j},
        )
        for i, j in [(0, 2), (-1, -2)]
    ],
    *[
        case(
            "moveaxis",
            "moveaxis",
            normal(2, 3, 4),
            ours={"source": i, "destination": j},
            theirs={"source": i, "destination": j},
        )
        for i, j in [(0, 2), (-1, 0), ((0, 1), (-1, 0))]
    ],
    case("squeeze", "squeeze", normal(1, 3, 1)),
    case("squeeze", "squeeze", normal(1, 3, 1), ours={"axis": 0}, theirs={"dim": 0}),
    case(
        "squeeze",
        "squeeze",
        normal(1, 3, 1),
        ours={"axis": (0, -1)},
        theirs={"dim": (0, -1)},
    ),
    *[
        case(
            "expand_dims",
            "unsqueeze",
            normal(2, 3),
            ours={"axis": axis},
            theirs={"dim": axis},
        )
        for axis in (0, 1, 2, -1, -2)
    ],
    case("ravel", "ravel", normal(2, 3, 2)),
    case("flatten", "flatten", normal(2, 3, 2), theirs={"start_dim": 1}),
]

BROADCASTING = [
    *[
        case(
            "broadcast_to",
            "broadcast_to",
            normal(*before),
            ours={"shape": after},
            theirs={"size": after},
        )
        for before, after in [((3,), (2, 3)), ((2, 1, 3), (2, 4, 3)), ((), (2, 2))]
    ],
    *[
        case(
            "sum_to",
            "Tensor.sum_to_size",
            normal(*before),
            as_ours=lambda x, s=after: F.sum_to(x, s),
            as_theirs=lambda x, s=after: x.sum_to_size(s),
            note=f"shape={after}",
        )
        for before, after in [((2, 3), (3,)), ((2, 4, 3), (2, 1, 3)), ((2, 2), ())]
    ],
]

EXTENDING = [
    *[
        case("tile", "tile", normal(2, 3), ours={"reps": r}, theirs={"dims": d})
        for r, d in [(2, (2,)), ((2, 1), (2, 1)), ((2, 1, 3), (2, 1, 3))]
    ],
    case(
        "repeat",
        "repeat_interleave",
        normal(2, 3),
        ours={"repeats": 2},
        theirs={"repeats": 2},
    ),
    case(
        "repeat",
        "repeat_interleave",
        normal(2, 3),
        ours={"repeats": 3, "axis": 0},
        theirs={"repeats": 3, "dim": 0},
    ),
    case(
        "repeat",
        "repeat_interleave",
        normal(2, 3),
        ours={"repeats": (2, 0, 1), "axis": 1},
        theirs={"repeats": np.array([2, 0, 1]), "dim": 1},
    ),
    padded((2, 3), ((1, 2), (0, 1))),
    padded((2, 3, 4), ((0, 0), (1, 0), (2, 1)), value=1.5),
    padded((2, 3, 4), ((0, 0), (0, 0), (2, 3)), "reflect", "reflect"),
    padded((2, 3, 4, 5), ((0, 0), (0, 0), (2, 1), (0, 3)), "reflect", "reflect"),
    padded((2, 3, 4), ((0, 0), (0, 0), (2, 5)), "edge", "replicate"),
    padded((2, 3, 4, 5), ((0, 0), (0, 0), (2, 1), (0, 3)), "edge", "replicate"),
    padded((2, 3, 4, 5), ((0, 0), (0, 0), (2, 1), (0, 3)), "wrap", "circular"),
]

DTYPES = [
    case(
        "cast",
        "Tensor.to",
        normal(3, 4),
        ours={"dtype": np.float32},
        as_theirs=lambda x: x.to(torch.float32),
    ),
    case(
        "cast",
        "Tensor.to",
        normal(3, 4),
        ours={"dtype": np.float64},
        as_theirs=lambda x: x.to(torch.float64),
    ),
]

CASES = JOINING + RESHAPING + AXES + BROADCASTING + EXTENDING + DTYPES
