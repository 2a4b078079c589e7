"""``cupy.linalg`` and ``einsum``, where they are narrower than NumPy's."""

import contextlib
import threading

import numpy as np

from .functions import FUNCTIONS, on_arrays
from .transfers import count
from .wrapping import is_array, unwrap, wrap

NOT_FOUND = ("Singular matrix", "Matrix is not positive definite")


class _Errors(threading.local):
    asked = False


errors = _Errors()


@contextlib.contextmanager
def errstate(*, divide=None, over=None, under=None, invalid=None, linalg=None):
    """Whether linalg looks at what the device says of its success; no more."""
    if not divide is over is under is invalid is None or linalg not in (
        "ignore",
        "raise",
    ):
        raise NotImplementedError(
            "errstate: expected linalg alone, which is all it has"
        )
    before, errors.asked = errors.asked, linalg == "raise"
    try:
        yield
    finally:
        errors.asked = before


def _quiet(name, garbage):
    """NumPy's function, but what cannot be computed is no error: nobody looks."""

    def apply(*args):
        for x in args:
            if not is_array(x):
                raise np.linalg.LinAlgError("cupy.linalg only supports cupy.ndarray")
        if errors.asked:
            count(to_host=1, why=f"did {name} succeed?")
        try:
            return on_arrays(name, getattr(np.linalg, name))(*args)
        except np.linalg.LinAlgError as error:
            if str(error) not in NOT_FOUND or errors.asked:
                raise
            x = unwrap(args[-1])
            return wrap(np.full_like(x, garbage, dtype=np.result_type(x, np.float32)))

    return apply


def solve(a, b):
    """Stacks of matrices as they are: CuPy broadcasts none of them."""
    if b.ndim > 1 and a.shape[:-1] != b.shape[:-1]:
        raise ValueError(
            "a must have (..., M, M) shape and b must have (..., M, K) for "
            f"multidimensional b, got {a.shape} and {b.shape}"
        )
    return _quiet("solve", np.nan)(a, b)


def einsum(*operands, **kwargs):
    """Without ``out``, ``order`` and ``casting``."""
    unknown = kwargs.keys() - {"dtype", "optimize"}
    if unknown:
        raise TypeError(f"Did not understand the following kwargs: {unknown}")
    return on_arrays("einsum", np.einsum)(*operands, **kwargs)


def argsort(a, axis=-1, kind=None):
    """Stable, and by no other name."""
    if kind not in (None, "stable"):
        raise ValueError("kind can only be None or 'stable'")
    return on_arrays("argsort", np.argsort)(a, axis=axis, kind="stable")


def sort(a, axis=-1, kind=None):
    """Likewise."""
    if kind not in (None, "stable"):
        raise ValueError("kind can only be None or 'stable'")
    return on_arrays("sort", np.sort)(a, axis=axis, kind="stable")


# cuSOLVER leaves a factor half done, and finite.
LINALG = {
    "solve": solve,
    "inv": _quiet("inv", np.nan),
    "cholesky": _quiet("cholesky", 1.0),
}
FUNCTIONS |= {"einsum": einsum, "argsort": argsort, "sort": sort}
