"""explain_grad: each way in which a chain breaks, and exactly what is said of it."""

import json
import threading

import numpy as np
import pytest

import dezero as dz
import dezero.functions as F
import dezero.layers as L
from dezero import Function, Parameter, Variable
from dezero.diagnostics import explain_grad
from dezero.models import MLP

rng = np.random.default_rng(0)
X = rng.standard_normal((5, 3))
T = np.array([0, 1, 2, 3, 0])


@pytest.fixture
def W():
    return Parameter(np.random.default_rng(1).standard_normal((3, 4)), name="W")


@pytest.fixture
def V():
    return Parameter(np.random.default_rng(2).standard_normal((5, 4)), name="V")


def check(report, reason, message, reaches=False):
    """The exact reason and message; and that the report can be shown."""
    assert (report.reason, report.message) == (reason, message)
    assert report.reaches is reaches and bool(reaches) == (report.norm is not None)
    assert max(map(len, str(report).splitlines())) <= 80
    assert report.reason in report._repr_html_()
    assert json.loads(json.dumps(report.to_dict()))["reason"] == reason
    return report


# ---- it gets there ---------------------------------------------------------------


def test_a_gradient_that_arrives(W):
    loss = F.softmax_cross_entropy(F.matmul(X, W), T)
    report = explain_grad(W, loss)
    assert W.grad is None and loss.grad is None
    loss.backward()
    size = np.linalg.norm(W.grad.data)
    check(
        report,
        "reaches",
        f"A gradient of norm {size:.3g} reaches W. W.grad is None now: backward() has "
        "not run on this loss, or the gradient was cleared since.",
        reaches=True,
    )
    assert report.norm == pytest.approx(size)
    assert report.path == ["SoftmaxCrossEntropy", "MatMul"]
    message = f"A gradient of norm {size:.3g} reaches W."
    check(explain_grad(W, loss), "reaches", message, reaches=True)


def test_a_gradient_that_arrives_in_a_run(W):
    report = explain_grad(W, lambda: F.sum(F.matmul(X, W)))
    assert report.reaches and report.path == ["Sum", "MatMul"]
    assert W.grad is None


def test_the_parameter_as_the_loss(W):
    assert explain_grad(W, W).norm == pytest.approx(np.sqrt(12))


def test_the_seed_that_the_user_assigned_counts(W):
    loss = F.sum(W)
    loss.grad = np.array(3.0)
    assert explain_grad(W, loss).norm == pytest.approx(3 * np.sqrt(12))


def test_an_intermediate_result(W):
    h = F.tanh(F.matmul(X, W))
    report = explain_grad(h, F.sum(h * 2.0))
    check(
        report,
        "intermediate",
        "A gradient of norm 8.94 passes through param, but does not stay: it is a "
        "result (of Tanh), no leaf.",
        reaches=True,
    )
    assert report.path == ["Sum", "Mul"]
    assert "retain_grad=True" in report.remedy


def test_one_output_of_several(W):
    a, b = F.split(W, 2, 1)
    loss = F.sum(a)
    assert explain_grad(a, loss).reason == "intermediate"
    assert explain_grad(b, loss).reason != "intermediate"
    assert explain_grad(W, loss).reaches


# ---- it gets there, but is no good -----------------------------------------------


def test_dead_relu(W):
    def loss():
        return F.sum(F.relu(-abs(F.matmul(X, W)) - 1.0))

    for given in loss, loss():
        report = explain_grad(W, given)
        assert (report.reason, report.norm, report.reaches) == ("zero", 0.0, False)
        assert report.message == (
            "A gradient reaches W, but is zero everywhere. It becomes zero in "
            "ReLU.backward. Every input that a gradient comes in for is 0 or less "
            "there: the units are dead for this batch. A lower learning rate, other "
            "initial weights or leaky_relu may help."
        )
        assert report.path == ["Sum", "ReLU", "Sub", "Neg", "Abs", "MatMul"]
    assert "F.relu(-abs" in explain_grad(W, loss).lines[0]
    assert explain_grad(W, loss()).lines == []


