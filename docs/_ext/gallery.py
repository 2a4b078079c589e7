"""The steps as Sphinx-Gallery wants them: in a folder per part, run where they lie.

They are copied, so that what they write (figures, weights) stays out of the tree.
"""

from __future__ import annotations

import pathlib
import re
import shutil
from typing import TYPE_CHECKING, Any

from dezero.steps import PARTS

if TYPE_CHECKING:  # the tests call these functions where there is no Sphinx
    from docutils import nodes
    from sphinx.application import Sphinx

# A line on each of the parts.
LINES = (
    "A box for a number learns where it came from.",
    "Graphs of any shape; operators; memory.",
    "A backward pass that is recorded too.",
    "Arrays, layers, optimizers, data: a network that learns.",
    "What trainings of real networks are made of.",
    "Attention, generation, and tools for when it goes wrong.",
)
TITLE = "The steps"
INTRODUCTION = """\
From a box for a number to a small GPT: 72 short programs, one idea each. Steps 1 to 22
build a framework from nothing, in one file; from step 23 on they use DeZero, and where
a step builds something that DeZero has, it ends by comparing the two.

You need Python, arrays, and the chain rule of calculus; no more. Every step runs by
itself in seconds, prints what it claims, and ends with exercises. The pages show what
the program wrote and drew. At the foot of each is the same step as a notebook and as a
script; in a copy of the repository, ``python steps/step07_*.py`` runs one and
``python -m dezero.steps`` lists them all. Solutions of the exercises are in
``steps/solutions/``.
"""
FRAME = """
.. raw:: html

   <p class="player"><a href="../../{name}">{name} as a page of its own</a></p>
   <iframe class="player" src="../../{name}" title="{name}"></iframe>
"""


def heading(title: str, line: str) -> str:
    """A title as RST has it."""
    return f"{title}\n{line * len(title)}\n"


def part_of(number: int) -> int:
    """Of which part, counted from 1, a step is."""
    return sum(first <= number for first in PARTS)


def copy_steps(source: pathlib.Path, goal: pathlib.Path) -> str:
    """Copy the steps into folders by part, with a header each; return the folder."""
    goal = goal / "steps"
    shutil.rmtree(goal, ignore_errors=True)
    goal.mkdir(parents=True)
    (goal / "GALLERY_HEADER.rst").write_text(heading(TITLE, "=") + "\n" + INTRODUCTION)
    for i, (title, text) in enumerate(zip(PARTS.values(), LINES, strict=True), 1):
        folder = goal / f"part{i}"
        folder.mkdir()
        title = f"Part {i}: {title[0].lower()}{title[1:]}"
        header = heading(title, "-") + f"\n{text}\n"
        (folder / "GALLERY_HEADER.rst").write_text(header)
    for path in sorted(source.glob("step*.py")):
        number = int(re.findall(r"\d+", path.name)[0])
        shutil.copyfile(path, goal / f"part{part_of(number)}" / path.name)
    return str(goal)


def files_scraper(block: Any, block_vars: dict, gallery_conf: dict, **options) -> str:
    """Show the drawing, or the page, that a cell wrote without matplotlib."""
    _, code, _ = block
    folder = pathlib.Path(block_vars["src_file"]).parent
    goal = pathlib.Path(gallery_conf["src_dir"], "_made")
    shown = []
    for name in re.findall(r'"(step\d\d\w*\.(?:png|html))"', code):
        if "savefig" in code or not (folder / name).exists():
            continue
        if name.endswith(".png"):
            from sphinx_gallery.scrapers import figure_rst

            image = next(block_vars["image_path_iterator"])
            shutil.copyfile(folder / name, image)
            shown.append(figure_rst([image], gallery_conf["src_dir"], name))
        elif not (goal / name).exists():
            goal.mkdir(exist_ok=True)
            shutil.copyfile(folder / name, goal / name)
            shown.append(FRAME.format(name=name))
    return "".join(shown)


def tidy(app: Sphinx, docname: str, source: list[str]) -> None:
    """Mend what Sphinx-Gallery wrote, before Sphinx reads it."""
    if re.fullmatch(r"steps/(part\d/)?index", docname):
        source[0] = re.sub(r'(?<=tooltip=")[^"]*', plain, source[0])
    if docname == "steps/index":
        source[0] = contents_first(source[0])


def formulas_as_text(app: Sphinx, doctree: nodes.document) -> None:
    """What follows two colons in a step is no Python; code says itself that it is.

    The directive ``highlight`` comes too late: Sphinx-Gallery colours the blocks first.
    """
    from docutils import nodes

    if app.env.docname.startswith("steps/part"):
        for block in doctree.findall(nodes.literal_block):
            block.setdefault("language", "none")


def plain(tooltip: re.Match) -> str:
    """The words of a step's introduction, without marks of TeX and RST."""
    words = re.sub(r"\\[,;!]", " ", tooltip[0])
    return words.replace("\\", "").rstrip(": ")


def contents_first(page: str) -> str:
    """Move the table of contents of all parts out of the section of the last one."""
    before, tree, after = page.rpartition("\n.. toctree::")
    # Its options and entries are indented; what may follow is not.
    inner = re.match(r"(?:[ \t]*\n|[ \t].*\n?)*", after)
    length = inner.end() if inner else 0
    middle = before.index(INTRODUCTION) + len(INTRODUCTION)
    toctree = tree + after[:length]
    return before[:middle] + toctree + "\n" + before[middle:] + after[length:]


def setup(app: Sphinx) -> dict[str, bool]:
    """Tell Sphinx about it."""
    app.connect("source-read", tidy)
    app.connect("doctree-read", formulas_as_text)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
