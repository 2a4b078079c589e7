"""Pictures: of graphs, of the backward pass, of trainings. Needs the extra `plot`."""

from __future__ import annotations

import importlib
from typing import Any

# Where each name is made. Imported on first use: matplotlib takes a while.
_NAMES: dict[str, str] = {
    "backward_player": "player",
    "draw_graph": "graphs",
    "draw_model": "graphs",
    "get_dot": "graphs",
}


def __getattr__(name: str) -> Any:
    if name in _NAMES:
        module = importlib.import_module(f"{__name__}.{_NAMES[name]}")
        return getattr(module, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *_NAMES])
