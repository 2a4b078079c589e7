"""Figures that need no display, and that a notebook shows as what a cell returns."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import BoundaryNorm, ListedColormap, LogNorm
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.patheffects import AbstractPathEffect, withStroke
from matplotlib.ticker import LogFormatter


class Picture(Figure):
    """A Figure of its own: pyplot, its backends and its list of figures are not asked.

    A notebook shows it, and its Axes, where they are the last line of a cell or go
    through ``display``. ``ax.figure.savefig(path)`` writes it.
    """

    def __init__(self, *args: Any, **options: Any) -> None:
        layout = ConstrainedLayoutEngine(w_pad=0.07, h_pad=0.06)  # inches
        super().__init__(*args, layout=layout, **options)
        FigureCanvasAgg(self)

    def _repr_png_(self) -> bytes:
        file = io.BytesIO()
        self.savefig(file, format="png")
        return file.getvalue()


class PictureAxes(Axes):
    """Axes that a notebook shows as the picture that they are part of."""

    def _repr_png_(self) -> bytes | None:
        figure = self.figure
        return figure._repr_png_() if isinstance(figure, Picture) else None


class AxesArray(np.ndarray):
    """An array of Axes, which a notebook shows likewise."""

    def _repr_png_(self) -> bytes | None:
        shown = [ax for ax in self.flat if isinstance(ax, PictureAxes)]
        return shown[0]._repr_png_() if shown else None


def new_axes(rows: int, columns: int, size: tuple[float, float]) -> AxesArray:
    """Axes of a new Picture of ``size`` inches, as an array (rows, columns)."""
    figure = Picture(figsize=size)
    grid = figure.subplots(
        rows, columns, squeeze=False, subplot_kw={"axes_class": PictureAxes}
    )
    return grid.view(AxesArray)


class PlainLog(LogFormatter):
    """Numbers of a logarithmic axis as 0.02, not as powers; some of them, if many."""

    def __call__(self, x: float, pos: int | None = None) -> str:
        """The number of a tick, or nothing where there are too many."""
        return f"{x:g}" if super().__call__(x, pos) else ""


def is_axes(x: object) -> bool:
    """Is ``x`` something to draw into?"""
    return isinstance(x, Axes)


def color_bar(image: Any, label: str) -> None:
    """Say beside the image which colour is which number.

    In a figure of ours the bar is as high as the image; in another's, whose layout we
    do not know, it takes its place from the image.
    """
    ax = image.axes
    place: dict[str, Any] = {"ax": ax}
    if isinstance(ax.figure, Picture):
        width = 0.2 / ax.get_window_extent().width * ax.figure.dpi  # 0.2 inches
        place = {"cax": ax.inset_axes((1 + width / 2, 0, width, 1))}
    ax.figure.colorbar(image, label=label, **place)


def listed(colors: list[str]) -> ListedColormap:
    """A colour for each of the numbers 0, 1, ..."""
    return ListedColormap(colors)


def bounded(levels: np.ndarray) -> BoundaryNorm:
    """The number of the interval between ``levels`` that a value lies in."""
    return BoundaryNorm(levels, len(levels) - 1)


def logarithmic(low: float, high: float) -> LogNorm:
    """Colours by the logarithm of the numbers from ``low`` to ``high``."""
    return LogNorm(low, high)


def outline(color: str) -> list[AbstractPathEffect]:
    """Makes a text stand out from whatever is behind it."""
    return [withStroke(linewidth=2, foreground=color)]
