"""Indexing, embedding, ties, selection."""

import numpy as np

import dezero as dz
import dezero.functions as F
import dezero.layers as L


# An embedding refused ids in a Variable, as another layer returns them.
def test_embedding_accepts_a_variable():
    emb = L.EmbedID(5, 3)
    ids = dz.Variable(np.array([1, 1, 4]))
    y = emb(ids)
    assert y.shape == (3, 3)
    F.sum(y).backward()
    np.testing.assert_array_equal(emb.W.grad.data[:, 0], [0, 2, 0, 0, 1])


# Each of several equal maxima got the whole gradient.
def test_tied_maxima_share_the_gradient():
    x = dz.Variable(np.array([[2.0, 2.0, 1.0]]))
    F.max(x, axis=1).backward()
    g = x.grad.data
    assert g[0, 2] == 0.0
    np.testing.assert_allclose(g.sum(), 1.0)


# Selection by a mask sends the gradient to the chosen side only.
def test_where_masks_the_gradient():
    a = dz.Variable(np.array([1.0, 2.0, 3.0]))
    b = dz.Variable(np.array([[10.0], [20.0]]))
    mask = np.array([[True, False, True], [False, False, False]])
    y = F.where(mask, a, b)
    np.testing.assert_array_equal(y.data, np.where(mask, a.data, b.data))
    F.sum(y).backward()
    np.testing.assert_array_equal(a.grad.data, [1.0, 0.0, 1.0])
    np.testing.assert_array_equal(b.grad.data, [[1.0], [3.0]])


# Joining along an axis, which users had to write themselves.
def test_concatenate():
    a, b = dz.Variable(np.ones((2, 1))), dz.Variable(np.ones((2, 3)))
    y = F.concatenate([a, b], axis=1)
    assert y.shape == (2, 4)
    F.sum(y * np.arange(4.0)).backward()
    np.testing.assert_array_equal(a.grad.data, [[0.0], [0.0]])
    np.testing.assert_array_equal(b.grad.data, [[1, 2, 3], [1, 2, 3]])
