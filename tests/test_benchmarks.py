"""The two sides of every benchmark compute the same; how fast is not tested here."""

import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import dezero as dz
import dezero.functions as F

BENCHMARKS = Path(__file__).resolve().parent.parent / "benchmarks"


@pytest.fixture(scope="module")
def benchmarks():
    """The scripts as modules; they import each other as neighbours."""
    names = ["_compare", "handwritten", "overhead", "mlp", "import_time"]
    names += ["_derivatives", "_tables", "_trajectories", "against_torch"]
    names += ["_loss_tasks", "_loss_tasks_early", "_loss_tasks_late"]
    names += [
        "_loss_tasks_sixth",
        "_loss_tasks_judged",
        "_loss_training",
        "_loss_faults",
        "_loss_rules",
    ]
    names += ["loss_curves"]
    before = set(sys.modules)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(BENCHMARKS)
        modules = {name: __import__(name) for name in names}
    yield modules
    for name in set(names) - before:
        del sys.modules[name]


def numerical_gradient(loss, p, direction, eps):
    """Central difference of ``loss()`` along ``direction``, a change of array ``p``."""
    start = p.copy()
    values = []
    for sign in (1, -1):
        p[...] = start + sign * eps * direction
        values.append(loss())
    p[...] = start
    return (values[0] - values[1]) / (2 * eps)


@pytest.mark.parametrize(
    ("graph", "size", "nodes"), [("tiny", 3, 13), ("deep", 20, 21), ("wide", 7, 14)]
)
def test_a_graph_agrees_with_its_reference(benchmarks, graph, size, nodes):
    work = benchmarks["overhead"].GRAPHS[graph](size)
    benchmarks["_compare"].check(work, rtol=1e-5)
    first = [p.grad.data.copy() for p in work.parameters]
    benchmarks["_compare"].check(work, rtol=1e-5)  # a step leaves nothing behind
    for p, g in zip(work.parameters, first, strict=True):
        np.testing.assert_array_equal(p.grad.data, g)
    assert work.nodes == nodes
    assert work.later < work.goal


@pytest.mark.parametrize("graph", ["tiny", "deep", "wide"])
def test_the_graph_has_the_nodes_it_claims(benchmarks, graph, monkeypatch):
    work = benchmarks["overhead"].GRAPHS[graph](6)
    calls = []
    call = dz.Function.__call__
    monkeypatch.setattr(
        dz.Function, "__call__", lambda f, *xs: calls.append(f) or call(f, *xs)
    )
    monkeypatch.setattr(dz.Variable, "backward", lambda y, **options: None)
    work.step()
    assert len(set(calls)) == work.nodes


@pytest.mark.parametrize("adam", [False, True])
def test_the_mlp_agrees_with_its_reference(benchmarks, adam):
    work = benchmarks["mlp"].mlp((6, 5, 4, 3), batch_size=7, adam=adam)
    before = [p.data.copy() for p in work.parameters]
    benchmarks["_compare"].check(work, rtol=1e-5)
    after = zip(work.parameters, work.reference.parameters, before, strict=True)
    for p, by_hand, old in after:
        assert p.dtype == np.float32
        # 1 % of a step of Adam, which makes much of the rounding of a small gradient
        np.testing.assert_allclose(p.data, by_hand, rtol=1e-5, atol=1e-5)
        assert not np.array_equal(p.data, old)


@pytest.mark.parametrize("adam", [False, True])
def test_the_mlp_stays_with_its_reference_over_several_steps(benchmarks, adam):
    work = benchmarks["mlp"].mlp((6, 5, 4, 3), batch_size=7, adam=adam)
    losses = [(work.step().item(), work.reference.step()) for _ in range(5)]
    ours, by_hand = np.array(losses).T
    np.testing.assert_allclose(ours, by_hand, rtol=1e-4)
    assert ours[-1] < ours[0]


def test_the_reference_of_the_mlp_has_the_gradient_of_its_loss(benchmarks):
    rng = np.random.default_rng(1)
    shapes = [(4, 5), (5,), (5, 3), (3,)]
    parameters = [rng.standard_normal(shape) for shape in shapes]
    x, t = rng.standard_normal((6, 4)), rng.integers(0, 3, 6)
    mlp = benchmarks["handwritten"].Mlp(x, t, parameters)
    mlp.update = lambda: None  # gradients only
    mlp.step()
    for p, g in zip(mlp.parameters, [g.copy() for g in mlp.gradients], strict=True):
        direction = rng.standard_normal(p.shape)
        numeric = numerical_gradient(mlp.step, p, direction, 1e-6)
        assert np.vdot(g, direction) == pytest.approx(numeric, rel=1e-5, abs=1e-9)


