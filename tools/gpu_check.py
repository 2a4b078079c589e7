"""Does it all work on this GPU, and how fast? One command, less than eight minutes.

``python tools/gpu_check.py FOLDER`` looks for a card, runs the tests marked ``gpu`` on
it, then ``benchmarks/gpu.py``, and leaves logs and results in FOLDER; it exits with 1
if a part failed, and with 2 at once if no card answers.

It takes the interpreter that runs it, if that has CuPy, torch and pytest: no network is
needed then. Else it makes ``.venv-gpu`` and installs there what ``setup.cfg`` names.
What stands behind ``--`` goes to pytest.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import re
import signal
import subprocess
import sys
import threading
import time
import xml.etree.ElementTree

ROOT = pathlib.Path(__file__).resolve().parents[1]
NEEDED = "cupy, torch, pytest, xdist, hypothesis, scipy"
TESTS_SHARE = 0.5  # of the time; the benchmark has what is left
MARGIN = 40  # seconds that one workload of the benchmark may need
GRACE = 15  # seconds to end in, when the time is over

CARD = """
import os, sys
from dezero import cuda, cudnn
import cupy, numpy, torch
print("python", sys.version.split()[0], "numpy", numpy.__version__, "cupy",
      cupy.__version__, "torch", torch.__version__, "CUDA", torch.version.cuda)
