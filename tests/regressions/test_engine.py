"""Graph traversal, accumulation and lifetime of variables."""

import gc
import threading
import weakref

import numpy as np

import dezero as dz
import dezero.functions as F


# Backward() on a variable made by no function died on None.
def test_backward_on_a_leaf():
    x = dz.Variable(np.array([2.0, 3.0]))
    x.backward()
    np.testing.assert_array_equal(x.grad.data, [1.0, 1.0])


# Higher derivatives of a straight line ended in an AttributeError.
def test_second_derivative_of_a_line_is_none_or_zero():
    x = dz.Variable(np.array([1.0, -2.0]))
    y = x - 2.0
    y.backward(create_graph=True)
    gx = x.grad
    np.testing.assert_array_equal(gx.data, [1.0, 1.0])
    x.cleargrad()
    gx.backward()
    assert x.grad is None or not np.any(x.grad.data)


class Halves(dz.Function):
    """Two outputs: the two halves of a vector."""

    def forward(self, x):
        n = len(x) // 2
        return x[:n] * 1.0, x[n:] * 1.0

    def backward(self, ga, gb):
        (x,) = self.inputs
        n = len(x) // 2
        parts = [np.zeros(n) if g is None else g.data for g in (ga, gb)]
        return dz.Variable(np.concatenate(parts))


# An output nobody keeps is only weakly referenced; backward met a dead reference.
def test_function_with_a_dropped_output():
    x = dz.Variable(np.arange(4.0))
    first = Halves()(x)[0]
    gc.collect()
    loss = F.sum(first * 3.0)
    loss.backward()
    np.testing.assert_array_equal(x.grad.data, [3.0, 3.0, 0.0, 0.0])


# The switch was shared by all threads, so an evaluating thread broke a training one.
def test_no_grad_in_another_thread():
    inside, leave = threading.Event(), threading.Event()

    def evaluate():
        with dz.no_grad():
            inside.set()
            leave.wait(10)

    worker = threading.Thread(target=evaluate)
    worker.start()
    try:
        assert inside.wait(10)
        x = dz.Variable(np.array(5.0))
        y = x * x
        y.backward()
        assert x.grad is not None and float(x.grad.data) == 10.0
    finally:
        leave.set()
        worker.join()


# The tape kept every array until the cycle collector ran.
def test_graph_is_freed_without_the_collector():
    gc.collect()
    gc.disable()
    try:
        x = dz.Variable(np.ones(10))
        h = F.exp(x)
        ref = weakref.ref(h)
        y = F.sum(h * 2.0)
        y.backward()
        del h, y
        assert ref() is None
    finally:
        gc.enable()