def test_updates_in_blocks_cover_every_element(benchmarks, monkeypatch):
    handwritten = benchmarks["handwritten"]
    monkeypatch.setattr(handwritten.FlatParameters, "block", 4)
    flat = handwritten.FlatParameters([np.ones((3, 3)), np.full(2, 5.0)])
    flat.grad[...] = np.arange(11)
    flat.sgd(lr=0.5)
    np.testing.assert_allclose(flat.parameters[0].ravel(), 1 - 0.5 * np.arange(9))
    np.testing.assert_allclose(flat.parameters[1], 5 - 0.5 * np.arange(9, 11))


def test_check_notices_a_wrong_gradient(benchmarks):
    work = benchmarks["overhead"].tiny(2)
    step = work.reference.step

    def wrong():
        loss = step()
        work.reference.gradients[0][3] += 0.1
        return loss

    work.reference.step = wrong
    with pytest.raises(AssertionError, match="gradient of w"):
        benchmarks["_compare"].check(work)


def test_check_notices_a_wrong_loss(benchmarks):
    work = benchmarks["overhead"].tiny(2)
    work.reference.step = lambda: 0.0
    with pytest.raises(AssertionError, match="loss"):
        benchmarks["_compare"].check(work)


class WidensForward(dz.Function):
    def forward(self, x):
        return x.astype(np.float64)

    def backward(self, gy):
        return gy


class WidensBackward(dz.Function):
    def forward(self, x):
        return x.copy()

    def backward(self, gy):
        return gy.data.astype(np.float64)


def test_only_float32_names_the_function_that_widens(benchmarks):
    only_float32 = benchmarks["_compare"].only_float32
    x = dz.Variable(np.ones(3, np.float32))
    with only_float32(), pytest.raises(AssertionError, match=r"WidensForward\.forward"):
        WidensForward()(x)
    with (
        only_float32(),
        pytest.raises(AssertionError, match=r"WidensBackward\.backward"),
    ):
        F.sum(WidensBackward()(x)).backward()
    F.sum(WidensBackward()(x)).backward()  # only inside the block
    assert x.grad.dtype == np.float32


def test_compare_gives_medians_of_the_rounds(benchmarks):
    now = 0.0
    order = []

    def takes(name, seconds):
        def step():
            nonlocal now
            now += next(seconds)
            order.append(name)

        return step

    # The two first steps of each side tell how many fit into a window.
    ours = takes("ours", iter([9, 9, 2, 3, 4]))
    reference = takes("reference", iter([9, 9, 1, 1, 4]))
    t = benchmarks["_compare"].compare(
        ours, reference, clock=lambda: now, rounds=3, window=0.0
    )
    assert (t.ours, t.reference, t.ratio) == (3, 1, 2)
    assert (t.lowest, t.highest) == (1, 3)
    assert order[4:] == [
        *("ours", "reference"),
        *("reference", "ours"),
        *("ours", "reference"),
    ]


def test_verdict(benchmarks):
    verdict = benchmarks["_compare"].verdict
    assert (verdict(7.0, 7), verdict(7.01, 7)) == ("met", "missed")


def test_overhead_prints_a_line_for_each_graph(benchmarks, monkeypatch, capsys):
    overhead = benchmarks["overhead"]
    small = {"tiny": lambda: overhead.tiny(2), "wide": lambda: overhead.wide(2)}
    monkeypatch.setattr(overhead, "GRAPHS", small)
    monkeypatch.setattr(overhead, "compare", lambda *sides, **options: timing)
    timing = benchmarks["_compare"].Timing(2e-3, 1e-3, 2.0, 1.5, 2.5)
    monkeypatch.setattr(sys, "argv", ["overhead.py"])
    overhead.main()
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[-2:]] == ["tiny", "wide"]
    assert "2.00 (1.50-2.50)" in lines[-1] and "15 met, later 12 met" in lines[-1]


def test_overhead_refuses_an_unknown_graph(benchmarks, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["overhead.py", "tall"])
    with pytest.raises(SystemExit):
        benchmarks["overhead"].main()
    assert "expected tiny, deep, wide, got tall" in capsys.readouterr().err


def test_import_seconds_measures_a_fresh_interpreter(benchmarks, tmp_path):
    seconds = benchmarks["import_time"].import_seconds("json", str(tmp_path))
    assert 0 <= seconds < 60