print("devices:", cupy.cuda.runtime.getDeviceCount(), torch.cuda.is_available())
x = cuda.as_cupy(numpy.ones((64, 64), numpy.float32))
assert float((x @ x).sum()) == 64 ** 3, "a wrong product of matrices"
assert cuda.gpu_enable and torch.cuda.is_available(), "one library finds no device"
print(cupy.cuda.runtime.getDeviceProperties(0)["name"].decode())
print("cuDNN of cupy:", cudnn.version())
"""


class Check:
    """The parts, their logs in one folder, and what became of them."""

    def __init__(self, folder: pathlib.Path, python: str, minutes: float):
        self.folder, self.python = folder.resolve(), python
        self.deadline = time.monotonic() + 60 * minutes
        self.summary: list[str] = []
        self.failed = False
        self.folder.mkdir(parents=True, exist_ok=True)

    def left(self) -> float:
        """Seconds."""
        return max(self.deadline - time.monotonic(), 1.0)

    def part(
        self, name: str, command: list[str], seconds: float, needed: bool = True
    ) -> bool:
        """Run a command, its output here and in ``name.log``; did it go well?"""
        # Whatever package is installed, it is this tree that is checked.
        path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
        env = os.environ | {"PYTHONPATH": path.rstrip(os.pathsep)}
        env |= {"PYTHONUNBUFFERED": "1", "OPENBLAS_NUM_THREADS": "1"}
        print(f"\n== {name}: at most {seconds:.0f} seconds", flush=True)
        start = time.monotonic()
        code = run(command, seconds, env, self.folder / f"{name}.log")
        taken = time.monotonic() - start
        told = "ok" if code == 0 else f"FAILED: exit {code}"
        if code and taken >= seconds:
            told = "FAILED: out of time"
        self.note(f"{name}: {told}, {taken:.0f} s", code == 0 or not needed)
        return code == 0

    def note(self, line: str, good: bool = True) -> None:
        """Add a line to the summary, in the folder as well."""
        self.summary.append(line)
        self.failed |= not good
        (self.folder / "summary.txt").write_text("\n".join(self.summary) + "\n")

    # ---- the parts -------------------------------------------------------------

    def card(self) -> bool:
        """Driver and card, as far as they can be told; then a product on it."""
        # Where it is installed it tells more than the libraries, which decide.
        self.part("driver", ["nvidia-smi"], 30, needed=False)
        return self.part("card", [self.python, "-c", CARD], 120)

    def tests(self, workers: int, arguments: list[str]) -> None:
        """Those marked ``gpu``; that none of them ran counts as a failure."""
        report = self.folder / "tests.xml"
        command = [self.python, "-m", "pytest", "-m", "gpu", "-v", "-rf"]
        command += ["-n", str(workers), "--dist", "worksteal", "--durations", "10"]
        command += ["--continue-on-collection-errors", "-p", "no:cacheprovider"]
        command += [f"--junitxml={report}", *arguments]
        self.part("tests", command, self.left() * TESTS_SHARE)
        if report.exists():
            total, skipped = counts(report)
            self.note(f"tests: {total} in all, {skipped} skipped", total > skipped)

    def benchmark(self) -> None:
        """``benchmarks/gpu.py``, with the time that is left."""
        seconds = self.left()
        command = [self.python, "benchmarks/gpu.py", "--results", str(self.folder)]
        command += ["--name", "benchmark", "--seconds", f"{seconds - MARGIN:.0f}"]
        self.part("benchmark", command, seconds)


def run(
    command: list[str], seconds: float, env: dict[str, str], log: pathlib.Path
) -> int:
    """Run it with its output here and in the log; 127 if there is no such command.

    When the time is over it is asked to end, as by Ctrl-C, so that pytest still says
    what it has found; and killed if it does not.
    """
    try:
        process = subprocess.Popen(
            command,
            cwd=ROOT,
            env=env,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,  # to reach the workers as well
        )
    except FileNotFoundError as error:
        log.write_text(f"{error}\n")
        return 127
    timers = [
        threading.Timer(seconds, os.killpg, (process.pid, signal.SIGINT)),
        threading.Timer(seconds + GRACE, os.killpg, (process.pid, signal.SIGKILL)),
    ]
    for timer in timers:
        timer.start()
    assert process.stdout is not None
    with open(log, "w", encoding="utf-8") as file, process.stdout as lines:
        for line in lines:
            file.write(line)
            file.flush()
            print(line, end="", flush=True)
    code = process.wait()
    for timer in timers:
        timer.cancel()
    return code


def counts(report: pathlib.Path) -> tuple[int, int]:
    """How many tests a JUnit report has, and how many of them were skipped."""
    suites = xml.etree.ElementTree.parse(report).getroot().iter("testsuite")
    pairs = [(int(s.get("tests", 0)), int(s.get("skipped", 0))) for s in suites]
    return sum(total for total, _ in pairs), sum(skipped for _, skipped in pairs)


def has_all(check: Check) -> bool:
    """Can the interpreter import what is needed?"""
    command = [check.python, "-c", f"import {NEEDED}"]
    try:
        done = subprocess.run(command, capture_output=True, text=True)
    except FileNotFoundError:
        return False
    if done.returncode:
        why = (done.stderr.strip() or "it ended").splitlines()[-1]
        check.note(f"{check.python} is not enough: {why}")
    return done.returncode == 0


def cuda_version(told: str) -> int:
    """The CUDA version of the driver, 12 or 13, from what ``nvidia-smi`` prints.

    Raises:
        ValueError: It is older, or not there.
    """
    found = re.search(r"CUDA Version:\s*(\d+)", told)
    if found is None or int(found[1]) < 12:
        raise ValueError(
            "gpu_check: expected a driver for CUDA 12 or later, got "
            f"{'CUDA ' + found[1] if found else 'no version'} from nvidia-smi"
        )
    return min(int(found[1]), 13)


def made_environment(check: Check) -> bool:
    """Install all in ``.venv-gpu``, for the driver that is there."""
    smi = subprocess.run(["nvidia-smi"], capture_output=True, text=True)
    version = cuda_version(smi.stdout)
    extra = f".[cuda{version},cudnn{version},dev]"
    venv = ROOT / ".venv-gpu"
    check.python = str(venv / "bin" / "python")
    if has_all(check):
        return True
    pip = [check.python, "-m", "pip", "install", "--quiet", "--editable", extra]
    return check.part(
        "environment", [sys.executable, "-m", "venv", str(venv)], check.left()
    ) and check.part("install", [*pip, "torch"], check.left())


def main() -> None:
    """Run all parts, and say what became of them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=pathlib.Path, help="for logs and results")
    parser.add_argument("--workers", type=int, default=6, help="of pytest")
    parser.add_argument("--minutes", type=float, default=7.5, help="for all parts")
    parser.add_argument("pytest", nargs="*", help="arguments of pytest, behind --")
    args = parser.parse_args()
    check = Check(args.folder, sys.executable, args.minutes)
    try:
        ready = has_all(check) or made_environment(check)
    except (OSError, ValueError) as error:
        ready = False
        check.note(f"environment: FAILED: {error}", good=False)
    if not ready or not check.card():
        check.note("NO CARD ANSWERS: nothing was checked", good=False)
        print("\n" + "\n".join(check.summary))
        raise SystemExit(2)
    check.tests(args.workers, args.pytest)
    check.benchmark()
    print("\n" + "\n".join(check.summary))
    raise SystemExit(int(check.failed))


if __name__ == "__main__":
    main()
