"""SideBySide: weights that share one array, and one Variable for all steps."""

import weakref
from types import SimpleNamespace

import numpy as np
import pytest

import dezero as dz
import dezero.functions as F
from dezero.core import Parameter, no_grad
from dezero.layers import side_by_side
from dezero.layers.side_by_side import SideBySide

X = np.random.RandomState(0).randn(3, 2)


def weights(n=3):
    rng = np.random.RandomState(1)
    return [Parameter(rng.randn(2, 4), name=f"W{i}") for i in range(n)]


def test_the_parameters_become_views_of_one_array():
    parts = weights()
    before = [p.data for p in parts]
    pack = SideBySide(parts)
    whole = pack.joined(anew=True)
    np.testing.assert_array_equal(whole.data, np.concatenate(before, axis=1))
    for p, x in zip(parts, before, strict=True):
        np.testing.assert_array_equal(p.data, x)
        assert np.shares_memory(p.data, whole.data)
    parts[1].data -= 1.0  # an update in place is one of all
    np.testing.assert_array_equal(whole.data[:, 4:8], before[1] - 1)
    assert pack.holds(parts)


def test_other_weights_are_not_held():
    parts = weights()
    pack = SideBySide(parts)
    assert pack.holds(list(parts))
    assert not pack.holds([parts[1], parts[0], parts[2]])
    parts[1].data = parts[1].data.copy()
    assert not pack.holds(parts)


def test_steps_share_a_variable_until_a_graph_begins_anew():
    pack = SideBySide(weights())
    first = pack.joined(anew=True)
    assert pack.joined(anew=False) is first
    assert pack.joined(anew=True) is not first


def test_what_is_frozen_or_not_recorded_counts_at_once():
    parts = weights()
    pack = SideBySide(parts)
    with no_grad():
        assert not pack.joined(anew=False).requires_grad
    assert pack.joined(anew=False).requires_grad
    parts[0].requires_grad = False
    F.sum(F.matmul(X, pack.joined(anew=False))).backward()
    assert parts[0].grad is None and parts[1].grad is not None
    parts[0].requires_grad = True
    F.sum(F.matmul(X, pack.joined(anew=False))).backward()
    assert parts[0].grad is not None


def test_gradients_are_those_of_the_parts():
    parts = weights()
    whole = SideBySide(parts).joined(anew=True)
    y = F.sum(F.tanh(F.matmul(X, whole))) + F.sum(whole * whole)
    y.backward()
    for p in parts:
        (want,) = dz.grad(
            F.sum(F.tanh(F.matmul(X, p))) + F.sum(p * p), [p], create_graph=True
        )
        np.testing.assert_allclose(p.grad.data, want.data, rtol=1e-12)
        assert p.grad.data.flags.writeable
    for p in parts[1:]:
        assert not np.may_share_memory(p.grad.data, parts[0].grad.data)


def test_second_derivatives():
    parts = weights()
    y = F.sum(F.tanh(F.matmul(X, SideBySide(parts).joined(anew=True))))
    (g,) = dz.grad(y, parts[:1], create_graph=True)
    (gg,) = dz.grad(F.sum(g * g), parts[:1])
    (g0,) = dz.grad(F.sum(F.tanh(F.matmul(X, parts[0]))), parts[:1], create_graph=True)
    (want,) = dz.grad(F.sum(g0 * g0), parts[:1])
    np.testing.assert_allclose(gg.data, want.data, rtol=1e-10)


@pytest.mark.parametrize("leave", ["unchain", "free"])
def test_what_one_step_leaves_behind_stays_for_the_others(leave):
    parts = weights()
    pack = SideBySide(parts)
    whole = pack.joined(anew=True)
    first = F.sum(F.exp(F.matmul(X, whole)))
    second = F.sum(F.matmul(X, whole))
    if leave == "unchain":
        first.unchain_backward()
    else:
        first.backward(retain_graph=False)
        for p in parts:
            p.cleargrad()
    third = F.sum(F.matmul(X, pack.joined(anew=False)))
    for loss in second, third:
        loss.backward()
        for p in parts:
            np.testing.assert_allclose(p.grad.data, np.repeat(X.sum(0)[:, None], 4, 1))
            p.cleargrad()


def test_another_thread_that_joins_in_between(monkeypatch):
    class Ref(weakref.ref):
        def __call__(self):
            found = super().__call__()
            while meanwhile:
                meanwhile.pop()()
            return found

    monkeypatch.setattr(side_by_side, "weakref", SimpleNamespace(ref=Ref))
    pack, meanwhile, others = SideBySide(weights()), [], []
    with no_grad():
        constant = pack.joined(anew=True)
    # After the constant was found, a thread that records joins the weights.
    meanwhile.append(lambda: others.append(pack.joined(anew=False)))
    joined = pack.joined(anew=False)
    assert others[0].requires_grad and not constant.requires_grad
    assert joined.requires_grad
