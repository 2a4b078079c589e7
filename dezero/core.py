"""The engine: Variable, Function, and the loop that carries gradients back.

Running code builds the graph. A :class:`Variable` points to the :class:`Function` that
created it, a Function to where the gradients of its inputs go, and :func:`run_backward`
follows those edges with a priority queue: the Function of the highest generation runs
first, so that every gradient that reaches it is complete when it runs.
"""

from __future__ import annotations

import functools
import inspect
import itertools
import operator
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from heapq import heappop, heappush
from typing import TYPE_CHECKING, Any
from weakref import ref as weak_ref

import numpy as np

from dezero import cuda
from dezero.cuda import Array

# What public functions accept: a Variable, an array of either library, or a number.
ArrayLike = Any
Axis = int | tuple[int, ...] | None

# =============================================================================
# Config
# =============================================================================


class _Config(threading.local):
    """Switches of the calling thread; a new thread starts with these defaults."""

    enable_backprop = True
    train = True

    def __setattr__(self, name: str, value: Any) -> None:
        if not hasattr(type(self), name):
            raise AttributeError(
                f"Config: expected 'enable_backprop' or 'train', got {name!r}"
            )
        super().__setattr__(name, value)


Config = _Config()


class using_config:
    """Set ``Config.name`` to ``value`` inside a ``with`` block or a decorated function.

    Of a decorated generator function, it is set while its body runs, not while the loop
    around it does.

    Raises:
        AttributeError: There is no such switch.
    """

    def __init__(self, name: str, value: Any) -> None:
        if not hasattr(Config, name):
            raise AttributeError(
                f"using_config: expected 'enable_backprop' or 'train', got {name!r}"
            )
        self._name, self._value = name, value
        self._old: list[Any] = []  # a list: blocks of the same object can be nested

    def __enter__(self) -> None:
        self._old.append(getattr(Config, self._name))
        setattr(Config, self._name, self._value)

    def __exit__(self, *error: object) -> None:
        setattr(Config, self._name, self._old.pop())

    def __call__(self, f: Callable[..., Any]) -> Callable[..., Any]:
        """Decorate ``f``."""
        steps = inspect.isgeneratorfunction(f)

        @functools.wraps(f)
        def decorated(*args: Any, **kwargs: Any) -> Any:
            # An object per call: the same function may run in several threads.
            config = using_config(self._name, self._value)
            if steps:
                return config._around_steps(f(*args, **kwargs))
            with config:
                return f(*args, **kwargs)

        return decorated

    def _around_steps(self, steps: Generator) -> Generator:
        """What the generator ``steps`` yields, gets and returns."""
        resume = functools.partial(next, steps)
        while True:
            try:
                with self:
                    item = resume()
            except StopIteration as end:
                return end.value
            try:
                resume = functools.partial(steps.send, (yield item))
            except BaseException as error:  # thrown in, or GeneratorExit
                resume = functools.partial(steps.throw, error)


def no_grad() -> using_config:
    """Record nothing inside: results are constants and keep nothing for backward."""
    return using_config("enable_backprop", False)


def test_mode() -> using_config:
    """Let dropout and batch normalisation behave as they do after training."""
    return using_config("train", False)


test_mode.__test__ = False  # type: ignore[attr-defined]  # pytest must not collect it


# =============================================================================
# Variable
# =============================================================================


