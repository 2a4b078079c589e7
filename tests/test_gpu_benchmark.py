"""The comparison on a card, on machines without one: do both sides compute the same?"""

import importlib
import json
import os
import re
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import dezero as dz
from dezero import cuda, cudnn

from .neighbours import imported

BENCHMARKS = Path(__file__).resolve().parent.parent / "benchmarks"
NAMES = ["mlp_sgd", "mlp_adam", "mlp_large", "conv_net", "conv_net_cudnn"]
NAMES += ["resnet18", "resnet18_cudnn", "lstm", "gpt"]


@pytest.fixture(scope="module")
def modules():
    """The scripts as modules; they import each other as neighbours."""
    names = ["_workloads", "_measuring", "_gpu_workloads", "_gpu_dezero"]
    names += ["_gpu_measuring", "_gpu_report", "gpu"]
    with imported(BENCHMARKS, names) as modules:
        yield modules


def steps_of(make, inputs):
    """Losses and gradients of small steps, as they are compared."""
    side = make(inputs | {"device": "cpu"})
    losses = [float(side.step())]
    arrays = {f"arr_{i}": np.array(g) for i, g in enumerate(side.gradients())}
    losses += [float(side.step()) for _ in range(2)]
    return arrays | {"losses": np.array(losses)}


@pytest.mark.parametrize("name", NAMES)
def test_dezero_agrees_with_the_computation_by_hand(modules, name):
    workload = modules["_gpu_workloads"].WORKLOADS[name]
    inputs = workload.make_inputs(small=True)
    ours = steps_of(modules["_gpu_dezero"].WORKLOADS[workload.entry], inputs)
    assert len(set(ours["losses"])) == 3 and np.isfinite(ours["losses"]).all()
    assert len(ours) == len(inputs["parameters"]) + 1
    by_hand = modules["_workloads"].SIDES["by hand"].workloads()
    if workload.entry in by_hand:
        hand = steps_of(by_hand[workload.entry], inputs)
        modules["_measuring"].agree(name, ours, hand, 1e-4)


def test_every_workload_has_two_sides_and_its_goal(modules):
    module = modules["_gpu_workloads"]
    assert list(module.WORKLOADS) == NAMES
    for name, workload in module.WORKLOADS.items():
        goals = [(goal.ratio, goal.than) for goal in workload.goals]
        limit = {"lstm": None, "conv_net": 3.0, "resnet18": 3.0}.get(name, 1.3)
        assert goals == ([] if limit is None else [(limit, "torch")])
        assert workload.entry in modules["_gpu_dezero"].WORKLOADS
    assert module.SIDES["torch"].module == "_gpu_torch"


def test_resnet18_has_the_size_of_the_model(modules):
    inputs = modules["_gpu_workloads"].resnet18(np.random.default_rng(0), classes=1000)
    assert sum(p.size for p in inputs["parameters"]) == 11_689_512


@pytest.fixture
def torch_side(modules):
    """The module with the other side, or None: torch need not be there."""
    side = modules["_gpu_workloads"].SIDES["torch"]
    return None if side.missing() else importlib.import_module(side.module)


@pytest.mark.parametrize("name", NAMES)
def test_torch_agrees_if_it_is_installed(modules, torch_side, name):
    if torch_side is not None:
        row = modules["_gpu_measuring"].measure(name, "cpu", 2, 0.0, small=True)
        assert (row["name"], row["device"]) == (name, "cpu")
        assert {key: len(taken) for key, taken in row["rounds"].items()} == {
            "torch": 2,
            "DeZero": 2,
        }
        assert all(seconds > 0 for seconds in row["first"].values())
        assert "memory" not in row and "activity" not in row


def test_full_float32_on_both_sides(modules, torch_side):
    if torch_side is not None:
        backends = torch_side.torch.backends
        assert not backends.cudnn.allow_tf32
        assert not backends.cuda.matmul.allow_tf32
    for name in ("CUPY_TF32", "NVIDIA_TF32_OVERRIDE"):
        fresh = modules["_gpu_measuring"].in_fresh_process
        assert fresh(os.getenv, name) == "0"


