"""The table that ``Layer.summary`` returns."""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from dezero.core import Parameter, no_grad, test_mode


def summarize(layer: Any, inputs: tuple[Any, ...], options: dict[str, Any]) -> str:
    """The table of ``layer``, called with ``inputs`` and ``options``."""
    model = copy.deepcopy(layer)
    shapes: dict[int, str] = {}
    for _, item in model.named_layers():
        _watch(item, shapes)
    state = np.random.get_state()  # lazy weights draw from it
    try:
        with no_grad(), test_mode():
            model(*inputs, **options)
    finally:
        np.random.set_state(state)

    sizes: Counter[int] = Counter()
    total = fixed = 0
    unknown = set()
    for _, item, owner in model._walk():
        if not isinstance(item, Parameter):
            continue
        if item.data is None:
            unknown.add(id(owner))
            continue
        sizes[id(owner)] += item.size
        total += item.size
        fixed += 0 if item.requires_grad else item.size

    rows = [("Layer", "Class", "Output shape", "Parameters")]
    for name, item in model.named_layers():
        count = "?" if id(item) in unknown else f"{sizes[id(item)]:,}"
        row = name or "(all)", type(item).__name__, shapes.get(id(item), "-"), count
        rows.append(row)
    note = f", of which {fixed:,} are not trained" if fixed else ""
    note += "; some layers were not called" if unknown else ""
    return f"{_table(rows)}\n{total:,} parameters{note}"


def _watch(layer: Any, shapes: dict[int, str]) -> None:
    """Note the shapes of what ``layer`` returns from now on.

    Python looks ``__call__`` up in the class, so this one object gets a class of its
    own; it is a copy, which nobody else sees.
    """
    cls: Any = type(layer)

    def call(self: Any, *inputs: Any, **options: Any) -> Any:
        outputs = cls.__call__(self, *inputs, **options)
        shapes[id(self)] = _shape_text(outputs)
        return outputs

    watched = type(cls.__name__, (cls,), {"__call__": call})
    object.__setattr__(layer, "__class__", watched)


def _shape_text(outputs: Any) -> str:
    if isinstance(outputs, (tuple, list)):
        return ", ".join([_shape_text(y) for y in outputs])
    return str(outputs.shape) if hasattr(outputs, "shape") else type(outputs).__name__


def _table(rows: Sequence[tuple[str, ...]]) -> str:
    """Columns of equal width, the last one flush right, a line under the first row."""
    widths = [max([len(row[i]) for row in rows]) for i in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = [text.ljust(n) for text, n in zip(row, widths, strict=True)]
        cells[-1] = row[-1].rjust(widths[-1])
        lines.append("  ".join(cells))
    lines.insert(1, "  ".join(["-" * n for n in widths]))
    return "\n".join(lines)