class Variable:
    """An array that remembers which Function made it.

    Args:
        data: A NumPy or CuPy array of booleans, integers or floats; None stands for an
            array that comes later (a Parameter whose shape is not known yet).
        name: A label for drawings and messages.
        requires_grad: Whether backward passes bring a gradient here. By default they
            do, unless the array is boolean.

    Raises:
        TypeError: ``data`` is a number, a list or anything else that is no such array.
    """

    __slots__ = (
        "__weakref__",
        "_grad",
        "_index",
        "_seeded",
        "creator",
        "data",
        "name",
        "requires_grad",
    )
    __array_priority__ = 200

    data: Any
    name: str | None
    creator: Function | None
    requires_grad: bool
    _grad: Variable | None

    def __init__(
        self,
        data: Array | None,
        name: str | None = None,
        requires_grad: bool | None = None,
    ) -> None:
        if data is not None:
            data = _checked_data(type(self).__name__, data)
        if requires_grad is None:
            requires_grad = data is None or data.dtype.kind != "b"
        self.data = data
        self.name = name
        self.requires_grad = requires_grad
        self.creator = None  # the Function that made it; a leaf has none
        self._index = 0  # which of the creator's outputs it is
        self._grad = None
        self._seeded = False  # did the user assign _grad, for a pass to start from?

    @property
    def grad(self) -> Variable | None:
        """The gradient that backward passes left here, or None.

        One that is assigned to a result (``y.grad = ...``) is what the next pass from
        there starts with, and is used up by it.
        """
        return self._grad

    @grad.setter
    def grad(self, value: Variable | Array | None) -> None:
        if value is not None:
            if not isinstance(value, Variable):
                if not cuda.is_array(value):
                    raise TypeError(
                        "Variable.grad: expected a Variable, an array or None, "
                        f"got {type(value).__name__}"
                    )
                value = as_variable(value)
            if self.data is not None and value.shape != self.data.shape:
                raise ValueError(
                    f"Variable.grad: expected shape {self.data.shape}, as the data "
                    f"has, got {value.shape}"
                )
        self._grad = value
        self._seeded = value is not None

    @property
    def generation(self) -> int:
        """0 for a leaf, else one more than its creator's."""
        return 0 if self.creator is None else self.creator.generation + 1

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the data."""
        return self.data.shape

    @property
    def ndim(self) -> int:
        """Number of axes of the data."""
        return self.data.ndim

    @property
    def size(self) -> int:
        """Number of elements of the data."""
        return self.data.size

    @property
    def dtype(self) -> np.dtype:
        """Element type of the data."""
        return self.data.dtype

    # ---- as an array of Python ---------------------------------------------------

    def __len__(self) -> int:
        return len(self.data)

    def __iter__(self) -> Iterator[Variable]:
        if self.data.ndim == 0:
            raise TypeError("Variable: expected at least one axis to iterate over")
        return (self[i] for i in range(len(self.data)))

    def __contains__(self, item: Any) -> bool:
        return _raw(item) in self.data

    def __bool__(self) -> bool:
        return bool(self.data)

    def __float__(self) -> float:
        return float(self.data)

    def __int__(self) -> int:
        return int(self.data)

    def __index__(self) -> int:
        return operator.index(cuda.as_numpy(self.data))

    def item(self) -> float | int | bool:
        """The one element as a Python number."""
        return self.data.item()

    def __repr__(self) -> str:
        if self.data is None:
            return "variable(None)"
        indent = " " * len("variable(")
        return f"variable({str(self.data).replace(chr(10), chr(10) + indent)})"

    def __format__(self, spec: str) -> str:
        return format(self.data, spec) if spec else str(self)

    __hash__ = object.__hash__  # by identity, since == compares elements

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Keep hash by identity where a subclass has an ``__eq__`` of its own."""
        super().__init_subclass__(**kwargs)
        type.__setattr__(cls, "__hash__", object.__hash__)

    def __eq__(self, other: object) -> Any:
        return other is not None and self.data == _raw(other)

    def __ne__(self, other: object) -> Any:
        return other is None or self.data != _raw(other)

    def __lt__(self, other: Any) -> Any:
        return self.data < _raw(other)

    def __le__(self, other: Any) -> Any:
        return self.data <= _raw(other)

    def __gt__(self, other: Any) -> Any:
        return self.data > _raw(other)

    def __ge__(self, other: Any) -> Any:
        return self.data >= _raw(other)

    def __setitem__(self, index: Any, value: Any) -> None:
        raise TypeError(
            "Variable: item assignment would change a recorded value; use "
            "F.where(mask, value, x) or, outside the graph, x.data[...] = value"
        )

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        """The data as a NumPy array. This leaves the graph: no gradient comes back."""
        return np.array(self.data, dtype=dtype, copy=copy)

    def __getstate__(self) -> Any:
        # Pickle and copy.deepcopy leave the graph behind: the copy is a leaf.
        state: Any = object.__getstate__(self)
        return state[0], {**state[1], "creator": None, "_index": 0, "_seeded": False}

    # ---- the graph ---------------------------------------------------------------

    def set_creator(self, func: Function) -> None:
        """Declare that ``func``, which has this Variable among its outputs, made it.

        Raises:
            ValueError: ``func`` has no such output.
        """
        for i, ref in enumerate(func.outputs):
            if ref() is self:
                self.creator = func
                self._index = i
                return
        raise ValueError(
            "set_creator: expected a Function with this variable among its outputs, "
            f"got {type(func).__name__}"
        )

    def detach(self) -> Variable:
        """A constant with the same data: gradients stop there."""
        return _constant(self.data)

    def cleargrad(self) -> None:
        """Forget the gradient."""
        self._grad = None
        self._seeded = False

    def to_cpu(self) -> None:
        """Move the data, and the gradient, to the CPU."""
        if self.data is not None:
            self.data = cuda.as_numpy(self.data)
        if self._grad is not None:
            self._grad.to_cpu()

    def to_gpu(self) -> None:
        """Move the data, and the gradient, to the current GPU."""
        if self.data is not None:
            self.data = cuda.as_cupy(self.data)
        if self._grad is not None:
            self._grad.to_gpu()

    def backward(
        self,
        retain_grad: bool = False,
        create_graph: bool = False,
        retain_graph: bool = True,
        grad: Variable | Array | None = None,
    ) -> None:
        """Carry the gradient of this Variable back; add it to ``.grad`` of every leaf.

        Args:
            retain_grad: Leave the gradients of this pass on intermediate Variables too.
            create_graph: Record the pass, so that gradients can be differentiated.
                ``x.grad`` and the graph of ``x`` then keep each other alive, until
                ``cleargrad()``; :func:`dezero.grad` leaves no such circle.
            retain_graph: Keep the graph for another pass. With False its arrays are
                freed as the pass goes, which is what a training loop wants.
            grad: The gradient to start from, of this Variable's shape. By default a
                gradient assigned before (``y.grad = ...``), else ones.

        Raises:
            RuntimeError: Nothing here requires a gradient, or the graph was freed by an
                earlier pass.
            TypeError: ``grad``, or what a Function's backward returned, is no gradient.
            ValueError: ``grad`` or a gradient on the way has the wrong shape.
        """
        if not self.requires_grad:
            raise RuntimeError(
                "backward: this variable requires no gradient: it was computed under "
                "no_grad, or from constants only (a raw array is a constant; "
                "Variable(array) is not), or it was detached, or it is a gradient "
                "from a pass without create_graph=True"
            )
        if grad is None and self._seeded and self.creator is not None:
            grad = self._grad
        seed = _make_seed("backward", self, grad)
        kept: list[tuple[Variable, Variable]] | None = [] if retain_grad else None
        table = run_backward([self], [seed], None, create_graph, retain_graph, kept)
        leaves = [x for x in table if x.requires_grad]  # others were frozen since
        sums = [_add_up(x, table[x], create_graph) for x in leaves]
        # From here on nothing can fail: all gradients of the pass are stored, or none.
        for x, total in zip(leaves, sums, strict=True):
            x._grad = total
            x._seeded = False
        if self.creator is not None:
            self.cleargrad()
        for y, gy in kept or ():
            y._grad = gy
            y._seeded = False

    def unchain(self) -> None:
        """Cut the graph here: this Variable is a leaf from now on, for old uses too."""
        if self.creator is not None:
            self.creator._cut_output(self._index)

    def unchain_backward(self) -> None:
        """Cut the graph behind the Function that made this Variable, and free the rest.

        For recurrent networks: backward passes stop at the variables of this step.
        """
        if self.creator is not None:
            for f in _functions_behind([self.creator])[1:]:
                for i in range(len(f.outputs)):
                    f._cut_output(i)

    if TYPE_CHECKING:
        # Attached by functions/variable_methods.py, from one table.

        def __add__(self, other: ArrayLike) -> Variable: ...
        def __radd__(self, other: ArrayLike) -> Variable: ...
        def __sub__(self, other: ArrayLike) -> Variable: ...
        def __rsub__(self, other: ArrayLike) -> Variable: ...
        def __mul__(self, other: ArrayLike) -> Variable: ...
        def __rmul__(self, other: ArrayLike) -> Variable: ...
        def __truediv__(self, other: ArrayLike) -> Variable: ...
        def __rtruediv__(self, other: ArrayLike) -> Variable: ...
        def __floordiv__(self, other: ArrayLike) -> Variable: ...
        def __rfloordiv__(self, other: ArrayLike) -> Variable: ...
        def __mod__(self, other: ArrayLike) -> Variable: ...
        def __rmod__(self, other: ArrayLike) -> Variable: ...
        def __pow__(self, other: ArrayLike) -> Variable: ...
        def __rpow__(self, other: ArrayLike) -> Variable: ...
        def __matmul__(self, other: ArrayLike) -> Variable: ...
        def __rmatmul__(self, other: ArrayLike) -> Variable: ...
        def __neg__(self) -> Variable: ...
        def __pos__(self) -> Variable: ...
        def __abs__(self) -> Variable: ...
        def __getitem__(self, slices: Any) -> Variable: ...
        def __array_ufunc__(
            self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any
        ) -> Any: ...
        def __array_function__(
            self, func: Callable[..., Any], types: Any, args: Any, kwargs: Any
        ) -> Any: ...
        def __cupy_override_elementwise_kernel__(
            self, kernel: Any, *args: Any, **kwargs: Any
        ) -> Any: ...
        @property
        def T(self) -> Variable: ...
        def abs(self) -> Variable: ...
        def all(self, axis: Axis = None, keepdims: bool = False) -> Variable: ...
        def any(self, axis: Axis = None, keepdims: bool = False) -> Variable: ...
        def argmax(
            self, axis: int | None = None, keepdims: bool = False
        ) -> Variable: ...
        def argmin(
            self, axis: int | None = None, keepdims: bool = False
        ) -> Variable: ...
        def astype(self, dtype: Any) -> Variable: ...
        def clip(self, x_min: Any = None, x_max: Any = None) -> Variable: ...
        def cos(self) -> Variable: ...
        def cumprod(self, axis: int | None = None) -> Variable: ...
        def cumsum(self, axis: int | None = None) -> Variable: ...
        def diagonal(
            self, offset: int = 0, axis1: int = 0, axis2: int = 1
        ) -> Variable: ...
        def dot(self, W: ArrayLike) -> Variable: ...
        def exp(self) -> Variable: ...
        def log(self) -> Variable: ...
        def matmul(self, W: ArrayLike) -> Variable: ...
        def max(self, axis: Axis = None, keepdims: bool = False) -> Variable: ...
        def mean(self, axis: Axis = None, keepdims: bool = False) -> Variable: ...
        def min(self, axis: Axis = None, keepdims: bool = False) -> Variable: ...
        def prod(self, axis: Axis = None, keepdims: bool = False) -> Variable: ...
        def ravel(self) -> Variable: ...
        def repeat(
            self, repeats: int | Sequence[int], axis: int | None = None
        ) -> Variable: ...
        def reshape(self, *shape: Any) -> Variable: ...
        def sin(self) -> Variable: ...
        def sqrt(self) -> Variable: ...
        def squeeze(self, axis: Axis = None) -> Variable: ...
        def std(
            self, axis: Axis = None, ddof: int = 0, keepdims: bool = False
        ) -> Variable: ...
        def sum(self, axis: Axis = None, keepdims: bool = False) -> Variable: ...
        def swapaxes(self, axis1: int, axis2: int) -> Variable: ...
        def take(self, indices: Any, axis: int | None = None) -> Variable: ...
        def tanh(self) -> Variable: ...
        def trace(
            self, offset: int = 0, axis1: int = 0, axis2: int = 1
        ) -> Variable: ...
        def transpose(self, *axes: Any) -> Variable: ...
        def var(
            self, axis: Axis = None, ddof: int = 0, keepdims: bool = False
        ) -> Variable: ...


