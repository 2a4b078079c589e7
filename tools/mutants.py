"""How good are the tests? Change the code in small ways, and see whether they notice.

mutmut (https://mutmut.readthedocs.io) makes the mutants: a ``+`` for a ``-``, a ``<=``
for a ``<``, None for a value. It also finds out which tests touch which function. Those
of the changed function run, the shortest first, until one fails: the mutant is killed.
Those that survive show what no test looks at.

``python tools/mutants.py`` takes the engine and all families of functions: a day.
``core``, ``functions`` or ``functions/shape functions/loss`` take a part of it, and
``--sample 200`` draws so many mutants of each. The work is done in copies of the tree
in ``build/mutants``, where a run that was stopped goes on. At the end stand the scores,
and in ``build/mutants/*.md`` all survivors as differences.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import functools
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
from typing import Any

ROOT = pathlib.Path(__file__).resolve().parents[1]
BUILD = ROOT / "build" / "mutants"

ENGINE = """
[mutmut]
source_paths = dezero
only_mutate = dezero/core.py
pytest_add_cli_args_test_selection =
    tests/test_core.py
    tests/test_variable.py
    tests/test_config.py
    tests/test_acceptance.py
    tests/test_dtype.py
    tests/autodiff
    tests/regressions
"""
FAMILIES = """
[mutmut]
source_paths = dezero
only_mutate = dezero/functions/*.py
pytest_add_cli_args_test_selection =
    tests/functions
    tests/test_functions_conv.py
    tests/cupy_stand_in/test_functions.py
"""
CONFIGS = {"core": ENGINE, "functions": FAMILIES}
FIRST = 40  # tests that run before the others: they mostly suffice


class Copy:
    """A copy of the tree, with all mutants in it: an environment variable picks one."""

    def __init__(self, name: str) -> None:
        self.folder = BUILD / name
        if not self.folder.exists():
            ignored = shutil.ignore_patterns("build", ".*", "__pycache__", "*.egg-info")
            shutil.copytree(ROOT, self.folder, ignore=ignored)
            with open(self.folder / "setup.cfg", "a", encoding="utf-8") as file:
                file.write(CONFIGS[name])
        self.mutmut("run", "none of them")  # makes the mutants, and looks at the tests
        stats = json.loads((self.folder / "mutants/mutmut-stats.json").read_text())
        self.tests_of: dict[str, list[str]] = stats["tests_by_mangled_function_name"]
        self.seconds: dict[str, float] = stats["duration_by_test"]
        self.results = self.folder / "results.json"
        self.states: dict[str, str] = {}
        if self.results.exists():
            self.states = json.loads(self.results.read_text(encoding="utf-8"))

    def mutmut(self, *args: str) -> str:
        """What mutmut prints; of a run, it goes to a file."""
        command = [sys.executable, "-m", "mutmut", *args]
        if args[0] != "run":
            done = subprocess.run(
                command, cwd=self.folder, env=environment(), capture_output=True
            )
            return done.stdout.decode()
        with open(self.folder / "mutmut.log", "a", encoding="utf-8") as log:
            subprocess.run(
                command, cwd=self.folder, env=environment(), stdout=log, stderr=log
            )
        return ""

    def mutants(self, prefix: str) -> list[str]:
        """Those whose name begins so."""
        files = sorted((self.folder / "mutants/dezero").rglob("*.meta"))
        names = [
            name
            for file in files
            for name in json.loads(file.read_text(encoding="utf-8"))["exit_code_by_key"]
        ]
        return [name for name in names if name.startswith(prefix)]

    def try_out(self, mutant: str) -> str:
        """Run the tests of a mutant: is it killed, or did it survive?"""
        function = mutant.rpartition("__mutmut_")[0]
        tests = sorted(self.tests_of.get(function, []), key=self.seconds.__getitem__)
        limit = 60 + 8 * sum([self.seconds[test] for test in tests])
        for part in (tests[:FIRST], tests[FIRST:]):
            try:
                if part and self.pytest(mutant, part, limit).returncode:
                    return "killed"
            except subprocess.TimeoutExpired:
                return "killed"  # it runs forever
        return "survived" if tests else "no tests"

    def pytest(self, mutant: str, tests: list[str], limit: float | None = None) -> Any:
        """Run these tests on a mutant, or with "" on the code as it is."""
        command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider"]
        return subprocess.run(
            [*command, *tests],
            cwd=self.folder / "mutants",
            env=environment() | {"MUTANT_UNDER_TEST": mutant, "PYTHONPATH": "."},
            capture_output=True,
            text=True,
            timeout=limit,
        )

    def try_all(self, mutants: list[str]) -> None:
        """Find out what becomes of the mutants, and write it down after each."""
        todo = [mutant for mutant in mutants if mutant not in self.states]
        shortest = sorted(self.seconds, key=self.seconds.__getitem__)[:FIRST]
        plain = self.pytest("", shortest)
        if plain.returncode:
            raise SystemExit(f"the tests fail without any mutant:\n{plain.stdout}")
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            futures = {pool.submit(self.try_out, mutant): mutant for mutant in todo}
            for future in concurrent.futures.as_completed(futures):
                self.states[futures[future]] = future.result()
                text = json.dumps(self.states, indent=0)
                self.results.write_text(text, encoding="utf-8")


@functools.cache
def environment() -> dict[str, str]:
    """Of all processes: the same few examples each time, for no mutant shall survive
    by bad luck alone."""
    return os.environ | {"HYPOTHESIS_PROFILE": "quick", "OPENBLAS_NUM_THREADS": "1"}


def run(name: str, sample: int | None, seed: int) -> None:
    """Print the score of one part, and write its survivors to a file."""
    whole, _, family = name.partition("/")
    copy = Copy(whole)
    chosen = copy.mutants(f"dezero.{whole}." + (f"{family}." if family else ""))
    if not chosen:
        raise SystemExit(f"{name}: there are no mutants; see {copy.folder}/mutmut.log")
    if sample is not None:
        chosen = random.Random(seed).sample(chosen, min(sample, len(chosen)))
    copy.try_all(chosen)
    survivors = [mutant for mutant in chosen if copy.states[mutant] != "killed"]
    killed = len(chosen) - len(survivors)
    print(f"{name:32} {killed:5} of {len(chosen):5} {killed / len(chosen):7.1%}")
    report = [f"# Mutants of {name} that no test noticed\n"]
    for m in survivors:
        diff = copy.mutmut("show", m)
        report.append(f"{m} ({copy.states[m]})\n```diff\n{diff}```\n")
    path = BUILD / f"{name.replace('/', '-')}.md"
    path.write_text("\n".join(report), encoding="utf-8")


def main() -> None:
    """Run the parts that are named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", default=["core", "functions"])
    parser.add_argument("--sample", type=int, help="how many mutants of each part")
    parser.add_argument("--seed", type=int, default=0, help="draws the sample")
    args = parser.parse_args()
    for name in args.parts:
        if name.partition("/")[0] not in CONFIGS:
            parser.error(f"expected core, functions or functions/<family>, got {name}")
        run(name, args.sample, args.seed)


if __name__ == "__main__":
    main()
