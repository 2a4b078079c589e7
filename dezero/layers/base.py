"""Layer: an object that holds parameters, finds them again, and saves them."""

from __future__ import annotations

import reprlib
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from dezero import serializers
from dezero.core import Parameter
from dezero.cuda import Array
from dezero.layers import weights
from dezero.layers.summaries import summarize


class Layer:
    """Something with parameters that is called like a function.

    A subclass makes its Parameters and Layers in ``__init__`` and writes ``forward``,
    which computes with them. Nothing needs to be registered: the parameters are found
    by looking through the attributes, in the order in which they were assigned, and
    into the lists, tuples and dicts among them. So a layer appended to a list later is
    found, and what appears in two places counts once. Attributes whose name begins with
    an underscore, ``inputs`` and ``outputs`` are passed over.

    ``inputs`` and ``outputs`` are weak references to what the last call got and gave
    (``layer.outputs[0]()``): a look inside that keeps no array alive.
    """

    inputs: Sequence[Callable[[], Any]] = ()
    outputs: Sequence[Callable[[], Any]] = ()

    def __call__(self, *inputs: Any, **options: Any) -> Any:
        """Run :meth:`forward` and remember weakly what went in and what came out."""
        outputs = self.forward(*inputs, **options)
        self.inputs = [_weak(x) for x in inputs]
        several = isinstance(outputs, (tuple, list))
        self.outputs = [_weak(y) for y in (outputs if several else (outputs,))]
        return outputs

    def forward(self, *inputs: Any) -> Any:
        """Compute the output from the input; every layer writes its own."""
        raise TypeError(f"{type(self).__name__}: expected a method forward, found none")

    # ---- what it holds ----------------------------------------------------------

    def params(self) -> Iterator[Parameter]:
        """Every Parameter here and in the layers below, each once, in order."""
        for _, p in self.named_params():
            yield p

    def named_params(self) -> Iterator[tuple[str, Parameter]]:
        """The same with names: attributes joined by ``/``, as in ``blocks/0/W``."""
        for name, item, _ in self._walk():
            if isinstance(item, Parameter):
                yield name, item

    def layers(self) -> Iterator[Layer]:
        """This Layer and every one below, each once, in order.

        A model that keeps a list of its own by this name, as ``Sequential`` does, has
        that instead; :meth:`named_layers` is always there.
        """
        for _, layer in self.named_layers():
            yield layer

    def named_layers(self) -> Iterator[tuple[str, Layer]]:
        """The same with names. This Layer comes first and has the name ``""``."""
        for name, item, _ in self._walk():
            if isinstance(item, Layer):
                yield name, item

    def _children(self) -> Iterable[tuple[str, Any]]:
        """The attributes to look through."""
        return [
            (name, value)
            for name, value in vars(self).items()
            if not name.startswith("_") and name not in ("inputs", "outputs")
        ]

    def _walk(self, deep: bool = True) -> Iterator[tuple[str, Any, Layer]]:
        """(name, item, the layer it belongs to) of each Layer and Parameter.

        Without ``deep`` the layers found are not entered.
        """
        seen: dict[int, Any] = {}  # holds the objects, so that no id is given away anew
        stack: list[tuple[str, Any, Layer]] = [("", self, self)]
        while stack:
            name, item, owner = stack.pop()
            if id(item) in seen:
                continue
            seen[id(item)] = item
            children: Iterable[tuple[Any, Any]] = ()
            if isinstance(item, Layer):
                yield name, item, owner
                if deep or item is self:
                    owner = item
                    children = item._children()
            elif isinstance(item, Parameter):
                yield name, item, owner
            elif isinstance(item, dict):
                children = item.items()
            else:
                children = enumerate(item)
            found = [
                (f"{name}/{key}" if name else str(key), child, owner)
                for key, child in children
                if isinstance(child, (Parameter, Layer, list, tuple, dict))
            ]
            stack += reversed(found)

    def cleargrads(self) -> None:
        """Forget the gradients of all parameters."""
        for p in self.params():
            p.cleargrad()

    def to_cpu(self) -> None:
        """Move all parameters to the CPU."""
        for p in self.params():
            p.to_cpu()

    def to_gpu(self) -> None:
        """Move all parameters to the current GPU.

        Raises:
            RuntimeError: No usable CuPy.
        """
        for p in self.params():
            p.to_gpu()

    # ---- saving -----------------------------------------------------------------

    def state_dict(self) -> dict[str, np.ndarray | None]:
        """The data of all parameters by name, in copies on the CPU.

        Returns:
            Arrays; None for a parameter whose shape is not known yet.

        Raises:
            ValueError: Two parameters have the same name.
        """
        return weights.state_dict(self)

    def load_state_dict(
        self, state: Mapping[str, Array | None], strict: bool = True
    ) -> weights.LoadedKeys:
        """Give all parameters the data that :meth:`state_dict` gave, in copies.

        Arrays are cast to the dtype of the parameter (a lazy one: to the ``dtype`` of
        its layer, where that has one), among integers or floats. A lazy one takes the
        shape of what was saved.

        Args:
            state: Arrays by name.
            strict: Whether the names must be those of this layer. Without, what has
                the same name is loaded; it must have the same shape all the same.

        Returns:
            The named tuple ``(missing_keys, unexpected_keys)``, the names of this
            layer that ``state`` has not, and the other way round.

        Raises:
            TypeError: ``state`` is no such dict.
            ValueError: Names, shapes or kinds of number are not those of this layer,
                or a number is out of the range of its dtype; then nothing is changed,
                and the message lists them all.
        """
        return weights.load_state_dict(self, state, strict)

    def save_weights(self, path: serializers.Path) -> None:
        """Write all parameters to a file, under their names.

        The file takes the place of an older one only when it is complete.

        Args:
            path: With ``.safetensors`` at its end, the file has that format, which
                other frameworks read too (needs the package safetensors). Else it is
                an ``.npz`` file, and ``.npz`` is added where it is missing.

        Raises:
            ImportError: safetensors is wanted and not installed.
            ValueError: Two parameters have the same name, or a shape that
                ``.safetensors`` would need is not known yet.
        """
        weights.save_weights(self, path)

    def load_weights(
        self, path: serializers.Path, strict: bool = True
    ) -> weights.LoadedKeys:
        """Read all parameters from a file that :meth:`save_weights` wrote.

        Args:
            path: As given to :meth:`save_weights`, with or without ``.npz``.
            strict: As in :meth:`load_state_dict`, and so is the rest.

        Returns:
            The named tuple ``(missing_keys, unexpected_keys)``.

        Raises:
            FileNotFoundError: There is no such file.
            ImportError: It is ``.safetensors``, and that package is not installed.
            ValueError: The file is damaged, or its names, shapes or kinds of number
                are not those of this layer, or a number is out of the range of its
                dtype; then nothing is changed, and the message lists them all.
        """
        return weights.load_weights(self, path, strict)

    def __getstate__(self) -> dict[str, Any]:
        # For pickle and copy, which weak references do not survive.
        return {k: v for k, v in vars(self).items() if k not in ("inputs", "outputs")}

    # ---- looking at it ------------------------------------------------------------

    def summary(self, *inputs: Any, **options: Any) -> str:
        """A table of all layers: name, class, shape of the output, parameters.

        ``print(model.summary(x))`` runs a copy of the model in test mode: sizes that
        only a call tells are told, and the model itself stays as it is.

        Args:
            *inputs: What a call would get; arrays of the right shape will do.
            **options: Likewise.

        Returns:
            The table as text. A parameter is counted where it is found first. Of
            several calls to a layer the last one counts, and ``-`` stands where there
            was none.
        """
        return summarize(self, inputs, options)

    @reprlib.recursive_repr()
    def __repr__(self) -> str:
        parts = [(name, item) for name, item, _ in self._walk(deep=False) if name]
        return describe(self, [(name, _summary(item)) for name, item in parts])


def describe(layer: Layer, parts: Iterable[tuple[str, str]]) -> str:
    """The class of ``layer`` and, one on each indented line, its named parts."""
    lines = [f"{name}: {text}".replace("\n", "\n  ") for name, text in parts]
    inside = "".join([f"\n  {line}" for line in lines])
    return f"{type(layer).__name__}({inside}{chr(10) if lines else ''})"


def _summary(item: Layer | Parameter) -> str:
    if isinstance(item, Layer):
        return repr(item)
    kind = type(item).__name__
    if item.data is None:
        return f"{kind}(shape not known yet)"
    return f"{kind}({item.shape}, {item.dtype})"


def _weak(x: Any) -> Callable[[], Any]:
    try:
        return weakref.ref(x)
    except TypeError:  # None, numbers and lists have no weak references
        return _gone


def _gone() -> None:
    return None
