"""DeZero: a deep-learning framework small enough to be read.

``import dezero as dz`` gives the engine (``dz.Variable``, ``dz.no_grad``, ...), the
functional forms of differentiation (``dz.grad``, ``dz.hvp``, ...) and the modules:
``import dezero.functions as F``, ``import dezero.layers as L``, ``dz.optimizers``, ...
"""

import importlib
from typing import TYPE_CHECKING, Any

from dezero import (
    core,
    cuda,
    dataloaders,
    datasets,
    functions,
    layers,
    models,
    optimizers,
    serializers,
    training,
    transforms,
)
from dezero.allocation import use_pooled_malloc
from dezero.autodiff import (
    grad,
    hessian,
    hvp,
    jacobian,
    jvp,
    value_and_grad,
    vjp,
)
from dezero.checkpoints import load_checkpoint, save_checkpoint
from dezero.core import (
    Config,
    Function,
    Parameter,
    Variable,
    as_array,
    as_variable,
    no_grad,
    test_mode,
    using_config,
)
from dezero.cuda import seed
from dezero.dataloaders import DataLoader, SeqDataLoader
from dezero.datasets import Dataset
from dezero.functions.elementwise import Elementwise
from dezero.functions.variable_methods import setup_variable
from dezero.layers import Layer
from dezero.models import Model
from dezero.training import fit

if TYPE_CHECKING:
    from dezero import diagnostics, utils, visualize
    from dezero.diagnostics import detect_anomaly, explain_grad, profile

__version__ = "0.1.0"
is_simple_core = True  # scripts that ask for a second, simple core need none

setup_variable()


def _variable_svg(x: Variable) -> str | None:
    from dezero.visualize.graph_notebook import variable_svg

    return variable_svg(x)


def _layer_html(layer: Layer) -> str | None:
    from dezero.visualize.graph_notebook import layer_html

    return layer_html(layer)


# What notebooks show. The engine knows of no drawings, so it is attached here.
Variable._repr_svg_ = _variable_svg  # type: ignore[attr-defined]
Layer._repr_html_ = _layer_html  # type: ignore[attr-defined]


# Modules that most scripts do without, and names in them: imported on first need.
_LAZY_MODULES = ("diagnostics", "utils", "visualize")
_LAZY_NAMES = {
    "detect_anomaly": "diagnostics",
    "explain_grad": "diagnostics",
    "profile": "diagnostics",
}


def __getattr__(name: str) -> Any:
    if name in _LAZY_MODULES:
        return importlib.import_module(f"dezero.{name}")
    if name in _LAZY_NAMES:
        module = importlib.import_module(f"dezero.{_LAZY_NAMES[name]}")
        return getattr(module, name)
    raise AttributeError(f"module 'dezero' has no attribute {name!r}")


__all__ = [
    "Config",
    "DataLoader",
    "Dataset",
    "Elementwise",
    "Function",
    "Layer",
    "Model",
    "Parameter",
    "SeqDataLoader",
    "Variable",
    "as_array",
    "as_variable",
    "core",
    "cuda",
    "dataloaders",
    "datasets",
    "detect_anomaly",
    "diagnostics",
    "explain_grad",
    "fit",
    "functions",
    "grad",
    "hessian",
    "hvp",
    "is_simple_core",
    "jacobian",
    "jvp",
    "layers",
    "load_checkpoint",
    "models",
    "no_grad",
    "optimizers",
    "profile",
    "save_checkpoint",
    "seed",
    "serializers",
    "setup_variable",
    "test_mode",
    "training",
    "using_config",
    "transforms",
    "use_pooled_malloc",
    "utils",
    "value_and_grad",
    "visualize",
    "vjp",
]
