"""What training does with batches: one update, and the measures of a validation."""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from dezero import cuda
from dezero.core import Variable, no_grad, test_mode
from dezero.optimizers import LBFGS, Optimizer
from dezero.training.arguments import check_model_and_loss
from dezero.training.batches import Batch, check_loader
from dezero.training.measures import Measures, Metric, as_metrics, scalar
from dezero.training.overflows import HeldBack


def forward(
    function: str, model: Callable[..., Any], loss: Callable[..., Any], batch: Batch
) -> tuple[Any, Variable]:
    """What the model gives for a batch, and the loss of it.

    Raises:
        TypeError: The loss is no Variable.
        ValueError: It has more elements than one.
    """
    y = model(*batch.inputs, **batch.named)
    value = loss(y, batch.t)
    if not isinstance(value, Variable):
        raise TypeError(
            f"{function}: expected loss(y, t) to give a Variable, got "
            f"{type(value).__name__}"
        )
    if value.size != 1:
        raise ValueError(
            f"{function}: expected loss(y, t) to give one number, the mean over the "
            f"batch, got the shape {value.shape}"
        )
    return y, value


class Updates:
    """Updates of the weights, each from the batches of one group.

    The gradient of a group is that of the mean over all of its items, as if it were one
    batch: every batch counts by its share of the items.
    """

    def __init__(
        self,
        model: Callable[..., Any],
        loss: Callable[..., Any],
        optimizer: Optimizer,
        check_finite: bool | None,
    ) -> None:
        self.model = model
        self.loss = loss
        self.optimizer = optimizer
        self.check_finite = check_finite
        self._checked = False  # did gradients arrive? it takes one look
        self._place = 0, 0

    def update(
        self, group: Sequence[Batch], measures: Measures, epoch: int, step: int
    ) -> None:
        """Change the weights once.

        Args:
            group: The batches.
            measures: Takes in their losses and metrics, those before the update.
            epoch: The place in the training, from 1, for messages.
            step: Likewise, in the epoch.

        Raises:
            FloatingPointError: The loss is not finite; the weights are as before.
            RuntimeError: The loss does not depend on what the optimizer updates.
            TypeError: The loss is no Variable.
            ValueError: It has several elements, or there is no item in the group.
        """
        self._place = epoch, step
        total = sum([batch.size for batch in group])
        if total == 0:
            raise ValueError(
                f"fit: expected batches with items, got none {self._where()}"
            )
        if isinstance(self.optimizer, LBFGS):
            self._search(self.optimizer, group, total, measures)
            return
        self._cleargrads()
        for batch in group:
            y, value, number = self._forward(batch)
            if batch.size == total:
                value.backward(retain_graph=False)
            else:
                xp = cuda.get_array_module(value)
                share = xp.full(value.shape, batch.size / total, value.dtype)
                value.backward(retain_graph=False, grad=share)
            measures.add(batch, y, number)
        if not self._checked:
            self._check_gradients()
        self.optimizer.update()

    def _search(
        self,
        optimizer: LBFGS,
        group: Sequence[Batch],
        total: int,
        measures: Measures,
    ) -> None:
        """One update of an optimizer that computes the loss as often as it likes."""
        calls = 0

        def value_of_all() -> Variable:
            nonlocal calls
            calls += 1
            if calls > 1:  # a trial: it may fail, and does not count
                return _weighted(group, [self._try(b) for b in group], total)
            self._cleargrads()
            passed = [self._forward(batch) for batch in group]
            for batch, (y, _, number) in zip(group, passed, strict=True):
                measures.add(batch, y, number)
            return _weighted(group, [value for _, value, _ in passed], total)

        optimizer.update(value_of_all)
        if not self._checked:
            self._check_gradients()

    def _forward(self, batch: Batch) -> tuple[Any, Variable, Any]:
        """What the model gives, the loss of it, and the same as a scalar."""
        with HeldBack() as warnings:
            y, value = forward("fit", self.model, self.loss, batch)
            if not value.requires_grad:
                raise RuntimeError(
                    "fit: expected a loss that depends on parameters, got one without "
                    "a graph: it was detached, computed with NumPy, or nothing in the "
                    "model requires a gradient"
                )
            number = scalar(value.data)
            # Looking at a number on a GPU means to wait for it.
            look = self.check_finite
            if look is None:
                look = type(number) is float
            if look and not math.isfinite(number):
                warnings.drop()
                where = self._where()
                raise nonfinite(float(number), where, "the weights are as before it")
        return y, value, number

    def _try(self, batch: Batch) -> Variable:
        """The loss of a trial; the optimizer looks whether it is finite."""
        with HeldBack() as warnings:
            value = forward("fit", self.model, self.loss, batch)[1]
            if not math.isfinite(scalar(value.data)):
                warnings.drop()
        return value

    def _where(self) -> str:
        return "in epoch {}, step {}".format(*self._place)

    def _cleargrads(self) -> None:
        if hasattr(self.model, "cleargrads"):
            self.model.cleargrads()
        if self.optimizer.target is not self.model:
            self.optimizer.cleargrads()

    def _check_gradients(self) -> None:
        """A gradient must have arrived at something that is to be updated."""
        if all([p.grad is None for p in self.optimizer.params()]):
            raise RuntimeError(
                "fit: expected a loss that depends on parameters of the optimizer, got "
                "gradients for none of them; was it set up with another model?"
            )
        self._checked = True


def _weighted(group: Sequence[Batch], values: list[Variable], total: int) -> Variable:
    """The mean over all items, from the means over batches."""
    if len(group) == 1:
        return values[0]
    parts = [b.size / total * v for b, v in zip(group, values, strict=True)]
    return functools.reduce(operator.add, parts)


def nonfinite(value: float, where: str, state: str) -> FloatingPointError:
    """The error for a loss that is no number any more."""
    return FloatingPointError(
        f"fit: expected a finite loss, got {value} {where}; {state}. A smaller "
        "learning rate or clip_norm may help"
    )


def evaluate(
    model: Callable[..., Any],
    loader: Iterable[Any],
    loss: Callable[..., Any],
    metrics: Mapping[str, Metric] | Sequence[Metric] | None = None,
) -> dict[str, float]:
    """Measure a model, in test mode and without a graph.

    Args:
        model: As for :func:`dezero.fit`.
        loader: Batches, likewise.
        loss: Likewise.
        metrics: Likewise.

    Returns:
        The mean over all items of the loss, under ``"loss"``, and of each metric.

    Raises:
        TypeError: An argument is of the wrong type, or a batch, loss or metric is.
        ValueError: There is no batch or no item, or a loss or metric has several
            elements.
    """
    check_model_and_loss("evaluate", model, loss)
    named = as_metrics("evaluate", metrics)
    check_loader("evaluate", "loader", loader, passes=1)
    return measure("evaluate", "loader", model, loader, loss, named)


def measure(
    function: str,
    argument: str,
    model: Callable[..., Any],
    loader: Iterable[Any],
    loss: Callable[..., Any],
    metrics: Mapping[str, Metric],
) -> dict[str, float]:
    """The work of :func:`evaluate`, with the names that messages use."""
    measures = Measures(function, metrics)
    with no_grad(), test_mode():
        for batch in loader:
            parts = Batch(function, batch)
            y, value = forward(function, model, loss, parts)
            measures.add(parts, y, scalar(value.data))
    if not measures.means["loss"].count:
        raise ValueError(
            f"{function}: expected {argument} to give batches with items, got none; "
            "a generator can be looped over only once"
        )
    return measures.values()
