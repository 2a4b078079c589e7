"""Puts the stand-ins in the places of CuPy and of cuDNN's front end."""

import contextlib
import sys

import dezero as dz
from dezero.kernels import cudnn

from ..cupy_stand_in import installing
from .front_end import CUDNN, Behaviour, behaviour

__all__ = ["behaviour", "installed"]


@contextlib.contextmanager
def installed():
    """Inside, dezero finds a device, and uses cuDNN there."""
    vars(behaviour).update(vars(Behaviour()))
    wanted = dz.cudnn._wanted
    with installing.installed():
        sys.modules["cudnn"] = CUDNN
        dz.cudnn._wanted = True
        cudnn._of_thread.__dict__.clear()  # plans and handles of the test before
        try:
            yield behaviour
        finally:
            cudnn._of_thread.__dict__.clear()
            dz.cudnn._wanted = wanted