@pytest.mark.parametrize(
    ("function", "node"),
    [
        (lambda h: F.clip(h, 100.0, 200.0), "Clip"),
        (lambda h: F.sigmoid(h * 0.0 + 1e3), "Sigmoid"),
        (lambda h: F.tanh(h * 0.0 + 1e3), "Tanh"),
        (lambda h: F.hard_tanh(h * 0.0 + 7.0), "HardTanh"),
        (lambda h: h * np.zeros(4), "Mul"),
        (lambda h: F.matmul(h, np.zeros((4, 2))), "MatMul"),
        (lambda h: F.linear(h, np.zeros((4, 2))), "Linear"),
        (lambda h: F.maximum(h, 1e3), "Maximum"),
    ],
)
def test_where_a_gradient_becomes_zero(W, function, node):
    report = explain_grad(W, F.sum(function(F.matmul(X, W))))
    assert report.reason == "zero"
    assert f"It becomes zero in {node}.backward." in report.message


def test_contributions_that_cancel_are_blamed_on_nobody(W):
    h = F.relu(F.matmul(X, W))
    report = explain_grad(W, F.sum(h - h))
    message = "A gradient reaches W, but is zero everywhere."
    assert (report.reason, report.message) == ("zero", message)


def test_a_gradient_that_is_not_finite(W):
    h = F.sqrt(F.matmul(X, W) * 0.0)
    report = explain_grad(W, F.sum(h))
    assert report.reason == "not finite" and not report.reaches
    assert "It stops being finite in Sqrt.backward." in report.message
    assert "detect_anomaly" in report.remedy


def test_a_loss_that_is_not_finite(W):
    report = explain_grad(W, F.sum(abs(W) * np.array(np.inf)))
    assert report.reason == "not finite"
    assert "It stops being finite in Mul.backward." in report.message
    loss = F.sum(W)
    loss.grad = np.array(np.nan)
    message = "A gradient reaches W, but holds NaN or infinity."
    assert explain_grad(W, loss).message == message


class Half(Function):
    """Forgets the gradient of its second input."""

    reads_inputs = reads_outputs = False

    def forward(self, x0, x1):
        return x0 + x1

    def backward(self, gy):
        return gy, None


class Wrong(Function):
    reads_inputs = reads_outputs = False

    def forward(self, x):
        return x * 2

    def backward(self, gy):
        return gy[0]


def test_a_backward_that_returns_none(W, V):
    def loss():
        return F.sum(Half()(V, F.matmul(X, W)) ** 2)

    check(
        explain_grad(W, loss()),
        "no gradient",
        "The graph leads from the loss to W, but Half.backward returned None for it.",
    )
    report = explain_grad(W, loss)
    assert report.path == ["Sum", "Pow", "Half", "MatMul"]
    assert "Half()(V" in report.lines[0]
    assert explain_grad(V, loss()).reaches


def test_a_backward_that_fails(W):
    check(
        explain_grad(W, F.sum(Wrong()(W))),
        "error",
        "The graph leads from the loss to W, but the backward pass fails: ValueError: "
        "Wrong.backward: expected a gradient of shape (3, 4), as the input has, got "
        "(4,)",
    )


# ---- the parameter ---------------------------------------------------------------


def test_a_frozen_parameter(W):
    W.requires_grad = False
    message = (
        "W.requires_grad is False: it is frozen, or a constant (from as_variable, "
        "detach() or no_grad)."
    )
    report = check(explain_grad(W, F.sum(W * 2.0)), "frozen", message)
    assert report.remedy == "W.requires_grad = True before the forward pass."
    report = check(
        explain_grad(W, lambda: F.sum(F.matmul(X, W))),
        "frozen",
        message + " MatMul uses it.",
    )
    assert "F.matmul(X, W)" in report.lines[0]


