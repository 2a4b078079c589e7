"""Drawings of graphs: of a result, of a gradient, of a model at work."""

from __future__ import annotations

from typing import Any

from dezero.core import Variable
from dezero.layers import Layer
from dezero.serializers import Path
from dezero.visualize.graph_closing import close_layers, deepest
from dezero.visualize.graph_dot import Style, dot_text
from dezero.visualize.graph_folding import fold
from dezero.visualize.graph_layers import know_model, run_model
from dezero.visualize.graph_nodes import Graph, Knowledge, collect
from dezero.visualize.graph_rendering import Drawing, file_format
from dezero.visualize.graph_summary import summary_dot

_SMALL = 15  # Functions up to which nothing is folded, unless asked for
_HUGE = 100_000  # Functions from which on it would take too long, unless asked for
_DETAILED = 30  # boxes up to which results are nodes of their own, unless asked for


def draw_graph(
    *outputs: Variable,
    model: Layer | None = None,
    to_file: Path | None = None,
    **options: Any,
) -> Drawing:
    """Draw the graph that was recorded behind ``outputs``.

    Inputs are yellow ellipses, parameters green blocks, constants grey notes,
    Functions blue boxes with round corners, intermediate results white ellipses and the
    outputs orange ones with a double border. What is drawn is what the graph holds: a
    constant stands there only if some backward reads it.

    Args:
        *outputs: Results; a gradient made with ``create_graph=True``, for instance.
        model: Gives its parameters their names (``l0/W``), and each of its layers a
            frame. :func:`draw_model` knows more: it sees the layers at work.
        to_file: Where to save the drawing, as in :meth:`Drawing.save`.
        **options: What is shown, and how:

            - ``verbose``: 0 for names alone; 1 (default) for shapes and dtypes too; 2
              for values, gradients and what Functions were made with, too.
            - ``values``, ``gradients``: these alone, on or off. Small arrays are
              written out, of others the mean and the range.
            - ``direction``: ``"TB"`` (default), top to bottom; ``"LR"``, left to right.
            - ``results``: whether each intermediate result is a node of its own, or
              its shape stands at the arrow; by default it is in small drawings.
            - ``fold``: whether equal blocks in a row are drawn once, with ``×6``; by
              default they are, from 16 Functions on.
            - ``depth``: layers that lie so deep in others are drawn as one box each; by
              default, of more than 30 boxes, those that hold no others.
            - ``limit``: how many boxes may be drawn (300). With more of them, layers
              are closed, and if that is not enough only counts are shown.

    Returns:
        The drawing. The same graph gives the same one.

    Raises:
        ImportError: ``to_file`` is given and there is no program to draw with.
        TypeError: An output is no Variable, the model no Layer, or an option of the
            wrong type or unknown.
        ValueError: There is no output, an option has a value that it cannot have, or
            the type of ``to_file`` is not known.
    """
    return _drawn("draw_graph", outputs, model, to_file, options)


def draw_model(
    model: Layer,
    *inputs: Any,
    to_file: Path | None = None,
    call_options: dict[str, Any] | None = None,
    **options: Any,
) -> Drawing:
    """Call a copy of ``model`` and draw what it does, each layer in a frame.

    The model itself stays as it is, and so do the states of the random generators.

    Args:
        model: A Layer.
        *inputs: What a call would get; arrays of the right shape will do.
        to_file: Where to save the drawing, as in :meth:`Drawing.save`.
        call_options: What a call would get by keyword.
        **options: As in :func:`draw_graph`.

    Returns:
        The drawing.

    Raises:
        TypeError: ``model`` is no Layer, or returns no Variable; else as in
            :func:`draw_graph`.
        ValueError: As in :func:`draw_graph`.
    """
    _check_model("draw_model", model)
    settings = _Settings("draw_model", options)
    if to_file is not None:
        file_format("draw_model", to_file)  # before the model is run
    outputs, known = run_model(model, inputs, call_options or {})
    graph = collect(outputs, known)
    graph.title = type(model).__name__
    drawing = settings.draw(graph)
    if to_file is not None:
        drawing.save(to_file)
    return drawing