def test_each_process_is_new_and_has_compiled_nothing(modules):
    fresh = modules["_gpu_measuring"].in_fresh_process
    assert fresh(os.getpid) != os.getpid()
    cache = fresh(os.getenv, "CUPY_CACHE_DIR")
    assert cache and not os.path.exists(cache)  # it went with the process
    assert os.environ.get("CUPY_CACHE_DIR") != cache
    with pytest.raises(ZeroDivisionError):
        fresh(divmod, 1, 0)


def test_what_the_driver_reports_is_counted(torch_side):
    if torch_side is not None:
        names = ["sgemm_128", "Memcpy DtoH (Device -> Pageable)", "cupy_add"]
        names += ["Memcpy DtoD (Device -> Device)", "Memset (Device)"]
        names += ["Memcpy HtoD (Pageable -> Device)"] * 2
        assert torch_side.counted(names) == {"kernels": 2, "HtoD": 2, "DtoH": 1}
        assert torch_side.counted([]) is None


def test_the_peak_is_the_highest_that_arrays_ever_took(modules, monkeypatch):
    class Pool:
        used = 100

        def used_bytes(self):
            return self.used

        def malloc(self, size):
            self.used += size
            return SimpleNamespace(size=size)

    class Using:
        def __init__(self, allocator):
            allocators.append(allocator)

        def __enter__(self):
            return self

        def __exit__(self, *error):
            allocators.pop()

    def work():
        (allocate,) = allocators
        assert allocate(50).size == 50
        pool.used -= 40
        allocate(30)

    pool, allocators = Pool(), []
    cupy = SimpleNamespace(
        get_default_memory_pool=lambda: pool,
        cuda=SimpleNamespace(using_allocator=Using),
    )
    monkeypatch.setattr(cuda, "cupy", cupy, raising=False)
    assert modules["_gpu_dezero"].peak_memory(work) == 50
    assert not allocators


class Clock:
    """A side whose steps only begin when asked, and end when waited for."""

    def __init__(self):
        self.done = []

    def step(self):
        self.done.append("step")

    def synchronize(self):
        self.done.append("wait")


def test_time_ends_when_the_device_has_done_it(modules):
    measuring = modules["_gpu_measuring"]
    workload = modules["_gpu_workloads"].WORKLOADS["mlp_sgd"]
    info = modules["_gpu_workloads"].SIDES["DeZero"]
    side = measuring.Side(info, workload, small=True, device="cpu")
    side.ready = side.module = clock = Clock()
    assert side.run(2)["wall"] >= 0
    assert clock.done == ["wait", "step", "step", "wait"]
    clock.done.clear()
    side.prepare()
    assert clock.done.count("step") == 2 * measuring.WARM_UP


def test_a_difference_is_noticed(modules):
    class Side:
        def __init__(self, factor):
            self.factor = factor

        def check(self, path):
            losses = np.array([3.0, 2.0, 1.0])
            np.savez(path, self.factor * np.ones(3, np.float32), losses=losses)

    workload = modules["_gpu_workloads"].WORKLOADS["gpt"]
    check = modules["_gpu_measuring"].check
    check(workload, {"torch": Side(1), "DeZero": Side(1)}, 1e-4)
    with pytest.raises(AssertionError, match="gpt, DeZero: arr_0 differs"):
        check(workload, {"torch": Side(1), "DeZero": Side(1.01)}, 1e-4)


def test_without_a_card_it_says_why(modules):
    if not cuda.gpu_enable:
        assert re.match(r"\w+: |CuPy", modules["_gpu_measuring"]._why_no_cupy())


# ---- what is printed and stored ------------------------------------------------------

FOUND = {"device": "Card 9000", "driver": "580.1", "memory": "80 GB", "tf32": False}
FOUND |= {"cudnn": "9.28.0"}
FOUND |= {"versions": {"cupy": "14.2.0", "CUDA of torch": "13.0"}}


