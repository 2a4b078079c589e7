"""How large gradients are, layer by layer: now, and over the steps of a training."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dezero import cuda
from dezero.core import Variable
from dezero.diagnostics.measures import named_parameters
from dezero.visualize.arrays import as_count
from dezero.visualize.axes import (
    COLORS,
    MISSING,
    SEQUENTIAL,
    colormap,
    figures,
    one,
    plain,
)

LABEL = "RMS of the gradient"


class GradientRecorder:
    """Writes down how large the gradients are, step by step.

    As a hook of an optimizer it sees the gradients of each update, before the hooks
    that are added after it::

        recorder = dz.visualize.GradientRecorder(model)
        optimizer.add_hook(recorder)
        ...  # train
        dz.visualize.plot_gradient_flow(recorder)

    Without an optimizer, call ``record()`` after each ``loss.backward()``. The numbers
    stay on the device until somebody reads them.

    Args:
        model: A Layer, or an iterable of Parameters.
        every: Writes down only each step of this number.

    Raises:
        TypeError: ``model`` is neither, or ``every`` is no integer.
        ValueError: There are no parameters, or ``every`` is below 1.
    """

    def __init__(self, model: Any, every: int = 1) -> None:
        self._every = as_count("GradientRecorder", "every", every)
        self._rows: list[dict[str, Any]] = []
        self._count = 0
        self.steps: list[int] = []  # the numbers, from 1, of the steps written down
        named = named_parameters("GradientRecorder", model)
        # An iterable can be one that is used up.
        self._model = model if hasattr(model, "named_params") else [p for _, p in named]

    def __call__(self, params: Any = None) -> None:
        """The same as :meth:`record`, as a hook, which is told the parameters."""
        self.record()

    def __len__(self) -> int:
        return len(self.steps)

    def record(self) -> None:
        """Write down the gradients of now."""
        self._count += 1
        if (self._count - 1) % self._every:
            return
        # The parameters are asked for anew: a layer may have got others meanwhile.
        named = named_parameters("GradientRecorder", self._model)
        self._rows.append({name: _rms(p) for name, p in named})
        self.steps.append(self._count)

    @property
    def names(self) -> list[str]:
        """The parameters, in their order in the model."""
        return list(dict.fromkeys([name for row in self._rows for name in row]))

    @property
    def values(self) -> np.ndarray:
        """The root of the mean square of each gradient: (parameters, steps).

        NaN where there was no gradient; infinity where it was not finite.
        """
        names = self.names
        values = [[_number(row.get(name)) for row in self._rows] for name in names]
        return np.array(values).reshape(len(names), len(self._rows))


def plot_gradient_flow(source: Any, ax: Any = None) -> Any:
    """Draw how large the gradient of each parameter is: the root of its mean square.

    Of a model, after ``loss.backward()``, there is a bar for each parameter, from the
    first at the top; of a :class:`GradientRecorder`, a map over the steps. The scale is
    logarithmic. Where it has no place for a number, a word in place of the bar says
    why, and the map is grey. ``dezero.diagnostics.gradient_flow`` says what is wrong.

    Args:
        source: A Layer, an iterable of Parameters, or a :class:`GradientRecorder`.
        ax: Axes to draw into; by default those of a new figure.

    Returns:
        The Axes.

    Raises:
        ImportError: matplotlib is not installed.
        RuntimeError: No parameter has a gradient, or nothing was recorded.
        TypeError: ``source`` is neither.
        ValueError: There are no parameters.
    """
    if isinstance(source, GradientRecorder):
        return _draw_map(source, ax)
    named = named_parameters("plot_gradient_flow", source)
    values = np.array([_number(_rms(p)) for _, p in named])
    if np.isnan(values).all():
        raise RuntimeError(
            "plot_gradient_flow: expected gradients, got none in any parameter; call "
            "loss.backward() first, and cleargrads() after this"
        )
    names = [name for name, _ in named]
    ax = one("plot_gradient_flow", ax, _size(names))
    good = np.isfinite(values) & (values > 0)
    low, high = _decades(values[good])
    rows = np.arange(len(values))
    ax.barh(rows[good], values[good] - low, left=low, height=0.65, color=COLORS[0])
    for i in rows[~good]:
        v = values[i]
        text = "no gradient" if np.isnan(v) else "zero" if v == 0 else "not finite"
        ax.text(low, i, f" {text}", va="center", fontsize="small", style="italic")
    ax.set(xscale="log", xlim=(low, high), xlabel=LABEL, title="Gradient flow")
    ax.set_yticks(rows, [plain(name) for name in names])
    ax.set_ylim(len(values) - 0.5, -0.5)
    ax.set_axisbelow(True)
    ax.grid(axis="x", alpha=0.3)
    return ax


def _draw_map(recorder: GradientRecorder, ax: Any) -> Any:
    if not len(recorder):
        raise RuntimeError(
            "plot_gradient_flow: expected recorded steps, got none; add the recorder "
            "to an optimizer with add_hook, or call record() after backward()"
        )
    values, names, steps = recorder.values, recorder.names, recorder.steps
    good = np.isfinite(values) & (values > 0)
    if not good.any():
        raise RuntimeError(
            "plot_gradient_flow: expected gradients, got none above zero in any step"
        )
    ax = one("plot_gradient_flow", ax, (7.2, _size(names)[1]))
    low, high = values[good].min(), values[good].max()
    half = (steps[-1] - steps[0]) / max(1, len(steps) - 1) / 2 or 0.5
    image = ax.imshow(
        np.where(good, values, np.nan),
        cmap=colormap(SEQUENTIAL),
        norm=figures("plot_gradient_flow").logarithmic(low, max(high, 1.001 * low)),
        aspect="auto",
        interpolation="nearest",
        extent=(steps[0] - half, steps[-1] + half, len(names) - 0.5, -0.5),
    )
    ax.set_facecolor(MISSING)
    figures("plot_gradient_flow").color_bar(image, LABEL)
    ax.set_yticks(range(len(names)), [plain(name) for name in names])
    title = "Gradient flow"
    if not good.all():
        title += " (grey: none, zero or not finite)"
    ax.set(xlabel="step", title=title)
    ax.xaxis.get_major_locator().set_params(integer=True)
    return ax


def _rms(p: Variable) -> Any:
    """The root of the mean square of the gradient, where it is; None without one."""
    if p.grad is None or p.grad.data is None:
        return None
    g = p.grad.data
    if not g.size:
        return 0.0
    xp = cuda.get_array_module(g)
    with np.errstate(over="ignore", invalid="ignore"):
        return xp.sqrt(xp.square(g.astype(np.float64)).mean())


def _number(value: Any) -> float:
    """NaN for None; infinity for NaN, which is no size either."""
    if value is None:
        return math.nan
    size = float(value)  # fetched from the device
    return math.inf if math.isnan(size) else size


def _decades(values: np.ndarray) -> tuple[float, float]:
    """Powers of ten around positive numbers."""
    if not values.size:
        return 1e-1, 1.0
    low = math.floor(math.log10(values.min()) - 0.1)
    high = math.ceil(math.log10(values.max()) + 0.05)
    # Powers beyond these are no floats, or lose all digits.
    return 10.0 ** max(low, -300), 10.0 ** min(max(high, low + 1), 300)


def _size(names: list[str]) -> tuple[float, float]:
    """Inches: a row for each name, and room for the longest."""
    return 5.4 + 0.07 * max(map(len, names)), min(14.0, 1.4 + 0.26 * len(names))
