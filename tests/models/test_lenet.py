"""LeNet."""

import numpy as np
import pytest

import dezero as dz
import dezero.functions as F
from dezero.datasets import Digits
from dezero.models import LeNet
from dezero.optimizers import AdamW, CosineLR
from dezero.transforms import Mixup


@pytest.mark.parametrize("shape", [(2, 1, 4, 4), (1, 1, 28, 28), (2, 3, 9, 17)])
def test_images_of_any_size(shape):
    y = LeNet()(np.ones(shape, np.float32))
    assert y.shape == (shape[0], 10) and y.dtype == np.float32


def test_has_the_sizes_of_lenet5():
    model = LeNet()
    model(np.ones((1, 1, 28, 28), np.float32))
    assert {name: p.shape for name, p in model.named_params() if name[-1] == "W"} == {
        "conv1/W": (6, 1, 5, 5),
        "conv2/W": (16, 6, 5, 5),
        "fc3/W": (16 * 7 * 7, 120),
        "fc4/W": (120, 84),
        "fc5/W": (84, 10),
    }


def test_number_of_classes():
    assert LeNet(num_classes=3)(np.ones((1, 1, 8, 8), np.float32)).shape == (1, 3)


def test_errors():
    with pytest.raises(ValueError, match=r"LeNet: expected num_classes .* got 0"):
        LeNet(0)
    with pytest.raises(TypeError, match=r"LeNet: expected num_classes .* got float"):
        LeNet(10.0)
    with pytest.raises(ValueError, match="pooling: expected"):
        LeNet()(np.ones((1, 1, 3, 3), np.float32))
    model = LeNet()
    model(np.ones((1, 1, 8, 8), np.float32))
    with pytest.raises(ValueError, match=r"Linear.*: expected x of shape .* 64\)"):
        model(np.ones((1, 1, 12, 12), np.float32))


def test_reads_98_percent_of_digits_it_never_saw():
    dz.seed(0)
    train, test = Digits(), Digits(train=False)
    for digits in train, test:  # (N, 1, 8, 8) -> (N, 1, 16, 16): more places to look
        digits.data = digits.data.repeat(2, axis=2).repeat(2, axis=3)
    model, loader, mixup, epochs = LeNet(), dz.DataLoader(train, 32), Mixup(10), 30
    optimizer = AdamW(3e-3, weight_decay=0.3).setup(model)
    schedule = CosineLR(optimizer, epochs * len(loader))
    for _ in range(epochs):
        for x, t in loader:
            x, t = mixup(x, t)
            loss = F.softmax_cross_entropy(model(x), t)
            model.cleargrads()
            loss.backward(retain_graph=False)
            optimizer.update()
            schedule.step()
    with dz.no_grad():
        accuracy = float(F.accuracy(model(test.data), test.label).data)
    # Chosen on a part of the training digits; ten other seeds then gave 0.983 to 0.992.
    assert accuracy >= 0.98
