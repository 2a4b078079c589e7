"""How good are the tests? Change the code in small ways, and see whether they notice.

mutmut (https://mutmut.readthedocs.io) makes the mutants: a ``+`` for a ``-``, a ``<=``
for a ``<``, None for a value. It runs the tests that touch the changed function until
one fails: the mutant is killed. Those that survive show what no test looks at.

``python tools/mutants.py`` takes the engine and all families of functions: hours.
``core``, ``functions`` or ``functions/shape functions/loss`` take a part of it, and
``--sample 500`` draws so many mutants of each. The work is done in copies of the tree
in ``build/mutants``, where a run that was stopped goes on. At the end stand the scores,
and in ``build/mutants/*.md`` all survivors as differences.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import random
import shutil
import subprocess
import sys

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
"""
CONFIGS = {"core": ENGINE, "functions": FAMILIES}
KILLED = ("killed", "timeout", "suspicious", "segfault")


class Copy:
    """A copy of the tree in which mutmut works."""

    def __init__(self, name: str) -> None:
        self.folder = BUILD / name
        if not self.folder.exists():
            ignored = shutil.ignore_patterns("build", ".*", "__pycache__", "*.egg-info")
            shutil.copytree(ROOT, self.folder, ignore=ignored)
            with open(self.folder / "setup.cfg", "a", encoding="utf-8") as file:
                file.write(CONFIGS[name])

    def mutmut(self, *args: str) -> str:
        """What mutmut prints; of a run, it goes to a file."""
        # The same few examples each time: no mutant shall survive by bad luck alone.
        env = os.environ | {"HYPOTHESIS_PROFILE": "quick", "OPENBLAS_NUM_THREADS": "1"}
        command = [sys.executable, "-m", "mutmut", *args]
        if args[0] != "run":
            return subprocess.run(
                command, cwd=self.folder, env=env, capture_output=True, text=True
            ).stdout
        with open(self.folder / "mutmut.log", "a", encoding="utf-8") as log:
            subprocess.run(command, cwd=self.folder, env=env, stdout=log, stderr=log)
        return ""

    def states(self) -> dict[str, str]:
        """What became of each mutant."""
        lines = self.mutmut("results", "--all", "true").splitlines()
        pairs = [line.strip().split(": ") for line in lines if ": " in line]
        return {mutant: state for mutant, state in pairs}


def run(name: str, sample: int | None, seed: int) -> None:
    """Print the score of one part, and write its survivors to a file."""
    whole, _, family = name.partition("/")
    copy = Copy(whole)
    prefix = f"dezero.{whole}." + (f"{family}." if family else "")
    if sample is None:
        copy.mutmut("run", *([f"{prefix}*"] if family else []))
        chosen = [mutant for mutant in copy.states() if mutant.startswith(prefix)]
    else:
        copy.mutmut("run", "none of them")  # makes the mutants
        mutants = [m for m in copy.states() if m.startswith(prefix)]
        chosen = random.Random(seed).sample(mutants, min(sample, len(mutants)))
        copy.mutmut("run", *chosen)
    states = copy.states()
    survivors = [m for m in chosen if states[m] not in KILLED]
    killed = len(chosen) - len(survivors)
    print(f"{name:32} {killed:5} of {len(chosen):5} {killed / len(chosen):7.1%}")
    report = [f"# Mutants of {name} that no test noticed\n"]
    for m in survivors:
        report.append(f"{m} ({states[m]})\n```diff\n{copy.mutmut('show', m)}```\n")
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
