"""Arrays in files: ``.npz`` without pickle, and ``.safetensors``."""

from dezero.serializers.files import Path, atomic_write
from dezero.serializers.npz import load_npz, save_npz
from dezero.serializers.safetensors import (
    load_safetensors,
    safetensors_metadata,
    save_safetensors,
)

__all__ = [
    "Path",
    "atomic_write",
    "load_npz",
    "load_safetensors",
    "safetensors_metadata",
    "save_npz",
    "save_safetensors",
]
