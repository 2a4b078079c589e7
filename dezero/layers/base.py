"""Layer: an object that holds parameters, finds them again, and saves them."""

from __future__ import annotations

import reprlib
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from dezero import cuda, serializers
from dezero.core import Parameter
from dezero.layers.summaries import summarize

# What a lazy Parameter is saved as: text, which no Parameter holds.
_LAZY = np.array("shape not known yet")


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

    def save_weights(self, path: serializers.Path) -> None:
        """Write all parameters to an ``.npz`` file, under their names.

        The file takes the place of an older one only when it is complete.

        Args:
            path: ``.npz`` is added where it is missing.

        Raises:
            ValueError: Two parameters have the same name.
        """
        serializers.save_npz(
            path,
            {
                name: _LAZY if p.data is None else p.data
                for name, (p, _) in self._by_name("save_weights").items()
            },
        )

    def load_weights(self, path: serializers.Path) -> None:
        """Read all parameters from a file that :meth:`save_weights` wrote.

        Arrays are cast to the dtype of the parameter (a lazy one: to the ``dtype`` of
        its layer, where that has one), among integers or floats. A lazy one takes the
        shape of what was saved.

        Args:
            path: As given to :meth:`save_weights`, with or without ``.npz``.

        Raises:
            FileNotFoundError: There is no such file.
            ValueError: The file is damaged, or its names, shapes or kinds of number
                are not those of this layer; then nothing is changed, and the message
                lists them all.
        """
        arrays = serializers.load_npz(path)
        params = self._by_name("load_weights")
        found = [name for name in params if name in arrays]
        problems = {
            "missing": [name for name in params if name not in arrays],
            "unexpected": [name for name in arrays if name not in params],
            "of another shape": [
                f"{name} (expected {params[name][0].shape}, "
                f"got {'one not known yet' if shape is None else shape})"
                for name in found
                if params[name][0].data is not None
                and params[name][0].shape != (shape := _shape(arrays[name]))
            ],
            "of another kind": [
                f"{name} (expected {dtype}, got {arrays[name].dtype})"
                for name in found
                if _shape(arrays[name]) is not None
                and not _fits(arrays[name].dtype, dtype := _dtype(*params[name]))
            ],
        }
        if any(problems.values()):
            lists = [f"{kind}: {', '.join(v)}" for kind, v in problems.items() if v]
            raise ValueError(
                f"{type(self).__name__}.load_weights: expected in {str(path)!r} the "
                f"weights of this layer, got others; {'; '.join(lists)}"
            )
        # All arrays are made before the first is assigned: either all change or none.
        new = []
        for name in found:
            p, owner = params[name]
            x = arrays[name]
            if p.data is not None:
                xp = cuda.get_array_module(p.data)
                new.append((p, xp.asarray(x, dtype=p.dtype)))
            elif _shape(x) is not None:
                new.append((p, x.astype(_dtype(p, owner) or x.dtype, copy=False)))
        for p, data in new:
            p.data = data

    def _by_name(self, function: str) -> dict[str, tuple[Parameter, Layer]]:
        """Each Parameter, and the layer it belongs to, by name."""
        params: dict[str, tuple[Parameter, Layer]] = {}
        for name, item, owner in self._walk():
            if not isinstance(item, Parameter):
                continue
            if name in params:
                raise ValueError(
                    f"{type(self).__name__}.{function}: expected a name of its own "
                    f"for every parameter, got two named {name!r}; rename an "
                    "attribute or a dict key"
                )
            params[name] = item, owner
        return params

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


def _shape(x: np.ndarray) -> tuple[int, ...] | None:
    """The shape of a saved array; None if it was saved before it had one."""
    return None if x.dtype.kind == "U" and x.ndim == 0 else x.shape


def _dtype(p: Parameter, owner: Layer) -> np.dtype | None:
    """The dtype that a Parameter has or will have, if that is known."""
    if p.data is not None:
        return p.dtype
    dtype = getattr(owner, "dtype", None)
    return None if dtype is None else np.dtype(dtype)


def _fits(saved: np.dtype, dtype: np.dtype | None) -> bool:
    """Can numbers of dtype ``saved`` be cast without becoming another kind of thing?"""
    if saved.kind not in "fiub":
        return False
    return dtype is None or np.can_cast(saved, dtype, casting="same_kind")


def _weak(x: Any) -> Callable[[], Any]:
    try:
        return weakref.ref(x)
    except TypeError:  # None, numbers and lists have no weak references
        return _gone


def _gone() -> None:
    return None
