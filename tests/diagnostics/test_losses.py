"""Loss curves: recorded ones that were judged, small ones made by hand, live ones."""

import collections
import pathlib

import numpy as np
import pytest

import dezero as dz
import dezero.functions as F
from dezero.diagnostics import diagnose_loss, loss_signs
from dezero.diagnostics.loss_report import CAUSES, sketch

CURVES = pathlib.Path(__file__).parent / "curves.npz"
KINDS = {
    "flat": "flat from the start",
    "plateau": "plateau above expectation",
    "overfit": "falls then rises",
    "nan": "not finite",
}


def recorded():
    """Every recorded curve: its kind, losses, validation losses, expectation."""
    with np.load(CURVES) as a:
        arrays = {name: a[name] for name in a.files}
    ends = np.cumsum(arrays["length"], axis=0)  # (curves, 2)
    for i, (end, n) in enumerate(zip(ends, arrays["length"], strict=True)):
        kind, expected = str(arrays["kind"][i]), float(arrays["expected"][i])
        losses = [
            arrays[name][end[j] - n[j] : end[j]]
            for j, name in enumerate(("loss", "validation"))
        ]
        expected = None if np.isnan(expected) else expected
        yield KINDS.get(kind, kind), *losses, expected


def falling(n=60, seed=0, noise=0.03):
    rng = np.random.default_rng(seed)
    return 0.1 + 2 * np.exp(-np.arange(n) / 12) + noise * rng.standard_normal(n)


# ---- recorded trainings ----------------------------------------------------------


# 50 trainings of each kind, of tasks and seeds that no threshold was chosen on. What
# counts as an example of its kind is decided without diagnose_loss.
def test_nearly_all_of_the_judged_curves_are_told_and_no_healthy_one_alarms():
    made, found, alarms = [collections.Counter() for _ in range(3)]
    for kind, loss, validation, expected in recorded():
        made[kind] += 1
        kinds = diagnose_loss(loss, validation, expected).kinds
        if kind == "healthy":  # with and without an expectation
            alarms.update({*kinds, *diagnose_loss(loss, validation).kinds})
        found[kind] += kind in kinds
    assert set(made) == {"healthy", *CAUSES} and set(made.values()) == {50}
    assert not alarms
    assert all(found[kind] >= 45 for kind in CAUSES), found


@pytest.mark.parametrize("factor", [1e-3, 1000.0, 1e300, 1e-300])
def test_the_unit_of_the_loss_does_not_matter(factor):
    for _, loss, validation, expected in list(recorded())[::9]:
        loss, validation = loss.astype(float), validation.astype(float)
        if np.abs(loss[np.isfinite(loss)]).max(initial=0) > 1e6:
            continue
        scaled = None if expected is None else factor * expected
        report = diagnose_loss(loss, validation, expected)
        other = diagnose_loss(factor * loss, factor * validation, scaled)
        assert other.kinds == report.kinds
        assert [f.step for f in other.findings] == [f.step for f in report.findings]


def test_reports_fit_into_80_columns():
    for _, loss, validation, expected in list(recorded())[::5]:
        text = str(diagnose_loss(loss, validation, expected))
        assert max([len(line) for line in text.splitlines()]) <= 80


# ---- trainings that run here -----------------------------------------------------


def train(rate, shuffle=True, seed=0):
    """A small network that tells four blobs apart: the losses of 160 steps."""
    dz.seed(seed)
    x, t = dz.datasets.get_blobs(256, centers=4, std=1.5, seed=seed)
    order = np.argsort(t, kind="stable")
    model = dz.models.MLP((32, 4), activation=F.tanh)
    optimizer = dz.optimizers.SGD(rate).setup(model)
    losses = []
    for i in range(160):
        k = np.random.permutation(256)[:16]
        if not shuffle:
            k = order[np.arange(16 * i, 16 * i + 16) % 256]
        loss = F.softmax_cross_entropy(model(x[k]), t[k])
        model.cleargrads()
        loss.backward()
        optimizer.update()
        losses.append(loss)  # a Variable, as many scripts do it
    return losses


# Each verdict was the same for the seeds 0 to 9.
def test_live_trainings():
    assert diagnose_loss(train(rate=0.1)).verdict == "healthy"
    assert diagnose_loss(train(rate=0.0)).kinds == ["flat from the start"]
    assert "saw-tooth" in diagnose_loss(train(rate=0.05, shuffle=False)).kinds


# ---- one curve of each kind ------------------------------------------------------


