"""Texts made for measuring, and the experiments that measure with them."""

import asyncio
import json
import re
import shutil
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from benchmarks import ready_texts
from benchmarks.experiments import ready_texts as run
from benchmarks.experiments import stages
from benchmarks.harness import Unavailable
from benchmarks.ready_texts import Sentences, sentences_of
from wikitopics.session.storage.reader import SessionReader

parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is an optional extra")

N_ARTICLES = 6
N_SENTENCES = 40


@pytest.fixture(scope="module")
def sentences() -> Sentences:
    """Those of some articles, each with the number of its article in it."""
    made = []
    for article in range(N_ARTICLES):
        parts = [
            f"The article {article} in sentence {number} tells of cold water in the valley "
            "of a river, and of towns by the sea with their many bridges."
            for number in range(N_SENTENCES)
        ]
        made.append({"title": f"Article {article}", "text": "\n".join(parts)})
    return sentences_of([*made, {"title": "A stub", "text": "It is too short to draw from."}])


def sources_of(text: str) -> list[tuple[str, str]]:
    """The article and the number of each sentence of a text."""
    return re.findall(r"The article (\d+) in sentence (\d+)", text)


def test_a_text_is_the_same_whatever_it_is_made_with(sentences) -> None:
    together, digests = ready_texts.drawn(sentences, 0, 60, seed=1)
    first, first_digests = ready_texts.drawn(sentences, 0, 25, seed=1)
    rest, rest_digests = ready_texts.drawn(sentences, 25, 35, seed=1)
    assert together.to_pylist() == first.to_pylist() + rest.to_pylist()
    assert digests.tolist() == [*first_digests.tolist(), *rest_digests.tolist()]
    others, _ = ready_texts.drawn(sentences, 0, 60, seed=2)
    assert not set(others["text"].to_pylist()) & set(together["text"].to_pylist())


def test_a_text_has_sentences_of_one_or_two_articles_each_once(sentences) -> None:
    made, _ = ready_texts.drawn(sentences, 0, 200, seed=0)
    assert sentences.titles == [f"Article {number}" for number in range(N_ARTICLES)]
    for row in made.to_pylist():
        sources = sources_of(row["text"])
        articles = {article for article, _ in sources}
        assert len(articles) in (1, 2)
        assert row["title"].rpartition(" ")[0] in {f"Article {article}" for article in articles}
        assert len(set(sources)) == len(sources)
        longest_sentence = 200
        size = len(row["text"])
        assert ready_texts.SHORTEST <= size < ready_texts.LONGEST + longest_sentence
        assert row["text"].endswith("bridges.")


def test_texts_are_written_in_files_and_row_groups_and_differ(sentences, tmp_path) -> None:
    *_, made = ready_texts.write(tmp_path, sentences, 250, files=2, rows=50)
    files = [parquet.ParquetFile(path) for path in sorted(tmp_path.iterdir())]
    assert [file.metadata.num_rows for file in files] == [125, 125]
    assert files[0].metadata.row_group(0).num_rows == 50
    rows = [row for file in files for row in file.read().to_pylist()]
    assert [row["id"] for row in rows] == list(range(1, 251))
    texts = [row["text"] for row in rows]
    assert len(set(texts)) == made.distinct == made.texts == 250
    assert made.text_bytes == sum(len(text.encode()) for text in texts)
    assert made.stored_bytes == sum(path.stat().st_size for path in tmp_path.iterdir())
    share, beginnings = ready_texts.check(tmp_path)
    assert 0.3 < share < 0.6
    assert len(beginnings) == 2


def test_what_is_no_english_is_found_out(tmp_path) -> None:
    import pyarrow

    table = pyarrow.table({"text": ["zxcv qwer asdf"] * 5})
    parquet.write_table(table, tmp_path / "a.parquet")
    with pytest.raises(ValueError, match="no English"):
        ready_texts.check(tmp_path)


def test_articles_that_are_all_too_short_are_refused() -> None:
    with pytest.raises(Unavailable, match="no article has 2,000 bytes"):
        sentences_of([{"title": "A stub", "text": "It is short. It has two sentences."}])


@pytest.mark.parametrize(
    ("free", "kept", "told"),
    [(10_000_000, "", "--texts 8,333"), (10**12, "others.parquet", "not empty")],
)
def test_texts_are_not_begun_where_there_is_no_room(
    tmp_path, monkeypatch, free, kept, told
) -> None:
    monkeypatch.setattr(ready_texts, "READY", tmp_path)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=free))
    monkeypatch.setattr("sys.argv", ["ready_texts", "--texts", "10000"])
    if kept:
        (tmp_path / kept).touch()
    with pytest.raises(SystemExit, match=told):
        ready_texts.main()
    assert [path.name for path in tmp_path.iterdir()] == ([kept] if kept else [])


def test_a_stage_does_not_count_for_the_one_around_it(monkeypatch) -> None:
    clock = iter(range(100))
    monkeypatch.setattr("time.thread_time", lambda: float(next(clock)))
    watch = stages.Stopwatch()
    inner = watch.watched("inner", lambda value: value + 1)
    with watch.stage("outer"):
        assert [inner(1), inner(2)] == [2, 3]
    # The clock is looked at once at each beginning and each end.
    assert watch.seconds == {"outer": 3.0, "inner": 2.0}
    assert watch.calls == {"outer": 1, "inner": 2}


def test_all_that_a_session_passes_is_a_stage(sentences, tmp_path, short_layouts, home) -> None:
    made, _ = ready_texts.drawn(sentences, 0, 600, seed=0)
    texts = tmp_path / "texts.jsonl"
    texts.write_text("\n".join(map(json.dumps, made.to_pylist())), encoding="utf-8")
    counting = stages.Stopwatch()
    blocks = stages.counted(texts, counting)
    assert sum(map(len, blocks)) == 600
    assert {"reading the file", "pages", "counting", "blocks back"} <= set(counting.seconds)
    learning = stages.Stopwatch()
    path = tmp_path / "texts.db"
    asyncio.run(stages.learnt(blocks, path, learning))
    with SessionReader(path) as reader:
        progress = reader.progress()
        assert progress.finished
        assert progress.articles + progress.held_out == 600
    passed = {
        "queue",
        "learning",
        "measuring",
        "places on the map",
        "articles to the session",
        "beginnings to the session",
        "all inferred at the end",
        "new proportions to the session",
    }
    assert passed <= set(learning.seconds)


def test_the_table_of_stages_has_their_shares() -> None:
    microseconds = {"counting": 75.0, "learning": 25.0}
    found = {"documents": 1_000, "kilobytes": 3.0, "microseconds": microseconds}
    points = {"ready": {**found, "calls": {"learning": 10}}, "dump": found}
    rows = stages.stages("ready", points).splitlines()
    assert "| counting | 75.0 | 40 | 75.0 % |  |  |" in rows
    assert "| learning | 25.0 | 120 | 25.0 % | 10 | 2.50 |" in rows
    assert "| all | 100.0 | 30 | 100.0 % |" in stages.stages("dump", points)


def test_the_rates_of_a_run_are_those_until_all_is_learnt() -> None:
    watched = run.Watched()
    watched.documents += [(10.0, 500), (20.0, 1_500), (30.0, 1_500)]
    assert watched.learnt_seconds == 20.0
    assert np.allclose(watched.rates, [50] * 5 + [100] * 5)


def test_a_run_without_texts_is_not_measured(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(run, "READY", tmp_path)
    with pytest.raises(Unavailable, match=r"python -m benchmarks\.ready_texts"):
        run.trained(tmp_path / "texts.db", ())
