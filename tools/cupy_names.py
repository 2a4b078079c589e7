"""Which names has CuPy, and what arguments do they take? Write it down for the tests.

``python tools/cupy_names.py`` runs where a CuPy is installed, and cuBLAS, which one of
its modules wants to find; no device is needed. It writes
``tests/cupy_stand_in/names.json``: for each module and class the public names, of a
function its arguments, of an ufunc its loops. The stand-in for CuPy that the tests use
on machines without a GPU has these names and no others.
"""

from __future__ import annotations

import argparse
import importlib
import inspect
import json
import pathlib
import re
from collections.abc import Iterator
from typing import Any

TARGET = pathlib.Path(__file__).resolve().parents[1] / "tests/cupy_stand_in/names.json"

MODULES = [
    "cupy",
    "cupy.cuda",
    "cupy.cuda.runtime",
    "cupy.linalg",
    "cupy.random",
    "cupyx",
    "cupyx.scipy.special",
    "cupy_backends.cuda.libs.cublas",
]
CLASSES = [
    "cupy.ndarray",
    "cupy.ufunc",
    "cupy.cuda.Device",
    "cupy.cuda.MemoryPool",
    "cupy.cuda.MemoryPointer",
    "cupy.cuda.Stream",
]
# Special methods that every object has say nothing about an array.
COMMON = set(dir(object)) - {"__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__"}


def main() -> None:
    """Write the file, or another one that is named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("target", nargs="?", type=pathlib.Path, default=TARGET)
    target = parser.parse_args().target
    cupy = importlib.import_module("cupy")
    table: dict[str, Any] = {"cupy": cupy.__version__}
    modules = {name: importlib.import_module(name) for name in MODULES}
    # Written without a device: what only a running one adds is not there.
    table["modules"] = {
        name: {key: describe(value) for key, value in public(module)}
        for name, module in modules.items()
    }
    table["classes"] = {
        path: {key: describe(value) for key, value in members(find(path))}
        for path in CLASSES
    }
    target.write_text(one_name_per_line(table), encoding="utf-8")


def find(path: str) -> Any:
    """The class that is called ``path``."""
    module, _, name = path.rpartition(".")
    return getattr(importlib.import_module(module), name)


def public(module: Any) -> Iterator[tuple[str, Any]]:
    """The public names of a module, but not the modules that it has imported."""
    for name in sorted(dir(module)):
        value = getattr(module, name)
        if not name.startswith("_") and not (
            inspect.ismodule(value)
            and not value.__name__.startswith(("cupy.", "cupyx.", "cupy_backends."))
        ):
            yield name, value


def members(cls: Any) -> Iterator[tuple[str, Any]]:
    """The public attributes of a class and its special methods."""
    for name in sorted(dir(cls)):
        special = name.startswith("__") and name.endswith("__")
        if special and name not in COMMON or not name.startswith("_"):
            yield name, getattr(cls, name)


def describe(value: Any) -> Any:
    """A list of loops for an ufunc, the arguments of a function, or the kind."""
    if type(value).__name__ == "ufunc":
        return {"inputs": value.nin, "loops": value.types}
    if inspect.isclass(value):
        return "class"
    if inspect.ismodule(value):
        return "module"
    if callable(value):
        return arguments(value)
    return "value"


def arguments(function: Any) -> str:
    """``(a, axis=None)``, from the function or, of a compiled one, from its docs."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return documented(function)
    plain = [
        p.replace(annotation=p.empty, default=shown(p.default))
        for p in signature.parameters.values()
    ]
    return str(inspect.Signature(plain))


class Default:
    """A default in a signature, written so that it can be read back."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text


def shown(default: Any) -> Any:
    """``default`` if it is a plain constant, else dots."""
    if default is inspect.Parameter.empty:
        return default
    if default is None or isinstance(default, (bool, int, float, str)):
        return Default(repr(default))
    return Default("...")


def documented(function: Any) -> str:
    """The arguments in the first line of the docs, or ``(*args, **kwargs)``.

    Types of C stand there before the names: ``sort(self, int axis=-1)``.
    """
    line = (function.__doc__ or "").partition("\n")[0]
    found = re.match(r"[\w.]+\((.*?)\)(?: ->.*)?$", line)
    if found is None:
        return "(*args, **kwargs)"
    parts = [part.strip() for part in found[1].split(",")]
    typed = r"^(?:[\w.]+ )+(?=\w+(?:=|$))"
    parts = [re.sub(r":[^=]*", "", re.sub(typed, "", part)) for part in parts]
    text = f"({', '.join(part for part in parts if part)})"
    try:
        exec(f"def f{text}: pass", {"Ellipsis": ...})
    except (SyntaxError, NameError):
        return "(*args, **kwargs)"
    return text


def one_name_per_line(table: dict[str, Any]) -> str:
    """JSON in which a change of one name is a change of one line."""
    blocks = [f'"cupy": {json.dumps(table["cupy"])}']
    for group in ("modules", "classes"):
        inner = []
        for path, names in table[group].items():
            lines = [f"{json.dumps(k)}: {json.dumps(v)}" for k, v in names.items()]
            inner.append(f"{json.dumps(path)}: {{\n" + ",\n".join(lines) + "\n}")
        blocks.append(f"{json.dumps(group)}: {{\n" + ",\n".join(inner) + "\n}")
    return "{\n" + ",\n".join(blocks) + "\n}\n"


if __name__ == "__main__":
    main()
