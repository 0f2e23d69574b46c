"""The figures in README and docs are those that were measured."""

import re
from types import SimpleNamespace

import numpy as np
import pytest

from benchmarks import __main__ as command
from benchmarks import data, harness, pages
from benchmarks.experiments import peers
from benchmarks.harness import ROOT, Experiment, chosen, load, names
from wikitopics.model import Minibatch

DUMP = ROOT / "tests/session/storage/releases/wiki.xml.bz2"
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
    assert pages.SENTENCES
    marked = False
    for page in (ROOT / "docs").rglob("*.md"):
        text = page.read_text("utf-8")
        lines = pages.TABLE.sub("", text).splitlines()
        assert not [line for line in lines if "<!--" in line and not line.startswith("|")], (
            "in a sentence"
        )
        assert "<!--" not in pages.TABLE.sub("", pages.MARK.sub("", text)), (
            "a mark that nobody fills"
        )
        marked = marked or bool(pages.MARK.search(text))
    assert marked
    assert [str(path) for path, _ in pages.stale()] == [], (
        "write them by `python -m benchmarks --docs`"
    )


def test_a_figure_is_written_before_its_mark(results) -> None:
    page = (
        "| redraw | **3.1<!--screen.draw.ms:.1f-->** ms, <!--screen.draw.by_size.bytes:,--> bytes |"
    )
    written = pages.filled(page)
    assert written.startswith("| redraw | **14.3<!--screen.draw.ms:.1f-->** ms, 12,345<!--")
    assert pages.filled(written) == written


def test_a_figure_may_have_a_unit_and_be_in_a_list(results) -> None:
    page = "| <!--screen.draw.by_size.bytes/1e3:.1f--> kB | <!--screen.draw.curve.1/0.01:.0f--> % |"
    assert pages.MARK.sub("", pages.filled(page)) == "|  kB |  % |"
    assert pages.filled(page).startswith("| 12.3<!--")
    assert "| 200<!--" in pages.filled(page)


@pytest.mark.parametrize(
    "key",
    [
        "screen.draw.seconds",
        "screen.keys.ms",
        "else.draw.ms",
        "screen.draw.curve",
        "screen.draw.curve.2",
    ],
)
def test_a_mark_without_a_figure_is_an_error(results, key) -> None:
    with pytest.raises(KeyError):
        pages.filled(f"14<!--{key}:.1f-->")


def test_a_page_is_filled_where_it_says_what_is_listed(results, monkeypatch) -> None:
    keys = ("screen.draw.ms:.1f", "screen.draw.by_size.bytes:,")
    monkeypatch.setattr(pages, "SENTENCES", {"a.md": (("takes {} ms for {} bytes", *keys),)})
    assert (
        pages.filled("It takes 2 ms\nfor 3 bytes.", "a.md") == "It takes 14.3 ms\nfor 12,345 bytes."
    )
    keys = ("screen.draw.by_size.bytes - screen.draw.ms:,.1f", "screen.draw.ms / screen.draw.ms:g")
    monkeypatch.setattr(pages, "SENTENCES", {"a.md": (("{} more, {} times", *keys),)})
    assert pages.filled("1 more, 2 times", "a.md") == "12,330.7 more, 1 times"
    assert pages.filled("It takes long.", "b.md") == "It takes long."
    with pytest.raises(ValueError, match=r"a.md does not say: \{\} more"):
        pages.filled("It takes long.", "a.md")


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
    name = names()[0]
    for asked, told in (("nothing", "nothing"), (f"{name}.nothing", ", ".join(load(name).points))):
        with pytest.raises(KeyError, match=re.escape(told)):
            list(chosen([asked]))


def test_a_point_is_named_after_its_function() -> None:
    experiment = Experiment("trial", "a trial")

    @experiment.point("no_such_package")
    def weigh():
        return {"kg": 3}

    assert experiment.points["weigh"].missing() == ["no_such_package"]
    assert experiment.points["weigh"].measure() == {"kg": 3}


def test_a_program_goes_on_until_its_score_has_settled(monkeypatch) -> None:
    scores = iter([-8.0, -7.9, -7.899, -7.5])
    monkeypatch.setattr(peers, "common_score", lambda *_: next(scores))
    monkeypatch.setattr(peers, "at_end", lambda end, *_: {"passes": end.passes})
    sweeps = (peers.Moment(1.0, np.ones((1, 1)), passes=n) for n in (100, 200, 300, 400))
    program = peers.Program("Gibbs sampling", lambda *_: sweeps, again=True)
    assert peers.measured(program, "long", 0)["passes"] == 300


def test_models_know_before_each_pass_how_many_follow(monkeypatch) -> None:
    D = 128
    documents = Minibatch(np.arange(D + 1), np.zeros(D, np.int32), np.ones(D, np.int32))
    told = []

    class Told:
        default_batch_size = 64
        passes_left = None
        rereads_later = False

        def learn(self, batch):
            told.append((self.passes_left, self.rereads_later))

        def topics(self):
            return np.ones((1, 1))

    monkeypatch.setattr(peers, "PASSES", (1, 2))
    monkeypatch.setattr(peers, "compile_kernels", lambda _: None)
    monkeypatch.setattr(peers, "words", lambda _: 1)
    monkeypatch.setattr(peers, "train", lambda _: documents)
    moments = list(peers.ours_again(lambda *_, **__: Told(), "long", seed=0))
    assert [moment.passes for moment in moments] == [1, 2]
    one_pass = [(None, False), (None, False)]
    two_passes = [(None, True), (None, True), (1.0, False), (0.5, False)]
    assert told == one_pass + two_passes


