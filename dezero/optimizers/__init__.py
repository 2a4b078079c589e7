"""All optimizers and their hooks: ``from dezero import optimizers``."""

from dezero.optimizers.adaptive import Adam
from dezero.optimizers.base import Optimizer
from dezero.optimizers.hooks import ClipGrad, FreezeParam, WeightDecay
from dezero.optimizers.sgd import SGD, MomentumSGD

__all__ = [
    "SGD",
    "Adam",
    "ClipGrad",
    "FreezeParam",
    "MomentumSGD",
    "Optimizer",
    "WeightDecay",
]