class Parameter(Variable):
    """A Variable that a Layer owns and an Optimizer updates."""

    __slots__ = ()


cuda.register_variable(Variable)


def as_array(x: Any, array_module: Any = np) -> Array:
    """``x`` as an array: a scalar becomes a 0-d one."""
    return x if cuda.is_array(x) else array_module.asarray(x)


def as_variable(obj: Any) -> Variable:
    """``obj`` itself if it is a Variable; an array or a number becomes a constant.

    Raises:
        TypeError: ``obj`` is none of them.
    """
    if isinstance(obj, Variable):
        return obj
    if isinstance(obj, (bool, int, float, np.generic)):
        obj = np.asarray(obj)
    return _constant(_checked_data("as_variable", obj))


def _checked_data(function: str, data: Any) -> Array:
    """``data`` if it is such an array as Variables hold, else an error.

    Of a subclass of ndarray (a memory map, a matrix) it is the plain array beneath, in
    the same memory: a matrix has another ``*``.
    """
    if type(data) is not np.ndarray:
        if isinstance(data, np.ndarray):
            if hasattr(data, "mask"):
                raise TypeError(
                    f"{function}: expected an array without a mask, which would be "
                    f"lost, got {type(data).__name__}; write x.filled(value)"
                )
            data = data.view(np.ndarray)
        elif not cuda.is_array(data):
            hint = ""
            if isinstance(data, Variable):
                hint = "; write x.data, or x.detach() for a constant"
            elif isinstance(data, (bool, int, float, list, tuple, np.generic)):
                text = repr(data)
                hint = f"; write np.array({text if len(text) < 40 else '...'})"
            raise TypeError(
                f"{function}: expected a NumPy or CuPy array, "
                f"got {type(data).__name__}{hint}"
            )
    _check_kind(function, data)
    return data


