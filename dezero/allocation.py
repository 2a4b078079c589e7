"""Freed memory stays in the process: a setting of glibc that saves page faults."""

from __future__ import annotations

import os
from typing import Any

# The numbers of these options in glibc's malloc.h.
M_TRIM_THRESHOLD = -1
M_MMAP_THRESHOLD = -3
_LARGE = 1 << 30
_LARGEST_OF_OLD = 32 << 20  # before version 2.35, glibc refuses more

# From sys/mman.h, and the size of a huge page on x86 and most ARM.
MADV_HUGEPAGE = 14
HUGE = 2 << 20
_ADVISED = 256 << 20

VARIABLE = "DEZERO_POOLED_MALLOC"


def use_pooled_malloc() -> bool:
    """Let the process keep the memory of arrays that are freed, for the next ones.

    glibc gives large blocks back to the system as soon as they are free, and each new
    one is paged in anew, zeros first: in a training step, which makes and frees the
    same arrays over and over, that can be a third of the time. This raises the two
    limits from which it does so, ``M_MMAP_THRESHOLD`` and ``M_TRIM_THRESHOLD`` of
    ``mallopt``, to 1 GiB, for the whole process, and asks Linux for large pages, where
    it has them, for what is allocated next. Numbers stay as they are. The process
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
    kept = bool(kept and mallopt(M_TRIM_THRESHOLD, _LARGE))
    if kept:
        _advise_huge_pages(ctypes, libc)
    return kept


def _advise_huge_pages(ctypes: Any, libc: Any) -> None:
    """Let Linux back the next 256 MiB of the heap with pages of 2 MiB.

    NumPy asks for them for each array from 4 MiB on, but weights and gradients of a
    layer are often smaller: a step of an MLP of 1000 units takes 1 to 6 % less time.
    Memory that is not in use takes no pages of either size.
    """
    try:
        libc.malloc.restype = ctypes.c_void_p
        libc.malloc.argtypes = [ctypes.c_size_t]
        libc.free.argtypes = [ctypes.c_void_p]
        libc.madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    except AttributeError:
        return
    start = libc.malloc(_ADVISED)  # the top of the heap, which grows for it
    if start:
        first = -(-start // HUGE) * HUGE
        size = (start + _ADVISED - first) // HUGE * HUGE
        libc.madvise(first, size, MADV_HUGEPAGE)  # a kernel without them refuses
        libc.free(start)