def get_dot(*outputs: Variable, model: Layer | None = None, **options: Any) -> str:
    """The drawing of :func:`draw_graph` as text in the DOT language.

    Args:
        *outputs: As in :func:`draw_graph`.
        model: As in :func:`draw_graph`.
        **options: As in :func:`draw_graph`.

    Returns:
        The text. The same graph gives the same one.

    Raises:
        TypeError: As in :func:`draw_graph`.
        ValueError: As in :func:`draw_graph`.
    """
    return _drawn("get_dot", outputs, model, None, options).dot


def _drawn(
    function: str, outputs: Any, model: Any, to_file: Any, options: dict[str, Any]
) -> Drawing:
    if not outputs:
        raise ValueError(f"{function}: expected at least one Variable, got none")
    for y in outputs:
        if not isinstance(y, Variable):
            raise TypeError(f"{function}: expected Variables, got {type(y).__name__}")
    if to_file is not None:
        file_format(function, to_file)
    known = Knowledge()
    if model is not None:
        _check_model(function, model)
        known = know_model(outputs, model)
    drawing = _Settings(function, options).draw(collect(outputs, known))
    if to_file is not None:
        drawing.save(to_file)
    return drawing


def _check_model(function: str, model: Any) -> None:
    if not isinstance(model, Layer):
        raise TypeError(
            f"{function}: expected model to be a Layer, got {type(model).__name__}"
        )


class _Settings:
    """The options of a drawing, checked."""

    def __init__(self, function: str, options: dict[str, Any]) -> None:
        self.function = function
        options = dict(options)
        self.verbose = self._integer(options.pop("verbose", 1), "verbose", 0)
        self.direction = options.pop("direction", "TB")
        if self.direction not in ("TB", "LR"):
            raise ValueError(
                f"{function}: expected direction 'TB' or 'LR', got {self.direction!r}"
            )
        self.switches: dict[str, bool | None] = {}
        for name in ("values", "gradients", "results", "fold"):
            value = options.pop(name, None)
            if value is not None and not isinstance(value, bool):
                raise TypeError(
                    f"{function}: expected {name} to be True, False or None, got "
                    f"{value!r}"
                )
            self.switches[name] = value
        self.limit = self._integer(options.pop("limit", 300), "limit", 1)
        self.depth = options.pop("depth", None)
        if self.depth is not None:
            self.depth = self._integer(self.depth, "depth", 0)
        if options:
            raise TypeError(
                f"{function}: expected the options verbose, values, gradients, "
                "direction, results, fold, depth and limit, got "
                f"{', '.join(map(repr, options))}"
            )

    def _integer(self, value: Any, name: str, least: int) -> int:
        if not isinstance(value, int):
            raise TypeError(
                f"{self.function}: expected {name} to be an integer, got {value!r}"
            )
        if value < least:
            raise ValueError(
                f"{self.function}: expected {name} >= {least}, got {value}"
            )
        return int(value)

    def draw(self, graph: Graph) -> Drawing:
        """Fold, close and write."""
        count = len(graph.calls)
        text = f"{count:,} functions"
        if self._on("fold", _SMALL < count < _HUGE):
            graph = fold(graph)
        whole = graph
        if self.depth is not None or len(graph.calls) > _DETAILED:
            graph = close_layers(graph, self.depth)
        graph = self._within_limit(graph)
        if len(graph.calls) > self.limit:
            return Drawing(summary_dot(whole, self.direction, self.limit), text)
        style = Style(
            self.direction,
            shapes=self.verbose > 0,
            values=self._on("values", self.verbose > 1),
            gradients=self._on("gradients", self.verbose > 1),
            settings=self.verbose > 1,
            results=self._on("results", len(graph.calls) <= _DETAILED),
        )
        return Drawing(dot_text(graph, style), text)

    def _on(self, name: str, default: bool) -> bool:
        value = self.switches[name]
        return default if value is None else value

    def _within_limit(self, graph: Graph) -> Graph:
        """Close layers from the inside out, until what is left can be drawn."""
        depth = deepest(graph)
        closed = graph
        while len(closed.calls) > self.limit and depth > 0:
            depth -= 1
            closed = close_layers(graph, depth)
        if closed is graph or len(closed.calls) > self.limit:
            return graph
        closed.notes = [
            *closed.notes,
            f"Layers inside {depth} others are closed; limit= allows more boxes.",
        ]
        return closed