def _check_kind(function: str, data: Any) -> None:
    if data.dtype.kind not in "fiub":
        raise TypeError(
            f"{function}: expected booleans, integers or floats, got dtype {data.dtype}"
        )


def _raw(x: Any) -> Any:
    return x.data if isinstance(x, Variable) else x


_new = object.__new__


def _constant(data: Array) -> Variable:
    """A Variable around an array known to be good, without checks: for the hot path."""
    y = _new(Variable)
    y.data = data
    y.name = y.creator = y._grad = None
    y.requires_grad = y._seeded = False
    y._index = 0
    return y


# =============================================================================
# Function
# =============================================================================


class Function:
    """An operation and its derivative; a call on Variables is a node of the graph.

    A subclass writes two methods. ``forward(*arrays)`` computes: it gets one array per
    argument (None for None) and returns an array or a tuple of arrays.
    ``backward(*gys)`` gets the gradient of the loss by each output, as Variables, and
    returns the gradient by each input (None where there is none), as Variables made
    with operators and ``dezero.functions``, so that they can be differentiated again.

    Inside ``backward``: ``self.inputs`` are the inputs, ``self.outputs`` weak
    references to the outputs (``self.outputs[0]()``), and ``self.needs_grad[i]`` says
    whether input ``i`` wants a gradient, so that a costly one is computed only then.

    Class attributes to save memory and copies, all safe to leave as they are:

    - ``reads_inputs = False``: backward reads no ``self.inputs``; they are not kept.
    - ``reads_outputs = False``: backward reads no ``self.outputs``; likewise.
    - ``fresh_gradients = True``: backward returns arrays that it has just made and that
      nothing else refers to; the engine may keep them and add to them.
    """

    reads_inputs = True
    reads_outputs = True
    fresh_gradients = False

    # What a call records. As class attributes, so that __init__ need not call ours.
    generation = 0
    inputs: Any = None
    # Per input an edge, where its gradient goes: None (nowhere), a leaf, a Function (to
    # its first or only output) or (Function, output index). The key in a pass's table.
    _edges: Any = None
    _output_refs: Any = None  # weak reference to the output, or a tuple of them
    _output_shape: Any = None  # of the output, or a tuple of shapes
    _output_dtype: Any = None  # likewise
    _output_data: Any = None  # the output's array (or a tuple), if backward reads it
    _cut_outputs: frozenset[int] = frozenset()  # which outputs were unchained

    @property
    def outputs(self) -> tuple[Callable[[], Any], ...]:
        """Weak references to the outputs; inside backward all of them are alive."""
        if type(self._output_refs) is tuple:
            return self._output_refs
        return () if self._output_refs is None else (self._output_refs,)

    @property
    def needs_grad(self) -> list[bool]:
        """For each input, whether backward shall return a gradient for it."""
        return [edge is not None for edge in self._edges or ()]

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Keep hash by identity: two nodes of a graph are never the same one."""
        super().__init_subclass__(**kwargs)
        # A class with __eq__ (a dataclass) has lost it, or has one by value. Set here,
        # it is what the decorator of dataclasses leaves alone.
        type.__setattr__(cls, "__hash__", object.__hash__)

    def forward(self, *xs: Any) -> Any:
        """Compute the output array (or a tuple of them) from the input arrays."""
        raise TypeError(f"{type(self).__name__}: expected a method forward, found none")

    def backward(self, *gys: Any) -> Any:
        """Return the gradient by each input, given the gradient by each output."""
        raise TypeError(
            f"{type(self).__name__}: expected a method backward, found none"
        )

    def __call__(self, *inputs: Any) -> Any:
        """Run forward on the inputs' data; record the call if a gradient is wanted."""
        if self._edges is not None:
            self = self._clone()
            self._cut_outputs = frozenset()
        if not Config.enable_backprop:  # in backward passes: 7 % of a tiny graph
            return self._unrecorded(inputs)
        xs = []
        edges: list[Any] = []
        generation = -1
        raw = False
        for x in inputs:
            if not isinstance(x, Variable):
                if x is not None and (
                    type(x) is not np.ndarray or x.dtype.kind not in "fiub"
                ):
                    return self(*self._wrap(inputs))
                raw = True
                xs.append(x)
                edges.append(None)
                continue
            xs.append(x.data)
            if not x.requires_grad:
                edges.append(None)
                continue
            creator = x.creator
            if creator is None:
                edges.append(x)
                if generation < 0:
                    generation = 0
            else:
                edges.append((creator, x._index) if x._index else creator)
                if creator.generation >= generation:
                    generation = creator.generation + 1
        try:
            y = self.forward(*xs)
        except Exception:
            cuda.check_one_device(type(self).__name__, xs)  # if that was the reason
            raise
        if raw:
            inputs = tuple(
                [_constant(x) if type(x) is np.ndarray else x for x in inputs]
            )
        if type(y) is not np.ndarray:
            y = self._checked(y)
            if type(y) is tuple:
                return self._several(inputs, edges, generation, y)
        if generation < 0:
            return _constant(y)
        self._edges = edges
        self.generation = generation
        if self.reads_inputs:
            self.inputs = inputs
        if self.reads_outputs:
            self._output_data = y
        self._output_shape = y.shape
        self._output_dtype = y.dtype
        output = _new(Variable)  # _made(y, 0), without the cost of a call
        self._output_refs = weak_ref(output)
        output.data = y
        output.creator = self
        output.requires_grad = True
        output.name = output._grad = None
        output._seeded = False
        output._index = 0
        return output

    def _unrecorded(self, inputs: tuple) -> Any:
        """The outputs of a call of which nothing is kept: no edges, no record."""
        xs = []
        for x in inputs:
            if isinstance(x, Variable):
                x = x.data
            elif x is not None and (
                type(x) is not np.ndarray or x.dtype.kind not in "fiub"
            ):
                return self(*self._wrap(inputs))
            xs.append(x)
        try:
            y = self.forward(*xs)
        except Exception:
            cuda.check_one_device(type(self).__name__, xs)  # if that was the reason
            raise
        if type(y) is not np.ndarray:
            y = self._checked(y)
            if type(y) is tuple:
                return tuple([_constant(a) for a in y])
        return _constant(y)

    def _several(self, inputs: tuple, edges: list, generation: int, ys: tuple) -> tuple:
        """The outputs of a Function that has several, and its record."""
        if generation < 0:
            return tuple([_constant(y) for y in ys])
        self._edges = edges
        self.generation = generation
        if self.reads_inputs:
            self.inputs = inputs
        if self.reads_outputs:
            self._output_data = ys
        self._output_shape = tuple([y.shape for y in ys])
        self._output_dtype = tuple([y.dtype for y in ys])
        outputs = tuple([self._made(y, i) for i, y in enumerate(ys)])
        self._output_refs = tuple([weak_ref(output) for output in outputs])
        return outputs

    def _made(self, y: Array, index: int) -> Variable:
        """A Variable that says it is an output of this Function."""
        output = _constant(y)
        output.creator = self
        output.requires_grad = True
        output._index = index
        return output

    def fit_gradient(self, gx: Variable, x: Any) -> Variable:
        """Make a gradient that backward returned fit for the input ``x``, or refuse it.

        Every gradient passes here that has not the shape and dtype of ``x`` already. It
        must have that shape; it gets that dtype where it is a floating one. ``x`` is an
        array or something else with the ``shape`` and ``dtype`` of the input.

        Raises:
            ValueError: The shapes differ.
        """
        if gx.data.shape != x.shape:
            raise ValueError(
                f"{type(self).__name__}.backward: expected a gradient of shape "
                f"{x.shape}, as the input has, got {gx.data.shape}"
            )
        if gx.data.dtype != x.dtype and x.dtype.kind == "f":
            _check_kind(f"{type(self).__name__}.backward", gx.data)
            gx = gx.astype(x.dtype)
        return gx

    def _wrap(self, inputs: tuple[Any, ...]) -> list[Any]:
        """The inputs, with arrays and scalars made constants.

        Scalars are weak: they take the dtype that the arrays beside them ask for. NumPy
        would let ``np.float64(2)`` turn a float32 graph into float64.
        """
        wrapped = list(inputs)
        dtypes = []
        scalars = []
        xp: Any = np
        for i, x in enumerate(inputs):
            if isinstance(x, Variable):
                x = x.data
            elif isinstance(x, (float, int, np.generic)):
                scalars.append(i)
                continue
            elif x is not None:
                x = _checked_data(type(self).__name__, x)
                wrapped[i] = _constant(x)
            if x is not None:
                dtypes.append(x.dtype)
                xp = cuda.get_array_module(x)
        for i in scalars:
            x = inputs[i]
            if isinstance(x, np.generic):
                _check_kind(type(self).__name__, x)
                x = float(x) if isinstance(x, np.longdouble) else x.item()
            if len(dtypes) == 1 and dtypes[0].kind == "f":
                dtype = dtypes[0]  # what result_type says, in a tenth of the time
            else:
                dtype = np.result_type(*dtypes, x) if dtypes else None
            wrapped[i] = _constant(xp.asarray(x, dtype))
        return wrapped

    def _checked(self, y: Any) -> Any:
        """What forward returned, as an array or a tuple of two or more."""
        if isinstance(y, tuple) and not any([isinstance(a, tuple) for a in y]):
            ys = [self._checked(a) for a in y]
            return ys[0] if len(ys) == 1 else tuple(ys)
        if cuda.is_array(y):
            return _checked_data(f"{type(self).__name__}.forward", y)
        if isinstance(y, (np.generic, float, int)):
            return np.asarray(y)  # NumPy turns 0-d results into scalars
        raise TypeError(
            f"{type(self).__name__}.forward: expected an array or a tuple of arrays, "
            f"got {type(y).__name__}"
        )

    def _clone(self) -> Function:
        cls: Any = type(self)
        clone = _new(cls)
        clone.__dict__.update(self.__dict__)
        for name in _slots(cls):
            if hasattr(self, name):
                setattr(clone, name, getattr(self, name))
        return clone

    def _with_outputs(self) -> tuple[Function, list[Any]]:
        """This Function with its outputs alive, for a backward that reads them."""
        outputs = [ref() for ref in self.outputs]
        if all([y is not None for y in outputs]):
            return self, outputs
        kept = (
            self._output_data
            if type(self._output_data) is tuple
            else (self._output_data,)
        )
        for i, y in enumerate(outputs):
            if y is None:
                outputs[i] = self._made(kept[i], i)
        clone = self._clone()  # a copy, since another thread may be in the same graph
        clone._output_refs = tuple([weak_ref(y) for y in outputs])
        return clone, outputs

    def _take_gradients(self, table: dict[Any, Any]) -> tuple[Variable, ...]:
        """The gradients of several outputs, zeros for those that nothing used."""
        entries = [table.pop(self, None)]
        entries += [
            table.pop((self, i), None) for i in range(1, len(self._output_refs))
        ]
        xp = cuda.get_array_module(next(e[0].data for e in entries if e is not None))
        outputs = zip(entries, self._output_shape, self._output_dtype, strict=True)
        return tuple(
            [
                _constant(xp.zeros(shape, dtype)) if entry is None else entry[0]
                for entry, shape, dtype in outputs
            ]
        )

    def _as_gradient(self, gx: Any) -> Variable:
        if isinstance(gx, Variable):
            return gx
        name = f"{type(self).__name__}.backward"
        if not cuda.is_array(gx) and not isinstance(gx, np.generic):
            raise TypeError(
                f"{name}: expected Variables, arrays or None, got {type(gx).__name__}"
            )
        if Config.enable_backprop:
            raise TypeError(
                f"{name}: expected Variables with create_graph=True, got "
                f"{type(gx).__name__}: an array has left the graph, and with it its "
                "further derivatives"
            )
        return _constant(
            _checked_data(name, np.asarray(gx) if isinstance(gx, np.generic) else gx)
        )

    def _cut_output(self, index: int) -> None:
        """Make an output a leaf; once all are, gradients pass here no more."""
        self._cut_outputs |= {index}
        y = self.outputs[index]()
        if y is not None:
            y.creator = None
        if len(self._cut_outputs) == len(self.outputs):
            self._release()

    def _at_cuts(self, gys: tuple[Variable, ...]) -> list[tuple[Variable, Variable]]:
        """The unchained outputs, leaves now, and the gradients that end there."""
        ends = [(self.outputs[i](), gys[i]) for i in self._cut_outputs]
        return [(x, gx) for x, gx in ends if x is not None]

    def _past_cuts(self, gys: tuple[Variable, ...]) -> tuple[Variable, ...]:
        """What is left for backward: zeros for unchained outputs."""
        zero = [_constant(np.zeros_like(gy.data)) for gy in gys]
        return tuple(
            [zero[i] if i in self._cut_outputs else gy for i, gy in enumerate(gys)]
        )

    def _release(self) -> None:
        """Drop what only another pass through this Function would need."""
        self._edges = ()
        if self.reads_inputs:
            self.inputs = None
        if self.reads_outputs:
            self._output_data = None


