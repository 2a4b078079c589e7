"""All sides of every benchmark compute the same; how fast is not tested here."""

import importlib
import json
import platform
import re
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import dezero as dz
import dezero.functions as F

from .neighbours import imported

BENCHMARKS = Path(__file__).resolve().parent.parent / "benchmarks"


@pytest.fixture(scope="module")
def benchmarks():
    """The scripts as modules; they import each other as neighbours."""
    names = ["_inputs", "_workloads", "_measuring", "_report", "_child", "bench"]
    names += ["by_hand", "by_hand.parts", "with_dezero", "_only_float32"]
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
    with imported(BENCHMARKS, names) as modules:
        yield modules


def step_of(benchmarks, workload, side, **options):
    """A small step of a side, and its arrays as they are compared."""
    made = benchmarks["_workloads"].SIDES[side].workloads()[workload.entry]
    inputs = workload.make_inputs(small=True, check=True)
    computation = made(inputs | options)
    losses = [float(computation.step())]
    arrays = [np.array(g) for g in computation.gradients()]
    losses += [float(computation.step()) for _ in range(2)]
    return {f"arr_{i}": a for i, a in enumerate(arrays)} | {"losses": np.array(losses)}


TIMED = ["tiny", "deep", "wide", "mlp_sgd", "mlp_adam", "norm_mlp", "conv_net"]
TIMED += ["conv_block", "resnet_block", "lstm", "gpt", "hvp"]


@pytest.mark.parametrize("name", TIMED)
def test_dezero_agrees_with_the_computation_by_hand(benchmarks, name):
    workload = benchmarks["_workloads"].WORKLOADS[name]
    by_hand = step_of(benchmarks, workload, "by hand")
    with benchmarks["_only_float32"].only_float32():
        ours = step_of(benchmarks, workload, "DeZero")
    assert all(np.abs(a).max() > 0 for a in by_hand.values())
    benchmarks["_measuring"].agree(name, ours, by_hand, 1e-4)
    trains = {"mlp_sgd", "mlp_adam", "norm_mlp", "conv_net", "lstm", "gpt"}
    assert (len(set(ours["losses"])) == 3) == (name in trains)


def test_every_workload_has_goals_and_these_two_sides(benchmarks):
    module = benchmarks["_workloads"]
    for name, workload in module.WORKLOADS.items():
        assert name == workload.name and workload.goals and workload.title
        assert workload.kind in ("time", "memory", "import")
        if workload.kind == "time":
            assert name in TIMED
        if workload.kind != "import":
            for side in ("by hand", "DeZero"):
                assert workload.entry in module.SIDES[side].workloads()
        for goal in workload.goals:
            assert goal.than in module.SIDES
    assert module.WORKLOADS["tiny"].goals[0].ratio == 5.5


@pytest.mark.parametrize(
    ("side", "module"),
    [
        ("torch1", "torch"),
        ("mygrad", "mygrad"),
        ("autograd", "autograd"),
        ("jax", "jax"),
    ],
)
def test_peers_that_are_installed_agree_too(benchmarks, side, module):
    info = benchmarks["_workloads"].SIDES[side]
    assert info.package == module
    there = {} if info.missing() else info.workloads()
    for name in there:
        workload = benchmarks["_workloads"].WORKLOADS[name]
        arrays = step_of(benchmarks, workload, side)
        by_hand = step_of(benchmarks, workload, "by hand")
        benchmarks["_measuring"].agree(f"{name}, {side}", arrays, by_hand, 1e-4)