def test_a_parameter_that_was_frozen_during_the_forward_pass(W, V):
    W.requires_grad = False
    loss = F.sum(W * V[:3])
    W.requires_grad = True
    check(
        explain_grad(W, loss),
        "frozen",
        "Mul got W as input 0, but W.requires_grad was False then.",
    )


def test_a_boolean_parameter():
    mask = Parameter(np.array([True, False]))
    check(
        explain_grad(mask, F.sum(Variable(np.ones(2)))),
        "boolean",
        "param is boolean, and a boolean has no gradient.",
    )


def test_a_parameter_without_data():
    layer = L.Linear(3)
    check(
        explain_grad(layer.W, F.sum(layer.b)),
        "no data",
        "W has no data yet: its layer makes it when it is first called, and was not "
        "called.",
    )


def test_a_parameter_that_is_not_used(W, V):
    check(
        explain_grad(W, lambda: F.sum(V * 2.0)),
        "unused",
        "W was not used: no function got it.",
    )


def test_the_parameter_of_a_copy(W):
    twin = Parameter(W.data.copy(), name="W")
    report = explain_grad(W, lambda: F.sum(F.matmul(X, twin)))
    assert report.reason == "unused" and "copy of the model" in report.remedy
    # The graph shows a leaf with the same numbers, and that is what is said.
    check(
        explain_grad(W, F.sum(F.matmul(X, twin))),
        "copied",
        "MatMul got as input 1 an array with the same numbers as W, in other memory: "
        "most likely a copy (np.array, .copy(), deepcopy), which no gradient leaves.",
    )


def test_equal_zeros_are_no_evidence():
    a, b = Parameter(np.zeros(4), name="a"), Parameter(np.zeros(4), name="b")
    assert explain_grad(a, F.sum(b * b)).reason == "unknown"


# ---- the loss --------------------------------------------------------------------

CONSTANT = (
    "The loss is a constant: it was computed under no_grad, from constants only, by a "
    "measure without a gradient (accuracy), or was detached; which of these, it does "
    "not say itself."
)


def test_no_grad(W):
    def loss():
        with dz.no_grad():
            h = F.matmul(X, W)
        return F.sum(h * 2.0)

    report = check(explain_grad(W, loss()), "constant", CONSTANT)
    assert "lambda" in report.remedy
    report = check(
        explain_grad(W, loss),
        "no_grad",
        "W went into MatMul under no_grad. What is computed there is a constant.",
    )
    assert report.lines[0].endswith("h = F.matmul(X, W)")
    with dz.no_grad():
        message = CONSTANT + " no_grad is on now, in this thread."
        check(explain_grad(W, F.sum(W)), "constant", message)


def test_a_gradient_that_was_not_recorded(W):
    def loss():
        F.sum(F.tanh(W)).backward()
        g = W.grad
        W.cleargrad()
        return F.sum(g * g)

    report = check(
        explain_grad(W, loss),
        "no_grad",
        "The result of Tanh (3, 4) went into TanhGrad in a backward pass that was not "
        "recorded: its results are constants.",
    )
    assert "create_graph=True" in report.remedy

    def recorded():
        g = dz.grad(F.sum(F.tanh(W)), W, create_graph=True)
        return F.sum(g * g)

    assert explain_grad(W, recorded).reaches


def test_checkpoints_do_what_they_do_elsewhere(W):
    def loss():
        return F.sum(F.checkpoint(lambda x: F.tanh(F.matmul(x, W)), X))

    report = explain_grad(W, loss)
    assert report.reaches and report.path == ["Sum", "Checkpoint"]


def test_in_anomaly_mode(W):
    with dz.detect_anomaly():
        report = explain_grad(W, lambda: F.sum(F.relu(-abs(W) - 1.0)))
    assert report.reason == "zero" and "in ReLU.backward" in report.message
    assert "F.relu" in report.lines[0]


