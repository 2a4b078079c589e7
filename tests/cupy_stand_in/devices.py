"""``cupy.cuda``: two devices, a memory pool and streams on which nothing waits."""

from .blas import CUDA_R_32F, CUDA_R_64F, HANDLE
from .wrapping import DEVICES, current


class Device:
    """A device, to be made the current one by ``with`` or ``use()``."""

    def __init__(self, device=None):
        device = current.device if device is None else int(device)
        if not 0 <= device < DEVICES:
            raise RuntimeError("cudaErrorInvalidDevice: invalid device ordinal")
        self.id = device
        self._before = []

    def __int__(self):
        return self.id

    def __eq__(self, other):
        return isinstance(other, Device) and self.id == other.id

    def __hash__(self):
        return hash(self.id)

    def __repr__(self):
        return f"<CUDA Device {self.id}>"

    def __enter__(self):
        self._before.append(current.device)
        current.device = self.id
        return self

    def __exit__(self, *error):
        current.device = self._before.pop()

    def use(self):
        current.device = self.id

    def synchronize(self):
        pass

    @property
    def mem_info(self):
        return 3 << 30, 4 << 30


class MemoryPool:
    """Says what it holds; the arrays of the stand-in are not from here."""

    def used_bytes(self):
        return 3 << 20

    def total_bytes(self):
        return 4 << 20

    def free_bytes(self):
        return 1 << 20

    def n_free_blocks(self):
        return 2

    def free_all_blocks(self, stream=None):
        pass


class Stream:
    """The stream on which everything runs."""

    def __init__(self):
        self.ptr = 0

    def synchronize(self):
        pass


_pool = MemoryPool()
_stream = Stream()
CUDA = {
    "Device": Device,
    "MemoryPool": MemoryPool,
    "Stream": Stream,
    "get_current_stream": lambda device_id=None: _stream,
    "is_available": lambda: True,
    "get_cublas_handle": lambda: HANDLE,
}
RUNTIME = {
    "getDeviceCount": lambda: DEVICES,
    "getDevice": lambda: current.device,
    "deviceSynchronize": lambda: None,
    "CUDA_R_32F": CUDA_R_32F,
    "CUDA_R_64F": CUDA_R_64F,
}


def get_default_memory_pool():
    return _pool