@pytest.mark.parametrize("way", ["_Columns", "_Offsets"])
def test_both_convolutions_by_hand_are_the_one_of_dezero(benchmarks, way):
    module = importlib.import_module("by_hand.convolution")
    rng = np.random.default_rng(0)
    x, W = (rng.random(s, np.float32) for s in [(2, 3, 6, 5), (4, 3, 3, 3)])
    gy = rng.random((2, 4, 6, 5), np.float32)
    conv = getattr(module, way)(x, W)
    vx, vW = dz.Variable(x), dz.Variable(W)
    y = F.conv2d(vx, vW, pad=1)
    np.testing.assert_allclose(conv.forward(), y.data, rtol=1e-5)
    y.backward(grad=gy)
    gW = np.empty_like(W)
    gx = conv.backward(gy, gW)
    np.testing.assert_allclose(gx, vx.grad.data, rtol=1e-5)
    np.testing.assert_allclose(gW, vW.grad.data, rtol=1e-5)
    assert conv.backward(gy, gW, x_too=False) is None


@pytest.mark.parametrize("graph", ["tiny", "deep", "wide"])
def test_the_graph_has_the_nodes_it_claims(benchmarks, graph, monkeypatch):
    workload = benchmarks["_workloads"].WORKLOADS[graph]
    inputs = workload.make_inputs()
    side = benchmarks["with_dezero"].WORKLOADS[graph](inputs)
    calls = []
    call = dz.Function.__call__
    monkeypatch.setattr(
        dz.Function, "__call__", lambda f, *xs: calls.append(f) or call(f, *xs)
    )
    monkeypatch.setattr(dz.Variable, "backward", lambda y, **options: None)
    side.step()
    assert len(set(calls)) == {"tiny": 49, "deep": 10_001, "wide": 10_000}[graph]


def test_dropout_is_timed_and_not_compared(benchmarks):
    workload = benchmarks["_workloads"].WORKLOADS["norm_mlp"]
    assert workload.make_inputs()["dropout"] == 0.5
    for side in ("by hand", "DeZero"):
        a, b = (
            step_of(benchmarks, workload, side, dropout=ratio)["losses"]
            for ratio in (0.0, 0.5)
        )
        assert np.isfinite(b).all() and not np.allclose(a, b, rtol=1e-4)


def test_updates_in_blocks_cover_every_element(benchmarks, monkeypatch):
    parts = benchmarks["by_hand.parts"]
    monkeypatch.setattr(parts.FlatParameters, "block", 4)
    flat = parts.FlatParameters([np.ones((3, 3)), np.full(2, 5.0)])
    flat.grad[...] = np.arange(11)
    flat.sgd(lr=0.5)
    np.testing.assert_allclose(flat.parameters[0].ravel(), 1 - 0.5 * np.arange(9))
    np.testing.assert_allclose(flat.parameters[1], 5 - 0.5 * np.arange(9, 11))


def test_agree_notices_what_is_wrong(benchmarks):
    agree = benchmarks["_measuring"].agree
    good = {"arr_0": np.ones(3), "arr_1": np.full(2, 1e-9), "losses": np.ones(3)}
    agree("all", good, good, 1e-4)
    # What is nothing but rounding beside the others need not agree.
    agree("all", good | {"arr_1": np.zeros(2)}, good, 1e-4)
    for wrong, message in [
        ({"arr_0": np.array([1, 1, 1.001])}, "all: arr_0 differs by 0.0009"),
        ({"losses": np.full(3, 1.1)}, "losses differs"),
        ({"arr_0": np.full(3, np.nan)}, "differs by nan"),
        (
            {"arr_0": np.ones(3, np.float32)},
            r"arr_0 is float32 \(3,\), by hand float64",
        ),
        ({"arr_0": np.ones((3, 1))}, r"arr_0 is float64 \(3, 1\)"),
        ({"arr_2": np.ones(1)}, "4 for 3"),
    ]:
        with pytest.raises(AssertionError, match=message):
            agree("all", good | wrong, good, 1e-4)


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
    only_float32 = benchmarks["_only_float32"].only_float32
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