def test_no_grad_in_the_middle(W, V):
    def loss():
        h = F.tanh(F.matmul(X, W))
        with dz.no_grad():
            h = F.exp(h)
        return F.sum(h * V)

    check(
        explain_grad(W, loss),
        "no_grad",
        "The result of Tanh (5, 4) went into Exp under no_grad. What is computed there "
        "is a constant.",
    )


def test_accuracy(W):
    def loss():
        return F.accuracy(F.matmul(X, W), T)

    check(explain_grad(W, loss()), "constant", CONSTANT)
    report = check(
        explain_grad(W, loss),
        "left",
        "The loss is a constant, made outside the functions that have a gradient. The "
        "last value that depends on W and left the graph is the result of MatMul (5, "
        "4), by accuracy().",
    )
    assert "return F.accuracy(" in report.lines[0]


def test_an_integer_loss(W):
    loss = F.sum(F.matmul(X, W)).astype(int)
    check(
        explain_grad(W, loss),
        "integer",
        "The loss is a constant of dtype int64: what counts, compares or is cast to "
        "integers (argmax, accuracy, astype(int)) has no gradient.",
    )


def test_a_loss_that_is_detached(W):
    y = F.sum(F.matmul(X, W))
    check(
        explain_grad(W, y.detach()),
        "detached",
        "The loss is the array of the result of Sum () as a constant (.data or "
        "detach()).",
    )
    check(
        explain_grad(W, lambda: F.sum(W).detach()),
        "detached",
        "The loss is the array of the result of Sum () as a constant by detach().",
    )


def test_a_number_as_the_loss(W):
    report = check(
        explain_grad(W, lambda: float(F.sum(W))),
        "no variable",
        "The function returned float, no Variable: it has left the graph. The last "
        "value that depends on W and left the graph is the result of Sum (), by "
        "float().",
    )
    assert "float(F.sum(W))" in report.lines[0]
    report = explain_grad(W, lambda: F.sum(W).data)
    assert report.reason == "detached"
    check(
        explain_grad(W, lambda: None if F.sum(W) is None else None),
        "no variable",
        "The function returned NoneType, no Variable: it has left the graph.",
    )


def test_a_loss_without_data(W):
    message = "The loss has no data."
    check(explain_grad(W, Variable(None, requires_grad=False)), "constant", message)


def test_the_first_break_counts(W, V):
    def loss():
        with dz.no_grad():
            h = F.matmul(X, W)
        return F.sum(h.data * V)

    assert explain_grad(W, loss).reason == "no_grad"


def test_a_loss_that_is_a_leaf(W):
    check(
        explain_grad(W, Variable(np.array(0.5))),
        "leaf",
        "The loss is a leaf: a Variable made from an array, or cut off by unchain(). "
        "No function stands behind it.",
    )


def test_a_loss_of_other_constants_in_a_run(W):
    def loss():
        F.matmul(X, W)
        return F.sum(np.ones(3))

    report = explain_grad(W, loss)
    assert report.reason == "elsewhere" and report.lines[0].endswith("F.matmul(X, W)")


# ---- values that left the graph --------------------------------------------------


def detached(h):
    return h.detach()


def data(h):
    return h.data


def view(h):
    return h.data.reshape(4, 5).reshape(5, 4)


@pytest.mark.parametrize(
    ("leave", "door"), [(detached, "detach()"), (data, ".data"), (view, ".data")]
)
def test_an_array_that_went_on(W, V, leave, door):
    h = F.tanh(F.matmul(X, W))
    check(
        explain_grad(W, F.sum(leave(h) * V)),
        "detached",
        "Mul got as input 0 the array of the result of Tanh (5, 4) as a constant "
        "(.data or detach()).",
    )
    report = check(
        explain_grad(W, lambda: F.sum(leave(F.tanh(F.matmul(X, W))) * V)),
        "detached",
        "Mul got the array of the result of Tanh (5, 4) as a constant by " + door + ".",
    )
    assert "return h." in report.lines[0]


def test_the_name_of_a_result_is_told(W, V):
    h = F.tanh(F.matmul(X, W))
    h.name = "hidden"
    assert "the result 'hidden' of Tanh" in explain_grad(W, F.sum(h.data * V)).message


