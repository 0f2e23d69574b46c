"""The moving picture of the README: many screens in one file, which a browser shows in turn by itself."""

import re
import xml.etree.ElementTree as ET

import pytest

from tests.commands import ROOT

PICTURES = ROOT / "docs" / "pictures"
MOST_BYTES = 2_000_000


def screen(number: int, *words: str) -> str:
    """As Textual exports it: a line a word, a box behind each."""
    lines = "".join(
        f'<rect fill="#111" x="0" y="{y}" width="99" height="24.65" shape-rendering="crispEdges"/>'
        f'<text class="terminal-{number}-r1" x="0" y="{y}" textLength="{9 * len(word)}">{word}</text>'
        for y, word in enumerate(words)
    )
    return (
        '<svg class="rich-terminal" viewBox="0 0 99 99" xmlns="http://www.w3.org/2000/svg">'
        f"<style>.terminal-{number}-r1 {{ fill: #abc }}</style>"
        f'<defs><clipPath id="terminal-{number}-clip-terminal"><rect x="0" y="0"/></clipPath>'
        f'<clipPath id="terminal-{number}-line-0"><rect x="0" y="0"/></clipPath></defs>'
        f'<g class="terminal-{number}-matrix">{lines}</g></svg>'
    )


def shown(svg: str) -> dict[str, str]:
    """The class of the group that each word is in."""
    groups = [group for group in ET.fromstring(svg).iter() if group.tag.endswith("}g")]
    return {text: group.get("class", "") for group in groups[1:] for text in group.itertext() if text.strip()}


def test_what_pictures_share_is_stored_once_and_each_word_is_shown_in_its_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.syspath_prepend(PICTURES)
    from flipbook import Picture, flipbook

    pictures = [
        Picture(screen(7, "always", "early"), seconds=1),
        Picture(screen(8, "always", "middle"), seconds=2),
        Picture(screen(9, "always", "late"), seconds=1),
    ]
    svg = flipbook(pictures, still=1)
    assert shown(svg) == {"always": "", "early": "f f0-1", "middle": "f f1-2 still", "late": "f f2-3"}
    assert svg.count("<rect") == 2  # the ground, and the clip around the screen
    assert "4s step-end infinite" in svg
    middle = re.search(r"@keyframes f1-2 \{(.*)\}", svg)
    assert middle is not None
    assert middle[1] == "0% {visibility: hidden} 25% {visibility: visible} 75% {visibility: hidden}"
    assert svg.index("prefers-reduced-motion: no-preference") < svg.index("@keyframes")


def test_the_readme_begins_with_a_picture_that_moves_and_is_small() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    first = re.search(r"!\[([^\]]+)\]\(([^)]+)\)", readme)
    assert first is not None
    film = ROOT / first[2]
    assert film.stat().st_size < MOST_BYTES
    drawn = film.read_text(encoding="utf-8")
    assert "@keyframes" in drawn
    assert not re.search(r"<script|@import|url\(['\"]?http", drawn)  # a README's picture may load nothing
