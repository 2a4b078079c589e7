"""Layers, models, saving."""

import os
import pathlib
import pickle
import subprocess
import sys

import numpy as np
import pytest

import dezero as dz
import dezero.functions as F
import dezero.layers as L
from dezero import Model

ROOT = pathlib.Path(__file__).resolve().parents[2]


def run(code, **environment):
    """What the code prints in a fresh interpreter."""
    result = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"PYTHONPATH": str(ROOT)} | environment,
        capture_output=True,
        text=True,
    )
    assert result.returncode == 0, result.stderr
    return result.stdout


# A recurrent layer that was given its input size took it for the size of its state too,
# and its second step failed.
def test_rnn_with_input_size():
    rnn = L.RNN(6, in_size=2)
    x = np.ones((3, 2), dtype=np.float32)
    rnn(x)
    assert rnn(x).shape == (3, 6)


# Layers kept in a list were not found, and so never trained.
def test_layers_in_a_list_are_found():
    class Net(Model):
        def __init__(self):
            super().__init__()
            self.blocks = [L.Linear(4, in_size=3), L.Linear(2, in_size=4)]

        def forward(self, x):
            for layer in self.blocks:
                x = layer(x)
            return x

    assert len(list(Net().params())) == 4


# A weight that two layers share was listed, and so updated, twice.
def test_tied_weight_is_listed_once():
    class Net(Model):
        def __init__(self):
            super().__init__()
            self.a = L.Linear(3, in_size=3, nobias=True)
            self.b = L.Linear(3, in_size=3, nobias=True)
            self.b.W = self.a.W

    net = Net()
    assert [id(p) for p in net.params()] == [id(net.a.W)]


# The order of parameters changed from run to run with the seed of Python's hashes.
def test_parameter_order_does_not_depend_on_the_hash_seed():
    code = (
        "import dezero.layers as L, dezero.models as M\n"
        "m = M.Sequential(*[L.Linear(i + 1, in_size=2) for i in range(6)])\n"
        "print([p.shape for p in m.params()])"
    )
    assert len({run(code, PYTHONHASHSEED=seed) for seed in ("1", "2", "3")}) == 1


# None as an optional second input had to be wrapped in a Variable.
def test_layer_called_with_none():
    class Gate(L.Layer):
        def forward(self, x, mask):
            return x if mask is None else x * mask

    x = dz.Variable(np.ones(3))
    np.testing.assert_array_equal(Gate()(x, None).data, np.ones(3))


# Weights of another shape were loaded without a word.
def test_loading_weights_of_another_shape(tmp_path):
    path = str(tmp_path / "w.npz")
    L.Linear(4, in_size=3).save_weights(path)
    other = L.Linear(5, in_size=3)
    with pytest.raises(ValueError, match="of another shape: W"):
        other.load_weights(path)


# A model could not be saved before its first call, which tells the sizes.
def test_saving_before_the_first_use(tmp_path):
    path = str(tmp_path / "lazy.npz")
    L.Linear(4).save_weights(path)
    model = L.Linear(4)
    model.load_weights(path)
    assert model(np.ones((2, 3), dtype=np.float32)).shape == (2, 4)


# Saving added ".npz" to the name, loading did not.
def test_file_name_without_suffix(tmp_path):
    path = str(tmp_path / "weights")
    a, b = L.Linear(4, in_size=3), L.Linear(4, in_size=3)
    a.save_weights(path)
    b.load_weights(path)
    np.testing.assert_array_equal(a.W.data, b.W.data)


# A model could not be pickled after a call, for its weak references.
def test_pickle_after_use():
    np.random.seed(0)
    model = dz.models.MLP((4, 2))
    x = np.ones((1, 3), dtype=np.float32)
    want = model(x).data
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again(x).data, want)


# Batch normalization had no gradient in test mode.
def test_batch_norm_backward_in_test_mode():
    bn = L.BatchNorm()
    x = dz.Variable(np.array([[1.0, 2.0], [3.0, 6.0], [5.0, 1.0]]))
    bn(x)
    with dz.test_mode():
        y = bn(x)
        F.sum(y * np.array([[1.0], [2.0], [3.0]])).backward()
    scale = bn.gamma.data / np.sqrt(bn.avg_var.data + 2e-5)
    np.testing.assert_allclose(x.grad.data, np.outer([1.0, 2.0, 3.0], scale), rtol=1e-6)


# The function was there under a misspelt name only.
def test_batch_norm_function_has_its_name():
    assert callable(F.batch_norm)