@pytest.mark.parametrize("name", ["mlp_sgd", "memory_mlp_sgd"])
def test_children_are_checked_and_measured(benchmarks, name):
    module = benchmarks["_measuring"]
    row = module.measure(
        benchmarks["_workloads"].WORKLOADS[name],
        ["by hand", "DeZero"],
        rounds=2,
        window=0.0,
        small=True,
    )
    times = 1 if name.startswith("memory") else 2
    assert (row["name"], row["pooled"]) == (name, False)
    assert [len(taken) for taken in row["rounds"].values()] == [times] * 2
    assert all(x >= 0 for taken in row["rounds"].values() for x in taken)


def test_memory_is_kept_where_glibc_is(benchmarks):
    workload = benchmarks["_workloads"].WORKLOADS["tiny"]
    module = benchmarks["_measuring"]
    options = {"pooled": True, "rounds": 1, "window": 0.0, "small": True}
    if platform.libc_ver()[0] == "glibc":
        assert module.measure(workload, ["by hand"], **options)["pooled"]
    else:
        with pytest.raises(module.Failure, match="expected glibc"):
            module.measure(workload, ["by hand"], **options)


def test_a_child_tells_what_went_wrong(benchmarks):
    child = benchmarks["_measuring"].Child("DeZero", "tiny", False, True)
    try:
        child.wait()
        with pytest.raises(
            benchmarks["_measuring"].Failure, match="(?s)DeZero: .*KeyError"
        ):
            child.ask("sing")
    finally:
        child.close()


def test_sides_take_turns(benchmarks):
    class Child:
        def __init__(self, side):
            self.side = side

        def ask(self, request, *arguments):
            order.append((self.side, request, *arguments))
            return {"wall": 0.5, "cpu": 1.0}

    order = []
    taken = benchmarks["_measuring"]._times([Child("a"), Child("b")], 3, 1.0, cpu=True)
    assert taken == {"a": [500.0] * 3, "b": [500.0] * 3}  # CPU time, two steps
    assert order[2:] == [(side, "run", 2) for side in "abbaab"]


# ---- what is printed and stored ------------------------------------------------------


def a_row(ours, by_hand=(1.0, 2.0, 4.0), name="conv_net", pooled=False, **others):
    rounds = {"by hand": list(by_hand), "DeZero": list(ours)} | others
    return {"name": name, "pooled": pooled, "rounds": rounds}


def test_ratios_are_medians_of_the_rounds(benchmarks):
    ratio = benchmarks["_report"].ratio
    assert ratio(a_row((3.0, 2.0, 4.0)), "DeZero") == (1.0, 1.0, 3.0)


def test_goals_are_judged(benchmarks):
    verdicts = benchmarks["_report"].verdicts
    assert verdicts(a_row((1.0, 2.0, 4.0))) == ["1 met"]
    assert verdicts(a_row((1.1, 2.1, 4.1))) == ["1 missed"]
    row = a_row((1.0, 2.0, 4.0), pooled=True, torch2=[0.5, 1.0, 2.0])
    assert verdicts(row) == ["1 met", "1.2 of torch2 missed (2.00)"]
    row = a_row((1.0, 2.0, 4.0), pooled=True)
    assert verdicts(row) == ["1 met", "1.2 of torch2 not measured"]


def test_a_line_of_the_table(benchmarks):
    report = benchmarks["_report"]
    rows = [a_row((1.0, 1.0, 3.0), torch1=[0.5, 1, 2]), a_row((9, 9, 9), name="gpt")]
    heads = report.columns(rows)
    assert heads == [
        *("workload", "by hand", "DeZero", "ratio (lowest-highest)", "torch1", "goal")
    ]
    assert report.cells(rows[0], heads) == [
        *("conv_net", "2 ms", "1 ms", "0.75 (0.50-1.00)", "0.50", "1 met")
    ]
    assert report.cells(rows[1], heads)[4:] == ["-", "1.1 missed"]
    printed = [
        report.line(heads, heads),
        report.line(report.cells(rows[0], heads), heads),
    ]
    assert printed[0].index("goal") == printed[1].index("1 met")


