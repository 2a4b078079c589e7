"""What is compared with torch: functions, family by family, and what trains."""

from torch_cases import (
    activations,
    elementwise,
    images,
    lbfgs,
    linalg,
    losses,
    normalizations,
    optimizers,
    reductions,
    resampling,
    schedules,
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

TRAJECTORIES = [*optimizers.CASES, *lbfgs.CASES, *schedules.CASES]
