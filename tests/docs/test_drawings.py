"""The pictures that the site draws before its pages are read."""

import types

from .extensions import extension

drawings = extension("drawings")


def test_the_diamond_and_its_player(tmp_path):
    drawings.draw(types.SimpleNamespace(srcdir=str(tmp_path)))
    drawings.draw(types.SimpleNamespace(srcdir=str(tmp_path)))  # as each build does
    made = tmp_path / "_made"
    assert {path.name for path in made.iterdir()} == {"diamond.svg", "player.html"}
    svg = (made / "diamond.svg").read_text(encoding="utf-8")
    for name in "xabcy":
        assert f">{name}<" in svg or f">{name} " in svg
    assert "<title>The diamond</title>" in (made / "player.html").read_text("utf-8")


def test_they_come_before_the_steps_run():
    calls = []
    app = types.SimpleNamespace(connect=lambda *args, **kw: calls.append((args, kw)))
    result = drawings.setup(app)
    assert result == {"parallel_read_safe": True, "parallel_write_safe": True}
    assert calls == [(("builder-inited", drawings.draw), {"priority": 100})]
