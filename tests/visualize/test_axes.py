"""Where pictures are drawn, their colours, and that nothing global is touched."""

import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dezero import visualize
from dezero.visualize import axes as module
from dezero.visualize.axes import (
    colored,
    colormap,
    enlargement,
    montage,
    near_square,
    one,
    plain,
    several,
    shown,
    text_color,
)

ROOT = pathlib.Path(__file__).resolve().parents[2]


def run(code):
    result = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_new_axes_stand_in_a_figure_of_their_own():
    ax, other = one("f", None), one("f", None)
    assert isinstance(ax, Axes) and ax.figure is not other.figure


def test_given_axes_are_used():
    ax = Figure().subplots()
    assert one("f", ax) is ax
    assert several("f", ax, 1)[0] is ax
    grid = Figure().subplots(2, 2)
    assert several("f", grid, 4).tolist() == list(grid.flat)
    assert several("f", list(grid[0]), 2).tolist() == list(grid[0])


def test_several_new_axes_wrap():
    found = several("f", None, 5, columns=3)
    assert found.shape == (5,) and len(found[0].figure.axes) == 5
    rows = {round(ax.get_position().y0, 3) for ax in found}
    assert len(rows) == 2


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: one("f", 3), TypeError, "ax to be matplotlib Axes, got int"),
        (
            lambda: several("f", [1], 1),
            TypeError,
            "ax to be matplotlib Axes or a list of them, got list",
        ),
        (
            lambda: several("f", Figure().subplots(), 2),
            ValueError,
            "ax to have 2 Axes, one per panel, got 1",
        ),
    ],
)
def test_errors(call, error, message):
    with pytest.raises(error, match=f"^f: expected {message}"):
        call()


def test_without_matplotlib(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    for draw in (
        lambda: visualize.plot_history({"loss": [1.0]}),
        lambda: visualize.plot_images(np.zeros((1, 2, 2))),
    ):
        with pytest.raises(ImportError, match=r"^plot_\w+: .* 'dezero\[plot\]'"):
            draw()


def test_import_and_drawing_touch_nothing_global():
    code = """
import sys
import dezero as dz
plots = [getattr(dz.visualize, name) for name in dir(dz.visualize)
         if name.startswith("plot_") and "graph" not in name]
assert len(plots) >= 9, plots
assert "matplotlib" not in sys.modules
import matplotlib
before = matplotlib.rcParams.copy()
ax = dz.visualize.plot_confusion([[3, 1], [0, 4]])
ax.figure.canvas.draw()
assert "matplotlib.pyplot" not in sys.modules
after = matplotlib.rcParams.copy()
assert before == after
"""
    run(code)


def test_every_name_is_there():
    names = [name for name in dir(visualize) if name.startswith("plot_")]
    for name in [*names, "GradientRecorder", "LivePlot", "sparkline"]:
        assert getattr(visualize, name).__name__ == name
    with pytest.raises(AttributeError, match="no attribute 'plot_nothing'"):
        _ = visualize.plot_nothing


def test_colors_and_markers_differ():
    assert len(set(colored(24))) == 24


def test_text_stands_out_from_its_ground():
    assert text_color((1, 1, 1, 1)) == "black" and text_color((0, 0, 0, 1)) == "white"
    for name in "Blues", "cividis":
        for rgba in colormap(name)(np.linspace(0, 1, 50)):
            assert contrast(rgba[:3], text_color(rgba)) >= 4.5


def contrast(rgb, name):
    """By WCAG 2.1."""
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    light = linear @ (0.2126, 0.7152, 0.0722)
    return 1.05 / (light + 0.05) if name == "white" else (light + 0.05) / 0.05


def test_colors_of_numbers_rise_in_lightness():
    rgb = colormap(module.SEQUENTIAL)(np.linspace(0, 1, 50))[:, :3]
    assert (np.diff(rgb @ (0.2126, 0.7152, 0.0722)) > 0).all()


def test_montage():
    tiles = np.arange(3 * 12 * 12.0).reshape(3, 12, 12)
    sheet = montage(tiles, 2)
    assert sheet.shape == (25, 25)
    np.testing.assert_array_equal(sheet[:12, 13:], tiles[1])
    np.testing.assert_array_equal(sheet[13:, :12], tiles[2])
    assert np.isnan(sheet[12]).all() and np.isnan(sheet[13:, 12:]).all()
    assert montage(np.zeros((2, 30, 20, 3)), 1).shape == (61, 20, 3)


def test_small_tiles_are_enlarged():
    tiles = np.arange(9.0).reshape(1, 3, 3)
    assert enlargement(tiles) == 4
    sheet = montage(tiles, 1)
    np.testing.assert_array_equal(sheet[::4, ::4], tiles[0])


def test_columns():
    assert [near_square(n) for n in (1, 4, 5, 9)] == [1, 2, 3, 3]
    assert near_square(2, 10) == 2


def test_words():
    assert shown(3, 3, "images") == ""
    assert shown(1797, 64, "images") == "first 64 of 1,797 images"
    assert plain("$a$ _b") == r"\$a\$ _b" and plain("_a") == " _a"


def test_a_star_import_brings_the_pictures():
    assert set(visualize.__all__) <= set(dir(visualize))
    assert {"draw_graph", "sparkline", "plot_history"} <= set(visualize.__all__)
    assert not {"importlib", "Any"} & set(visualize.__all__)
