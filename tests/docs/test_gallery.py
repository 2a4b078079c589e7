"""The steps as pages: where they go, and how what they wrote is shown."""

import types

import pytest

from dezero.steps import PARTS, find_steps

from .extensions import ROOT, extension

gallery = extension("gallery")


def test_every_step_goes_into_the_folder_of_its_part(tmp_path):
    (tmp_path / "steps" / "part9").mkdir(parents=True)  # of a build before
    (tmp_path / "steps" / "part9" / "step99_old.py").write_text("")
    folder = gallery.copy_steps(ROOT / "steps", tmp_path)
    assert folder == str(tmp_path / "steps")
    parts = sorted(path for path in (tmp_path / "steps").iterdir() if path.is_dir())
    assert [path.name for path in parts] == [f"part{i}" for i in range(1, 7)]
    copied = [sorted(path.name for path in part.glob("*.py")) for part in parts]
    assert sum(copied, []) == [step.path.name for step in find_steps(ROOT / "steps")]
    assert [int(names[0][4:6]) for names in copied] == list(PARTS)
    for part, title in zip(parts, PARTS.values(), strict=True):
        header = (part / "GALLERY_HEADER.rst").read_text().splitlines()
        assert header[0] == f"Part {part.name[-1]}: {title[0].lower()}{title[1:]}"
        assert header[1] == "-" * len(header[0])
        assert header[3] in gallery.LINES
    page = (tmp_path / "steps" / "GALLERY_HEADER.rst").read_text()
    assert page.startswith("The steps\n=========\n\nFrom a box")


@pytest.mark.parametrize(
    ("number", "part"), [(1, 1), (10, 1), (11, 2), (24, 2), (25, 3), (64, 5), (72, 6)]
)
def test_part_of(number, part):
    assert gallery.part_of(number) == part


def test_introduction_counts_right():
    steps = find_steps(ROOT / "steps")
    assert f"GPT: {len(steps)} short programs" in " ".join(gallery.INTRODUCTION.split())
    with_dezero = [
        step.number
        for step in steps
        if "\nimport dezero" in step.path.read_text("utf-8")
    ]
    assert "Steps 1 to 22" in gallery.INTRODUCTION and with_dezero[0] == 23


# ---- what steps wrote ------------------------------------------------------------


def scrape(folder, code, images=()):
    block = "code", code, 1
    script = {"src_file": str(folder / "step07_x.py")}
    script["image_path_iterator"] = iter(images)
    return gallery.files_scraper(block, script, {"src_dir": str(folder / "docs")})


@pytest.fixture
def folder(tmp_path):
    """A step has written a page and a drawing."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "step07_page.html").write_text("a page")
    (tmp_path / "step07_drawing.png").write_bytes(b"a drawing")
    return tmp_path


def test_a_page_is_shown_once(folder):
    code = 'play(y, "step07_page.html")'
    shown = scrape(folder, code)
    assert '<iframe class="player" src="../../step07_page.html"' in shown
    assert shown.startswith("\n.. raw:: html\n\n   <p")
    assert (folder / "docs" / "_made" / "step07_page.html").read_text() == "a page"
    assert scrape(folder, code) == ""  # of another cell, that names it again


@pytest.mark.parametrize(
    "code",
    [
        "",
        'open("step07_nothing.png")',  # not there
        'plt.savefig("step07_drawing.png")',  # the scraper of matplotlib shows it
        'open("page.html"), open("step07_page.txt")',
    ],
)
def test_cells_that_show_nothing(folder, code):
    assert scrape(folder, code) == ""
    assert not (folder / "docs" / "_made").exists()


def test_a_drawing_is_shown(folder):
    pytest.importorskip("sphinx_gallery", reason="writes its RST: the extra docs")
    image = folder / "docs" / "image.png"
    shown = scrape(folder, 'draw(y, "step07_drawing.png")', [image])
    assert image.read_bytes() == b"a drawing"
    assert "/image.png" in shown and ":alt: step07_drawing.png" in shown


# ---- pages that Sphinx-Gallery wrote ---------------------------------------------

INDEX = f"""\
The steps
=========

{gallery.INTRODUCTION}

Part 6
------

.. raw:: html

    <div tooltip="As \\(a\\,b\\) says::">

.. toctree::
   :hidden:

   /steps/part1/index
   /steps/part2/index

Ends here.
"""


def test_contents_stand_below_the_introduction():
    page = gallery.contents_first(INDEX)
    before, _, after = page.partition(
        ".. toctree::\n   :hidden:\n\n   /steps/part1/index"
    )
    assert before.rstrip().endswith(gallery.INTRODUCTION.rstrip())
    assert after.startswith("\n   /steps/part2/index\n\n")
    assert after.index("Part 6") < after.index("Ends here.")
    assert sorted(page.split()) == sorted(INDEX.split())


def test_contents_at_the_end_of_the_page():
    whole = INDEX.removesuffix("\nEnds here.\n")
    page = gallery.contents_first(whole)
    assert sorted(page.split()) == sorted(whole.split())
    assert page.index("/steps/part2/index") < page.index("Part 6")


@pytest.mark.parametrize(
    ("docname", "is_tidied", "is_moved"),
    [
        ("steps/index", True, True),
        ("steps/part3/index", True, False),
        ("steps/part3/step27_x", False, False),
        ("api/index", False, False),
    ],
)
def test_only_lists_of_steps_are_tidied(docname, is_tidied, is_moved):
    source = [INDEX]
    gallery.tidy(None, docname, source)
    assert ('tooltip="As (a b) says"' in source[0]) == is_tidied
    moved = source[0].index("toctree") < source[0].index("Part 6")
    assert moved == is_moved
    assert is_tidied or source[0] == INDEX


def test_formulas_are_text():
    nodes = pytest.importorskip("docutils.nodes", reason="reads RST: the extra docs")
    utils = pytest.importorskip("docutils.utils")
    blocks = [nodes.literal_block(), nodes.literal_block(language="python")]
    app = types.SimpleNamespace(env=types.SimpleNamespace(docname="index"))
    page = utils.new_document("step")
    page += nodes.section("", *blocks)
    gallery.formulas_as_text(app, page)
    assert "language" not in blocks[0]
    app.env.docname = "steps/part1/step01_x"
    gallery.formulas_as_text(app, page)
    assert [block["language"] for block in blocks] == ["none", "python"]


def test_sphinx_is_told():
    calls = []
    app = types.SimpleNamespace(connect=lambda *args: calls.append(args))
    assert all(gallery.setup(app).values())
    assert calls == [
        ("source-read", gallery.tidy),
        ("doctree-read", gallery.formulas_as_text),
    ]
