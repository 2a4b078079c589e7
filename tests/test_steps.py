"""The command that lists and runs the steps, on steps of its own."""

import json
import os
import pathlib
import subprocess
import sys

import pytest

from dezero import downloads, steps

ROOT = pathlib.Path(__file__).resolve().parents[1]
STEP = '"""\nStep {0:02}: {1}\n========\n"""\n\nprint("this is step", {0})\n'


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Three steps beside the package, of which the second fails."""
    folder = tmp_path / "checkout" / "steps"
    (folder / "solutions").mkdir(parents=True)
    (folder / "step01_one.py").write_text(STEP.format(1, "the first"))
    (folder / "step02_two.py").write_text(STEP.format(2, "a fault") + "1 / 0\n")
    (folder / "step03_three.py").write_text(STEP.format(3, "Writes a file."))
    with open(folder / "step03_three.py", "a") as file:
        file.write("open('left_behind.txt', 'w').close()\n")
    (folder / "solutions" / "step01.py").write_text("print('solved')\n")
    (folder / "README.md").write_text("no step\n")
    monkeypatch.setattr(steps, "_PACKAGE", tmp_path / "checkout" / "dezero")
    monkeypatch.setattr(downloads, "cache_dir", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    return folder


def call(capfd, *arguments):
    status = steps.main(arguments)
    return status, *capfd.readouterr()


def progress(tmp_path):
    return json.loads((tmp_path / "cache" / "steps.json").read_text())


# ---- listing ---------------------------------------------------------------------


def test_list(folder, capfd):
    status, out, err = call(capfd)
    assert (status, err) == (0, "")
    assert out.splitlines() == [
        "Derivatives by program",
        "  [ ] 01  The first",
        "  [ ] 02  A fault",
        "  [ ] 03  Writes a file",
        "",
        f"[{'.' * 40}] 0 of 3 done",
        "Next: python -m dezero.steps 1",
    ]


def test_list_with_progress(folder, tmp_path, capfd):
    steps.write_progress([3, 1])
    _, out, _ = call(capfd)
    assert "  [x] 01  The first\n  [ ] 02  A fault\n  [x] 03  Writes a file\n" in out
    assert f"[{'#' * 27}{'.' * 13}] 2 of 3 done\n" in out
    assert out.endswith("Next: python -m dezero.steps 2\n")


def test_list_at_the_end(folder, capfd):
    steps.write_progress([1, 2, 3])
    _, out, _ = call(capfd)
    assert out.endswith(f"[{'#' * 40}] 3 of 3 done\n")


def test_the_bar_shows_the_start_and_what_is_left():
    many = [steps.Step(n, pathlib.Path(f"step{n:02}_x.py"), "x") for n in range(1, 97)]
    assert f"[#{'.' * 39}] 1 of 96" in steps.listing(many, {1})
    assert f"[{'#' * 39}.] 95 of 96" in steps.listing(many, set(range(1, 96)))


def test_parts_stand_above_their_first_step():
    lines = steps.listing(steps.find_steps(ROOT / "steps"), set()).splitlines()
    for number, title in steps.PARTS.items():
        assert lines[lines.index(title) + 1].startswith(f"  [ ] {number:02}  ")


@pytest.mark.parametrize(
    ("first_line", "title"),
    [
        ("Step 07: backward by itself", "Backward by itself"),
        ("step 7 - backward by itself.", "Backward by itself"),
        ("07 · Backward by itself", "Backward by itself"),
        ("Backward by itself", "Backward by itself"),
    ],
)
def test_title(first_line, title, tmp_path):
    path = tmp_path / "step07_some_name.py"
    path.write_text(f'"""\n{first_line}\n====\n"""\n', encoding="utf-8")
    assert steps.title_of(path) == title


@pytest.mark.parametrize("text", ["", "x = 1\n", '""\n', "for\n"])
def test_title_of_a_file_without_one(text, tmp_path):
    path = tmp_path / "step07_some_name.py"
    path.write_text(text)
    assert steps.title_of(path) == "Some name"


# ---- running ---------------------------------------------------------------------


def test_run_one(folder, tmp_path, capfd):
    status, out, err = call(capfd, "3")
    assert (status, err) == (0, "")
    assert out == "==== Step 3: Writes a file (step03_three.py)\nthis is step 3\n"
    assert (tmp_path / "left_behind.txt").exists()  # in the folder it was called from
    assert progress(tmp_path) == {"done": [3]}


def test_a_number_with_a_zero_in_front(folder, capfd):
    assert call(capfd, "01")[0] == 0


def test_a_step_that_fails(folder, tmp_path, capfd):
    status, out, err = call(capfd, "2")
    assert status == 1
    assert "this is step 2" in out
    assert "ZeroDivisionError" in err
    assert err.endswith("steps: step02_two.py failed, with status 1\n")
    assert not (tmp_path / "cache").exists()  # nothing is done


def test_run_several(folder, tmp_path, capfd):
    status, out, _ = call(capfd, "3", "1")
    assert status == 0
    assert out.index("this is step 3") < out.index("this is step 1")
    assert out.endswith("==== 2 of 2 ran to their end\n")
    assert progress(tmp_path) == {"done": [1, 3]}


def test_run_all_goes_on_after_a_failure(folder, tmp_path, capfd):
    status, out, _ = call(capfd, "all")
    assert status == 1
    assert "this is step 3" in out
    assert out.endswith("==== 2 of 3 ran to their end\nfailed: 2\n")
    assert progress(tmp_path) == {"done": [1, 3]}


def test_run_next(folder, capfd):
    assert "this is step 1" in call(capfd, "next")[1]
    steps.write_progress([1, 2])
    assert "this is step 3" in call(capfd, "next")[1]
    steps.write_progress([2, 3])
    assert "this is step 1" in call(capfd, "next")[1]
    steps.write_progress([1, 2, 3])
    status, _, err = call(capfd, "next")
    assert (status, err) == (2, "steps: expected a step that is left, got none\n")


def test_solutions_do_not_count_as_done(folder, tmp_path, capfd):
    status, out, _ = call(capfd, "1", "--solutions")
    assert status == 0
    assert out == "==== Solutions of step 1: The first (step01.py)\nsolved\n"
    assert not (tmp_path / "cache").exists()


@pytest.mark.parametrize("word", ["4", "0", "-1", "one", "1.5", "²", ""])
def test_no_such_step(folder, capfd, word):
    status, out, err = call(capfd, "1", "--", word)
    assert (status, out) == (2, "")  # it says so before it runs anything
    assert err == (
        "steps: expected a number from 1 to 3, 'next' or 'all', got "
        + repr(word)
        + "\n"
    )


def test_interrupted(folder, monkeypatch, capfd):
    def interrupt(path):
        raise KeyboardInterrupt

    monkeypatch.setattr(steps, "run", interrupt)
    assert call(capfd, "1")[0] == 130


def test_forget(folder, tmp_path, capfd):
    steps.write_progress([1, 2])
    status, out, _ = call(capfd, "--forget")
    assert status == 0
    assert "0 of 3 done" in out
    assert progress(tmp_path) == {"done": []}


# ---- where the steps are ---------------------------------------------------------


def test_beside_the_package_before_the_current_folder(folder, tmp_path):
    other = tmp_path / "steps"
    other.mkdir()
    (other / "step01_other.py").write_text("")
    assert steps.find_folder() == folder


@pytest.mark.parametrize("inside", [False, True])
def test_in_the_current_folder(folder, tmp_path, monkeypatch, inside):
    monkeypatch.setattr(steps, "_PACKAGE", tmp_path / "site-packages" / "dezero")
    monkeypatch.chdir(folder if inside else folder.parent)
    assert steps.find_folder() == folder


def test_nowhere(folder, tmp_path, monkeypatch, capfd):
    monkeypatch.setattr(steps, "_PACKAGE", tmp_path / "site-packages" / "dezero")
    status, out, err = call(capfd)
    assert (status, out) == (2, "")
    expected = (
        f"steps: expected the folder of the steps as {tmp_path / 'site-packages'}"
        f"{os.sep}steps or {tmp_path / 'steps'}, got neither; "
    )
    assert err.startswith(expected)


# ---- progress --------------------------------------------------------------------


def test_no_progress_yet(folder):
    assert steps.read_progress() == set()


@pytest.mark.parametrize("text", ["", "{", "[1]", '{"done": 3}', '{"done": ["x"]}'])
def test_a_damaged_file_counts_for_nothing(folder, tmp_path, capfd, text):
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / "steps.json").write_text(text)
    assert steps.read_progress() == set()
    assert call(capfd, "1")[0] == 0
    assert progress(tmp_path) == {"done": [1]}


def test_a_failed_write_leaves_the_old_file(folder, tmp_path, monkeypatch, capfd):
    steps.write_progress([3])

    def full(*paths):
        raise OSError("no space")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(OSError, match="no space"):
        steps.write_progress([1])
    assert progress(tmp_path) == {"done": [3]}
    assert os.listdir(tmp_path / "cache") == ["steps.json"]  # and no part of a new one

    # A step runs all the same, and the reason is told.
    status, out, err = call(capfd, "1")
    assert status == 0
    assert "this is step 1" in out
    assert err == "steps: this step is not marked as done: no space\n"
    assert call(capfd, "--forget")[::2] == (2, "no space\n")


def test_progress_of_another_run_is_kept(folder, tmp_path, capfd, monkeypatch):
    def run(path):
        steps.write_progress([2])  # another process, meanwhile
        return 0

    monkeypatch.setattr(steps, "run", run)
    call(capfd, "1")
    assert progress(tmp_path) == {"done": [1, 2]}


# ---- as a command ----------------------------------------------------------------


def test_as_a_module_from_any_folder(tmp_path):
    def command(*arguments):
        return subprocess.run(
            [sys.executable, "-W", "error", "-m", "dezero.steps", *arguments],
            env=os.environ
            | {
                "PYTHONPATH": str(ROOT),
                "HOME": str(tmp_path),
                "USERPROFILE": str(tmp_path),
            },
            cwd=tmp_path,
            capture_output=True,
            text=True,
        )

    first, last = command("1"), command("23")  # the second needs the package
    assert (first.returncode, first.stderr) == (0, "")
    assert (last.returncode, last.stderr) == (0, "")
    assert first.stdout.startswith("==== Step 1: ")  # above what the step prints
    listing = command()
    assert (listing.returncode, listing.stderr) == (0, "")
    assert listing.stdout.count("[x]") == 2
    assert (tmp_path / ".dezero" / "steps.json").exists()


# ---- a reader that leaves --------------------------------------------------------


def piped(tmp_path, *arguments):
    """The command with its output in a pipe that nobody reads: status and errors."""
    reader, writer = os.pipe()
    os.close(reader)
    try:
        done = subprocess.run(
            [sys.executable, "-m", "dezero.steps", *arguments],
            env=os.environ | {"PYTHONPATH": str(ROOT), "HOME": str(tmp_path)},
            cwd=tmp_path,
            stdout=writer,
            stderr=subprocess.PIPE,
            text=True,
        )
    finally:
        os.close(writer)
    return done.returncode, done.stderr


def test_without_a_reader_the_listing_ends_quietly(tmp_path):
    assert piped(tmp_path) == (141, "")


def test_without_a_reader_no_step_runs(tmp_path):
    assert piped(tmp_path, "1", "2") == (141, "")
    assert not (tmp_path / ".dezero").exists()


def test_a_reader_that_leaves_during_a_step_ends_the_run(folder, monkeypatch, capfd):
    reader, writer = os.pipe()
    ran = []

    def run(path):
        ran.append(path.name)
        os.close(reader)
        return 1  # its output went nowhere

    monkeypatch.setattr(steps, "run", run)
    with os.fdopen(writer, "w") as out, monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", out)
        assert steps.main(["1", "3"]) == 141
    assert ran == ["step01_one.py"]
    assert capfd.readouterr().err == ""  # the step is not said to have failed


def test_an_output_without_a_file_has_no_reader_to_lose(monkeypatch):
    assert not steps._reader_is_gone()
    monkeypatch.delattr("select.poll", raising=False)
    assert not steps._reader_is_gone()