@functools.cache
def _slots(cls: type) -> tuple[str, ...]:
    """The attributes of a Function that are in ``__slots__`` of its class."""
    found = [value for base in cls.__mro__ for value in vars(base).items()]
    return tuple([name for name, value in found if inspect.ismemberdescriptor(value)])


class Identity(Function):
    """``y = x`` in memory of its own, for a gradient that would share somebody's."""

    reads_inputs = False
    reads_outputs = False

    def forward(self, x: Array) -> Array:
        """Copy."""
        return x.copy()

    def backward(self, gy: Variable) -> Variable:
        """Pass on."""
        return gy


# =============================================================================
# The backward loop
# =============================================================================


def run_backward(
    outputs: Sequence[Variable],
    seeds: Sequence[Variable],
    wanted: Sequence[Variable] | None = None,
    create_graph: bool = False,
    retain_graph: bool = True,
    kept: list[tuple[Variable, Variable]] | None = None,
) -> dict[Variable, Variable]:
    """Carry gradients from ``outputs`` back, and touch no ``.grad``.

    Args:
        outputs: Where to start.
        seeds: The gradient to start with, one per output and of its shape.
        wanted: The Variables to stop at; only Functions on a path to one of them run.
            By default, every leaf that requires a gradient.
        create_graph: Record the pass.
        retain_graph: With False, each Function is freed as the pass leaves it.
        kept: A list that takes (Variable, gradient) of each intermediate Variable that
            is alive.

    Returns:
        The gradient of each Variable that the pass reached. No two share memory with
        one another, with data or with the seeds; all are writable.
    """
    targets = {} if wanted is None else {_edge(x): x for x in wanted}
    needs = None if wanted is None else _needs_towards(outputs, targets)
    table: dict[Any, tuple[Variable, bool]] = {}  # edge -> (sum, may we add into it?)
    found: dict[Variable, tuple[Variable, bool]] = {}
    heap: list[tuple[int, int, Function]] = []
    # Those of generation 0 come last, and there may be many: a heap that holds 5,000 of
    # them takes 13 % of the time of a wide graph.
    last: deque[Function] = deque()
    queued: set[Function] = set()  # those of several outputs
    count = itertools.count()  # among equal generations, first come, first served
    add = np.add

    def contribute(edge: Any, gx: Any, fresh: bool, source: Any) -> None:
        if type(gx) is np.ndarray and not create_graph:
            data = gx
        else:
            if type(gx) is not Variable:
                gx = source._as_gradient(gx)
            data = gx.data
        entry = table.get(edge)
        if entry is not None:
            total, ours = entry
            like = total.data
            if data.shape != like.shape or data.dtype is not like.dtype:
                gx = source.fit_gradient(source._as_gradient(gx), like)
                data = gx.data
            if ours and not create_graph and data.dtype is like.dtype:
                add(like, data, like)  # += would rebind a 0-d result
            else:
                table[edge] = total + gx, True
            return
        if isinstance(edge, Variable):
            x = edge.data
            if data.shape != x.shape or data.dtype is not x.dtype:
                gx = source.fit_gradient(source._as_gradient(gx), x)
        else:
            f = edge[0] if type(edge) is tuple else edge
            if f._output_shape != data.shape or f._output_dtype is not data.dtype:
                gx = source.fit_gradient(source._as_gradient(gx), _Like(edge))
            # Without a sum, a Function of one output cannot be queued yet. (A set of
            # all that are would keep them alive: 7 % of the time of a deep graph.)
            several = type(f._output_refs) is tuple
            if not several or f not in queued:
                if f.generation:
                    heappush(heap, (-f.generation, next(count), f))
                else:
                    last.append(f)
                if several:
                    queued.add(f)
        table[edge] = (_constant(gx) if type(gx) is np.ndarray else gx), fresh

    with using_config("enable_backprop", create_graph):
        for y, seed in zip(outputs, seeds, strict=True):
            if needs is None or _edge(y) in targets or y.creator in needs:
                source = Identity() if y.creator is None else y.creator
                contribute(_edge(y), seed, False, source)
        while heap or last:
            f = heappop(heap)[2] if heap else last.popleft()
            several = type(f._output_refs) is tuple
            if several:
                queued.discard(f)
                gys = f._take_gradients(table)
            else:
                gys = (table.pop(f)[0],)
            if kept is not None:
                alive = [(ref(), gy) for ref, gy in zip(f.outputs, gys, strict=True)]
                kept += [(y, gy) for y, gy in alive if y is not None]
            edges = f._edges
            if (several or not edges) and f._cut_outputs:
                for leaf, gx in f._at_cuts(gys):
                    if leaf.requires_grad and (needs is None or leaf in targets):
                        contribute(leaf, gx, False, f)
                if len(f._cut_outputs) == len(gys):
                    continue
                gys = f._past_cuts(gys)
            if not edges:
                raise RuntimeError(_freed(f))
            if needs is not None:
                for i, gy in enumerate(gys):
                    x = targets.get((f, i) if i else f)
                    if x is not None:
                        found[x] = gy, False
                if f not in needs:
                    continue
            node = f
            if f.reads_outputs:
                node, _alive = f._with_outputs()
            if needs is not None:
                # Edges that lead elsewhere are left out, but only for this call: an
                # output that was made again belongs to f, and leads everywhere.
                node = node._clone()
                node._edges = edges = needs[f]
            gxs = node.backward(*gys)
            if type(gxs) is not tuple and (
                type(gxs) is Variable or not isinstance(gxs, (list, tuple))
            ):
                gxs = (gxs,)
            if len(gxs) != len(edges):
                raise ValueError(
                    f"{type(f).__name__}.backward: expected {len(edges)} gradients, "
                    f"one per input, got {len(gxs)}"
                )
            fresh = f.fresh_gradients
            for i, gx in enumerate(gxs):
                edge = edges[i]
                if edge is not None and gx is not None:
                    contribute(edge, gx, fresh, f)
            if not retain_graph:
                f._release()
        found.update(table)  # only leaves are left there
        return {x: _own(gx, ours, create_graph) for x, (gx, ours) in found.items()}


