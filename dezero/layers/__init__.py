"""All layers, gathered from their families: ``import dezero.layers as L``."""

from dezero.layers.base import Layer
from dezero.layers.linear import Linear

__all__ = ["Layer", "Linear"]
