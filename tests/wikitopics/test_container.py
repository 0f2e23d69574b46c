"""The Containerfile, as far as it can be checked without building it."""

from tests.commands import ROOT


def test_all_that_is_copied_is_let_through_and_exists() -> None:
    ignored = (ROOT / ".containerignore").read_text().splitlines()
    instructions = [line.split() for line in (ROOT / "Containerfile").read_text().splitlines()]
    copied = {
        name
        for words in instructions
        if words[:1] == ["COPY"] and not words[1].startswith("--from")
        for name in words[1:-1]
    }
    assert "pyproject.toml" in copied
    assert copied <= {line[1:] for line in ignored if line.startswith("!")}
    assert [name for name in copied if not (ROOT / name).exists()] == []
