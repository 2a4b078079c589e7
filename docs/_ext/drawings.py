"""Pictures of the site that DeZero draws itself, made before the pages are read."""

from __future__ import annotations

import pathlib
from typing import TYPE_CHECKING

import numpy as np

import dezero as dz

if TYPE_CHECKING:  # the tests call these functions where there is no Sphinx
    from sphinx.application import Sphinx


def draw(app: Sphinx) -> None:
    """Write the diamond as a drawing and as a player, into ``_made/``."""
    folder = pathlib.Path(app.srcdir) / "_made"
    folder.mkdir(exist_ok=True)
    x = dz.Variable(np.array(2.0), name="x")
    a = x**2
    b = a**2
    c = 3 * a
    y = b + c
    for value, name in zip((a, b, c, y), "abcy", strict=True):
        value.name = name
    dz.visualize.draw_graph(y, to_file=folder / "diamond.svg", direction="LR")
    names = {"a": a, "b": b, "c": c, "y": y}
    dz.visualize.backward_player(
        y, folder / "player.html", names=names, title="The diamond"
    )


def setup(app: Sphinx) -> dict[str, bool]:
    """Tell Sphinx when."""
    # Before Sphinx-Gallery runs the steps, which put files there too.
    app.connect("builder-inited", draw, priority=100)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