def test_the_array_of_the_parameter_itself(W, V):
    check(
        explain_grad(W, F.sum(W.data * V[:3])),
        "detached",
        "Mul got as input 0 the array of W as a constant (.data or detach()).",
    )
    check(
        explain_grad(W, lambda: F.sum(W.data * V[:3])),
        "detached",
        "Mul got the array of W as a constant by .data.",
    )
    array = W.data  # read before the run
    report = explain_grad(W, lambda: F.sum(F.matmul(X, array) * V))
    check(report, "detached", "MatMul got the array of W as a constant.")


def test_a_new_variable(W, V):
    h = F.tanh(F.matmul(X, W))
    check(
        explain_grad(W, F.sum(Variable(h.data) * V)),
        "new variable",
        "Mul got as input 0 another Variable around the array of the result of Tanh "
        "(5, 4): the gradient ends in that Variable.",
    )
    check(
        explain_grad(W, lambda: F.sum(Variable(F.tanh(F.matmul(X, W)).data) * V)),
        "new variable",
        "Mul got a new Variable around the array of the result of Tanh (5, 4) by "
        ".data: the gradient ends in that Variable.",
    )


@pytest.mark.parametrize(
    ("copied", "door"),
    [
        (lambda h: h.data.copy(), ".data"),
        (lambda h: np.array(h), "np.asarray()"),
        (lambda h: Variable(h.data.astype(np.float32)), ".data"),
    ],
)
def test_a_copy(W, V, copied, door):
    h = F.tanh(F.matmul(X, W))
    check(
        explain_grad(W, F.sum(copied(h) * V)),
        "copied",
        "Mul got as input 0 an array with the same numbers as the result of Tanh (5, "
        "4), in other memory: most likely a copy (np.array, .copy(), deepcopy), which "
        "no gradient leaves.",
    )
    check(
        explain_grad(W, lambda: F.sum(copied(F.tanh(F.matmul(X, W))) * V)),
        "copied",
        "Mul got an array with the same numbers as the result of Tanh (5, 4) in other "
        f"memory by {door}: most likely a copy, which no gradient leaves.",
    )


def test_a_cast_to_integers(W, V):
    h = F.matmul(X, W) * 5.0
    check(
        explain_grad(W, F.sum(h.astype(int) * V)),
        "cast",
        "Mul got as input 0 integers that are the result of Mul (5, 4) without the "
        "fraction: most likely it was cast (astype(int)), and integers have no "
        "gradient.",
    )
    check(
        explain_grad(W, lambda: F.sum((F.matmul(X, W) * 5.0).astype(int) * V)),
        "cast",
        "Mul got integers, the result of Mul (5, 4) without the fraction by astype(): "
        "most likely it was cast, and integers have no gradient.",
    )


def test_argmax(W, V):
    def loss():
        return F.sum(F.matmul(X, W).argmax(axis=1) * V[:, 0])

    report = check(
        explain_grad(W, loss),
        "counted",
        "Mul got integers, the places of the greatest or least of the result of MatMul "
        "(5, 4) by argmax(): they have no gradient.",
    )
    assert "argmax(axis=1)" in report.lines[0]


def test_labels_that_the_model_knows_are_no_argmax(W, V):
    labels = (X @ W.data).argmax(axis=1)

    def loss():
        F.accuracy(F.matmul(X, W), labels)
        return F.softmax_cross_entropy(V, labels)

    assert explain_grad(W, loss).reason == "left"


def test_a_value_that_was_computed_outside(W, V):
    def loss():
        h = F.matmul(X, W)
        return F.sum(np.exp(h.data) * V)

    report = check(
        explain_grad(W, loss),
        "left",
        "The loss does not depend on W through recorded calls. The last value that "
        "depends on W and left the graph is the result of MatMul (5, 4), by .data. If "
        "the loss is computed from it, the chain ends there.",
    )
    assert "np.exp(h.data)" in report.lines[0]
    assert [(e.function, e.place, e.shape, e.what) for e in report.endings] == [
        ("Mul", 0, (5, 4), "constant"),
        ("Mul", 1, (5, 4), "leaf 'V'"),
    ]


