"""The module ``cudnn``: graphs of one convolution, on the memory that it is told.

It knows what the real one knows of them (names.json) and believes as little: a graph
goes through all stages in their order, plans say what they are like, memory is taken by
address, and a handle belongs to one thread and one device.
"""

import ctypes
import enum
import threading
import types

import numpy as np

from ..cupy_stand_in.wrapping import current
from .names import ENUMS, MODULE, NODES, strict, strict_class
from .sums import add_up

data_type, heur_mode, numerical_note = [
    enum.Enum(name, ENUMS[name])
    for name in ("data_type", "heur_mode", "numerical_note")
]
DTYPES = {
    data_type.HALF: np.float16,
    data_type.FLOAT: np.float32,
    data_type.DOUBLE: np.float64,
}
WORKSPACE = 48  # bytes that each plan needs, and scribbles on
# Of each product: what it is called with, then x, W and y by these names.
PORTS = {
    "conv_fprop": ("image", "weight", None),
    "conv_dgrad": (None, "filter", "loss"),
    "conv_wgrad": ("image", None, "loss"),
}


class cudnnGraphNotSupportedError(Exception):
    """There is no plan."""


class Behaviour:
    """What the tests may change, and what they look at."""

    def __init__(self):
        self.version = 92800
        self.refuses = lambda graph: False
        self.handle_error = self.plan_error = self.run_error = None
        self.runs = []  # name of the product, and stream
        self.handles = []


behaviour = Behaviour()


class Handle:
    def __init__(self):
        self.thread, self.device = threading.get_ident(), current.device
        self.stream, self.open = 0, True
        behaviour.handles.append(self)

    def check(self):
        assert self.open, "the handle was destroyed"
        assert self.thread == threading.get_ident(), "a handle of another thread"
        assert self.device == current.device, "a handle of another device"


@strict_class("Tensor")
class Tensor:
    def __init__(self, name="", data_type=None, dim=(), stride=(), uid=0):
        self.name, self.type, self.dim, self.stride = name, data_type, dim, stride
        self.uid, self.output = uid, False

    def set_output(self, value):
        self.output = value
        return self

    def set_data_type(self, dtype):
        self.type = dtype
        return self

    def set_dim(self, dim):
        self.dim = dim
        return self

    def set_stride(self, stride):
        self.stride = stride
        return self

    def set_uid(self, uid):
        self.uid = uid
        return self

    def _array(self, address):
        """The memory there, as this tensor describes it."""
        assert type(address) is int and address and address % 16 == 0, address
        dtype = np.dtype(DTYPES[self.type])
        last = sum((n - 1) * s for n, s in zip(self.dim, self.stride, strict=True))
        memory = (ctypes.c_byte * ((last + 1) * dtype.itemsize)).from_address(address)
        strides = [s * dtype.itemsize for s in self.stride]
        return np.ndarray(self.dim, dtype, memory, strides=strides)


STAGES = ["validate", "build_operation_graph", "create_execution_plans"]
STAGES += ["check_support", "build_plans"]


@strict_class("pygraph")
class pygraph:
    def __init__(
        self,
        name,
        io_data_type,
        intermediate_data_type,
        compute_data_type,
        handle,
    ):
        handle.check()
        self.compute, self.handle = compute_data_type, handle
        self.tensors, self.stage, self.barred = [], 0, set()

    def _next(self, name):
        assert STAGES[self.stage] == name, f"{name} out of turn"
        self.stage += 1

    def tensor(self, dim, stride, data_type, name, uid):
        assert 4 <= len(dim) <= 5 and all(type(n) is int and n > 0 for n in dim), dim
        self.tensors.append(Tensor(name, data_type, dim, stride, uid))
        return self.tensors[-1]

    def _node(self, name, given):
        self.name, self.result = name, Tensor(name)
        self.settings = {
            key: given.pop(key)
            for key in ("pre_padding", "post_padding", "stride", "dilation")
        }
        assert given.pop("compute_data_type") is self.compute
        del given["name"]
        assert {t.name for t in given.values()} == set(given)
        # x, W and y
        self.ports = [given.get(port, self.result) for port in PORTS[name]]
        self.tensors.append(self.result)
        return self.result

    def conv_fprop(self, **given):
        return self._node("conv_fprop", given)

    def conv_dgrad(self, **given):
        return self._node("conv_dgrad", given)

    def conv_wgrad(self, **given):
        return self._node("conv_wgrad", given)

    def validate(self):
        self._next("validate")
        x, W, y = [t.dim for t in self.ports]
        assert x[0] == y[0] and W[0] == y[1] and x[1] % W[1] == 0
        assert self.result.output and len({t.uid for t in self.tensors}) == 3
        for n, k, o, before, after, s, d in zip(
            x[2:], W[2:], y[2:], *self.settings.values(), strict=True
        ):
            assert o == (n + before + after - d * (k - 1) - 1) // s + 1

    def build_operation_graph(self):
        self._next("build_operation_graph")

    def create_execution_plans(self, heuristics):
        assert all(isinstance(mode, heur_mode) for mode in heuristics)
        self._next("create_execution_plans")

    def deselect_numeric_notes(self, notes):
        assert self.stage == 3, "there are no plans to choose from yet"
        assert all(isinstance(note, numerical_note) for note in notes)
        self.barred |= {note.name for note in notes}
        return self

    def deselect_workspace_greater_than(self, workspace_limit):
        assert self.stage == 3 and workspace_limit > WORKSPACE
        return self

    def check_support(self):
        self._next("check_support")
        if behaviour.plan_error is not None:
            raise behaviour.plan_error
        if behaviour.refuses(self):
            raise cudnnGraphNotSupportedError("No valid engine configs")

    def build_plans(self):
        self._next("build_plans")

    def get_workspace_size(self):
        assert self.stage == 5
        return WORKSPACE

    def execute(self, tensor_dict, workspace, handle):
        assert self.stage == 5 and handle is self.handle
        handle.check()
        if behaviour.run_error is not None:
            raise behaviour.run_error
        ctypes.memset(workspace, 0xFF, WORKSPACE)
        assert len(tensor_dict) == 3
        given = [t._array(tensor_dict[t.uid]) for t in self.ports]
        dtype = DTYPES[self.compute]
        arrays = [a.astype(dtype) for a in given]
        place = self.ports.index(self.result)
        arrays[place][...] = 0
        keys = ("pre_padding", "stride", "dilation")
        add_up(self.name, *arrays, *[self.settings[key] for key in keys])
        given[place][...] = arrays[place]
        behaviour.runs.append((self.name, handle.stream))


@strict([MODULE["backend_version"]])
def backend_version():
    if behaviour.version is None:
        raise RuntimeError("Unable to find symbol cudnnGetVersion")
    return behaviour.version


@strict([MODULE["create_handle"]])
def create_handle():
    if behaviour.handle_error is not None:
        raise behaviour.handle_error
    return Handle()


@strict([MODULE["set_stream"]])
def set_stream(handle, stream):
    handle.check()
    assert type(stream) is int
    handle.stream = stream


@strict([MODULE["destroy_handle"]])
def destroy_handle(handle):
    assert handle.open, "destroyed twice"
    handle.open = False


assert set(PORTS) == set(NODES)
MADE = {name: globals()[name] for name in MODULE}
CUDNN = types.ModuleType("cudnn", __doc__)
vars(CUDNN).update(MADE)
