"""Where to draw: the Axes that were given, or new ones. And colours that tell apart.

matplotlib is imported here when the first picture is drawn.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Iterable
from typing import Any

import numpy as np

# Okabe and Ito 2008, "Color Universal Design": told apart by colour-blind readers too.
# Their order is by contrast to white, and each comes with a marker of its own, since
# print in grey leaves little of a colour.
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
# The numbers from low to high: lightness rises evenly, so it is the same in grey.
SEQUENTIAL = "cividis"
MISSING = "#B0B0B0"  # a grey that no number has


def figures(function: str) -> Any:
    """The module that knows matplotlib.

    Raises:
        ImportError: matplotlib is not installed.
    """
    try:
        importlib.import_module("matplotlib")
    except ImportError:
        raise ImportError(
            f"{function}: expected the package matplotlib, got none; "
            "pip install 'dezero[plot]'"
        ) from None
    return importlib.import_module("dezero.visualize.figures")


def one(function: str, ax: Any, size: tuple[float, float] = (6.4, 4.8)) -> Any:
    """``ax`` if it was given, else the Axes of a new figure of ``size`` inches.

    Raises:
        ImportError: matplotlib is not installed.
        TypeError: ``ax`` is something else.
    """
    module = figures(function)
    if ax is None:
        return module.new_axes(1, 1, size)[0, 0]
    if not module.is_axes(ax):
        raise TypeError(
            f"{function}: expected ax to be matplotlib Axes, got {type(ax).__name__}"
        )
    return ax


def several(
    function: str,
    ax: Any,
    count: int,
    size: tuple[float, float] = (4.6, 3.5),
    columns: int = 3,
) -> Any:
    """``count`` Axes in a row of an array: those that were given, or of a new figure.

    Args:
        function: Who asks, for messages.
        ax: None, Axes for a single one, or an array or list of them.
        count: How many are needed.
        size: Of each new one, in inches.
        columns: How many new ones stand side by side at most.

    Raises:
        ImportError: matplotlib is not installed.
        TypeError: ``ax`` has something else.
        ValueError: It has another number of Axes.
    """
    module = figures(function)
    if ax is None:
        columns = min(count, columns)
        rows = -(-count // columns)
        grid = module.new_axes(rows, columns, (size[0] * columns, size[1] * rows))
        flat = grid.reshape(-1)
        for spare in flat[count:]:
            spare.remove()
        return flat[:count]
    given = [ax] if module.is_axes(ax) else ax
    if isinstance(given, np.ndarray):
        given = list(given.flat)
    if not isinstance(given, (list, tuple)) or not all(map(module.is_axes, given)):
        raise TypeError(
            f"{function}: expected ax to be matplotlib Axes or a list of them, got "
            f"{type(ax).__name__}"
        )
    if len(given) != count:
        raise ValueError(
            f"{function}: expected ax to have {count} Axes, one per panel, got "
            f"{len(given)}"
        )
    array = np.empty(count, object)
    array[:] = given
    return array.view(module.AxesArray)


def colored(n: int) -> list[tuple[str, str]]:
    """A colour and a marker for each of ``n``, no pair twice among the first 24."""
    return [(COLORS[i % len(COLORS)], MARKERS[i % len(MARKERS)]) for i in range(n)]


def text_color(rgba: Any) -> str:
    """Black or white, whichever is read better on a colour.

    Relative luminance as in WCAG 2.1; the two contrasts are equal at 0.179.
    """
    rgb = np.asarray(rgba, float)[:3]
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    return "black" if linear @ (0.2126, 0.7152, 0.0722) > 0.179 else "white"


def colormap(name: str, missing: str = MISSING) -> Any:
    """A copy of the colour map ``name`` that shows NaN in the colour ``missing``."""
    maps = importlib.import_module("matplotlib").colormaps
    return maps[name].with_extremes(bad=missing)


def without_ticks(ax: Any) -> None:
    """Pictures have no numbers along their sides."""
    ax.set(xticks=[], yticks=[])


def without_frame(ax: Any) -> None:
    """Nor has a sheet of pictures a line around it."""
    for spine in ax.spines.values():
        spine.set_visible(False)


def montage(tiles: np.ndarray, columns: int) -> np.ndarray:
    """Tiles (N, H, W) or (N, H, W, 3) side by side in one array, NaN between them.

    Small tiles are enlarged, each pixel to a square, so that the gap of one is thin.
    """
    scale = enlargement(tiles)
    tiles = tiles.repeat(scale, axis=1).repeat(scale, axis=2)
    n, h, w = tiles.shape[:3]
    rows = -(-n // columns)
    height, width = rows * (h + 1) - 1, columns * (w + 1) - 1
    sheet = np.full((height, width, *tiles.shape[3:]), np.nan)
    for i, tile in enumerate(tiles):
        top, left = i // columns * (h + 1), i % columns * (w + 1)
        sheet[top : top + h, left : left + w] = tile
    return sheet


def enlargement(tiles: np.ndarray) -> int:
    """How many times :func:`montage` enlarges these tiles."""
    return max(1, 12 // max(tiles.shape[1:3]))


def near_square(n: int, aspect: float = 1.0) -> int:
    """How many columns ``n`` tiles need for a sheet ``aspect`` as wide as high."""
    return max(1, min(n, math.ceil(math.sqrt(n * aspect))))


def shown(count: int, limit: int, what: str) -> str:
    """What a title adds where not all of them are drawn."""
    return "" if count <= limit else f"first {limit:,} of {count:,} {what}"


def plain(text: str) -> str:
    """A text of the user's, of which matplotlib makes no formula and no secret.

    A label that begins with ``_`` would be left out of legends.
    """
    text = text.replace("$", r"\$")
    return f" {text}" if text.startswith("_") else text


def joined(names: Iterable[str]) -> str:
    """Names for a message."""
    return ", ".join([repr(name) for name in names])
