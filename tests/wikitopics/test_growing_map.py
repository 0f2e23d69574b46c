"""The growth of the map, as a picture that the command writes."""

from xml.etree import ElementTree

import pytest

import wikitopics as wt


def test_the_growth_of_the_map_is_exported(trained, cli, tmp_path):
    target = tmp_path / "growth.svg"
    cli.ok("export", "map", "-o", target)
    svg = ElementTree.parse(target).getroot()
    assert target.stat().st_size < 2_000_000
    texts = [text.text for text in svg.iter("{http://www.w3.org/2000/svg}text")]
    assert f"{len(cli.rows('map')):,} documents" in texts
    areas = {area.name for area in wt.open(trained).areas() if not area.is_other}
    assert areas & set(texts)
    assert cli("export", "map", "--format", "svg").code == 0


@pytest.mark.interop
def test_the_map_is_exported_as_a_picture(trained, cli, tmp_path):
    target = tmp_path / "map.png"
    cli.ok("export", "map", "-o", target)
    assert target.read_bytes().startswith(b"\x89PNG")


@pytest.mark.interop
def test_letters_that_no_font_has_are_told_in_a_line_of_the_programs(trained, tmp_path, spawn):
    session = wt.open(trained)
    for topic in range(5):
        session.rename(topic, "clay 𒀀")
    writing = spawn("export", "map", "-o", tmp_path / "map.png")
    _, said = writing.communicate(timeout=120)
    told, written = said.splitlines()
    assert told.startswith("no installed font has '𒀀'")
    assert written.startswith("wrote ")


def test_a_picture_needs_the_extra(trained, cli, one_line, tmp_path, monkeypatch):
    monkeypatch.setattr("wikitopics.extra.Extra.missing", lambda extra: [extra.package])
    outcome = cli("export", "map", "-o", tmp_path / "map.png")
    one_line(outcome, 2)
    assert "--format png needs matplotlib" in outcome.err
