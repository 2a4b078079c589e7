"""Images in another size."""

from torch_cases.case import case, normal


def interpolated(*shape, **options):
    """Both sides take the same options, but for one: torch wants it unsaid."""
    theirs = {k: v for k, v in options.items() if k != "align_corners" or v}
    return case(
        "interpolate",
        "nn.functional.interpolate",
        normal(*shape),
        ours=options,
        theirs=theirs,
    )


SIZES = [
    {"size": (8, 5)},
    {"size": (3, 7)},
    {"size": 6},
    {"size": (1, 1)},
    {"scale_factor": 2},
    {"scale_factor": (0.6, 1.7)},
]

CASES = [
    *[
        case(
            f"pixel_{shuffle}",
            f"pixel_{shuffle}",
            normal(*shape),
            ours={"r": r},
            theirs={f"{scale}_factor": r},
        )
        for shuffle, scale, shapes in [
            ("shuffle", "upscale", [(2, 8, 3, 2), (9, 2, 2)]),
            ("unshuffle", "downscale", [(2, 3, 4, 6), (2, 3, 6)]),
        ]
        for shape, r in zip(shapes, (2, 3), strict=True)
    ],
    *[interpolated(2, 3, 5, 5, mode="nearest", **size) for size in SIZES],
    *[
        interpolated(2, 3, 5, 5, mode="bilinear", align_corners=corners, **size)
        for corners in (False, True)
        for size in SIZES
    ],
]
