"""Model: the Layer at the top."""

from __future__ import annotations

from typing import Any

from dezero.layers import Layer
from dezero.serializers import Path


class Model(Layer):
    """A whole network: a Layer that is trained, saved and shown as one thing."""

    def plot(
        self, *inputs: Any, to_file: Path | None = "model.png", **options: Any
    ) -> Any:
        """Draw what a call does, each layer in a frame; needs the extra ``plot``.

        A copy of the model is called: the model itself stays as it is.

        Args:
            *inputs: What a call would get; arrays of the right shape will do.
            to_file: Where to save the picture; its end tells the type (``.png``,
                ``.svg``, ...). None writes no file.
            **options: As in :func:`dezero.visualize.draw_graph`.

        Returns:
            A drawing, which notebooks show as a picture.

        Raises:
            ImportError: There is no program to draw with.
            TypeError: The model returned no Variable, or an option is unknown.
            ValueError: The type of the file is not known.
        """
        from dezero.visualize.graphs import draw_model  # few scripts draw

        return draw_model(self, *inputs, to_file=to_file, **options)
