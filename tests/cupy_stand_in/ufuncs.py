"""Universal functions: the loops that CuPy has, chosen as CuPy chooses them."""

import numpy as np
import scipy.special

from .names import VERSION, lacking, names_of
from .wrapping import check_dtype, is_array, unwrap, wrap

KINDS = {"b": 0, "u": 1, "i": 1, "f": 2, "c": 3}
COMPARISONS = {"greater", "greater_equal", "less", "less_equal", "equal", "not_equal"}
# What ``at`` can do: by atomic operations on these dtypes.
WIDE = "iIlLqQ"
AT = {
    "add": WIDE + "efd",
    "subtract": "iI",
    "maximum": WIDE + "fd",
    "minimum": WIDE + "fd",
    "bitwise_and": WIDE,
    "bitwise_or": WIDE,
    "bitwise_xor": WIDE,
}


class ufunc:
    """One of CuPy's universal functions, computed by NumPy's or SciPy's."""

    def __init__(self, path, name, function, entry=None):
        entry = names_of(path)[name] if entry is None else entry
        self.name = f"cupy_{name}"
        self.__name__ = name
        self.nin = entry["inputs"]
        self.types = entry["loops"]
        self.nout = len(self.types[0].split("->")[1])
        self.nargs = self.nin + self.nout
        self._function = function

    def __repr__(self):
        return f"<ufunc {self.name!r}>"

    def __getattr__(self, name):
        raise lacking("cupy.ufunc", name)

    def __call__(self, *args, out=None, dtype=None, casting="same_kind", **kwargs):
        for x in args:
            if hasattr(x, "__cupy_override_elementwise_kernel__"):
                return x.__cupy_override_elementwise_kernel__(self, *args, **kwargs)
        if kwargs:
            raise TypeError(f"Wrong arguments {kwargs} for {self.name}")
        if not self.nin <= len(args) <= self.nargs:
            raise TypeError(f"Wrong number of arguments for {self.name!r}: {len(args)}")
        args, given = args[: self.nin], args[self.nin :]
        if out is not None:
            if given:
                raise ValueError("Cannot specify 'out' twice")
            given = out if isinstance(out, tuple) else (out,)
        for x in args:
            if isinstance(x, np.ndarray) or not (
                is_array(x) or isinstance(x, (int, float, complex, np.generic))
            ):
                raise TypeError(f"{self.name}: Unsupported type {type(x)}")
        loop = self._loop(args, dtype)
        ins, outs = loop.split("->")
        xs = [_cast(x, t) for x, t in zip(args, ins, strict=True)]
        with np.errstate(all="ignore"):
            ys = self._function(*xs)
        ys = ys if isinstance(ys, tuple) else (ys,)
        # CuPy's results lie in C order, whatever the arguments do.
        ys = [np.array(y, t, order="C") for y, t in zip(ys, outs, strict=True)]
        given = list(given) + [None] * (self.nout - len(given))
        results = [
            wrap(y) if o is None else _write(o, y, casting)
            for o, y in zip(given, ys, strict=True)
        ]
        return results[0] if self.nout == 1 else tuple(results)

    def _loop(self, args, dtype):
        if dtype is not None:
            char = check_dtype(dtype).char
            fitting = [t for t in self.types if set(t.split("->")[1]) == {char}]
        else:
            dtypes, weak = zip(*[_type_of(x) for x in args], strict=True)
            strong = [KINDS[d.kind] for d, w in zip(dtypes, weak, strict=True) if not w]
            highest = max([KINDS[d.kind] for d in dtypes])
            if not strong or max(strong) < highest:
                weak = (None,) * len(args)
            integers = [w is int for w in weak]
            if self.__name__ in COMPARISONS and any(integers):
                other = dtypes[integers.index(True) - 1]
                if other.kind in "iu":
                    weak = (None, None)
            fitting = [t for t in self.types if _fits(dtypes, weak, t)]
        if not fitting:
            wrong = dtype or dtypes
            raise TypeError(f"Wrong type ({wrong}) of arguments for {self.name}")
        return fitting[0]

    def at(self, a, indices, b=None):
        """Repeated indices count each time."""
        if self.__name__ not in AT:
            raise NotImplementedError(f"`{self.name}.at` is not supported yet")
        if a.dtype.char not in AT[self.__name__]:
            raise TypeError(f"cupy.{self.__name__}.at does not support {a.dtype}")
        a._scatter(indices, b, self._function)

    def outer(self, A, B, **kwargs):
        """All pairs."""
        return self(A.reshape(A.shape + (1,) * B.ndim), B, **kwargs)

    def reduce(self, array, axis=0, dtype=None, out=None, keepdims=False):
        """Sums and products only, as CuPy has it."""
        methods = {"add": "sum", "multiply": "prod"}
        if self.__name__ not in methods:
            raise NotImplementedError(f"`{self.name}.reduce` is not supported yet")
        reduce = getattr(array, methods[self.__name__])
        return reduce(axis, dtype, out, keepdims)

    def accumulate(self, array, axis=0, dtype=None, out=None):
        """Likewise."""
        methods = {"add": "cumsum", "multiply": "cumprod"}
        if self.__name__ not in methods:
            raise NotImplementedError(f"`{self.name}.accumulate` is not supported yet")
        return getattr(array, methods[self.__name__])(axis, dtype, out)


def _type_of(x):
    """The dtype of an argument, and the Python type if it is a weak scalar."""
    if type(x) in (int, float, complex):
        return np.dtype(np.uint64 if type(x) is int and x >= 2**63 else type(x)), type(
            x
        )
    return (np.dtype(bool) if isinstance(x, bool) else check_dtype(x.dtype)), None


def _fits(dtypes, weak, loop):
    for dtype, w, char in zip(dtypes, weak, loop, strict=False):
        if not np.can_cast(dtype, char) and (
            w is None or np.result_type(w(0), np.dtype(char)) != np.dtype(char)
        ):
            return False
    return True


def _cast(x, char):
    if is_array(x):
        return unwrap(x).astype(char, copy=False)
    return np.asarray(x, char)  # refuses 300 as an uint8, as CuPy does


def _write(out, y, casting):
    """The result into an array that was given for it."""
    if not is_array(out):
        raise TypeError(f"Output arguments type must be cupy.ndarray, got {type(out)}")
    if out.shape != y.shape:
        raise ValueError(f"Out shape is mismatched: {out.shape}, expected {y.shape}")
    if not np.can_cast(y.dtype, out.dtype, casting):
        raise TypeError(
            f"Cannot cast output from {y.dtype} to {out.dtype} by {casting!r}"
        )
    np.copyto(unwrap(out), y, casting=casting)
    return out


def make_ufunc(path, name):
    """The ufunc of that name of the module ``path``."""
    function = getattr(np, name, None)
    if function is None or path != "cupy":
        function = getattr(scipy.special, name, None)
    if function is None:
        raise AttributeError(f"neither NumPy nor SciPy has CuPy {VERSION}'s {name}")
    return ufunc(path, name, function)