class _Like:
    """Shape and dtype of the result that an edge leads to."""

    __slots__ = ("dtype", "shape")

    def __init__(self, edge: Any) -> None:
        f, index = edge if type(edge) is tuple else (edge, 0)
        several = type(f._output_refs) is tuple
        self.shape = f._output_shape[index] if several else f._output_shape
        self.dtype = f._output_dtype[index] if several else f._output_dtype


def _edge(x: Variable) -> Any:
    """The key under which gradients of ``x`` are summed: see Function._edges."""
    if x.creator is None:
        return x
    return (x.creator, x._index) if x._index else x.creator


def _own(gx: Variable, ours: bool, create_graph: bool) -> Variable:
    """A gradient as a pass returns it: in memory of its own, recorded if asked for."""
    if not ours:
        gx = Identity()(gx)
    if create_graph:
        gx.requires_grad = True  # that of a straight line is a constant otherwise
    return gx


def _functions_behind(functions: Iterable[Any]) -> list[Function]:
    """The given Functions and all that gradients from them reach, each once."""
    seen = dict.fromkeys(functions)
    stack = list(seen)
    while stack:
        for edge in stack.pop()._edges or ():
            f = edge[0] if type(edge) is tuple else edge
            if isinstance(f, Function) and f not in seen:
                seen[f] = None
                stack.append(f)
    return list(seen)