def test_a_comparison(W, V):
    report = explain_grad(W, lambda: F.sum(F.where(F.matmul(X, W) > 0, V, 0.0)))
    assert report.reason == "left" and "by a comparison." in report.message


def test_an_intermediate_that_is_gone_leaves_no_trace(W, V):
    loss = F.sum(F.tanh(F.matmul(X, W)).data * V)
    report = check(
        explain_grad(W, loss),
        "unknown",
        "The loss does not depend on W through recorded calls, and no recorded call "
        "that is still alive got W. It was not used, or it was used under no_grad, or "
        "a result of it that is gone since went on without its graph (.data, "
        "np.asarray, detach, unchain): which of these, the graph cannot tell.",
    )
    assert [e.what for e in report.endings] == ["constant", "leaf 'V'"]
    assert "Mul" in str(report) and "lambda" in report.remedy


def test_a_function_that_keeps_its_output_is_enough(W, V):
    # The result is gone, but what follows it keeps Tanh, and Tanh its array.
    h = F.tanh(F.matmul(X, W))
    kept = F.exp(h)
    loss = F.sum(h.data * V)
    del h
    assert explain_grad(W, loss).reason == "detached"
    assert kept is not None


def test_a_loss_that_does_not_contain_the_result(W, V):
    h = F.matmul(X, W)
    check(
        explain_grad(W, F.sum(V * V)),
        "elsewhere",
        "W went into MatMul (output (5, 4)), but nothing that depends on it is part of "
        "the graph of the loss, and no array that the graph kept is or equals one of "
        "it.",
    )
    assert h is not None


def test_several_breaks_are_counted(W, V):
    def loss():
        h = F.tanh(F.matmul(X, W))
        return F.sum(V * F.add(h.data, F.exp(h).data))

    report = explain_grad(W, loss)
    assert report.message == (
        "Add got the array of the result of Tanh (5, 4) as a constant by .data. And 1 "
        "more such place."
    )


def test_a_chain_that_is_whole_beside_a_broken_one(W):
    def loss():
        h = F.matmul(X, W)
        return F.sum(h * h.data)

    assert explain_grad(W, loss).reaches


# ---- the graph -------------------------------------------------------------------


def test_a_cut_graph(W, V):
    h = F.tanh(F.matmul(X, W))
    loss = F.sum(h * V)
    loss.unchain_backward()
    check(
        explain_grad(W, loss),
        "cut",
        "The graph was cut at Mul (output (5, 4)) by unchain() or unchain_backward(), "
        "and W is not on this side of the cut: gradients end there.",
    )
    assert explain_grad(V, loss).reason == "cut"


def test_a_result_that_was_unchained(W, V):
    def loss():
        h = F.tanh(F.matmul(X, W))
        y = F.sum(h * V)
        h.unchain()
        return y

    report = explain_grad(W, loss)
    assert report.reason == "cut" and "cut at Tanh (output (5, 4))" in report.message
    assert "F.tanh" in report.lines[0]
    assert explain_grad(V, loss).reaches


def test_a_freed_graph(W):
    loss = F.sum(F.tanh(F.matmul(X, W)))
    loss.backward(retain_graph=False)
    text = (
        "An earlier backward(retain_graph=False) freed the graph at Sum, so another "
        "pass fails there, and what lay behind cannot be seen."
    )
    check(explain_grad(W, loss), "freed", text + " W.grad is there, from that pass or "
          "an earlier one.")  # fmt: skip
    W.cleargrad()
    check(explain_grad(W, loss), "freed", text + " W.grad is None.")


