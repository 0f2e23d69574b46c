"""What every room's tests share: nothing of the user's own settings, and no session of theirs, is touched."""

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The session folder of one test, empty at first."""
    folder = tmp_path / "home"
    monkeypatch.setenv("WIKITOPICS_HOME", str(folder))
    monkeypatch.delenv("WIKITOPICS_CONTACT", raising=False)
    return folder