def _needs_towards(
    outputs: Iterable[Variable], targets: dict[Any, Variable]
) -> dict[Function, list[Any]]:
    """The Functions from ``outputs`` to ``targets``, and their edges on such paths."""
    functions = _functions_behind([y.creator for y in outputs if y.creator is not None])
    needs: dict[Function, list[Any]] = {}
    for f in sorted(functions, key=lambda f: f.generation):  # inputs before outputs
        if not f._edges and not f._cut_outputs:
            raise RuntimeError(_freed(f))
        edges = []
        for edge in f._edges or ():
            g = edge[0] if type(edge) is tuple else edge
            edges.append(edge if edge in targets or g in needs else None)
        cut_off = [f.outputs[i]() for i in f._cut_outputs]
        if any([edge is not None for edge in edges]) or any(
            [x in targets for x in cut_off]
        ):
            needs[f] = edges
    return needs


def _freed(f: Function) -> str:
    return (
        f"backward: what {type(f).__name__} had recorded was freed by an earlier pass "
        "with retain_graph=False; call that one with retain_graph=True"
    )


def _make_seed(function: str, y: Variable, grad: Any) -> Variable:
    """What a pass from ``y`` starts with: ``grad``, checked, or ones."""
    if y.data is None:
        raise RuntimeError(
            f"{function}: expected a Variable with data, got one without: a layer "
            "makes its parameters when it is first called"
        )
    if grad is None:
        # Signed ones for an unsigned result: its gradients may be negative.
        dtype = np.int64 if y.dtype.kind in "ub" else y.dtype
        return _constant(cuda.get_array_module(y.data).ones(y.shape, dtype))
    if not isinstance(grad, Variable):
        if isinstance(grad, (float, int, np.generic)):
            grad = cuda.get_array_module(y.data).asarray(grad)
        grad = _constant(_checked_data(function, grad))
    if grad.shape != y.shape:
        raise ValueError(
            f"{function}: expected a gradient of shape {y.shape}, as the output has, "
            f"got {grad.shape}"
        )
    if grad.dtype != y.dtype and y.dtype.kind == "f":
        grad = grad.astype(y.dtype)
    return grad


def _add_up(x: Variable, gx: Variable, create_graph: bool) -> Variable:
    """The gradient of a leaf after a pass that brought ``gx``, ours to change."""
    old = x._grad
    if old is None:
        return gx
    if old.shape != gx.shape:
        raise ValueError(
            f"backward: expected the gradient already there to have shape {gx.shape}, "
            f"as the new one has, got {old.shape}; call cleargrad() first"
        )
    if create_graph or old.dtype != gx.dtype:
        with using_config("enable_backprop", create_graph):
            total = old + gx
            return total if gx.dtype.kind != "f" else total.astype(gx.dtype)
    np.add(old.data, gx.data, out=gx.data)
    return gx