def test_a_graph_freed_by_another_loss(W, V):
    h = F.tanh(F.matmul(X, W))
    other = F.sum(h)
    loss = F.sum(h * V) + F.sum(W)
    other.backward(retain_graph=False)
    report = explain_grad(W, loss)
    assert report.reason == "freed" and "at Tanh" in report.message
    assert report.path


# ---- runs ------------------------------------------------------------------------


def test_a_model():
    model = MLP((8, 4), activation=F.relu)
    names = {}
    loss = F.softmax_cross_entropy
    for name, p in model.named_params():
        names[name] = explain_grad(p, lambda: loss(model(X), T)).reason
    assert list(names.values()) == ["reaches"] * 4  # the first run made the weights


def test_a_recurrent_model():
    rnn, head = L.RNN(4), L.Linear(1)

    def loss(cut):
        rnn.reset_state()
        for _ in range(3):
            h = rnn(X)
        return F.sum(head(h.data if cut else h))

    loss(False)
    for p in rnn.params():
        assert explain_grad(p, lambda: loss(False)).reaches
        report = explain_grad(p, lambda: loss(True))
        assert (report.reason, report.lines != []) == ("detached", True)


def test_the_name_of_a_parameter_stays_as_it_is(V):
    w = Parameter(np.ones((3, 4)), name="w")

    def loss():
        with dz.no_grad():
            return F.sum(F.matmul(X, w))

    assert explain_grad(w, loss).message.startswith("w went into MatMul under no_grad")


def test_a_parameter_that_is_frozen_for_a_while(W, V):
    def loss():
        W.requires_grad = False
        h = F.matmul(X, W)
        W.requires_grad = True
        return F.sum(h * V)

    check(
        explain_grad(W, loss),
        "frozen",
        "MatMul got W, whose requires_grad was False.",
    )


def test_a_parameter_that_the_run_makes(V):
    layer = L.Linear(4)
    assert explain_grad(layer.W, lambda: F.sum(layer(X) * V)).reaches
    layer = L.Linear(4)

    def loss():
        layer(X)
        return F.sum(F.matmul(X.astype("f"), layer.W.data) * V)

    assert explain_grad(layer.W, loss).reason == "detached"


def test_several_functions_that_lose_a_gradient(W, V):
    z = F.sum(Half()(V[:3], W) * Half()(V[:3], W))
    message = explain_grad(W, z).message
    assert message.endswith("but Half.backward returned None for it.")


# Programs drawn at random, with a break of a known kind at a random place.
OPERATIONS = [
    lambda h, p: F.tanh(h),
    lambda h, p: h + p,
    lambda h, p: h * p,
    lambda h, p: F.matmul(h, p.T),
    lambda h, p: F.softmax(h),
    lambda h, p: F.reshape(F.reshape(h, (-1,)), h.shape),
    lambda h, p: F.concatenate([h[:2], h[2:]], 0),
    lambda h, p: F.split(h, 2, 1)[0] @ np.ones((2, 4)),
    lambda h, p: F.where(h.data > 0, h, h * 0.5),  # these read data, as they may
    lambda h, p: h - h.data.max(),
    lambda h, p: np.sin(h),
]
BREAKS = {
    "none": [lambda h: h],
    "detached": [lambda h: h.detach(), lambda h: h.data, lambda h: h.data.T.T],
    "new variable": [lambda h: Variable(h.data)],
    "copied": [lambda h: h.data.copy(), np.array, lambda h: Variable(np.array(h))],
    "left": [lambda h: np.exp(h.data), lambda h: (h > 0) * 1.0],
    "no_grad": [dz.no_grad()(lambda h: F.tanh(h))],
}


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("kind", BREAKS)
def test_random_programs(kind, seed):
    rng = np.random.default_rng(seed)
    W, P = [Parameter(rng.standard_normal((4, 4))) for _ in range(2)]
    x = rng.standard_normal((4, 4))
    steps = [OPERATIONS[i] for i in rng.integers(0, len(OPERATIONS), 5)]
    at = rng.integers(0, len(steps))
    leave = BREAKS[kind][rng.integers(0, len(BREAKS[kind]))]

    def loss():
        h = F.matmul(x, W)
        for i, step in enumerate(steps):
            if i == at:
                h = F.add(leave(h), 0.0)
            h = step(h, P)
        return F.sum(h * h)

    y = loss()
    if y.requires_grad:
        y.backward()
    arrives = W.grad is not None and bool((W.grad.data != 0).any())
    report = explain_grad(W, loss)
    assert report.reaches == explain_grad(W, y).reaches == arrives
    if kind != "none":
        assert report.reason == kind
    else:
        assert report.reason in ("reaches", "zero")


