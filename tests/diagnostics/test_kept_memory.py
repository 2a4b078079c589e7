"""KeptMemory: each buffer once, and no longer than it lives."""

import gc

import numpy as np

import dezero.functions as F
from dezero import Variable
from dezero.diagnostics.kept_memory import KeptMemory, is_view, kept_by, leaves


def test_kept_memory_counts_buffers_once():
    kept = KeptMemory()
    x = np.ones((4, 8))
    there = np.ones(100)
    assert kept.add([x, x[1:], there[:5]], [there]) == 256
    assert kept.add([x.T, np.ones(0)], []) == 0
    assert (kept.now, kept.peak) == (256, 256)
    del x
    assert (kept.now, kept.peak) == (0, 256)


def test_arrays_may_outlive_the_profile():
    kept = KeptMemory()
    x = np.ones(4)
    kept.add([x], [])
    del kept
    gc.collect()
    del x  # its callback finds nothing to count in


def test_views():
    x, y = np.ones((4, 8)), np.ones(3)
    assert is_view(x[1:].T, [y, x]) and is_view(x, [x[0]])
    assert not is_view(y, [x]) and not is_view(y, [])


def test_what_a_node_keeps():
    x = Variable(np.ones(3))
    y = F.exp(x)  # reads its output
    assert [a is y.data for a in kept_by(y.creator, [y])] == [True]
    z = F.sin(y)  # reads its input
    assert [a is y.data for a in kept_by(z.creator, [z])] == [True]
    w = F.max(z)  # stores a mask, or where it is
    assert all([a is not z.data for a in kept_by(F.neg(w).creator, [w])])
    f = F.neg(w).creator
    f.mask = [np.ones(2), "text"]
    assert [a.tolist() for a in kept_by(f, [w])] == [[1, 1]]


def test_leaves():
    x, a = Variable(np.ones(3)), np.ones(2)
    y = F.exp(x)
    assert [
        b is c for b, c in zip(leaves([x, y, a, None, 2.0]), (x.data, a), strict=True)
    ]
    assert len(leaves([x, y, a, None, 2.0])) == 2
