"""The three products as sums over places and taps, one after the other, no columns."""

import itertools

import numpy as np


def meetings(sizes, kernel, places, before, stride, dilation):
    """Each place, each tap, and the element of the image where they meet."""
    for p in itertools.product(*map(range, places)):
        for k in itertools.product(*map(range, kernel)):
            i = tuple(
                s * p_ + d * k_ - b
                for s, p_, d, k_, b in zip(stride, p, dilation, k, before, strict=True)
            )
            if all(0 <= i_ < n for i_, n in zip(i, sizes, strict=True)):
                yield (..., *p), (..., *k), (..., *i)


def groups(x, W, y):
    """The same channels of all three, group by group."""
    count = x.shape[1] // W.shape[1]
    C, O = W.shape[1], len(W) // count
    for g in range(count):
        ins, outs = slice(g * C, (g + 1) * C), slice(g * O, (g + 1) * O)
        yield x[:, ins], W[outs], y[:, outs]


def add_up(name, x, W, y, before, stride, dilation):
    """Add to the array that the product makes; the other two are given."""
    for x_, W_, y_ in groups(x, W, y):
        for p, k, i in meetings(
            x.shape[2:], W.shape[2:], y.shape[2:], before, stride, dilation
        ):
            if name == "conv_fprop":
                y_[p] += np.einsum("nc,oc->no", x_[i], W_[k])
            elif name == "conv_dgrad":
                x_[i] += np.einsum("no,oc->nc", y_[p], W_[k])
            else:
                W_[k] += np.einsum("no,nc->oc", y_[p], x_[i])
