"""The figures in README and docs are those that were measured."""

import pytest

from benchmarks import harness, pages
from benchmarks.harness import ROOT, Experiment, chosen, load, names

RUN = {"commit": "abc1234", "date": "2026-11-22", "load": 0.1}


@pytest.fixture
def results(tmp_path, monkeypatch):
    """A folder of results in place of the real one, with one experiment in it."""
    monkeypatch.setattr(harness, "RESULTS", tmp_path)
    draw = {"ms": 14.26, "by_size": {"120x40": 9, "bytes": 12_345}, "curve": [1, 2]}
    harness.keep(tmp_path, "screen", "draw", draw, RUN)
    return draw


def test_readme_and_docs_say_what_was_measured() -> None:
    assert "<!--" not in (ROOT / "README.md").read_text("utf-8")
    marked = set()
    for page in (ROOT / "docs").rglob("*.md"):
        text = page.read_text("utf-8")
        assert "<!--" not in pages.TABLE.sub("", pages.MARK.sub("", text)), "a mark that nobody fills"
        if pages.MARK.search(text):
            marked.add(page)
    assert marked
    assert marked <= set((ROOT / "docs").glob("*.md"))
    assert [str(path) for path, _ in pages.stale()] == [], "write them by `python -m benchmarks --docs`"


def test_a_figure_is_written_before_its_mark(results) -> None:
    page = "| redraw | **3.1<!--screen.draw.ms:.1f-->** ms, <!--screen.draw.by_size.bytes:,--> bytes |"
    written = pages.filled(page)
    assert written.startswith("| redraw | **14.3<!--screen.draw.ms:.1f-->** ms, 12,345<!--")
    assert pages.filled(written) == written


@pytest.mark.parametrize(
    "key", ["screen.draw.seconds", "screen.keys.ms", "else.draw.ms", "screen.draw.curve"]
)
def test_a_mark_without_a_figure_is_an_error(results, key) -> None:
    with pytest.raises(KeyError):
        pages.filled(f"14<!--{key}:.1f-->")


def test_readme_is_filled_where_it_says_what_is_listed(results, monkeypatch) -> None:
    keys = ("screen.draw.ms:.1f", "screen.draw.by_size.bytes:,")
    monkeypatch.setattr(pages, "README", (("takes {} ms for {} bytes", *keys),))
    assert pages.filled_readme("It takes 2 ms\nfor 3 bytes.") == "It takes 14.3 ms\nfor 12,345 bytes."
    with pytest.raises(ValueError, match="takes"):
        pages.filled_readme("It takes long.")


def test_results_are_added_to_those_there_are(results, tmp_path) -> None:
    harness.keep(tmp_path, "screen", "keys", {"ms": 2}, RUN)
    assert harness.figures("screen") == {"draw": results, "keys": {"ms": 2}}
    assert harness.stored("screen")["keys"]["run"] == RUN


@pytest.mark.parametrize("name", names())
def test_every_experiment_can_be_chosen_whole_and_by_point(name) -> None:
    experiment = load(name)
    assert experiment.name == name
    assert [point for _, point in chosen([name])] == list(experiment.points)
    first = next(iter(experiment.points))
    assert [point for _, point in chosen([f"{name}.{first}"])] == [first]


def test_what_there_is_not_cannot_be_chosen() -> None:
    for asked in ("nothing", f"{names()[0]}.nothing"):
        with pytest.raises(KeyError):
            list(chosen([asked]))


def test_a_point_is_named_after_its_function() -> None:
    experiment = Experiment("trial", "a trial")

    @experiment.point("no_such_package")
    def weigh():
        return {"kg": 3}

    assert experiment.points["weigh"].missing() == ["no_such_package"]
    assert experiment.points["weigh"].measure() == {"kg": 3}
