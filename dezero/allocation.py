"""Freed memory stays in the process: a setting of glibc that saves page faults."""

from __future__ import annotations

import os

# The numbers of these options in glibc's malloc.h.
M_TRIM_THRESHOLD = -1
M_MMAP_THRESHOLD = -3
_LARGE = 1 << 30
_LARGEST_OF_OLD = 32 << 20  # before version 2.35, glibc refuses more

VARIABLE = "DEZERO_POOLED_MALLOC"


def use_pooled_malloc() -> bool:
    """Let the process keep the memory of arrays that are freed, for the next ones.

    glibc gives large blocks back to the system as soon as they are free, and each new
    one is paged in anew, zeros first: in a training step, which makes and frees the
    same arrays over and over, that can be a third of the time. This raises the two
    limits from which it does so, ``M_MMAP_THRESHOLD`` and ``M_TRIM_THRESHOLD`` of
    ``mallopt``, to 1 GiB, for the whole process. Numbers stay as they are. The process
    does not become smaller any more when arrays are freed; the most it needs at one
    time hardly changes.

    Nothing calls it but :func:`dezero.fit` and the scripts in ``examples``. Calling it
    again changes nothing. Arrays on a GPU are not concerned: CuPy has its own pool.

    Whoever runs a script has the last word: where the environment says
    ``DEZERO_POOLED_MALLOC=0``, this does nothing. ``1`` is as if it said nothing.

    Returns:
        Whether freed memory is kept now. False where the C library is another one
        (macOS, Windows, musl), where it refuses, and where the environment says no.

    Raises:
        ValueError: The environment says something else than 0 or 1.
    """
    wish = os.environ.get(VARIABLE, "")
    if wish not in ("", "0", "1"):
        raise ValueError(
            f"use_pooled_malloc: expected {VARIABLE}, if it is set, to be 0 or 1, "
            f"got {wish!r}"
        )
    if wish == "0":
        return False
    try:
        import ctypes  # which not every Python has

        libc = ctypes.CDLL(None)
        _ = libc.gnu_get_libc_version  # other libraries have a mallopt of their own
        mallopt = libc.mallopt
    except (AttributeError, ImportError, OSError, TypeError):  # None: not on Windows
        return False
    kept = mallopt(M_MMAP_THRESHOLD, _LARGE) or mallopt(
        M_MMAP_THRESHOLD, _LARGEST_OF_OLD
    )
    return bool(kept and mallopt(M_TRIM_THRESHOLD, _LARGE))
