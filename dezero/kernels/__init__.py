"""Fused kernels: what would be many calls of CuPy, each a pass over memory, in one.

Each says what it computes twice: in the C++ that runs on a GPU, and in NumPy, its twin.
Arrays of NumPy never come here.
"""

from dezero.kernels.fusing import KERNELS, Kernel

__all__ = ["KERNELS", "Kernel"]
