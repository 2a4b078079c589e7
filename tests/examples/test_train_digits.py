"""The demo keeps its promise: 96 % of digits never seen, and a picture."""

import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "examples" / "train_digits.py"


def run(picture):
    return subprocess.run(
        [sys.executable, "-W", "error", str(SCRIPT), "--out", str(picture)],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )


def test_demo(tmp_path):
    picture = tmp_path / "picture.png"
    result = run(picture)
    assert result.returncode == 0, result.stderr
    accuracy = re.search(r"Test accuracy: ([\d.]+)% of 360 digits", result.stdout)
    assert accuracy and float(accuracy[1]) >= 96
    assert f"Loss curves and misread digits: {picture}" in result.stdout
    assert picture.read_bytes().startswith(b"\x89PNG")

    # The table has a row per digit; together they account for every test digit.
    rows = re.findall(r"^ +\d \|(.*) +[\d.]+%$", result.stdout, flags=re.MULTILINE)
    assert len(rows) == 10
    assert sum(int(n) for row in rows for n in row.replace(".", "").split()) == 360


def test_a_missing_folder_is_noticed_before_training(tmp_path):
    result = run(tmp_path / "nowhere" / "picture.png")
    assert result.returncode == 2
    assert "--out: there is no folder for" in result.stderr
    assert "training" not in result.stderr
