"""Convolution by cuDNN, through NVIDIA's own front end, where that is installed.

The three products of :mod:`dezero.functions.correlation`. Each of them is None where
cuDNN is not there, is not wanted (:func:`dezero.cudnn.use`), or has no way to
compute it: then the caller does without.

cuDNN is told as a graph what to compute, of one node here, and proposes plans for it:
kernels with their settings, those first that it thinks the fastest. The first one that
the graph allows is taken, and kept for the next time.
"""

from __future__ import annotations

import functools
import math
import threading
import warnings
import weakref
from typing import Any, NamedTuple

import numpy as np

from dezero import cuda
from dezero.cuda import Array
from dezero.cudnn import front_end, version

AXES = 3
PLANS = 256  # that are kept, for each thread and GPU
WORKSPACE = 1 << 30  # bytes that a plan may need at most
# Of an array: the type of cuDNN, and the one to compute in.
TYPES = {"e": ("HALF", "FLOAT"), "f": ("FLOAT", "FLOAT"), "d": ("DOUBLE", "DOUBLE")}
# What plans say of themselves, and are not taken for. A float32 on a tensor core is a
# TF32, of 10 bits; float16 is to be added up in float32.
BARRED = {
    "e": ("REDUCED_PRECISION_REDUCTION",),
    "f": ("TENSOR_CORE", "DOWN_CONVERT_INPUTS"),
    "d": ("DOWN_CONVERT_INPUTS",),
}
FIRST, SECOND, RESULT = 1, 2, 3  # the names of the three arrays in a graph
ALIGNMENT = 16  # bytes: a graph says nothing else


class Product(NamedTuple):
    """One of the three, and all that its plan depends on."""

    name: str  # of the front end
    inputs: tuple[str, str]  # and what that calls them
    type: str
    first: tuple[int, ...]
    second: tuple[int, ...]
    result: tuple[int, ...]
    window: Any


def correlate(x: Array, W: Array, window: Any, groups: int = 1) -> Array | None:
    """(N, C, *sizes), (O, C/groups, *kernel) -> (N, O, *places)."""
    shape = (len(x), len(W), *window.places)
    return _compute("conv_fprop", ("image", "weight"), x, W, shape, window)


def correlate_transposed(
    y: Array, W: Array, window: Any, groups: int = 1
) -> Array | None:
    """(N, O, *places), (O, C/groups, *kernel) -> (N, C, *sizes)."""
    shape = (len(y), W.shape[1] * groups, *window.sizes)
    return _compute("conv_dgrad", ("loss", "filter"), y, W, shape, window)


