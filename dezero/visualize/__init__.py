"""Pictures: of graphs, of the backward pass, of trainings. Needs the extra `plot`."""

from __future__ import annotations

import importlib
from typing import Any

# Where each name is made. Imported on first use: matplotlib takes a while.
_NAMES: dict[str, str] = {
    "GradientRecorder": "flow",
    "LivePlot": "live",
    "attention_weights": "attention",
    "backward_player": "player",
    "draw_graph": "graphs",
    "draw_model": "graphs",
    "get_dot": "graphs",
    "plot_attention": "attention",
    "plot_confusion": "confusion",
    "plot_decision_boundary": "boundaries",
    "plot_feature_maps": "filters",
    "plot_filters": "filters",
    "plot_gradient_flow": "flow",
    "plot_history": "history",
    "plot_images": "images",
    "plot_loss_landscape": "landscape",
    "sparkline": "sparklines",
}


__all__ = sorted(_NAMES)


def __getattr__(name: str) -> Any:
    if name in _NAMES:
        module = importlib.import_module(f"{__name__}.{_NAMES[name]}")
        return getattr(module, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *_NAMES])