# ---- against torch: without it, all but the comparisons themselves ------------------


def trajectory(module, ours, theirs, **options):
    return module.Trajectory("SGD", "lr=1", "optim.SGD", ours, theirs, **options)


def halving(steps=200, off=0.0):
    """A start and steps, in one array that changes in place."""
    x = np.ones(2)
    yield [x]
    for t in range(steps):
        x *= 0.5
        yield [x + (off * x if t == 100 else 0)]


def test_a_trajectory_is_compared_at_every_step(benchmarks):
    module = benchmarks["_trajectories"]
    row = module.compare(trajectory(module, halving, halving))
    assert row.is_good and row.numbers == (0.0, 1e-12)
    assert row.labels == ("SGD", "lr=1", "optim.SGD")
    # Relative to the step: the weights are 1e-30 by then.
    case = trajectory(module, lambda: halving(off=1e-9), halving)
    row = module.compare(case)
    assert not row.is_good and row.difference == pytest.approx(1e-9)
    case = trajectory(module, case.ours, halving, limit=1e-8, reason="a test")
    assert module.compare(case).is_good


def test_a_trajectory_that_shows_nothing_is_wrong(benchmarks):
    module = benchmarks["_trajectories"]

    def standing():
        return ([np.ones(2)] for _ in range(201))

    for ours, theirs, message in [
        (lambda: halving(199), halving, "a start and 200 steps of ours, got 200"),
        (halving, lambda: halving(201), "a start and 200 steps of theirs, got 202"),
        (standing, standing, "expected something to change, got ours as at the start"),
        (lambda: 1 / 0, halving, "ZeroDivisionError"),
        (lambda: ([np.ones(3) * t] for t in range(201)), halving, "of shape (2,)"),
    ]:
        row = module.compare(trajectory(module, ours, theirs))
        assert not row.is_good and row.difference is None
        assert message in row.error


def test_a_name_that_is_forgotten_or_listed_wrongly_is_a_problem(benchmarks):
    uncovered = benchmarks["against_torch"].uncovered
    assert uncovered({"a", "b"}, {"a"}, {"b"}) == []
    assert uncovered({"a", "b", "c"}, {"a", "b", "x"}, {"b"}, "optimizers") == [
        "c: neither compared nor listed in torch_cases/without.py",
        "b: compared, and yet listed in torch_cases/without.py",
        "x: not in optimizers.__all__",
    ]


def test_a_table_marks_what_is_wrong(benchmarks, capsys):
    module = benchmarks["_trajectories"]
    cases = [
        trajectory(module, halving, halving),
        trajectory(module, lambda: halving(off=1e-6), halving),
        trajectory(module, lambda: 1 / 0, halving),
    ]
    rows = benchmarks["_tables"].print_table(
        ("training", "options", "torch"),
        ("200steps", "limit"),
        [module.TrajectoryRow(case).labels for case in cases],
        map(module.compare, cases),
    )
    assert [row.is_good for row in rows] == [True, False, False]
    head, good, off, failed = capsys.readouterr().out.splitlines()
    assert head.split() == ["training", "options", "torch", "200steps", "limit"]
    assert good.split() == ["SGD", "lr=1", "optim.SGD", "0.0e+00", "1.0e-12"]
    assert off.split()[3:] == ["1.0e-06", "1.0e-12", "WRONG"]
    assert failed.split()[3:6] == ["-", "1.0e-12", "WRONG"]
    assert failed.endswith("WRONG ZeroDivisionError: division by zero")


def test_the_comparison_says_how_to_get_torch(benchmarks, monkeypatch, capsys):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    monkeypatch.setattr(sys, "argv", ["against_torch.py"])
    with pytest.raises(SystemExit):
        benchmarks["against_torch"].main()
    assert "pip install 'dezero[peers]'" in capsys.readouterr().err


# ---- loss curves -----------------------------------------------------------------


def test_loss_curves_are_recorded_and_judged(benchmarks, monkeypatch, tmp_path, capsys):
    module = benchmarks["loss_curves"]
    kinds = ("flat", "sudden rise", "nan")
    arrays = module.record(benchmarks["_loss_tasks_early"].TUNING[:1], 7, 2, kinds)
    assert arrays["kind"].tolist() == [kind for kind in kinds for _ in range(2)]
    assert set(arrays["task"]) == {"blobs"} and np.isnan(arrays["expected"]).all()
    assert arrays["length"].sum(axis=0).tolist() == [
        len(arrays["loss"]),
        len(arrays["validation"]),
    ]
    path = tmp_path / "curves.npz"
    np.savez_compressed(path, **arrays)
    monkeypatch.setattr(sys, "argv", ["loss_curves.py", "judge", str(path)])
    module.main()
    out = capsys.readouterr().out
    assert "flat: 2 count, 0 replaced" in out
    assert "flat from the start: flat from the start 2" in out