def correlate_kernel(x: Array, y: Array, window: Any, groups: int = 1) -> Array | None:
    """(N, C, *sizes), (N, O, *places) -> (O, C/groups, *kernel)."""
    shape = (y.shape[1], x.shape[1] // groups, *window.kernel)
    return _compute("conv_wgrad", ("image", "loss"), x, y, shape, window)


def _compute(name, inputs, first, second, shape, window) -> Array | None:
    if isinstance(first, np.ndarray) or isinstance(second, np.ndarray):
        return None
    cudnn = front_end()
    if cudnn is None or first.dtype != second.dtype or first.dtype.char not in TYPES:
        return None
    device, stream = cuda.current_stream()
    if not device == first.device.id == second.device.id:
        return None
    shapes = first.shape, second.shape, shape
    here = _handle(cudnn, device)
    product = Product(name, inputs, first.dtype.char, *shapes, window)
    if here is None or (plan := here.plan(product)) is None:
        return None
    result = cuda.get_array_module(first).empty(shape, first.dtype)
    here.run(plan, stream, _plain(first), _plain(second), result)
    return result


def _plain(x: Array) -> Array:
    """``x`` in C order, from an address that is a multiple of the alignment."""
    x = cuda.get_array_module(x).ascontiguousarray(x)
    return x.copy() if x.data.ptr % ALIGNMENT else x


# =============================================================================
# A handle, and the plans that were made with it
# =============================================================================


class Plan(NamedTuple):
    """A graph that can be executed, and the bytes that it needs besides."""

    graph: Any
    workspace: int
    product: Product


class Handle:
    """What cuDNN knows of this thread and the current GPU: threads must not share it.

    Args:
        cudnn: The front end.
    """

    def __init__(self, cudnn: Any) -> None:
        self.cudnn = cudnn
        self.handle = cudnn.create_handle()
        self.stream: int | None = None
        make = functools.partial(_made_plan, cudnn, self.handle)
        self.plan = functools.lru_cache(maxsize=PLANS)(make)
        close = weakref.finalize(self, _close, cudnn, self.handle, self.plan)
        close.atexit = False  # when the driver may have gone already

    def run(
        self, plan: Plan, stream: int, first: Array, second: Array, result: Array
    ) -> None:
        """Execute it on that stream.

        Raises:
            RuntimeError: cuDNN cannot, though it said so.
        """
        arrays = {FIRST: first, SECOND: second, RESULT: result}
        pack = {uid: array.data.ptr for uid, array in arrays.items()}
        # This may be freed before it is used, and so may copies of the arrays: CuPy
        # gives it to who comes next on the same stream.
        xp = cuda.get_array_module(first)
        room = xp.empty(plan.workspace, np.uint8) if plan.workspace else None
        try:
            if stream != self.stream:
                self.cudnn.set_stream(self.handle, stream)
                self.stream = stream
            workspace = 0 if room is None else room.data.ptr
            plan.graph.execute(pack, workspace, handle=self.handle)
        except Exception as error:
            product = plan.product
            raise RuntimeError(
                f"convolution: expected cuDNN {version()} to compute "
                f"{product.name} of {product.first} and {product.second}, got: "
                f"{error}; dezero.cudnn.use(False) does without it"
            ) from error


_of_thread = threading.local()


def _handle(cudnn: Any, device: int) -> Handle | None:
    """That of this thread for the current GPU; None if none could be made at first."""
    handles = _of_thread.__dict__.setdefault("handles", {})
    if (cudnn, device) not in handles:
        handles[cudnn, device] = None
        try:
            handles[cudnn, device] = Handle(cudnn)
        except Exception as error:
            _warn(f"no handle for GPU {device}", error)
    return handles[cudnn, device]


def _close(cudnn: Any, handle: Any, plan: Any) -> None:
    plan.cache_clear()
    cudnn.destroy_handle(handle)


def _warn(what: str, error: Exception) -> None:
    reason = str(error).strip().partition("\n")[0]
    warnings.warn(
        f"convolution: cuDNN has {what}, it goes on without: {reason}",
        RuntimeWarning,
        stacklevel=2,
    )


def _made_plan(cudnn: Any, handle: Any, product: Product) -> Plan | None:
    """The plan for a product, or None if there is none."""
    if not _is_plain(product):
        return None
    try:
        graph = _made_graph(cudnn, handle, product)
        graph.check_support()
        graph.build_plans()
        return Plan(graph, graph.get_workspace_size(), product)
    except cudnn.cudnnGraphNotSupportedError:
        return None
    except Exception as error:
        _warn(f"no plan for {product.name} of {product.first} and", error)
        return None


def _is_plain(product: Product) -> bool:
    """Is it one that cuDNN could know?

    Nothing is empty, no image is cut off, and there are as many places as fit.
    """
    window = product.window
    if not 1 <= len(window.sizes) <= AXES:
        return False
    if not math.prod(product.first + product.second + product.result):
        return False
    for n, k, s, d, (before, after), count in zip(
        window.sizes,
        window.kernel,
        window.stride,
        window.dilation,
        window.pads,
        window.places,
        strict=True,
    ):
        room = n + before + after - (d * (k - 1) + 1)
        if min(before, after, room) < 0 or room // s + 1 != count:
            return False
    return True


def _made_graph(cudnn: Any, handle: Any, product: Product) -> Any:
    """The graph of a product, with all plans that cuDNN proposes and we allow."""
    dtype, working = [getattr(cudnn.data_type, t) for t in TYPES[product.type]]
    graph = cudnn.pygraph(
        name=f"dezero_{product.name}",
        io_data_type=dtype,
        intermediate_data_type=working,
        compute_data_type=working,
        handle=handle,
    )
    first, second, result = [
        _as_image(shape) for shape in (product.first, product.second, product.result)
    ]
    tensors = [
        graph.tensor(
            dim=shape, stride=_strides(shape), data_type=dtype, name=name, uid=uid
        )
        for shape, name, uid in zip(
            (first, second), product.inputs, (FIRST, SECOND), strict=True
        )
    ]
    y = getattr(graph, product.name)(
        **dict(zip(product.inputs, tensors, strict=True)),
        **_convolution(product.window),
        compute_data_type=working,
        name=product.name,
    )
    y.set_output(True)
    y.set_data_type(dtype)
    y.set_dim(result)
    y.set_stride(_strides(result))
    y.set_uid(RESULT)
    graph.validate()
    graph.build_operation_graph()
    modes = cudnn.heur_mode  # the second asks others, the last is for what none knows
    graph.create_execution_plans([modes.A, modes.B, modes.FALLBACK])
    graph.deselect_workspace_greater_than(WORKSPACE)
    notes = cudnn.numerical_note
    graph.deselect_numeric_notes([getattr(notes, n) for n in BARRED[product.type]])
    return graph


def _convolution(window: Any) -> dict[str, list[int]]:
    lacking = 1 if len(window.sizes) == 1 else 0
    return {
        "pre_padding": [0] * lacking + [before for before, _ in window.pads],
        "post_padding": [0] * lacking + [after for _, after in window.pads],
        "stride": [1] * lacking + list(window.stride),
        "dilation": [1] * lacking + list(window.dilation),
    }


def _as_image(shape: tuple[int, ...]) -> list[int]:
    """cuDNN knows two axes or three: (N, C, L) -> (N, C, 1, L)."""
    return [*shape[:2], 1, *shape[2:]] if len(shape) == 3 else list(shape)


def _strides(shape: list[int]) -> list[int]:
    """In elements, of an array in C order."""
    return [math.prod(shape[axis + 1 :]) for axis in range(len(shape))]
