"""Updates in NumPy, for libraries that bring none."""

from __future__ import annotations

import numpy as np


def sgd(parameters: list[np.ndarray], gradients: list[np.ndarray]) -> None:
    for p, g in zip(parameters, gradients, strict=True):
        p -= 0.01 * g


class Adam:
    """The update, as one writes it: an expression."""

    def __init__(self, b1: float = 0.9, b2: float = 0.999):
        self.b1, self.b2, self.t = b1, b2, 0

    def __call__(
        self, parameters: list[np.ndarray], gradients: list[np.ndarray]
    ) -> None:
        b1, b2 = self.b1, self.b2
        if self.t == 0:
            self.m = [np.zeros_like(p) for p in parameters]
            self.v = [np.zeros_like(p) for p in parameters]
        self.t += 1
        c1, c2 = 1 - b1**self.t, 1 - b2**self.t
        for i, (p, g) in enumerate(zip(parameters, gradients, strict=True)):
            self.m[i] = b1 * self.m[i] + (1 - b1) * g
            self.v[i] = b2 * self.v[i] + (1 - b2) * g * g
            p -= 0.001 * (self.m[i] / c1) / (np.sqrt(self.v[i] / c2) + 1e-8)