def test_a_run_is_stored_and_compared_with(benchmarks, tmp_path):
    report = benchmarks["_report"]
    about = report.conditions() | {"rounds": 3, "cpu": False}
    assert about["versions"]["dezero"] == dz.__version__
    old = [a_row((2.0, 4.0, 8.0)), a_row((1.0, 2.0, 4.0), pooled=True)]
    report.save(tmp_path / "runs" / "v1.0", about, old)
    before = report.load(tmp_path / "runs" / "v1.0.json")
    assert before == old
    new = [a_row((1.0, 2.0, 4.0)), a_row((1.0, 2.0, 4.0), name="gpt")]
    heads = report.columns(new, before)
    assert heads[-2:] == ["before", "goal"]
    assert report.cells(new[0], heads, before)[-2] == "2.00 (-50 %)"
    assert report.cells(new[1], heads, before)[-2] == "-"
    text = (tmp_path / "runs" / "v1.0.md").read_text()
    assert "| conv_net | 2 ms | 4 ms | 2.00 (2.00-2.00) | 1 missed |" in text
    assert all(title in text for title in report.TITLES.values())
    (tmp_path / "other.json").write_text(json.dumps([1]))
    with pytest.raises(ValueError, match="expected the JSON of a run"):
        report.load(tmp_path / "other.json")


@pytest.mark.parametrize("named", [True, False])
def test_bench_prints_a_line_for_each_workload(
    benchmarks, monkeypatch, capsys, tmp_path, named
):
    bench = benchmarks["bench"]
    asked = []

    def measure(workload, sides, **options):
        asked.append((workload.name, tuple(sides), options["pooled"]))
        return a_row((1.0,), (2.0,), name=workload.name, pooled=options["pooled"])

    monkeypatch.setattr(bench, "measure", measure)
    monkeypatch.setattr(bench, "RESULTS", tmp_path)
    arguments = ["tiny", "gpt", "--both"] + ["--name", "now"] * named
    monkeypatch.setattr(sys, "argv", ["bench.py", *arguments])
    bench.main()
    sides = ("by hand", "DeZero")
    assert asked == [(n, sides, p) for p in (False, True) for n in ("tiny", "gpt")]
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines if " 0.50 " in line] == [
        "tiny",
        "gpt",
    ] * 2
    saved = sorted(path.name for path in tmp_path.iterdir())
    assert saved == (["now.json", "now.md"] if named else [])


def test_bench_goes_on_after_a_failure(benchmarks, monkeypatch, capsys):
    def measure(workload, sides, **options):
        assert workload.name != "tiny", "they differ"
        return a_row((1.0,), (2.0,), name=workload.name)

    monkeypatch.setattr(benchmarks["bench"], "measure", measure)
    monkeypatch.setattr(sys, "argv", ["bench.py", "tiny", "gpt"])
    with pytest.raises(SystemExit, match="failed: tiny"):
        benchmarks["bench"].main()
    out = capsys.readouterr().out
    assert "tiny FAILED: they differ" in out and "\ngpt " in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["tall"], "workloads: expected tiny, deep, .*, got tall"),
        (["--sides", "cupy"], "sides: expected by hand, DeZero, .*, got cupy"),
        (["--rounds", "0"], "--rounds: expected at least 1, got 0"),
    ],
)
def test_bench_refuses_what_it_does_not_know(
    benchmarks, monkeypatch, capsys, arguments, message
):
    monkeypatch.setattr(sys, "argv", ["bench.py", *arguments])
    with pytest.raises(SystemExit):
        benchmarks["bench"].main()
    text = " ".join(capsys.readouterr().err.split())
    assert re.search(message, text)


def test_import_seconds_measures_a_fresh_interpreter(benchmarks, tmp_path):
    seconds = benchmarks["_measuring"].import_seconds("json", str(tmp_path))
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