def test_a_score_is_the_mean_of_the_seeds_beside_how_far_they_lie_apart() -> None:
    found = {"log_likelihood": -7.1, "seconds": 1.4}
    points = {
        "long_our_lda": found,
        "long_seeds": {"our_lda": {"log_likelihood": -7.2, "scores": [-7.1, -7.2, -7.3]}},
        "long_sklearn": {"log_likelihood": -7.4, "seconds": 4.4},
    }
    written = peers.overview(points)
    assert "-7.200 (0.200), 1 | 1.4 |" in written
    assert "-7.400, 1 | 4.4 |" in written


@pytest.fixture
def nothing_made(tmp_path, monkeypatch):
    """A machine without corpora."""
    monkeypatch.setattr(data, "FOLDER", tmp_path / "data")
    monkeypatch.setattr(data, "MADE", tmp_path / "data" / "corpora.npz")
    monkeypatch.setattr(data, "SHARED", tmp_path / "shared")
    for kept in (data.origin, data.split):
        monkeypatch.setattr(data, kept.__name__, kept.__wrapped__)
    monkeypatch.setattr(command, "origin", data.origin)
    return data.MADE


def test_without_corpora_there_are_the_articles_of_the_program(nothing_made) -> None:
    assert data.origin() == data.SAMPLE
    full = data.split("full")
    assert [full.train.D, full.tuning.D, full.report.D] == [16_000, 2_000, 2_000]
    assert (
        data.split("short").train.lengths().max()
        < data.LONG
        <= data.split("long").train.lengths().min()
    )
    data.SHARED.mkdir()
    assert data.origin() == data.PUBLISHED


def test_a_dump_gives_everybody_the_same_corpora(nothing_made, capfd) -> None:
    made = []
    for _ in range(2):
        data.make_from_dump([str(DUMP)], 100, "en", None)
        assert data.origin() == "100 articles of wiki.xml.bz2"
        made.append(nothing_made.read_bytes())
        nothing_made.unlink()
    assert made[0] == made[1]


@pytest.mark.parametrize(
    ("share", "articles", "code"), [(0.0, None, 2), (1.0, 5, "5 articles are too few to divide")]
)
def test_a_dump_without_corpora_leaves_those_there_are(
    nothing_made,
    tmp_path,
    capfd,
    share,
    articles,
    code,
):
    nothing_made.parent.mkdir()
    nothing_made.write_bytes(b"as before")
    dump = tmp_path / "dump.xml.bz2"
    dump.write_bytes(DUMP.read_bytes()[: int(share * DUMP.stat().st_size)])
    with pytest.raises(SystemExit) as ended:
        data.make_from_dump([str(dump)], articles, "en", None)
    assert ended.value.code == code
    assert nothing_made.read_bytes() == b"as before"
    assert "Traceback" not in capfd.readouterr().err


def test_points_have_one_thread_of_blas_whoever_measures_them(monkeypatch, tmp_path) -> None:
    environments = []

    def not_run(*_, env, **__):
        environments.append(env)
        return SimpleNamespace(returncode=command.UNAVAILABLE)

    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "2")
    monkeypatch.setattr(command, "provenance", lambda _: {})
    monkeypatch.setattr(command.subprocess, "run", not_run)
    trial = Experiment("trial", "a trial")
    trial.add("weigh", dict)
    assert command.measure(trial, "weigh", tmp_path) is None
    assert [env["OPENBLAS_NUM_THREADS"] for env in environments] == ["1"]


def test_where_nothing_can_be_measured_the_exit_code_says_so(
    nothing_made, monkeypatch, capsys
) -> None:
    lacking = Experiment("trial", "a trial")
    lacking.add("weigh", dict, "no_such_package")
    monkeypatch.setattr(command, "chosen", lambda _: [(lacking, "weigh")])
    assert command.main(["trial"]) == 1
    said = capsys.readouterr()
    assert said.out == f"word counts: {data.SAMPLE}\n"
    assert "trial.weigh: not measured, no_such_package is not installed" in said.err


def test_figures_of_other_articles_are_not_published(nothing_made, capsys) -> None:
    with pytest.raises(SystemExit) as ended:
        command.main(["paper_h10", "--publish"])
    assert ended.value.code == 2
    assert data.SAMPLE in capsys.readouterr().err


def test_the_list_says_what_each_experiment_needs(nothing_made, capsys) -> None:
    assert command.main(["--list"]) == 0
    head, _, *rows = capsys.readouterr().out.splitlines()
    assert data.SAMPLE in head
    assert [row.split(" | ")[0] for row in rows] == [f"| {name}" for name in names()]
    assert all(load(name).data in row for name, row in zip(names(), rows, strict=True))
