"""`doctor`: what it finds wrong, and what it does not."""

import json

import pytest

from wikitopics.session import __version__


@pytest.fixture
def checked(cli):
    """`checked()`: the exit code, and what `doctor` says of each thing."""

    def check():
        outcome = cli("doctor", "--offline", "--json")
        return outcome.code, {one["check"]: one for one in json.loads(outcome.out)}

    return check


def test_a_folder_that_cannot_be_created(checked, home, tmp_path, monkeypatch):
    home.symlink_to("not mounted")
    _, found = checked()
    assert "is not writable (No such file" in found["sessions"]["detail"]
    # Though there is something above it that anybody may write to.
    (tmp_path / "file").touch()
    monkeypatch.setenv("WIKITOPICS_HOME", str(tmp_path / "file" / "home"))
    code, found = checked()
    assert code == 1
    for place in ("sessions", "config file"):
        assert not found[place]["ok"]
        assert (
            f"{tmp_path / 'file' / 'home'} cannot be created (Not a directory)"
            in found[place]["detail"]
        )
    assert "disk" not in found, "nobody knows which one it would be"


@pytest.mark.parametrize("there", [True, False])
def test_it_leaves_nothing_behind(checked, home, there):
    if there:
        home.mkdir()
    _, found = checked()
    assert found["sessions"]["ok"]
    assert found["config file"]["ok"]
    assert found["disk"]["detail"].endswith("GB free")
    assert home.exists() == there
    assert not there or not list(home.iterdir())


@pytest.mark.parametrize(
    ("contact", "fine", "says"),
    [
        ("", True, "only Wikipedia and Wikimedia's other servers need one"),
        ("nobody", False, ""),
        (
            "w:User:Some_One",
            True,
            f"User-Agent: wikitopics/{__version__} ([[User:Some One]]) aiohttp/",
        ),
    ],
)
def test_the_contact_as_it_is_sent_or_what_it_is_for(checked, monkeypatch, contact, fine, says):
    monkeypatch.setenv("WIKITOPICS_CONTACT", contact)
    code, found = checked()
    assert found["contact"]["ok"] == fine == (code == 0)
    assert says in found["contact"]["detail"]


def test_what_other_packages_bring(checked, install):
    assert not [what for what in checked()[1] if what.startswith(("model ", "source "))]
    head = "from wikitopics.crawler.texts.kinds import Texts, PageKind\n"
    mine = f"{head}class Mine(Texts):\n    name, label = 'mine', 'Mine'\n"
    install(mine, "wikitopics.sources", mine="mine_sources:Mine")
    bare = (
        f"{head}class Bare(PageKind):\n    name, identity, open = 'bare', Texts.identity, "
        "Texts.open\n"
    )
    install(bare, "wikitopics.sources", bare="bare_sources:Bare")
    install("raise RuntimeError('broken on purpose')", "wikitopics.models", odd="odd_models:Kind")
    code, found = checked()
    assert code == 1
    assert (found["source mine"]["ok"], found["source mine"]["detail"]) == (True, "Mine")
    assert found["source bare"]["detail"] == "installed", "it has no label"
    assert not found["model odd"]["ok"]
    assert "'odd' (odd_models:Kind) cannot be loaded: " in found["model odd"]["detail"]
