"""A stand-in for CuPy where there is no GPU: strict, slow, and honest about transfers.

Its arrays are not NumPy's and refuse to mix with them; its names and arguments are
those of the real CuPy, from names.json, which ``tools/cupy_names.py`` writes; and it
counts what goes between device and host. ``with installed(): ...`` puts it in place.
"""

import contextlib
import sys

from dezero import cuda, cudnn

from . import operators  # noqa: F401 - completes the array
from .modules import MODULES
from .names import VERSION
from .transfers import transfers

__all__ = ["VERSION", "installed", "transfers"]


@contextlib.contextmanager
def installed():
    """Inside, ``import cupy`` gives the stand-in, and dezero finds a device.

    A real cuDNN, should there be one, is not to be had: it would not know these arrays.
    """
    modules = MODULES | {"cudnn": None}
    before = {path: sys.modules[path] for path in modules if path in sys.modules}
    sys.modules.update(modules)
    _forget()
    try:
        yield MODULES["cupy"]
    finally:
        for path in modules:
            del sys.modules[path]
        sys.modules.update(before)
        _forget()


def _forget():
    """Let dezero look again."""
    cuda._usable_cupy.cache_clear()
    cudnn._usable.cache_clear()
