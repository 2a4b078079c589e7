"""Activation functions and their slopes: one pass each, where it takes two to five."""

import numpy as np

from dezero.kernels.fusing import elementwise


@elementwise("T x", "T y", "y = sigmoid(Wide<T>::type(x));")
def sigmoid(x, y):
    """``y = 1 / (1 + exp(-x))``."""
    y[...] = np.tanh(x.astype(float) / 2) / 2 + 0.5


@elementwise(
    "T y, G gy",
    "G gx",
    """
    typedef Wide<T>::type W;
    gx = W(gy) * (W(y) * (W(1) - W(y)));
    """,
)
def sigmoid_grad(y, gy, gx):
    """``gx = gy * y * (1 - y)``."""
    y = y.astype(float)
    gx[...] = gy * (y * (1 - y))


@elementwise(
    "T y, G gy",
    "G gx",
    """
    typedef Wide<T>::type W;
    gx = W(gy) * (W(1) - W(y) * W(y));
    """,
)
def tanh_grad(y, gy, gx):
    """``gx = gy * (1 - y**2)``."""
    y = y.astype(float)
    gx[...] = gy * (1 - y * y)


@elementwise(
    "T y, G gy",
    "G gx",
    "gx = Wide<T>::type(y) > 0 || Wide<G>::type(gy) != Wide<G>::type(gy) ? gy : G(0);",
)
def relu_grad(y, gy, gx):
    """``gx = gy`` where ``y > 0``, else 0; but NaN stays."""
    gx[...] = np.where((y > 0) | (gy != gy), gy, 0)
