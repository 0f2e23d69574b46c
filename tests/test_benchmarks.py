"""The figures in README and docs are those that were measured."""

from types import SimpleNamespace

import pytest

from benchmarks.frame import Part, pages
from benchmarks.frame import part as part_module
from benchmarks.frame import results as results_module
from benchmarks.frame.part import chosen, load, names
from benchmarks.frame.results import ROOT, Results, Run

RUN = Run("abc1234", "0123456789ab", "2026-11-22", "2 x some processor", 0.1, 3.0, {"numpy": "2.0"})


@pytest.fixture
def results(tmp_path, monkeypatch):
    """A folder of results in place of the real one, and one part in it."""
    monkeypatch.setattr(pages, "RESULTS", tmp_path)
    kept = Results("screen", tmp_path)
    kept.keep("draw", {"ms": 14.26, "by_size": {"120x40": 9, "bytes": 12_345}, "curve": [1, 2]}, RUN)
    return kept


def test_readme_and_docs_say_what_was_measured() -> None:
    beside = "".join(
        pages.TABLE.sub("", pages.FIGURE.sub("", page.read_text("utf-8"))) for page in pages.PAGES
    )
    assert "<!--" not in beside, "a mark that nobody fills"
    marked = {page for page in (ROOT / "docs").rglob("*.md") if pages.FIGURE.search(page.read_text("utf-8"))}
    assert marked
    assert marked <= set(pages.PAGES)
    assert [str(path) for path, _ in pages.stale()] == [], "write them by `python -m benchmarks --docs`"


def test_a_figure_is_written_before_its_mark(results) -> None:
    page = "| redraw | **3.1<!--screen.draw.ms:.1f-->** ms, <!--screen.draw.by_size.bytes:,--> bytes |"
    written = pages.filled(page)
    assert (
        written
        == "| redraw | **14.3<!--screen.draw.ms:.1f-->** ms, 12,345<!--screen.draw.by_size.bytes:,--> bytes |"
    )
    assert pages.filled(written) == written


@pytest.mark.parametrize(
    "key", ["screen.draw.seconds", "screen.keys.ms", "else.draw.ms", "screen.draw.curve"]
)
def test_a_mark_without_a_figure_is_an_error(results, key) -> None:
    with pytest.raises(KeyError):
        pages.filled(f"14<!--{key}:.1f-->")


def test_results_say_where_they_come_from(tmp_path) -> None:
    Results("screen", tmp_path).keep("draw", {"ms": 1}, RUN)
    Results("screen", tmp_path).keep("keys", {"ms": 2}, RUN)
    again = Results("screen", tmp_path)
    assert again.figures() == {"draw": {"ms": 1}, "keys": {"ms": 2}}
    assert again.run("draw") == RUN
    assert again.run("idle") is None


@pytest.mark.parametrize("name", names())
def test_every_part_can_be_chosen_whole_and_by_point(name) -> None:
    part = load(name)
    assert part.name == name
    assert part.points
    assert [point for _, point in chosen([name])] == list(part.points)
    first = next(iter(part.points))
    assert [point for _, point in chosen([f"{name}.{first}"])] == [first]


def test_what_there_is_not_cannot_be_chosen() -> None:
    for asked in ("nothing", f"{names()[0]}.nothing"):
        with pytest.raises(KeyError):
            list(chosen([asked]))


def test_figures_are_outdated_by_the_rooms_that_their_part_runs(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(results_module, "ROOT", tmp_path)
    everything = ("model", "session", "session/analysis", "tui/keys.py")

    def outdated_by(name: str) -> set[str]:
        """The rooms that a change to this file outdates, when each is all that a part runs."""
        before = {room: results_module.code((room,)) for room in everything}
        both = results_module.code(("session", "session/analysis"))
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(path.read_text() + "\nchanged" if path.exists() else "new")
        after = {room: results_module.code((room,)) for room in everything}
        outdated = {room for room in everything if before[room] != after[room]}
        assert ("session" in name) == (both != results_module.code(("session", "session/analysis")))
        return outdated

    for name in ("model/a.py", "session/a.py", "session/analysis/a.py", "tui/keys.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("1")
    assert outdated_by("model/a.py") == {"model"}
    assert outdated_by("model/deep/new.py") == {"model"}
    assert outdated_by("session/a.py") == {"session"}
    assert outdated_by("session/analysis/a.py") == {"session/analysis"}
    assert outdated_by("tui/keys.py") == {"tui/keys.py"}
    assert outdated_by("tui/keys_too.py") == set()
    assert outdated_by("model/README.md") == set()
    assert outdated_by("model/__pycache__/a.pyc") == set()
    (tmp_path / "model/a.py").write_text('''"""Documented."""\n\n\ndef f():\n    return "#"  # noted\n''')
    before = results_module.code(("model",))
    for same in ('def f():\n    """New."""\n    return "#"\n', '# noted\ndef f():\n\n    return "#"\n'):
        (tmp_path / "model/a.py").write_text(same)
        assert results_module.code(("model",)) == before
    assert outdated_by("model/a.py") == {"model"}
    before = results_module.code(("model",))
    (tmp_path / "model/a.py").rename(tmp_path / "model/b.py")
    assert results_module.code(("model",)) != before


def test_rooms_that_a_part_runs_without_saying_so_are_noticed(monkeypatch) -> None:
    imported = SimpleNamespace(
        modules=dict.fromkeys(("wikitopics.model", "wikitopics.vocab", "wikitopics.session.analysis"))
    )
    monkeypatch.setattr(part_module, "sys", imported)
    assert Part("trial", "a trial").strays() == []
    assert Part("trial", "a trial", rooms=("vocab",)).strays() == ["model", "session/analysis"]


def test_a_point_is_named_after_its_function() -> None:
    part = Part("trial", "a trial")

    @part.point("no_such_package", minutes=3)
    def weigh():
        return {"kg": 3}

    assert part.points["weigh"].missing() == ["no_such_package"]
    assert part.points["weigh"].measure() == {"kg": 3}
