"""The script that checks a GPU, where there is none: it has to say so."""

import importlib.util
import pathlib
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module")
def script():
    spec = importlib.util.spec_from_file_location(
        "gpu_check", ROOT / "tools" / "gpu_check.py"
    )
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def check(script, tmp_path):
    return script.Check(tmp_path / "found", sys.executable, minutes=7.5)


def test_a_part_leaves_its_output_and_says_what_became_of_it(check):
    code = "import os; print('PYTHONPATH', os.environ['PYTHONPATH'])"
    assert check.part("one", [sys.executable, "-c", code], 60)
    assert f"PYTHONPATH {ROOT}" in (check.folder / "one.log").read_text()
    assert not check.failed
    assert not check.part("two", [sys.executable, "-c", "1 / 0"], 60)
    assert "ZeroDivisionError" in (check.folder / "two.log").read_text()
    assert check.failed
    told = (check.folder / "summary.txt").read_text().splitlines()
    assert told == check.summary
    assert told[0].startswith("one: ok, ")
    assert told[1].startswith("two: FAILED: exit 1, ")


class Timer:
    """One that goes off when it is told to."""

    made = []

    def __init__(self, seconds, function, arguments):
        self.seconds, self.go_off = seconds, lambda: function(*arguments)
        self.made.append(self)

    def start(self):
        pass

    def cancel(self):
        self.seconds = None


def test_what_takes_too_long_is_asked_to_end(script, check, monkeypatch):
    def heard(line="", **options):
        if line == "begun\n":
            Timer.made[0].go_off()

    monkeypatch.setattr(script.threading, "Timer", Timer)
    monkeypatch.setattr(Timer, "made", [])
    monkeypatch.setattr(script, "print", heard, raising=False)
    code = """
import signal, sys, time
# What runs in the background of a shell is born deaf to it.
signal.signal(signal.SIGINT, signal.default_int_handler)
try:
    print("begun", flush=True)
    time.sleep(600)
except KeyboardInterrupt:
    print("what it has found")
    sys.exit(2)
"""
    assert not check.part("slow", [sys.executable, "-c", code], 0)
    log = (check.folder / "slow.log").read_text()
    assert log.splitlines() == ["begun", "what it has found"]
    assert check.summary[0].startswith("slow: FAILED: out of time")
    assert [timer.seconds for timer in Timer.made] == [None, None]


def test_what_is_not_needed_may_be_missing(check):
    assert not check.part("driver", ["no-such-command"], 60, needed=False)
    assert not check.failed
    assert "no-such-command" in (check.folder / "driver.log").read_text()
    assert check.summary[0].startswith("driver: FAILED: exit 127")


def test_the_version_of_the_driver_chooses_the_build_of_cupy(script):
    line = "| NVIDIA-SMI 580.1    Driver Version: 580.1    CUDA Version: {}  |"
    assert script.cuda_version(line.format("12.4")) == 12
    assert script.cuda_version(line.format("13.0")) == 13
    assert script.cuda_version(line.format("14.1")) == 13  # drivers run older builds
    for told, got in [(line.format("11.8"), "CUDA 11"), ("", "no version")]:
        with pytest.raises(ValueError, match=f"CUDA 12 or later, got {got} from"):
            script.cuda_version(told)


def test_tests_that_all_skip_are_a_failure(script, check, monkeypatch):
    report = '<testsuites><testsuite tests="{}" skipped="{}" /></testsuites>'

    def part(name, command, seconds):
        assert command[1:5] == ["-m", "pytest", "-m", "gpu"]
        assert command[-2:] == ["-k", "relu"] and 0 < seconds < 60 * 7.5 / 2
        (check.folder / "tests.xml").write_text(report.format(*numbers))

    monkeypatch.setattr(check, "part", part)
    for numbers, failed in [((9, 2), False), ((9, 9), True)]:
        check.tests(6, ["-k", "relu"])
        assert check.failed == failed
        assert check.summary[-1] == f"tests: 9 in all, {numbers[1]} skipped"


def test_the_benchmark_has_the_time_that_is_left(check, monkeypatch):
    asked = []
    monkeypatch.setattr(check, "left", lambda: 200.0)
    monkeypatch.setattr(check, "part", lambda *arguments: asked.append(arguments))
    check.benchmark()
    ((name, command, seconds),) = asked
    assert (name, seconds) == ("benchmark", 200.0)
    assert command[1] == "benchmarks/gpu.py" and command[-2:] == ["--seconds", "160"]
    assert (ROOT / command[1]).exists()


@pytest.mark.parametrize("answers", [True, False])
def test_without_a_card_it_fails_loudly_and_at_once(
    script, monkeypatch, capsys, tmp_path, answers
):
    done = []
    monkeypatch.setattr(script, "has_all", lambda check: True)
    monkeypatch.setattr(script.Check, "card", lambda check: answers)
    monkeypatch.setattr(script.Check, "tests", lambda check, *_: done.append("tests"))
    monkeypatch.setattr(script.Check, "benchmark", lambda check: done.append("bench"))
    monkeypatch.setattr(sys, "argv", ["gpu_check.py", str(tmp_path)])
    with pytest.raises(SystemExit) as exit:
        script.main()
    assert (exit.value.code, done) == ((0, ["tests", "bench"]) if answers else (2, []))
    assert ("NO CARD ANSWERS" in capsys.readouterr().out) != answers


def test_an_environment_that_cannot_be_made_is_no_card(
    script, monkeypatch, capsys, tmp_path
):
    monkeypatch.setattr(script, "NEEDED", "no_such_module")
    monkeypatch.setenv("PATH", str(tmp_path))  # no nvidia-smi there
    monkeypatch.setattr(sys, "argv", ["gpu_check.py", str(tmp_path)])
    with pytest.raises(SystemExit) as exit:
        script.main()
    out = capsys.readouterr().out
    assert exit.value.code == 2
    assert "is not enough: ModuleNotFoundError: No module named 'no_such_module'" in out
    assert "environment: FAILED" in out and "NO CARD ANSWERS" in out
