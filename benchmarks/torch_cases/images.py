"""Convolution and pooling, in one, two and three dimensions."""

import torch

import dezero.functions as F
from torch_cases.case import case, normal, with_ties

nn = torch.nn.functional


def for_torch(options):
    """The same options by torch's names."""
    return {"padding" if k == "pad" else k: v for k, v in options.items()}


def convolved(dims, x, W, bias=True, simple=False, **options):
    """A convolution; W (O, C / groups, *kernel)."""
    arrays = [normal(*x), normal(*W)] + ([normal(W[0])] if bias else [])
    return case(
        f"conv{dims}d" + ("_simple" if simple else ""),
        f"nn.functional.conv{dims}d",
        *arrays,
        ours=options,
        theirs=for_torch(options),
    )


def deconvolved(dims, x, W, bias=True, extra=None, **options):
    """A transposed convolution; W (C, O / groups, *kernel).

    ``extra`` is how much larger than the smallest one the result is: ``outsize`` says
    it on our side, ``output_padding`` on the other.
    """
    O = W[1] * options.get("groups", 1)
    arrays = [normal(*x), normal(*W)] + ([normal(O)] if bias else [])
    theirs = for_torch(options)
    if extra is not None:
        shape = getattr(nn, f"conv_transpose{dims}d")(
            *[torch.tensor(a) for a in arrays], **theirs, output_padding=extra
        ).shape
        options = {**options, "outsize": tuple(shape[2:])}
        theirs["output_padding"] = extra
    return case(
        f"deconv{dims}d",
        f"nn.functional.conv_transpose{dims}d",
        *arrays,
        ours=options,
        theirs=theirs,
    )


def pooled(function, peer, x, **options):
    """A pooling; both sides name its options alike."""
    dims = len(x) - 2
    return case(
        function,
        f"nn.functional.{peer}_pool{dims}d",
        normal(*x),
        ours=options,
        theirs=for_torch(options),
    )


def to_size(function, peer, x, size):
    return case(
        function,
        f"nn.functional.adaptive_{peer}_pool{len(x) - 2}d",
        normal(*x),
        ours={"output_size": size},
        theirs={"output_size": size},
    )


def to_one(function, peer, x):
    """Global pooling, without and with the axes of the image."""
    dims = len(x) - 2
    name = f"adaptive_{peer}_pool{dims}d"
    pool = getattr(nn, name)
    return [
        case(
            function,
            f"nn.functional.{name}(x, 1)",
            normal(*x),
            ours={"keepdims": keep},
            as_theirs=lambda x, keep=keep: (
                pool(x, 1) if keep else pool(x, 1).flatten(1)
            ),
        )
        for keep in (False, True)
    ]


def columns(x, to_matrix=True, **options):
    """``im2col`` against unfold, which has the places last."""
    theirs = for_torch(options)
    kernel = options["kernel_size"]
    KH, KW = kernel if isinstance(kernel, tuple) else (kernel, kernel)
    x = normal(*x)
    N, C = x.shape[:2]
    shape = F.im2col(x, to_matrix=False, **options).shape

    def unfolded(x):
        y = nn.unfold(x, **theirs)  # (N, C*KH*KW, OH*OW)
        if not to_matrix:
            return y.reshape(shape)
        return y.transpose(1, 2).reshape(-1, C * KH * KW)

    return case(
        "im2col",
        "nn.functional.unfold",
        x,
        as_theirs=unfolded,
        ours={**options, "to_matrix": to_matrix},
    )


def images(shape, to_matrix=True, **options):
    """``col2im`` against fold."""
    N, C = shape[:2]
    theirs = for_torch(options)
    col = F.im2col(normal(*shape), to_matrix=to_matrix, **options).data

    def folded(col):
        if to_matrix:
            col = col.reshape(N, -1, col.shape[1]).transpose(1, 2)
        else:
            col = col.flatten(4).flatten(1, 3)
        return nn.fold(col, shape[2:], **theirs)

    return case(
        "col2im",
        "nn.functional.fold",
        normal(*col.shape),
        as_theirs=folded,
        ours={"input_shape": shape, **options, "to_matrix": to_matrix},
    )


CONVOLUTION = [
    convolved(1, (2, 3, 9), (4, 3, 3)),
    convolved(1, (2, 3, 9), (4, 3, 2), bias=False, stride=2, pad=1),
    convolved(1, (2, 3, 9), (4, 3, 3), pad=2, dilation=2),
    convolved(1, (2, 4, 9), (6, 2, 3), groups=2),
    convolved(1, (2, 4, 9), (4, 1, 3), groups=4, pad="same"),
    convolved(2, (2, 3, 6, 5), (4, 3, 3, 3)),
    convolved(2, (2, 3, 6, 5), (4, 3, 1, 1), stride=2),
    convolved(2, (2, 3, 6, 7), (4, 3, 3, 2), bias=False, stride=(2, 1), pad=(1, 2)),
    convolved(2, (2, 3, 7, 7), (4, 3, 3, 3), pad=2, dilation=2),
    convolved(2, (2, 3, 9, 8), (4, 3, 2, 3), stride=2, pad=1, dilation=(3, 2)),
    convolved(2, (2, 4, 6, 5), (6, 2, 3, 3), groups=2, pad=1),
    convolved(2, (2, 4, 6, 5), (8, 1, 3, 3), groups=4, stride=2, pad=1),
    convolved(2, (2, 3, 6, 5), (4, 3, 3, 4), pad="same", dilation=(2, 1)),
    case(
        "conv2d",
        "nn.functional.conv2d of nn.functional.pad",
        normal(2, 3, 5, 4),
        normal(4, 3, 3, 3),
        ours={"stride": 2, "pad": ((0, 1), (2, 1))},
        as_theirs=lambda x, W: nn.conv2d(nn.pad(x, (2, 1, 0, 1)), W, stride=2),
    ),
    convolved(2, (2, 3, 6, 5), (4, 3, 3, 3), simple=True),
    convolved(2, (2, 3, 6, 5), (4, 3, 3, 2), bias=False, simple=True, stride=2, pad=1),
    convolved(3, (2, 2, 4, 5, 4), (3, 2, 2, 3, 2)),
    convolved(3, (1, 2, 4, 5, 6), (3, 2, 2, 3, 2), stride=(1, 2, 3), pad=(0, 1, 2)),
    convolved(3, (1, 4, 5, 5, 5), (4, 2, 2, 2, 2), groups=2, dilation=2),
]

