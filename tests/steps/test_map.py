"""The map says of each step what the step says of itself."""

import importlib.util
import pathlib

import pytest

from dezero.steps import find_steps

ROOT = pathlib.Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def maps():
    """The script that writes the map."""
    path = ROOT / "benchmarks" / "steps_map.py"
    spec = importlib.util.spec_from_file_location("steps_map", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_map_is_up_to_date(maps):
    text = maps.MAP.read_text(encoding="utf-8")
    steps, times = find_steps(maps.FOLDER), maps.times_in(text)
    assert sorted(times) == [step.number for step in steps]
    assert all(0 < float(time) <= 20 for time in times.values())
    expected = maps.map_of(steps, times)
    assert text == expected, "run python benchmarks/steps_map.py --keep-times"


@pytest.mark.parametrize(
    ("text", "news"),
    [
        ("New since the step before: the class ``A``.", "the class `A`"),
        ("Formula.\n\nNew in this step:\na | b; ``c.d``. And e.", r"a \| b; `c.d`"),
        ("New since the step before: ``x.y`` and\n``z``. ``w`` too.", "`x.y` and `z`"),
        (
            "New since the step before: :func:`~a.b` is\nthere.\n\nMore.",
            "`a.b` is there",
        ),
    ],
)
def test_news(maps, tmp_path, text, news):
    path = tmp_path / "step01_x.py"
    path.write_text(f'"""\nTitle\n=====\n\n{text}\n"""\n')
    assert maps.news_of(path) == news


def test_a_step_without_news_is_refused(maps, tmp_path):
    path = tmp_path / "step01_x.py"
    path.write_text('"""\nTitle\n=====\n"""\n')
    with pytest.raises(SystemExit, match="step01_x.py does not say what is new"):
        maps.news_of(path)


def test_time_is_measured(maps, tmp_path):
    path = tmp_path / "step01_x.py"
    path.write_text("sum(range(10**6))\n")
    assert 0 < maps.seconds_of(path) < 20
