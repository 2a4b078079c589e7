"""Memory over a training run, with Python's cycle collector switched off."""

import gc
import tracemalloc

import numpy as np

import dezero as dz
import dezero.functions as F
from dezero import optimizers
from dezero.models import MLP


def test_memory_is_flat_over_2000_training_steps_without_the_collector():
    np.random.seed(0)
    model = MLP((16, 3), activation=F.tanh)
    optimizer = optimizers.Adam(0.01).setup(model)
    x = np.random.randn(32, 8).astype(np.float32)
    t = np.random.randint(0, 3, 32)

    def step():
        loss = F.softmax_cross_entropy(F.dropout(model(x), 0.1), t)
        model.cleargrads()
        loss.backward()
        optimizer.update()
        y = F.sum(model(x) ** 2)
        (gw,) = dz.grad(y, [model.l1.W], create_graph=True)
        F.sum(gw * gw).backward()

    for _ in range(20):
        step()
    gc.collect()
    gc.disable()
    tracemalloc.start()
    try:
        for _ in range(200):
            step()
        before = tracemalloc.get_traced_memory()[0]
        for _ in range(1800):
            step()
        after = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
        gc.enable()
    assert after - before < 20_000  # bytes; a leaked graph is more in a single step