def test_healthy():
    report = diagnose_loss(falling())
    assert report.ok and report.verdict == "healthy" and report.kinds == []
    assert report.length == 60 and report.lowest == falling().min()
    text = str(report)
    assert text.startswith("healthy: 60 losses, first 2.1, lowest 0.0")
    assert "told if expected= is given" in text
    assert "told if validation= is given" in text


def test_flat():
    report = diagnose_loss([2.3] * 20)
    assert not report.ok and report.kinds == ["flat from the start"]
    (finding,) = report.findings
    assert finding.step == 0
    assert finding.evidence == pytest.approx(
        {"start": 2.3, "lowest": 2.3, "noise": 0, "trend": 0}
    )
    assert "check_updates(model, step)" in str(report)


def test_zeros_are_flat():
    assert diagnose_loss(np.zeros(30)).kinds == ["flat from the start"]
    assert diagnose_loss(np.zeros(30), expected=0.0).ok


def test_a_loss_that_begins_where_it_should_be_is_not_flat():
    assert diagnose_loss([0.02] * 20).kinds == ["flat from the start"]
    assert diagnose_loss([0.02] * 20, expected=0.05).ok


def test_sudden_rise():
    x = falling()
    x[40:] += 3.0
    report = diagnose_loss(x)
    assert report.kinds == ["sudden rise"]
    (finding,) = report.findings
    assert finding.step == 40
    assert finding.evidence["peak"] > 3 > 1 > finding.evidence["before"]
    assert "learning rate" in finding.causes[0][0]


@pytest.mark.parametrize("at", [9, 20])
def test_a_rise_of_two_epochs_is_found_where_all_else_is_smooth(at):
    x = falling(30, noise=0.002)
    x[at : at + 2] += 0.8
    (finding,) = diagnose_loss(x).findings
    assert finding.kind == "sudden rise" and finding.step == at


def test_a_step_up_like_those_before_is_noise():
    x = falling(100, noise=0.0)
    x[20::7] += 0.8  # single high losses, as small batches with outliers make them
    up, largest = loss_signs.steps_up(x)
    assert up[27] < loss_signs.JUMP_LARGEST * largest[27]
    assert loss_signs.is_jump(x[:20], up[20], 100)
    assert not loss_signs.is_jump(x[:7], 1.0, 100)


def test_a_rise_far_above_the_teeth_is_none_of_them():
    x = falling(240) + 0.5 * (np.arange(240) % 12) / 12
    assert diagnose_loss(x).kinds == ["saw-tooth"]
    x[150:153] += 2
    assert diagnose_loss(x).kinds == ["sudden rise", "saw-tooth"]


def test_a_loss_that_explodes_at_once_and_stays_noisy():
    rng = np.random.default_rng(0)
    x = np.concatenate([[0.4, 31.0, 94.0, 6.0], 130 + 40 * rng.standard_normal(200)])
    assert diagnose_loss(x).kinds == ["sudden rise"]


def test_wiggle_does_not_see_a_steep_fall():
    assert loss_signs.wiggle(np.arange(20.0)) == pytest.approx(0)
    x = np.random.default_rng(0).standard_normal(4000) - np.arange(4000)
    assert loss_signs.wiggle(x) == pytest.approx(1, rel=0.1)


def test_a_rise_in_a_very_long_history_is_found_at_its_step():
    x = falling(20_000)
    x[12_000:] += 3.0
    (finding,) = diagnose_loss(x).findings
    assert finding.kind == "sudden rise" and abs(finding.step - 12_000) <= 10


def test_saw_tooth():
    x = falling(120) + 0.5 * (np.arange(120) % 12) / 12
    report = diagnose_loss(x)
    assert report.kinds == ["saw-tooth"]
    assert report.findings[0].evidence["period"] == 12
    assert "shuffle" in report.findings[0].causes[0][1]


def test_plateau():
    x = falling()
    assert diagnose_loss(x + 0.8).ok  # nobody said what to expect
    report = diagnose_loss(x + 0.8, expected=0.1)
    assert report.kinds == ["plateau above expectation"]
    assert report.findings[0].evidence["level"] == pytest.approx(0.93, abs=0.05)
    assert diagnose_loss(x, expected=0.1).ok


def test_a_loss_that_still_falls_is_no_plateau():
    assert diagnose_loss(np.linspace(2, 1, 50), expected=0.1).ok


def test_falls_then_rises():
    x = falling(40, noise=0.0)
    v = x + 0.06 * np.maximum(np.arange(40) - 15, 0)
    history = {"loss": x, "validation_loss": v}
    report = diagnose_loss(history)
    assert report.kinds == ["falls then rises"]
    assert abs(report.findings[0].step - int(np.argmin(v))) <= 1
    assert diagnose_loss(x, v).kinds == report.kinds
    assert diagnose_loss({"loss": x}).ok
    assert diagnose_loss({"loss": x, "validation_loss": []}).ok


