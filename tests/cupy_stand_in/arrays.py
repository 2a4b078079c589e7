"""The array: not NumPy's, and not to be mixed with it."""

import types

import numpy as np

from .indexing import get, scatter
from .memory import address_of
from .names import lacking
from .transfers import count
from .wrapping import check_dtype, current, register_array_type, unwrap, wrap


class ndarray:
    """An array "on the device": a NumPy array that nobody else can get at."""

    __module__ = "cupy"
    __slots__ = ("__weakref__", "_device", "_inside", "base")
    __array_priority__ = 100
    __hash__ = None

    def __init__(self, shape, dtype=float, memptr=None, strides=None, order="C"):
        self._inside = poisoned(np.empty(shape, check_dtype(dtype), order))
        self._device = current.device
        self.base = None

    @classmethod
    def _of(cls, inside, base=None):
        check_dtype(inside.dtype)
        array = object.__new__(cls)
        array._inside = inside
        array._device = current.device
        array.base = base
        return array

    def __getattr__(self, name):
        raise lacking("cupy.ndarray", name)

    # ---- what it is --------------------------------------------------------------

    shape = property(lambda self: self._inside.shape)
    dtype = property(lambda self: self._inside.dtype)
    ndim = property(lambda self: self._inside.ndim)
    size = property(lambda self: self._inside.size)
    strides = property(lambda self: self._inside.strides)
    itemsize = property(lambda self: self._inside.itemsize)
    nbytes = property(lambda self: self._inside.nbytes)
    T = property(lambda self: wrap(self._inside.T))
    mT = property(lambda self: wrap(np.swapaxes(self._inside, -1, -2)))
    real = property(lambda self: wrap(self._inside.real))
    imag = property(lambda self: wrap(self._inside.imag))

    @property
    def device(self):
        from .devices import Device

        return Device(self._device)

    @property
    def data(self):
        """The pointer to the memory on the device."""
        ptr = address_of(self._inside)
        return types.SimpleNamespace(ptr=ptr, device_id=self._device)

    @property
    def flags(self):
        return Flags(self._inside.flags)

    # ---- to the host -------------------------------------------------------------

    def get(self, stream=None, order="C", out=None, blocking=True):
        count(to_host=1, why="get")
        if out is not None:
            np.copyto(out, self._inside)
            return out
        return self._inside.copy(order="C" if order == "C" else "K")

    def item(self):
        return self.get().item()

    def tolist(self):
        return self.get().tolist()

    def tobytes(self, order="C"):
        return self.get().tobytes(order)

    def __int__(self):
        return int(self.get())

    def __float__(self):
        return float(self.get())

    def __complex__(self):
        return complex(self.get())

    def __bool__(self):
        if self.size == 1:
            return bool(self.get())
        raise ValueError(
            "The truth value of an array with more than one element, or none, is "
            "ambiguous. Use a.any() or a.all()"
        )

    def __repr__(self):
        return repr(self.get())

    def __str__(self):
        return str(self.get())

    def __format__(self, spec):
        return format(self.get(), spec)

    def __reduce__(self):
        from .creation import array

        return array, (self.get(),)

    def __array__(self, dtype=None):
        raise TypeError(
            "Implicit conversion to a NumPy array is not allowed. "
            "Please use `.get()` to construct a NumPy array explicitly."
        )

    # ---- from the host -----------------------------------------------------------

    def set(self, arr, stream=None):
        if not isinstance(arr, np.ndarray):
            raise TypeError("Only numpy.ndarray can be set to cupy.ndarray")
        if arr.shape != self.shape or arr.dtype != self.dtype:
            raise ValueError("Shape or dtype mismatch")
        count(to_device=1, why="set")
        self._inside[...] = arr

    # ---- elements ----------------------------------------------------------------

    def __len__(self):
        if self.ndim == 0:
            raise TypeError("len() of unsized object")
        return self.shape[0]

    def __iter__(self):
        if self.ndim == 0:
            raise TypeError("iteration over a 0-d array")
        return (self[i] for i in range(len(self)))

    def __getitem__(self, slices):
        y = get(unwrap(self), slices)
        return ndarray._of(y, self if y.base is not None else None)

    def __setitem__(self, slices, value):
        scatter(unwrap(self), slices, value, None)

    def _scatter(self, slices, value, function):
        scatter(unwrap(self), slices, value, function)

    def fill(self, value):
        if isinstance(value, ndarray):
            value = unwrap(value).astype(self.dtype)
        if np.shape(value) != ():
            raise ValueError("non-scalar array cannot be used for fill")
        self._inside.fill(value)

    def take(self, indices, axis=None, out=None):
        from .functions import take

        return take(self, indices, axis, out)

    # ---- copies ------------------------------------------------------------------

    def copy(self, order="C"):
        # CuPy copies where the array lies, not to the current device.
        with_device = ndarray._of(self._inside.copy(order))
        return with_device

    def __copy__(self):
        return self.copy()

    def __deepcopy__(self, memo):
        y = self.copy()
        y._device = self._device
        return y

    def astype(self, dtype, order="K", casting=None, subok=None, copy=True):
        x = unwrap(self)
        dtype = check_dtype(dtype)
        if not copy and x.dtype == dtype:
            return self
        with np.errstate(all="ignore"):
            return wrap(x.astype(dtype, order))

    def view(self, dtype=None, type=None):
        return ndarray._of(unwrap(self).view(dtype or self.dtype), self)

    def reshape(self, *shape, order="C", copy=None):
        y = unwrap(self).reshape(*shape, order=order)
        return ndarray._of(y, self)

    # ---- in company --------------------------------------------------------------

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        from .modules import find

        inout = inputs
        if "out" in kwargs:
            if len(kwargs["out"]) != 1:
                raise ValueError("The 'out' parameter must have exactly one array")
            inout = inputs + kwargs["out"]
            kwargs["out"] = kwargs["out"][0]
        function = find("cupy", ufunc.__name__) or find(
            "cupyx.scipy.special", ufunc.__name__
        )
        if method != "__call__":
            function = getattr(function, method, None)
        scalars = (int, float, complex, np.generic)
        if function is None or not all(
            isinstance(x, (ndarray, np.ndarray, *scalars)) for x in inout
        ):
            return NotImplemented
        return function(*inputs, **kwargs)

    def __array_function__(self, func, types, args, kwargs):
        from .modules import find

        path = ".".join(["cupy", *func.__module__.split(".")[1:]])
        function = find(path, func.__name__)
        if function is None or not all(
            issubclass(t, (ndarray, np.ndarray)) for t in types
        ):
            return NotImplemented
        return function(*args, **kwargs)


class Flags:
    """Layout only: there are no read-only arrays on a device."""

    def __init__(self, flags):
        self.c_contiguous = flags.c_contiguous
        self.f_contiguous = flags.f_contiguous
        self.owndata = flags.owndata
        self.fnc = flags.fnc
        self.forc = flags.forc


def poisoned(x):
    """Memory that nobody has written to: whoever reads it finds NaN, or nonsense."""
    x.fill(np.nan if x.dtype.kind in "fc" else 85)
    return x


register_array_type(ndarray)
