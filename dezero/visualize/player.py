"""The backward player: a page on which a backward pass can be watched step by step."""

from __future__ import annotations

import os
from collections.abc import Mapping
from html import escape
from typing import Any

from dezero.core import Variable, _make_seed
from dezero.serializers import atomic_write
from dezero.visualize.player_graph import PlayerGraph
from dezero.visualize.player_page import page_of


class PlayerPage:
    """A page that was written; in a notebook it shows itself.

    Attributes:
        path: Where it is.
        html: What it says.
    """

    def __init__(self, path: str, html: str) -> None:
        self.path = path
        self.html = html

    def __fspath__(self) -> str:
        return self.path

    def __repr__(self) -> str:
        return f"PlayerPage({self.path!r})"

    def _repr_html_(self) -> str:
        return (
            '<iframe title="Backward player" sandbox="allow-scripts" '
            'style="width: 100%; height: 760px; border: 1px solid #888" '
            f'srcdoc="{escape(self.html)}"></iframe>'
        )


def backward_player(
    y: Variable,
    path: str | os.PathLike[str],
    *,
    names: Mapping[str, Any] | None = None,
    title: str | None = None,
) -> PlayerPage:
    """Write a page that plays ``y.backward()``, first forward and then back.

    One HTML file: no network, no other file. For every Function that the engine takes
    out of its queue it shows the queue with its generations, the local rule, the
    gradients that flow in and out (the numbers of small arrays; shape, mean and range
    of others), the sums that they become part of, and which arrays a pass with
    ``retain_graph=False`` frees there. A switch replaces the priority queue with a
    plain stack, and shows what goes wrong then, with the same Functions.

    What is shown is recorded from the engine, which runs over a copy of the graph: the
    graph, and every ``.grad``, stay as they are. The pass starts with ones, or with the
    gradient assigned to ``y.grad``, as ``y.backward()`` does. Results that neither the
    graph nor the script kept are computed again where that is safe, else shown by their
    shape. A player for a gradient (``create_graph=True``) shows the second derivative.

    Args:
        y: A result of any shape.
        path: Where the page goes, a name that ends in ``.html``.
        names: What to call the values: Variables by name, and Layers, whose parameters
            then go by their place in it (``{"model": model}`` gives ``model/l0/W``).
            Others go by their own name, or by a number.
        title: Heading of the page.

    Returns:
        The page, which is a path and shows itself in a notebook.

    Raises:
        TypeError: ``y`` is no Variable, or ``names`` holds something else than
            Variables and Layers.
        RuntimeError: ``y`` has no graph: it is a leaf or a constant; or an earlier pass
            freed it.
        ValueError: ``path`` does not end in ``.html``, or the graph has more than 300
            Functions.
        OSError: The file cannot be written: the folder is missing, for instance.

    Example::

        x = dz.Variable(np.array(2.0), name="x")
        a = x**2
        y = a**2 + a**2
        dz.visualize.backward_player(y, "player.html", names={"a": a, "y": y})
    """
    if not isinstance(y, Variable):
        raise TypeError(
            f"backward_player: expected a Variable as y, got {type(y).__name__}"
        )
    if y.creator is None or not y.requires_grad:
        raise RuntimeError(
            "backward_player: expected a result with a graph behind it, got "
            + ("a leaf" if y.requires_grad else "a constant")
            + ": compute y from a Variable, outside no_grad"
        )
    path = os.fsdecode(path)
    if os.path.splitext(path)[1].lower() not in (".html", ".htm"):
        raise ValueError(
            "backward_player: expected a path that ends in .html, for it is a page "
            f"for a browser, got {path!r}"
        )
    graph = PlayerGraph(y, _by_variable(names or {}))
    # As in backward(): a gradient that the user assigned, else ones.
    given = y._grad if y._seeded else None
    seed = _make_seed("backward_player", y, given)
    words = "The pass starts with the gradient assigned to y.grad"
    if given is None:
        words = "The pass starts with ones, one for each element of y"
    if title is None:
        title = f"Backward pass of {graph.end.name}"
    html = page_of(graph, seed, words, str(title))
    with atomic_write(path) as file:
        file.write(html.encode("utf-8", "replace"))
    return PlayerPage(path, html)


def _by_variable(names: Mapping[str, Any]) -> dict[Variable, str]:
    """Names by Variable; the first of several holds."""
    if not isinstance(names, Mapping):
        raise TypeError(
            "backward_player: expected names as a dict of Variables by name, got "
            f"{type(names).__name__}"
        )
    found: dict[Variable, str] = {}
    for name, x in names.items():
        if isinstance(x, Variable):
            found.setdefault(x, str(name))
        elif hasattr(x, "named_params"):
            for inner, parameter in x.named_params():
                found.setdefault(parameter, f"{name}/{inner}")
        else:
            raise TypeError(
                "backward_player: expected Variables and Layers as names, got "
                f"{type(x).__name__} for {name!r}"
            )
    return found
