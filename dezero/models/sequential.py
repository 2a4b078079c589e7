"""Models that run one layer after the other."""

from __future__ import annotations

import reprlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, overload

import dezero.functions as F
import dezero.layers as L
from dezero.core import ArrayLike, Variable
from dezero.layers.base import Layer, describe
from dezero.models.base import Model


class _Chain(Model):
    """A Model with a list of layers, ``layers``, whose weights are named l0, l1, ..."""

    layers: list[Any]  # type: ignore[assignment]  # the list has the name that scripts use

    def __init__(self, layers: Iterable[Any]) -> None:
        super().__init__()
        self.layers = list(layers)

    def _children(self) -> Iterable[tuple[str, Any]]:
        named = [(f"l{i}", layer) for i, layer in enumerate(self.layers)]
        return named + [(k, v) for k, v in super()._children() if k != "layers"]

    def __getattr__(self, name: str) -> Any:
        # The list is the one place where the layers are, so l0, l1, ... look there. Not
        # by self.layers: while a copy is made, that is not there yet.
        layers = vars(self).get("layers", ())
        if name[:1] == "l" and name[1:].isdecimal() and int(name[1:]) < len(layers):
            return layers[int(name[1:])]
        raise AttributeError(
            f"{type(self).__name__!r} object has no attribute {name!r}"
        )

    def __setattr__(self, name: str, value: Any) -> None:
        # Assigning l1 would otherwise leave the old layer at work, and save both.
        layers = vars(self).get("layers", ())
        if name[:1] == "l" and name[1:].isdecimal() and int(name[1:]) < len(layers):
            layers[int(name[1:])] = value
        else:
            super().__setattr__(name, value)

    @reprlib.recursive_repr()
    def __repr__(self) -> str:
        return describe(
            self,
            [
                (f"l{i}", repr(f) if isinstance(f, Layer) else _name(f))
                for i, f in enumerate(self.layers)
            ],
        )


class Sequential(_Chain):
    """Run layers one after the other, each on what the one before returned.

    Weights are named by position: ``l0/W``, ``l1/W``, ... An index gives a layer, a
    slice a Sequential that shares its layers with this one. ``model.l1 = layer``
    replaces one, as ``model.layers[1] = layer`` does.

    Args:
        *layers: Layers, or functions such as ``F.relu``.

    Raises:
        TypeError: One of them cannot be called.
    """

    def __init__(self, *layers: Callable[..., Any]) -> None:
        for layer in layers:
            if not callable(layer):
                raise TypeError(
                    "Sequential: expected layers and functions as arguments, got "
                    f"{type(layer).__name__}; write Sequential(l0, l1) or "
                    "Sequential(*layers)"
                )
            if isinstance(layer, type) and issubclass(layer, Layer):
                raise TypeError(
                    "Sequential: expected layers and functions as arguments, got the "
                    f"class {layer.__name__}; write {layer.__name__}(...)"
                )
        super().__init__(layers)

    def forward(self, x: Any) -> Any:
        """Run the layers on ``x``."""
        for layer in self.layers:
            x = layer(x)
        return x

    def __len__(self) -> int:
        return len(self.layers)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.layers)

    @overload
    def __getitem__(self, index: int) -> Any: ...

    @overload
    def __getitem__(self, index: slice) -> Sequential: ...

    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            return Sequential(*self.layers[index])
        return self.layers[index]


class MLP(_Chain):
    """Multi-layer perceptron: Linear layers with an activation between them.

    The sublayers are ``l0``, ``l1``, ... and stand in the list ``layers``; none follows
    the last one. Sizes going in are told by the first call.

    Args:
        fc_output_sizes: Number of features that come out of each layer.
        activation: The function between two layers.

    Raises:
        TypeError: The sizes are no sequence, or ``activation`` is no function.
        ValueError: There is no size.
    """

    def __init__(
        self,
        fc_output_sizes: Sequence[int],
        activation: Callable[[Any], Variable] = F.sigmoid,
    ) -> None:
        if not isinstance(fc_output_sizes, Iterable):
            kind = type(fc_output_sizes).__name__
            raise TypeError(
                f"MLP: expected a sequence of output sizes, got {kind}; "
                "write MLP((100, 10))"
            )
        if not callable(activation):
            raise TypeError(
                "MLP: expected activation to be a function, got "
                f"{type(activation).__name__}"
            )
        sizes = list(fc_output_sizes)
        if not sizes:
            raise ValueError("MLP: expected at least one output size, got none")
        super().__init__([L.Linear(size) for size in sizes])
        self.activation = activation

    def forward(self, x: ArrayLike) -> Variable:
        """Map the features of ``x``.

        Args:
            x: (N, in_size).

        Returns:
            Variable of shape (N, fc_output_sizes[-1]).
        """
        for layer in self.layers[:-1]:
            x = self.activation(layer(x))
        return self.layers[-1](x)


def _name(function: Any) -> str:
    return getattr(function, "__name__", None) or repr(function)
