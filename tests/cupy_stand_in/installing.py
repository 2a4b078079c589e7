"""A stand-in for CuPy where there is no GPU: strict, slow, and honest about transfers.

Its arrays are not NumPy's and refuse to mix with them; its names and arguments are
those of the real CuPy, from names.json, which ``tools/cupy_names.py`` writes; and it
counts what goes between device and host. ``with installed(): ...`` puts it in place.
"""

import contextlib
import sys

from dezero import cuda

from . import operators  # noqa: F401 - completes the array
from .modules import MODULES
from .names import VERSION
from .transfers import transfers

__all__ = ["VERSION", "installed", "transfers"]


@contextlib.contextmanager
def installed():
    """Inside, ``import cupy`` gives the stand-in, and dezero finds a device."""
    before = {path: sys.modules.get(path) for path in MODULES}
    sys.modules.update(MODULES)
    cuda._usable_cupy.cache_clear()
    try:
        yield MODULES["cupy"]
    finally:
        for path, module in before.items():
            if module is None:
                del sys.modules[path]
            else:
                sys.modules[path] = module
        cuda._usable_cupy.cache_clear()