def a_row(ours=(1.0, 2.0, 4.0), name="gpt", device="cuda", small=False, **others):
    rounds = {"torch": [1.0, 2.0, 2.0], "DeZero": list(ours)}
    first = {"torch": 0.5, "DeZero": 2.25}
    row = {"name": name, "device": device, "small": small, "first": first}
    return row | {"rounds": rounds} | others


def on_card(**others):
    activity = {
        "torch": {"kernels": 300, "HtoD": 0, "DtoH": 0},
        "DeZero": {"kernels": 900, "HtoD": 2, "DtoH": 4},
    }
    return a_row(
        **{"activity": activity, "memory": {"torch": 99.6, "DeZero": 120.2}} | others
    )


def test_a_line_of_the_table(modules):
    report = modules["_gpu_report"]
    assert dict(zip(report.HEADS, report.cells(on_card()), strict=True)) == {
        "workload": "gpt",
        "torch": "2 ms",
        "DeZero": "2 ms",
        "ratio (lowest-highest)": "1.00 (1.00-2.00)",
        "first step, s": "2.25 / 0.50",
        "memory, MB": "120 / 100",
        "kernels": "900 / 300",
        "to card": "2 / 0",
        "to host": "4 / 0",
        "goal": "1.3 of torch met (1.00)",
    }
    untold = on_card(activity={"torch": None, "DeZero": None}, ours=(9, 9, 9))
    assert report.cells(untold)[6:] == ["-", "-", "-", "1.3 of torch missed (4.50)"]
    assert report.cells(on_card(name="lstm"))[-1] == "-"
    printed = [report.line(report.HEADS), report.line(report.cells(on_card()))]
    assert printed[0].index("goal") == printed[1].index("1.3 of torch met")


@pytest.mark.parametrize(("device", "small"), [("cpu", False), ("cuda", True)])
def test_only_full_sizes_on_a_card_are_judged(modules, device, small):
    row = a_row(device=device, small=small)
    assert modules["_gpu_report"].verdicts(row) == []
    assert modules["_gpu_report"].cells(row)[5:] == ["-"] * 5


def test_a_run_says_what_it_ran_on(modules, monkeypatch, tmp_path):
    report = modules["_gpu_report"]
    versions = {"python": "3", "numpy": "2", "dezero": dz.__version__, "torch": "2.9"}
    monkeypatch.setattr(
        report,
        "conditions",
        lambda: {
            "date": "2026-01-02",
            "machine": "Linux",
            "cores": 2,
            "versions": versions | {"jax": "0"},
        },
    )
    failed, left_out = {"lstm": "they did"}, {"conv_net_cudnn": "no cuDNN"}
    about = report.about_run(
        FOUND, rounds=5, small=False, failed=failed, left_out=left_out
    )
    report.save(tmp_path / "new" / "gpu", about, [on_card()])
    stored = json.loads((tmp_path / "new" / "gpu.json").read_text())
    assert stored["rows"] == [on_card()] and stored["device"] == "Card 9000"
    assert stored["versions"]["cupy"] == "14.2.0" and "jax" not in stored["versions"]
    text = (tmp_path / "new" / "gpu.md").read_text()
    assert "Card 9000, 80 GB, driver 580.1; TF32 off on both sides." in text
    assert "| gpt | 2 ms | 2 ms | 1.00 (1.00-2.00) | 2.25 / 0.50 |" in text
    assert "- not measured, conv_net_cudnn: no cuDNN" in text
    assert "- FAILED, lstm: they did" in text and "- gpt: GPT: batch 16" in text
    cpu = {"device": "cpu", "versions": {}}
    about = report.about_run(cpu, rounds=1, small=True, failed={}, left_out={})
    assert re.match("NO CARD: .* Nothing here is about a GPU", report.label(about))


# ---- the command ---------------------------------------------------------------------