DECONVOLUTION = [
    deconvolved(1, (2, 3, 5), (3, 4, 3)),
    deconvolved(1, (2, 3, 5), (3, 4, 3), bias=False, stride=2, pad=1),
    deconvolved(1, (2, 4, 5), (4, 3, 2), groups=2, dilation=2),
    deconvolved(1, (2, 3, 5), (3, 4, 3), stride=3, pad=1, extra=(2,)),
    deconvolved(2, (2, 3, 4, 5), (3, 4, 3, 3)),
    deconvolved(2, (2, 3, 4, 3), (3, 4, 3, 2), bias=False, stride=(2, 1), pad=(1, 0)),
    deconvolved(2, (2, 3, 4, 3), (3, 4, 3, 3), stride=2, pad=1, extra=(1, 0)),
    deconvolved(2, (2, 3, 4, 3), (3, 4, 2, 2), dilation=(2, 3)),
    deconvolved(2, (2, 4, 4, 3), (4, 3, 3, 3), groups=2, stride=2, pad=1),
    deconvolved(2, (2, 4, 4, 3), (4, 1, 2, 2), groups=4, stride=2),
    deconvolved(3, (2, 2, 3, 2, 3), (2, 3, 2, 3, 2)),
    deconvolved(3, (1, 4, 3, 2, 3), (4, 2, 2, 3, 2), groups=2, stride=2, pad=1),
    deconvolved(3, (1, 2, 2, 2, 3), (2, 3, 2, 2, 2), stride=2, extra=(1, 0, 1)),
]

COLUMNS = [
    build(shape, to_matrix, **options)
    for build in (columns, images)
    for to_matrix in (True, False)
    for shape, options in [
        ((2, 3, 5, 4), {"kernel_size": 2}),
        ((2, 3, 5, 6), {"kernel_size": (3, 2), "stride": (2, 1), "pad": (1, 2)}),
        ((2, 2, 7, 7), {"kernel_size": 3, "stride": 2, "dilation": 2}),
    ]
]

POOLING = [
    *[
        pooled(f, "max", (2, 3, 7, 6), **options)
        for f in ("pooling", "pooling_simple")
        for options in [
            {"kernel_size": 2, "stride": 2},
            {"kernel_size": 3, "stride": 1},
            {"kernel_size": (3, 2), "stride": (2, 1), "pad": 1},
        ]
    ],
    pooled("pooling", "max", (2, 3, 9), kernel_size=3, stride=2, pad=1),
    pooled("pooling", "max", (2, 3, 9), kernel_size=2, stride=3, ceil_mode=True),
    pooled("pooling", "max", (2, 3, 8, 9), kernel_size=3, stride=2, dilation=2),
    pooled("pooling", "max", (2, 3, 8, 6), kernel_size=3, stride=2, ceil_mode=True),
    pooled(
        "pooling", "max", (2, 3, 8, 6), kernel_size=3, stride=2, pad=1, ceil_mode=True
    ),
    case(
        "pooling",
        "nn.functional.max_pool2d",
        with_ties(2, 3, 7, 6),
        ours={"kernel_size": 3, "stride": 2, "pad": 1},
        theirs={"kernel_size": 3, "stride": 2, "padding": 1},
        note="with ties",
    ),
    pooled("pooling", "max", (2, 2, 5, 4, 5), kernel_size=2, stride=2),
    pooled("pooling", "max", (2, 2, 5, 4, 5), kernel_size=3, stride=(1, 2, 1), pad=1),
    *[
        pooled("average_pooling", "avg", x, **options, count_include_pad=include)
        for include in (True, False)
        for x, options in [
            ((2, 3, 7, 6), {"kernel_size": 2, "stride": 2}),
            ((2, 3, 7, 6), {"kernel_size": (3, 2), "stride": (2, 1), "pad": 1}),
            ((2, 3, 9), {"kernel_size": 3, "stride": 2, "pad": 1}),
            ((2, 3, 9), {"kernel_size": 2, "stride": 3, "ceil_mode": True}),
            ((2, 2, 5, 4, 5), {"kernel_size": 2, "stride": 1, "pad": 1}),
            (
                (2, 3, 8, 6),
                {"kernel_size": 3, "stride": 2, "pad": 1, "ceil_mode": True},
            ),
        ]
    ],
    *[
        to_size(f"adaptive_{name}_pooling", peer, x, size)
        for name, peer in [("average", "avg"), ("max", "max")]
        for x, size in [
            ((2, 3, 9), 3),
            ((2, 3, 7), 4),
            ((2, 3, 6, 8), (3, 4)),
            ((2, 3, 7, 5), (3, 4)),
            ((2, 2, 5, 4, 3), (2, 3, 3)),
        ]
    ],
    *[
        c
        for name, peer in [("average", "avg"), ("max", "max")]
        for x in [(2, 3, 5), (2, 3, 5, 4), (2, 3, 4, 2, 3)]
        for c in to_one(f"global_{name}_pooling", peer, x)
    ],
]

CASES = CONVOLUTION + DECONVOLUTION + COLUMNS + POOLING