def test_not_finite():
    x = falling()
    x[30] = np.nan
    report = diagnose_loss(x)
    assert report.kinds == ["not finite"]
    assert report.findings[0].step == 30
    # The losses before had not grown, so the learning rate is not the first guess.
    assert "log" in report.findings[0].causes[0][0]
    grown = diagnose_loss([1.0, 4.0, 50.0, 9e3, np.inf, np.nan])
    assert grown.kinds == ["not finite"] and grown.findings[0].step == 4
    assert "learning rate" in grown.findings[0].causes[0][0]


def test_what_came_before_the_nan_is_told_too():
    x = falling()
    x[40:50] += 10 * np.arange(1, 11)
    x[50:] = np.inf
    assert diagnose_loss(x).kinds == ["not finite", "sudden rise"]


def test_a_validation_loss_that_is_not_finite():
    v = falling()
    v[7] = np.inf
    report = diagnose_loss(falling(), v)
    assert report.kinds == ["not finite"] and report.findings[0].step == 7


@pytest.mark.parametrize("x", [[0.5], [2.0, 1.0], np.linspace(2, 1, 7)])
def test_too_short(x):
    report = diagnose_loss(x)
    assert report.verdict == "too short to tell" and not report.ok
    assert report.kinds == [] and "fewer than 8" in str(report)


def test_a_single_nan_is_told():
    report = diagnose_loss([np.nan])
    assert report.kinds == ["not finite"] and np.isnan(report.lowest)
    assert str(report).startswith("not finite: 1 loss, first nan")


def test_negative_losses():
    assert diagnose_loss(falling() - 3).ok
    assert diagnose_loss([-1.5] * 20).kinds == ["flat from the start"]


# ---- forms of the history --------------------------------------------------------


@pytest.mark.parametrize(
    "form",
    [
        list,
        tuple,
        np.float32,
        dz.Variable,
        lambda x: [np.asarray(v) for v in x],
        lambda x: [dz.Variable(np.asarray(v)) for v in x],
        lambda x: iter(x.tolist()),
    ],
)
def test_forms_of_the_history(form):
    assert diagnose_loss(form(falling())).ok


def test_the_history_is_not_changed():
    x = falling()
    kept = x.copy()
    diagnose_loss(x, x, expected=0.1)
    np.testing.assert_array_equal(x, kept)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (([],), ValueError, "expected losses in history, got none"),
        ((np.zeros(0),), ValueError, "expected losses in history, got none"),
        (({},), ValueError, "expected a dict with 'loss', got one with"),
        ((np.zeros((4, 2)),), ValueError, r"with one axis, got shape \(4, 2\)"),
        ((3.0,), TypeError, "as a sequence of losses, got float"),
        (("123",), TypeError, "as a sequence of losses, got str"),
        (([1.0, "2"],), TypeError, "history of real numbers, got str"),
        (([1.0, None],), TypeError, "history of real numbers, got NoneType"),
        (([True, False],), TypeError, "history of real numbers, got bool"),
        ((np.zeros(3, complex),), TypeError, "of real numbers, got complex128"),
        (([[1.0], [2.0]],), ValueError, "one number per step, got a list"),
        (([np.zeros(2)],), ValueError, r"one number per step, got one of shape \(2,\)"),
        (([1.0], ["a"]), TypeError, "validation of real numbers, got str"),
        (([1.0], None, "a"), TypeError, "expected expected of real numbers, got str"),
        (([1.0], None, np.nan), ValueError, "expected a finite number as expected"),
    ],
)
def test_errors(arguments, error, message):
    with pytest.raises(error, match=f"diagnose_loss: .*{message}"):
        diagnose_loss(*arguments)


# ---- the report ------------------------------------------------------------------


def test_the_report_as_html_and_as_data():
    report = diagnose_loss([2.3] * 20)
    html = report._repr_html_()
    assert "<b>flat from the start: 20 losses" in html and "<table" in html
    data = report.to_dict()
    assert data["findings"][0]["kind"] == "flat from the start"


def test_sketch():
    assert sketch(np.array([0.0, 1.0])) == "▁█"
    assert sketch(np.array([1.0, 1.0, np.nan])) == "▁▁x"
    assert sketch(np.full(3, np.inf)) == "xxx"
    assert len(sketch(np.arange(1000.0))) == 60


def test_ranks_share_ties():
    r = loss_signs.ranks(np.array([3.0, 1.0, 3.0, 2.0]))
    assert r[0] == r[2] > r[3] > r[1]
    assert r.mean() == pytest.approx(0) and r.std() == pytest.approx(1)
