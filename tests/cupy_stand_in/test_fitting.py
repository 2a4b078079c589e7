"""``fit`` on the device: what it asks for does not grow with the number of steps."""

import numpy as np
import pytest

import dezero as dz
import dezero.functions as F
from dezero import cuda
from dezero.dataloaders import DataLoader
from dezero.datasets import TensorDataset
from dezero.models import MLP
from dezero.optimizers import Adam
from dezero.training import fit

from .transfers import transfers

X = np.random.RandomState(0).randn(24, 3).astype(np.float32)
T = np.arange(24) % 2


def moved_by(batch_size, **options):
    dz.seed(0)
    model = MLP((4, 2))
    model(X)
    model.to_gpu()
    loader = DataLoader(TensorDataset(X, T), batch_size, gpu=True)
    with transfers() as moved:
        history = fit(
            model, loader, F.softmax_cross_entropy, Adam(), epochs=2, **options
        )
    assert np.isfinite(history["loss"]).all()
    return moved


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"clip_norm": 1.0},
        {"accumulate": 2},
        {"metrics": [F.accuracy]},
    ],
    ids=lambda options: " ".join(options) or "plain",
)
def test_only_batches_go_there(options):
    few, many = moved_by(12, **options), moved_by(3, **options)
    few, many = (moved.lines for moved in (few, many))
    few, many = (
        [sum([line.startswith(kind) for line in lines]) for kind in ("get", "array")]
        for lines in (few, many)
    )
    assert many[0] == few[0]
    steps = 2 * (24 // 3 - 24 // 12)
    assert many[1] - few[1] == 2 * steps
    assert {cuda.device_of(x) for x in (X, T)} == {"cpu"}
