"""Write steps/README.md, the map of the steps: idea, what is new, how long it takes.

Titles and news come from the text at the top of each step. The time is that of the
processor, with the start of Python and one thread of BLAS; it is measured anew unless
the map shall keep the times that it has.

Run it with: python benchmarks/steps_map.py [--keep-times]
"""

import argparse
import ast
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from dezero.steps import PARTS, find_steps, title_of

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "steps"
MAP = FOLDER / "README.md"
ROW = re.compile(r"\| \[(\d\d)\]\(.*\| ([\d.]*) \|")

INTRODUCTION = """\
# The steps

{count} scripts, from a box for a number to a small GPT. Each has one idea, runs by
itself and takes less than a coffee. Steps 1 to 22 need NumPy alone and grow a small
framework, in the file that you read; from step 23 on they use DeZero, which is that
framework grown up.

```console
$ make demo                        # once: makes .venv, with DeZero in it
$ . .venv/bin/activate
$ python -m dezero.steps           # the list, with what you have done
$ python -m dezero.steps next      # runs the next one; or a number, or `all`
$ python steps/{example}
```

Read a step in an editor and run it beside that. Its cells begin with `# %%`: VS Code,
Spyder and Jupyter (with jupytext) run them one by one. The lines under `# New in this
step` are what the step adds. Each ends with exercises, which its text suffices to
answer; the solutions are in `solutions/`, and `python -m dezero.steps 7 --solutions`
runs them.

The last column is seconds on one core. Figures need matplotlib (`pip install -e
'.[plot]'`); without it, everything else runs.
"""


def news_of(path):
    """What a step says is new in it: the first sentence, in Markdown."""
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
    match = re.search(
        r"^New (?:since the step before|in this step)[^:]*:(.*?)(?:\n\n|\Z)",
        text,
        flags=re.MULTILINE | re.DOTALL,
    )
    if match is None:
        raise SystemExit(f"{path.name} does not say what is new since the step before")
    sentence = re.split(r"\.(?:\s+(?=[A-Z`])|$)", " ".join(match[1].split()))[0]
    sentence = re.sub(r":\w+:`~?(.*?)`", r"`\1`", sentence).replace("``", "`")
    return sentence.replace("|", r"\|")


def seconds_of(path):
    """The time of the processor that a step takes."""
    environment = os.environ | {
        "OPENBLAS_NUM_THREADS": "1",
        "MPLBACKEND": "agg",
        "PYTHONPATH": str(ROOT),
    }
    with tempfile.TemporaryDirectory() as folder:
        before = os.times()
        subprocess.run(
            [sys.executable, str(path)],
            cwd=folder,
            env=environment,
            check=True,
            stdout=subprocess.DEVNULL,
        )
        after = os.times()
    return (
        after.children_user
        + after.children_system
        - before.children_user
        - before.children_system
    )


def map_of(steps, times):
    """The text of the map; ``times`` has the last column by number."""
    text = INTRODUCTION.format(count=len(steps), example=steps[6].path.name)
    for step in steps:
        if step.number in PARTS:
            text += f"\n## {PARTS[step.number]}\n\n"
            text += "| | idea | new in the library after it | s |\n"
            text += "|---|---|---|---|\n"
        cells = [
            f"[{step.number:02}]({step.path.name})",
            title_of(step.path),
            news_of(step.path),
            times.get(step.number, ""),
        ]
        text += f"| {' | '.join(cells)} |\n"
    return text


def times_in(text):
    """The last column of a map by number."""
    return {int(number): time for number, time in ROW.findall(text)}


def main():
    """Measure, unless told not to, and write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--keep-times", action="store_true", help="do not run the steps again"
    )
    args = parser.parse_args()
    steps = find_steps(FOLDER)
    times = times_in(MAP.read_text(encoding="utf-8")) if MAP.exists() else {}
    for step in steps:
        if not args.keep_times or not times.get(step.number):
            times[step.number] = f"{seconds_of(step.path):.1f}"
            print(f"{step.path.name:52} {times[step.number]:>5} s", flush=True)
    MAP.write_text(map_of(steps, times), encoding="utf-8")
    print(f"wrote {MAP.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
