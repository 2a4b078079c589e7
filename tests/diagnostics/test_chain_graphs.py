"""What the graph of a loss shows of a parameter that it does not lead to."""

import numpy as np
import pytest

import dezero.functions as F
from dezero import Parameter, Variable
from dezero.diagnostics.chain_graphs import last_exit, of_graph, unknown
from dezero.diagnostics.tracing import Trace

X = np.random.default_rng(0).standard_normal((5, 3))


@pytest.fixture
def W():
    return Parameter(np.random.default_rng(1).standard_normal((3, 4)), name="W")


@pytest.fixture
def V():
    return Parameter(np.random.default_rng(2).standard_normal((5, 4)), name="V")


def frozen(W, V):
    W.requires_grad = False
    loss = F.sum(F.matmul(Parameter(X), W))
    W.requires_grad = True
    return loss


def freed(W, V):
    h = F.exp(V)
    F.sum(h).backward(retain_graph=False)
    return F.sum(h)


def cut(W, V):
    h = F.matmul(X, W)
    h.unchain()
    loss = F.sum(F.exp(V))
    loss.unchain_backward()
    return loss


@pytest.mark.parametrize(
    ("make", "reason", "message"),
    [
        (frozen, "frozen", "MatMul got W as input 1, but W.requires_grad was False"),
        (freed, "freed", "freed the graph at Exp, so another pass fails there"),
        (cut, "cut", "The graph was cut at Exp (output (5, 4)) by unchain()"),
        (lambda W, V: V, "leaf", "The loss is a leaf: a Variable made from an array"),
    ],
)
def test_the_graph_says_why(W, V, make, reason, message):
    report = of_graph(W, make(W, V), None)
    assert report.reason == reason and not report.reaches
    assert message in report.message


def test_the_array_of_the_parameter_is_found_in_the_graph(W, V):
    report = of_graph(W, F.sum(F.matmul(X, Variable(W.data)) * V), None)
    assert report.message.startswith("MatMul got as input 1")


def test_a_graph_without_a_trace_of_the_parameter_says_nothing(W, V):
    assert of_graph(W, F.sum(V * V), None) is None


def test_what_is_said_when_nothing_is_known(W, V):
    loss = F.sum(V * V)
    report = unknown(W, loss, None)
    assert report.reason == "unknown" and "no recorded call" in report.message
    assert [(e.function, e.what) for e in report.endings] == [("Mul", "leaf 'V'")]
    h = F.matmul(X, W)
    report = unknown(W, loss, None)
    assert report.reason == "elsewhere" and h is not None
    assert report.message.startswith("W went into MatMul (output (5, 4))")


def test_the_last_exit_of_a_run(W, V):
    assert last_exit(None) == ("", [])
    trace = Trace(W)
    trace.run(lambda: F.sum(V))
    assert last_exit(trace) == ("", [])
    trace = Trace(W)
    loss = trace.run(lambda: F.sum(V * (F.matmul(X, W).data > 0)))
    text, lines = last_exit(trace)
    assert "left the graph is" in text and ".data" in text
    assert "F.matmul(X, W).data" in lines[0]
    assert unknown(W, loss, trace).reason == "left"
