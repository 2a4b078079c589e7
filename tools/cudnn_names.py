"""Which names has cuDNN's front end, and what arguments do they take?

``python tools/cudnn_names.py`` runs where ``nvidia-cudnn-frontend`` is installed; it
needs no device and no cuDNN. It writes ``tests/cudnn_stand_in/names.json``, as
``tools/cupy_names.py`` does for CuPy: what the stand-in for the module ``cudnn`` may
have, and no more.
"""

from __future__ import annotations

import argparse
import importlib
import inspect
import json
import pathlib
import re
from typing import Any

from cupy_names import arguments

ROOT = pathlib.Path(__file__).resolve().parents[1]
TARGET = ROOT / "tests/cudnn_stand_in/names.json"
ENUMS = ["data_type", "heur_mode", "numerical_note"]
CLASSES = ["pygraph", "Tensor"]
OF_MODULE = [
    "backend_version",
    "create_handle",
    "cudnnGraphNotSupportedError",
    "destroy_handle",
    "set_stream",
    *ENUMS,
    *CLASSES,
]
# The public builders take anything and look at it later; these say what they expect.
NODES = ["conv_dgrad", "conv_fprop", "conv_wgrad"]


def main() -> None:
    """Write the file, or another one that is named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("target", nargs="?", type=pathlib.Path, default=TARGET)
    target = parser.parse_args().target
    cudnn = importlib.import_module("cudnn")
    compiled = importlib.import_module("cudnn._compiled_module")
    table: dict[str, Any] = {"nvidia-cudnn-frontend": cudnn.__version__}
    table["module"] = {name: describe(getattr(cudnn, name)) for name in OF_MODULE}
    table["enums"] = {name: sorted(getattr(cudnn, name).__members__) for name in ENUMS}
    table["classes"] = {name: members(getattr(cudnn, name)) for name in CLASSES}
    table["nodes"] = {
        name: documented(getattr(compiled.backend_graph, name)) for name in NODES
    }
    target.parent.mkdir(exist_ok=True)
    target.write_text(json.dumps(table, indent=1) + "\n", encoding="utf-8")


def describe(value: Any) -> str:
    """The arguments of a function, or what else it is."""
    if inspect.isclass(value):
        return "class"
    if callable(value):
        signatures = documented(value)
        return signatures[0] if signatures else arguments(value)
    return "value"


def members(cls: type) -> dict[str, str]:
    """The public attributes of a class, and how an object of it is made."""
    names = ["__init__", *[name for name in sorted(dir(cls)) if name[0] != "_"]]
    return {name: describe(getattr(cls, name)) for name in names}


def documented(function: Any) -> list[str]:
    """The arguments in the first lines of the docs of a compiled function, if any.

    One line for each way to call it: ``f(self, a: list[int] = [], b: int) -> int``.
    """
    name, found = function.__name__, []
    for line in (function.__doc__ or "").splitlines():
        match = re.match(rf"{name}(\(.*\)) -> ", line)
        if match is None:
            break
        text = re.sub(r": [^=,)]*(?:\[[^\]]*\])?(?= =|,|\))", "", match[1])
        found.append(re.sub(r" = [^,)]*", "=...", text))
    return found


if __name__ == "__main__":
    main()
