"""Watching a training: a picture that is drawn anew, or a line of text."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Mapping, Sequence
from typing import Any, TextIO

import numpy as np

from dezero.visualize.arrays import as_array, as_count
from dezero.visualize.history import PREFIX, plot_history
from dezero.visualize.sparklines import sparkline


class LivePlot:
    """A callback of ``dz.fit`` that shows the history after each epoch.

    ::

        dz.fit(model, loader, loss, optimizer, callbacks=[dz.visualize.LivePlot()])

    In a notebook it is the picture of :func:`plot_history`, drawn anew in its place.
    Elsewhere, or without matplotlib, it is a line of text per epoch, with a sparkline
    for each panel. So it is while nothing finite can be drawn: a training does not end
    because of its picture. ::

        loss █▅▃▂▂▁▁ 0.0312 (validation 0.0721)  accuracy ▁▅▇██ 0.991

    Args:
        panels: As in :func:`plot_history`. In text, the loss and the metrics.
        log: Likewise; of the picture alone.
        every: Show each epoch of this number, and the first. ``draw()`` afterwards
            shows the last one.
        width: Characters of a sparkline.
        stream: Where text goes; by default the standard error, as the progress of
            ``dz.fit`` does.

    Attributes:
        axes: The Axes of the last picture; None before, and in text.

    Raises:
        TypeError: ``every`` or ``width`` is no integer.
        ValueError: It is below 1.
    """

    def __init__(
        self,
        panels: Sequence[str] | None = None,
        log: bool | Sequence[str] = False,
        every: int = 1,
        width: int = 24,
        stream: TextIO | None = None,
    ) -> None:
        self._panels = panels
        self._log = log
        self._every = as_count("LivePlot", "every", every)
        self._width = as_count("LivePlot", "width", width)
        self._stream = stream
        self._history: Mapping[str, Any] = {}
        self._calls = 0
        self._handle: Any = None  # of the output in the notebook
        self.axes: Any = None

    def __call__(self, history: Mapping[str, Any]) -> None:
        """Show the history so far, if this epoch's turn has come."""
        self._history = history
        self._calls += 1
        if (self._calls - 1) % self._every == 0:
            self.draw()

    def draw(self) -> None:
        """Show the history as of now.

        Raises:
            ValueError: There is none yet.
        """
        if not self._history:
            raise ValueError("LivePlot: expected a history to draw, got none yet")
        stream = sys.stderr if self._stream is None else self._stream
        line = self._line(stream)  # first: it complains of unknown panels
        display = _notebook_display()
        if display is None:
            print(line, file=stream, flush=True)
            return
        try:
            self.axes = plot_history(self._history, self._panels, self._log)
        except ValueError as error:
            print(f"{error}\n{line}", file=stream, flush=True)
            return
        figure = self.axes[0].figure
        if self._handle is None:
            self._handle = display(figure, display_id=True)
        else:
            self._handle.update(figure)

    def _line(self, stream: TextIO) -> str:
        """The curves as text."""
        chosen = self._panels
        if chosen is None:
            skipped = ("epoch", "seconds", "lr")
            names = [name.removeprefix(PREFIX) for name in self._history]
            chosen = [name for name in dict.fromkeys(names) if name not in skipped]
        parts = []
        for name in chosen:
            key = name if name in self._history else PREFIX + name
            if key not in self._history:
                raise ValueError(
                    f"LivePlot: expected panels among {', '.join(self._history)}, got "
                    f"{name!r}"
                )
            values = as_array("LivePlot", name, self._history[key]).astype(np.float64)
            text = f"{name} {sparkline(values, self._width, stream=stream)}"
            text += f" {values[-1]:.4g}"
            if key == name and PREFIX + name in self._history:
                text += f" (validation {float(self._history[PREFIX + name][-1]):.4g})"
            parts.append(text)
        return "  ".join(parts)


def _notebook_display() -> Any:
    """IPython's ``display``, if this is a notebook and matplotlib is there; or None."""
    ipython: Any = sys.modules.get("IPython")  # a notebook has imported it
    shell = ipython.get_ipython() if hasattr(ipython, "get_ipython") else None
    if getattr(shell, "kernel", None) is None:  # a terminal has no kernel
        return None
    try:
        importlib.import_module("matplotlib")
    except ImportError:
        return None
    return importlib.import_module("IPython.display").display
