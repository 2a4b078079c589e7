"""Memory by its address, for what is handed pointers: none but what was asked for."""

import weakref

import numpy as np

_addressed = weakref.WeakValueDictionary()  # address: the NumPy array that begins there


def address_of(x):
    """Where the first element lies, from now on an address for :func:`at`."""
    address = x.__array_interface__["data"][0]
    _addressed[address] = x
    return address


def at(address, dtype, shape, steps):
    """The memory at ``address`` as an array, where each step is one of elements.

    An array that is gone, another dtype and elements beyond the memory that an array
    lies in, which on a device go unnoticed at best, are errors.
    """
    x = _addressed.get(address)
    if x is None:
        raise RuntimeError(
            f"no array has asked for the address {address:#x}, or is gone"
        )
    if x.dtype != dtype:
        raise RuntimeError(f"memory of {x.dtype} is used as {np.dtype(dtype)}")
    owner = x
    while isinstance(owner.base, np.ndarray):
        owner = owner.base
    low, high = np.lib.array_utils.byte_bounds(owner)
    reach = [(n - 1) * step for n, step in zip(shape, steps, strict=True)]
    first = address + x.itemsize * sum([r for r in reach if r < 0])
    last = address + x.itemsize * (sum([r for r in reach if r > 0]) + 1)
    if 0 not in shape and not low <= first < last <= high:
        raise RuntimeError(
            f"out of bounds: bytes {first - low} to {last - low} of {high - low}"
        )
    strides = [step * x.itemsize for step in steps]
    return np.lib.stride_tricks.as_strided(x, shape, strides)
