"""Copies of a model for the checks of overfit_one_batch: forward passes and steps."""

from __future__ import annotations

import copy
import random
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dezero import cuda
from dezero.core import using_config
from dezero.diagnostics.measures import named_parameters
from dezero.diagnostics.slopes import in_float64
from dezero.layers import Layer
from dezero.optimizers import LBFGS, Adam
from dezero.optimizers.base import Optimizer


class Copies:
    """A model with its loss and batch, of which copies can be run and trained.

    Whatever happens to a copy, the next one is of the model as it was at the start.
    """

    def __init__(
        self,
        model: Layer,
        loss: Callable[..., Any],
        batch: Sequence[Any],
        optimizer: Optimizer | None,
    ) -> None:
        self.model, self.optimizer = copy.deepcopy((model, optimizer))
        self.loss = loss
        self.inputs = tuple(batch[0]) if isinstance(batch[0], tuple) else (batch[0],)
        self.targets = tuple(batch[1:])

    def take(self) -> Layer:
        """A copy of the model."""
        return copy.deepcopy(self.model)

    # ---- forward ------------------------------------------------------------------

    def output(self, model: Layer, inputs: Sequence[Any]) -> Any:
        """What ``model`` makes of the inputs, starting without a state."""
        for _, layer in model.named_layers():
            if callable(reset := getattr(layer, "reset_state", None)):
                reset()
        return model(*inputs)

    def forward(
        self,
        model: Layer,
        inputs: Sequence[Any] | None = None,
        targets: Sequence[Any] | None = None,
    ) -> Any:
        """The loss of ``model``, of the batch unless something else is given."""
        y = self.output(model, self.inputs if inputs is None else inputs)
        return self.loss(y, *(self.targets if targets is None else targets))

    def make_parameters(self) -> Any:
        """The first output. Parameters that the first call makes are made then.

        Whatever else that call changes (running statistics) is not taken over.
        """
        first = self.take()
        y = self.output(first, self.inputs)
        made = dict(first.named_params())
        for name, p in named_parameters("overfit_one_batch", self.model):
            if p.data is None and made[name].data is not None:
                p.data = made[name].data.copy()
        return y

    def in_double(self) -> tuple[Layer, Callable[[Layer], Any]]:
        """A copy in float64, and its loss as a function that always draws the same."""
        model = in_float64(self.take())
        inputs, targets = in_float64(self.inputs), in_float64(self.targets)
        state, python_state = np.random.get_state(), random.getstate()
        on_gpu = any(
            [
                p.data is not None and cuda.get_array_module(p.data) is not np
                for p in model.params()
            ]
        )

        def loss(model: Layer) -> Any:
            # Every call sees the same random numbers. What a GPU draws cannot be drawn
            # again, so nothing shall be drawn there.
            np.random.set_state(state)
            random.setstate(python_state)
            with using_config("train", not on_gpu):
                return self.forward(model, inputs, targets)

        return model, loss

    # ---- training -----------------------------------------------------------------

    def with_optimizer(self) -> tuple[Layer, Optimizer]:
        """Copies of the model and of the optimizer, which belong together."""
        model, optimizer = copy.deepcopy((self.model, self.optimizer))
        if optimizer is None:
            optimizer = Adam(0.01)
        if optimizer.target is None:
            optimizer.setup(model)
        return model, optimizer

    def step(self, model: Layer, optimizer: Optimizer) -> float:
        """One step of training; the loss before it."""
        model.cleargrads()
        loss = self.forward(model)
        if isinstance(optimizer, LBFGS):
            optimizer.update(lambda: self.forward(model))
        else:
            loss.backward(retain_graph=False)
            optimizer.update()
        return loss.item()