def test_half_precision(W):
    W = Parameter(W.data.astype(np.float16))
    assert explain_grad(W, lambda: F.sum(F.matmul(X.astype(np.float16), W))).reaches


def test_the_engine_is_as_it_was(W):
    before = Function.__call__, vars(Variable)["data"]
    explain_grad(W, lambda: F.sum(W))

    def fails():
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        explain_grad(W, fails)
    assert (Function.__call__, vars(Variable)["data"]) == before
    # In a run that runs another.
    inner = []
    explain_grad(W, lambda: inner.append(explain_grad(W, lambda: F.sum(W))) or F.sum(W))
    assert inner[0].reaches
    assert (Function.__call__, vars(Variable)["data"]) == before


def test_other_threads_are_not_observed(W, V):
    def loss():
        thread = threading.Thread(target=lambda: F.sum(W.data * 2.0))
        thread.start()
        thread.join()
        return F.sum(V)

    assert explain_grad(W, loss).reason == "unused"


def test_long_paths_are_shortened(W):
    y = W
    for _ in range(1000):
        y = y + 1.0
    report = explain_grad(W, F.sum(y))
    assert len(report.path) == 1001 and "(989 more)" in str(report)


def test_many_endings_are_shortened(W):
    loss = sum([F.sum(Variable(rng.standard_normal((2, 2)))) for _ in range(12)])
    report = explain_grad(W, loss)
    assert len(report.endings) == 13  # and the 0 that the sum starts with
    assert "... and 3 more" in str(report)


# ---- arguments -------------------------------------------------------------------

ERRORS = [
    (
        lambda W: explain_grad(W.data, F.sum(W)),
        "explain_grad: expected a Variable as param, got ndarray; an array has no "
        "gradient",
    ),
    (
        lambda W: explain_grad(W, 0.5),
        r"explain_grad: expected a Variable or a function as loss, got float; what "
        r"float\(loss\) or loss.data give has left the graph",
    ),
]


@pytest.mark.parametrize(("call", "message"), ERRORS)
def test_errors(W, call, message):
    with pytest.raises(TypeError, match=message):
        call(W)


def test_the_package_has_it():
    assert dz.explain_grad is explain_grad
    assert dz.diagnostics.explain_grad is explain_grad


def test_a_result_that_was_unchained_in_the_run(W, V):
    def loss():
        h = F.tanh(F.matmul(X, W))
        h.name = "h"
        h.unchain()
        return F.sum(h * V)

    report = check(
        explain_grad(W, loss),
        "cut",
        "Mul got the result 'h' of Tanh (5, 4), which unchain() or unchain_backward() "
        "has made a leaf: the gradient ends there.",
    )
    assert report.remedy == "Cut after backward(), or cut further back."
    assert "return F.sum(h * V)" in report.lines[0]

    def itself():
        y = F.sum(W)
        y.unchain()
        return y

    check(
        explain_grad(W, itself),
        "cut",
        "the loss is the result of Sum (), which unchain() or unchain_backward() has "
        "made a leaf: the gradient ends there.".capitalize().replace(
            "sum (", "Sum (", 1
        ),
    )


def test_a_cut_beside_an_open_way_is_no_break(W):
    def loss():
        h = F.matmul(X, W)
        h.unchain()
        return F.sum(h * F.matmul(X, W))

    assert explain_grad(W, loss).reaches
