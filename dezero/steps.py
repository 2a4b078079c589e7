"""The numbered steps from a terminal: ``python -m dezero.steps`` lists and runs them.

The steps are scripts that stand beside the package, not in it: a checkout has them.
Each runs in a Python of its own, in the current folder, where it leaves its figures.
Which ones have run to their end is kept in ``steps.json`` in the cache folder,
:data:`dezero.downloads.cache_dir`.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import json
import os
import re
import select
import subprocess
import sys
import uuid
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from dezero import downloads

# The parts of the path, by the number of their first step.
PARTS = {
    1: "Derivatives by program",
    11: "Code that reads like mathematics",
    25: "Derivatives of derivatives",
    37: "Networks",
    53: "Real networks",
    65: "Beyond",
}
_PACKAGE = Path(__file__).resolve().parent


class Step(NamedTuple):
    """A numbered script and what the first line of its text calls it."""

    number: int
    path: Path
    title: str

    @property
    def solutions(self) -> Path:
        """The script that solves its exercises."""
        return self.path.parent / "solutions" / f"step{self.number:02}.py"


# =============================================================================
# The scripts
# =============================================================================


def find_folder() -> Path:
    """The folder of the steps: beside the package, else in the current folder.

    Raises:
        FileNotFoundError: Neither is there.
    """
    here = Path.cwd()
    places = [_PACKAGE.parent / "steps", here / "steps", here]
    for place in places:
        if any(place.glob("step[0-9][0-9]_*.py")):
            return place
    raise FileNotFoundError(
        f"steps: expected the folder of the steps as {places[0]} or {places[1]}, got "
        "neither; the installed package does not contain it: get a copy of DeZero's "
        "repository, and run this there"
    )


def find_steps(folder: Path) -> list[Step]:
    """The steps in a folder, by number."""
    paths = sorted(folder.glob("step[0-9][0-9]_*.py"))
    return [Step(int(path.name[4:6]), path, title_of(path)) for path in paths]


def title_of(path: Path) -> str:
    """The first line of the text at the top, without the number of the step."""
    try:
        text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
    except SyntaxError:  # somebody is editing it; running it will say where
        text = None
    title = (text or "").partition("\n")[0]
    title = re.sub(r"^(step\s*)?\d+\s*[:.·–—-]?\s*", "", title, flags=re.IGNORECASE)
    title = title.rstrip(".") or path.stem[7:].replace("_", " ")
    return title[:1].upper() + title[1:]


def run(path: Path) -> int:
    """Run a script as ``python path`` would, and return its exit status."""
    # Scripts find the package that this module belongs to, installed or not.
    paths = [str(_PACKAGE.parent), os.environ.get("PYTHONPATH", "")]
    env = os.environ | {"PYTHONPATH": os.pathsep.join([p for p in paths if p])}
    sys.stdout.flush()  # what was printed here stands above what the script prints
    return subprocess.run([sys.executable, str(path)], env=env).returncode


# =============================================================================
# Progress
# =============================================================================


def _progress_file() -> Path:
    return Path(downloads.cache_dir) / "steps.json"


def read_progress() -> set[int]:
    """The numbers of the steps that have run to their end; none if nothing is known."""
    try:
        done = json.loads(_progress_file().read_text(encoding="utf-8"))["done"]
        return {int(number) for number in done}
    except (OSError, ValueError, KeyError, TypeError):
        return set()  # no file, or a damaged one: the next step that runs replaces it


def write_progress(done: Iterable[int]) -> None:
    """Keep the numbers; the file is the old one or the new one, whole, at any moment.

    Raises:
        OSError: The cache folder cannot be written to.
    """
    path = _progress_file()
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f"{path.name}.{uuid.uuid4().hex}")
    try:
        part.write_text(json.dumps({"done": sorted(done)}) + "\n", encoding="utf-8")
        os.replace(part, path)
    except BaseException:
        with contextlib.suppress(OSError):
            part.unlink()
        raise


def _mark(number: int) -> None:
    try:
        write_progress(read_progress() | {number})  # read anew: others may run too
    except OSError as error:
        print(f"steps: this step is not marked as done: {error}", file=sys.stderr)


# =============================================================================
# The command
# =============================================================================


def listing(steps: Sequence[Step], done: set[int]) -> str:
    """The path, part by part, with a cross at each step that is done."""
    lines = []
    for step in steps:
        if step.number in PARTS:
            lines += ["", PARTS[step.number]]
        cross = "x" if step.number in done else " "
        lines.append(f"  [{cross}] {step.number:02}  {step.title}")
    numbers = [step.number for step in steps]
    count = len(done.intersection(numbers))
    filled = round(40 * count / len(steps))
    if 0 < count < len(steps):
        filled = min(max(filled, 1), 39)  # a start shows, and so does what is left
    lines += ["", f"[{'#' * filled}{'.' * (40 - filled)}] {count} of {len(steps)} done"]
    coming = _coming(steps, done)
    if coming is not None:
        lines.append(f"Next: python -m dezero.steps {coming.number}")
    return "\n".join(lines).lstrip("\n")


def _coming(steps: Sequence[Step], done: set[int]) -> Step | None:
    """The first step after the last one that is done, else the first left out."""
    left = [step for step in steps if step.number not in done]
    later = [step for step in left if step.number > max(done, default=0)]
    return next(iter(later or left), None)


def _chosen(words: Sequence[str], steps: Sequence[Step]) -> list[Step]:
    """The steps that the arguments ask for.

    Raises:
        ValueError: There is no such step, or a word is no number of one.
    """
    by_number = {step.number: step for step in steps}
    chosen: list[Step] = []
    for word in words:
        if word == "all":
            chosen += steps
        elif word == "next":
            coming = _coming(steps, read_progress())
            if coming is None:
                raise ValueError("steps: expected a step that is left, got none")
            chosen.append(coming)
        elif word.isdecimal() and int(word) in by_number:
            chosen.append(by_number[int(word)])
        else:
            raise ValueError(
                f"steps: expected a number from {steps[0].number} to "
                f"{steps[-1].number}, 'next' or 'all', got {word!r}"
            )
    return chosen


def _run_chosen(chosen: Sequence[Step], solutions: bool) -> int:
    failed = []
    for step in chosen:
        path = step.solutions if solutions else step.path
        what = (
            f"Solutions of step {step.number}" if solutions else f"Step {step.number}"
        )
        print(f"==== {what}: {step.title} ({path.name})")
        status = run(path)
        if status and _reader_is_gone():
            raise BrokenPipeError  # which is why the step failed too
        if status:
            print(f"steps: {path.name} failed, with status {status}", file=sys.stderr)
            failed.append(step)
        elif not solutions:
            _mark(step.number)
    if len(chosen) > 1:
        print(f"==== {len(chosen) - len(failed)} of {len(chosen)} ran to their end")
        if failed:
            print("failed: " + ", ".join([str(step.number) for step in failed]))
    return 1 if failed else 0


def _reader_is_gone() -> bool:
    """Does the output go to a pipe that nobody reads from any more?"""
    if not hasattr(select, "poll"):  # on Windows
        return False
    poll = select.poll()
    try:
        poll.register(sys.stdout.fileno(), 0)
    except (OSError, ValueError):  # closed, or no file at all
        return False
    gone = select.POLLERR | select.POLLHUP  # on Linux, on BSD
    return any([event & gone for _, event in poll.poll(0)])


def main(arguments: Sequence[str] | None = None) -> int:
    """List or run the steps.

    Args:
        arguments: Those of the command line if None.

    Returns:
        The exit status. It is 0, or 1 if a step failed, 2 if there is no such step or
        no steps at all, 130 if it was interrupted, 141 if nobody reads the output any
        more (as of ``... | head``).
    """
    try:
        status = _main(arguments)
        sys.stdout.flush()  # here, where it may fail, and not at the exit of Python
        return status
    except BrokenPipeError:
        # What is still to be flushed goes nowhere, instead of failing once more.
        with contextlib.suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141  # what shells say of a program that SIGPIPE has ended


def _main(arguments: Sequence[str] | None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m dezero.steps",
        description="The numbered steps from a box for a number to a small GPT.",
    )
    parser.add_argument(
        "steps",
        nargs="*",
        metavar="STEP",
        help="a number, several, 'next' or 'all'; without one, the steps are listed",
    )
    parser.add_argument(
        "--solutions",
        action="store_true",
        help="run the solutions of the exercises instead",
    )
    parser.add_argument(
        "--forget", action="store_true", help="no step is done any more"
    )
    args = parser.parse_args(arguments)
    try:
        steps = find_steps(find_folder())
        if args.forget:
            write_progress([])
        chosen = _chosen(args.steps, steps)
    except (OSError, ValueError) as error:
        print(error, file=sys.stderr)
        return 2
    if not chosen:
        print(listing(steps, read_progress()))
        return 0
    try:
        return _run_chosen(chosen, args.solutions)
    except KeyboardInterrupt:  # the step has had it too, and has said so
        return 130


if __name__ == "__main__":
    sys.exit(main())