def test_what_is_judged_was_not_used_to_tune(benchmarks):
    sets = dict(benchmarks["loss_curves"].SETS)
    tasks, first = sets.pop("judged")
    for others, other_first in sets.values():
        assert not {task.name for task in tasks} & {task.name for task in others}
        assert not {task.draw for task in tasks} & {task.draw for task in others}
        assert abs(first - other_first) >= 50_000


def measured(true, unseen=None, off=0.0, **attributes):
    """A training of 60 steps that was measured at each."""
    steps = np.arange(61)
    true = np.array([true(i) for i in steps], dtype=float)
    unseen = true if unseen is None else np.array([unseen(i) for i in steps])
    losses = true[:60] + off * (-1) ** steps[:60]
    values = {"form": "step", "period": 1, "total": 60, "event_step": 30}
    values |= {"batch_size": 10, "x": np.zeros(100), "batch_losses": losses}
    values |= {"true": true, "unseen": unseen, "measured": steps}
    return SimpleNamespace(**values | attributes)


def falls(i):
    return 2 * 0.9**i


@pytest.mark.parametrize(
    ("kind", "run", "objection"),
    [
        ("healthy", measured(falls), ""),
        ("healthy", measured(lambda i: falls(i) + (i == 9)), "loses what it"),
        ("healthy", measured(falls, lambda i: falls(i) + 0.01 * i), "overfits"),
        ("healthy", measured(lambda i: 0.4 * falls(i)), "learns too little"),
        ("healthy", measured(lambda i: 0.3 + 0.85 * falls(i)), "stays behind"),
        ("healthy", measured(falls, off=3.0), "too noisy"),
        ("flat", measured(lambda i: 2.0), ""),
        ("flat", measured(falls), "falls"),
        ("sudden_rise", measured(lambda i: falls(i) + 1.5 * (i > 30)), ""),
        ("sudden_rise", measured(lambda i: falls(i) + 0.5 * (i > 30)), "does not rise"),
        ("sudden_rise", measured(lambda i: 2 + 2 * (i > 30)), "had not learned"),
        ("sudden_rise", measured(lambda i: np.inf if i > 50 else falls(i)), "finite"),
        (
            "sudden_rise",
            measured(lambda i: falls(i) + 1.5 * (i > 30), off=1.0),
            "does not rise",
        ),
        ("sudden_rise", measured(lambda i: 2 + 5 * (i > 0), event_step=0), ""),
        ("saw_tooth", measured(lambda i: falls(i) + i % 10), ""),
        ("saw_tooth", measured(falls, off=1.0, batch_size=20), "no teeth"),
        ("saw_tooth", measured(lambda i: 99 * (i == 0) + i % 10), "low teeth"),
        ("plateau", measured(lambda i: 1 + falls(i) / 2), ""),
        ("plateau", measured(falls), "reaches what is expected"),
        ("plateau", measured(lambda i: 2 - 0.01 * i), "still falls"),
        ("overfit", measured(falls, lambda i: abs(i - 20) / 20 + 1), ""),
        ("overfit", measured(falls), "does not rise"),
        ("overfit", measured(falls, lambda i: 1 + i), "never falls"),
        ("overfit", measured(*[lambda i: abs(i - 20) + 40] * 2), "not of the training"),
        ("nan", measured(lambda i: np.nan if i > 50 else 1.0), ""),
        ("nan", measured(falls), "stays finite"),
    ],
)
def test_what_counts_as_an_example_of_a_kind(benchmarks, kind, run, objection):
    twin = measured(falls)
    others = {"healthy": ([twin, twin], twin), "plateau": (twin, twin), "overfit": ()}
    rule = getattr(benchmarks["_loss_rules"], kind)
    found = rule(run, *others.get(kind, (twin,)))
    assert objection in found and bool(objection) == bool(found)


def test_teeth_that_the_twin_has_too_are_not_of_the_fault(benchmarks):
    run = measured(lambda i: falls(i) + i % 10)
    assert benchmarks["_loss_rules"].saw_tooth(run, run) == "teeth without the fault"
