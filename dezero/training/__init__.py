"""Training: the loop for those who want one, and measures of what it brought."""

from dezero.training.fitting import fit
from dezero.training.steps import evaluate

__all__ = ["evaluate", "fit"]
