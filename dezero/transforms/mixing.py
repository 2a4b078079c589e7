"""Transforms of a whole batch: items mixed with others."""

from __future__ import annotations

import math

import numpy as np

from dezero import cuda
from dezero.cuda import Array
from dezero.transforms.augmentation import Random


class Mixup(Random):
    """Each item of a batch mixed with another one, targets alike.

    ``x = r x + (1 - r) x[order]`` and ``t = r t + (1 - r) t[order]``, where t has a one
    at the class, r is drawn from the distribution Beta(alpha, alpha) once per batch,
    and ``order`` is a random one. Unlike the other transforms it takes a whole batch:
    ``x, t = mixup(x, t)`` in the loop over a loader. Its t are probabilities, which
    ``F.softmax_cross_entropy`` takes.

    H. Zhang et al., mixup: Beyond Empirical Risk Minimization, 2018, arXiv:1710.09412.

    Args:
        classes: Number of classes.
        alpha: Above zero; the larger, the more even the mixture.
        seed: As in all random transforms.

    Raises:
        ValueError: ``alpha`` or ``classes`` is not positive, t has another length than
            x, or a class that is not in [0, classes).
    """

    def __init__(
        self, classes: int, alpha: float = 0.2, seed: int | None = None
    ) -> None:
        super().__init__(seed)
        if classes < 1:
            raise ValueError(f"Mixup: expected classes >= 1, got {classes}")
        if not 0 < alpha < math.inf:
            raise ValueError(f"Mixup: expected alpha > 0, got {alpha}")
        self.classes, self.alpha = classes, alpha

    def __call__(self, x: Array, t: Array) -> tuple[Array, Array]:
        """Mix a batch x (N, ...), t (N,): it gives x (N, ...) and t (N, classes)."""
        xp = cuda.get_array_module(x)
        if t.shape != x.shape[:1] or t.dtype.kind not in "iu":
            raise ValueError(
                f"Mixup: expected one integer t per item, got x of shape {x.shape} "
                f"and t of shape {t.shape} and dtype {t.dtype}"
            )
        if x.size and not 0 <= int(t.min()) <= int(t.max()) < self.classes:
            raise ValueError(
                f"Mixup: expected classes in [0, {self.classes}), "
                f"got {int(t.min())} to {int(t.max())}"
            )
        r = float(self._random.beta(self.alpha, self.alpha))
        order = xp.asarray(self._random.permutation(len(x)))
        dtype = x.dtype if x.dtype.kind == "f" else np.dtype(np.float32)
        x = x.astype(dtype, copy=False)
        one_hot = (t[:, np.newaxis] == xp.arange(self.classes)).astype(dtype)
        mixed = r * one_hot + (1 - r) * one_hot[order]  # (N, classes)
        return r * x + (1 - r) * x[order], mixed
