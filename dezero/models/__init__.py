"""All models: ``import dezero.models as M``."""

from dezero.models.base import Model
from dezero.models.sequential import MLP, Sequential

__all__ = ["MLP", "Model", "Sequential"]
