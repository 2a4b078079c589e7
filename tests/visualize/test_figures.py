"""Figures by themselves: what a notebook shows, and what colours and ticks say."""

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from dezero.visualize.axes import one, several
from dezero.visualize.figures import (
    PlainLog,
    bounded,
    color_bar,
    is_axes,
    listed,
    logarithmic,
    new_axes,
)


def test_a_notebook_shows_axes_and_arrays_of_them():
    png = b"\x89PNG"
    ax = one("f", None)
    assert ax._repr_png_().startswith(png)
    assert ax.figure._repr_png_().startswith(png)
    both = several("f", None, 2)
    assert both._repr_png_().startswith(png)
    assert both[:0]._repr_png_() is None
    # What is drawn into the user's own figure is shown by the user.
    assert several("f", Figure().subplots(), 1)._repr_png_() is None


def test_new_axes():
    grid = new_axes(2, 3, (6, 4))
    assert grid.shape == (2, 3) and all(map(is_axes, grid.flat))
    figure = grid[0, 0].figure
    assert tuple(figure.get_size_inches()) == (6, 4)
    assert isinstance(figure.canvas, FigureCanvasAgg)
    assert not is_axes(figure) and not is_axes(grid)


def test_a_picture_is_written(tmp_path):
    for suffix in "png", "svg", "pdf":
        path = tmp_path / f"picture.{suffix}"
        one("f", None).figure.savefig(path)
        assert path.stat().st_size > 0


def test_a_bar_is_as_high_as_its_image():
    ax = one("f", None)
    color_bar(ax.imshow(np.arange(6.0).reshape(2, 3)), "numbers")
    ax.figure.draw_without_rendering()
    (bar,) = ax.child_axes
    assert bar.get_ylabel() == "numbers"
    high, low = bar.get_window_extent(), ax.get_window_extent()
    np.testing.assert_allclose([high.y0, high.y1], [low.y0, low.y1])
    assert high.x0 > low.x1


def test_a_bar_in_the_figure_of_another():
    ax = Figure().subplots()
    color_bar(ax.imshow(np.arange(6.0).reshape(2, 3)), "numbers")
    assert [other.get_ylabel() for other in ax.figure.axes] == ["", "numbers"]


def test_colors_of_numbers():
    assert listed(["red", "blue"]).N == 2
    assert list(bounded(np.array([-0.5, 0.5, 1.5]))([0, 1])) == [0, 1]
    assert logarithmic(0.01, 100)(1.0) == 0.5


def test_ticks_of_logarithmic_axes_are_plain_numbers():
    ax = Figure().subplots()
    ax.set(yscale="log", ylim=(0.2, 0.9))
    ax.yaxis.set_minor_formatter(PlainLog())
    ax.yaxis.set_major_formatter(PlainLog())
    ax.figure.draw_without_rendering()
    texts = {tick.label1.get_text() for tick in ax.yaxis.get_minor_ticks()}
    assert {"0.2", "0.3"} <= texts
    ax.set_ylim(1e-3, 1e3)
    ax.figure.draw_without_rendering()
    majors = {tick.label1.get_text() for tick in ax.yaxis.get_major_ticks()}
    minors = {tick.label1.get_text() for tick in ax.yaxis.get_minor_ticks()}
    assert {"0.001", "1", "1000"} <= majors and minors == {""}