@pytest.fixture
def command(modules, monkeypatch, tmp_path):
    """``command(*arguments)`` runs gpu.py, with made-up rows of a made-up card."""
    module = modules["gpu"]
    versions = dict.fromkeys(["python", "numpy", "dezero", "torch"], "1")
    about = {"date": "2026-01-02", "machine": "Linux", "versions": versions}
    monkeypatch.setattr(modules["_gpu_report"], "conditions", lambda: about)
    monkeypatch.setattr(type(module.SIDES["torch"]), "missing", lambda side: False)

    def answer(function, *arguments):
        if function is module.card:
            return FOUND
        assert function is module.measure
        name, device, _, _, small = arguments
        assert name != "lstm", "they differ"
        return a_row(name=name, device=device, small=small)

    def run(*arguments, answer=answer):
        monkeypatch.setattr(module, "in_fresh_process", answer)
        monkeypatch.setattr(module, "RESULTS", tmp_path)
        argv = ["gpu.py", "--results", str(tmp_path), *arguments]
        monkeypatch.setattr(sys, "argv", argv)
        module.main()

    return run


def test_a_line_for_each_workload_and_files(command, capsys, tmp_path):
    command("gpt", "mlp_sgd", "--name", "now")
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("Card 9000")
    assert [line.split()[0] for line in lines if "(1.00-2.00)" in line] == [
        "gpt",
        "mlp_sgd",
    ]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["now.json", "now.md"]


def test_the_cpu_is_called_what_it_is(command, capsys, tmp_path):
    command("gpt", "--device", "cpu", "--small")
    assert capsys.readouterr().out.startswith("NO CARD: both sides on the CPU")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("version", [None, "9.28.0"])
def test_what_needs_cudnn_is_left_out_without_it(
    command, modules, monkeypatch, capsys, tmp_path, version
):
    def answer(function, name=None, *arguments):
        found = FOUND | {"cudnn": version}
        return found if function is modules["gpu"].card else a_row(name=name)

    command("--name", "all", answer=answer)
    rows = [
        row["name"] for row in json.loads((tmp_path / "all.json").read_text())["rows"]
    ]
    assert rows == [n for n in NAMES if version or not n.endswith("_cudnn")]
    told = "Not measured: conv_net_cudnn, resnet18_cudnn: DeZero finds no cuDNN"
    assert (told in capsys.readouterr().out) == (version is None)


def test_cudnn_is_used_where_it_is_compared(modules, monkeypatch):
    wanted = []
    monkeypatch.setattr(cudnn, "use", lambda use: wanted.append(use))
    check = modules["_gpu_measuring"].check_cudnn
    for name in ("conv_net", "conv_net_cudnn"):
        check(name, "cpu")
    assert wanted == [False, True]
    with pytest.raises(
        RuntimeError, match="conv_net_cudnn: expected DeZero to find cu"
    ):
        check("conv_net_cudnn", "cuda")


def test_it_goes_on_after_a_failure(command, capsys, tmp_path):
    with pytest.raises(SystemExit, match="FAILED lstm: AssertionError: they differ"):
        command("lstm", "gpt", "--name", "now")
    out, err = capsys.readouterr()
    assert "AssertionError: they differ" in err and "\ngpt " in out
    assert "FAILED, lstm" in (tmp_path / "now.md").read_text()


def test_it_begins_nothing_when_the_time_is_over(command):
    with pytest.raises(SystemExit, match="FAILED gpt: not begun within 0 seconds"):
        command("gpt", "--seconds", "0")


def test_no_card_is_an_error(command):
    def answer(function, *arguments):
        raise RuntimeError("DeZero finds no card: ImportError: no CuPy")

    with pytest.raises(SystemExit, match="no card answers: DeZero finds no card"):
        command("gpt", answer=answer)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["tall"], "workloads: expected mlp_sgd, .*, gpt, got tall"),
        (["--rounds", "0"], "--rounds: expected at least 1, got 0"),
    ],
)
def test_it_refuses_what_it_does_not_know(command, capsys, arguments, message):
    with pytest.raises(SystemExit):
        command(*arguments)
    assert re.search(message, " ".join(capsys.readouterr().err.split()))


def test_it_says_how_to_get_torch(modules, monkeypatch, capsys):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    monkeypatch.setattr(sys, "argv", ["gpu.py"])
    with pytest.raises(SystemExit):
        modules["gpu"].main()
    assert "pip install 'dezero[peers]'" in capsys.readouterr().err
