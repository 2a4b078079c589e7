"""Optimizers, hooks, schedules and averages: ``from dezero import optimizers``."""

from dezero.optimizers.adam import Adam, AdamW
from dezero.optimizers.adaptive import AdaDelta, AdaGrad, RMSprop
from dezero.optimizers.averaging import ExponentialMovingAverage
from dezero.optimizers.base import Optimizer
from dezero.optimizers.hooks import (
    ClipGrad,
    ClipGradValue,
    FreezeParam,
    GradientNoise,
    WeightDecay,
)
from dezero.optimizers.lbfgs import LBFGS
from dezero.optimizers.plateau import ReduceLROnPlateau
from dezero.optimizers.schedules import (
    CosineLR,
    ExponentialLR,
    LinearLR,
    MultiStepLR,
    OneCycleLR,
    Schedule,
    StepLR,
)
from dezero.optimizers.sgd import SGD, Lion, MomentumSGD

__all__ = [
    "LBFGS",
    "SGD",
    "AdaDelta",
    "AdaGrad",
    "Adam",
    "AdamW",
    "ClipGrad",
    "ClipGradValue",
    "CosineLR",
    "ExponentialLR",
    "ExponentialMovingAverage",
    "FreezeParam",
    "GradientNoise",
    "LinearLR",
    "Lion",
    "MomentumSGD",
    "MultiStepLR",
    "OneCycleLR",
    "Optimizer",
    "RMSprop",
    "ReduceLROnPlateau",
    "Schedule",
    "StepLR",
    "WeightDecay",
]
