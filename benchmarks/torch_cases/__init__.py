"""Which functions are compared with torch, family by family."""

from torch_cases import (
    activations,
    elementwise,
    images,
    linalg,
    losses,
    normalizations,
    reductions,
    resampling,
    selections,
    sequences,
    shapes,
    training,
)

CASES = [
    *elementwise.CASES,
    *reductions.CASES,
    *shapes.CASES,
    *selections.CASES,
    *linalg.CASES,
    *activations.CASES,
    *losses.CASES,
    *images.CASES,
    *resampling.CASES,
    *normalizations.CASES,
    *sequences.CASES,
    *training.CASES,
]
