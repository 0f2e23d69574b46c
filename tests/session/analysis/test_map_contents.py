"""The map of a session's articles, exported as a table and as a page."""

import json

import numpy as np
import pytest

from tests.map_pages import head_and_rest
from tests.session.rows import sql
from wikitopics.session.analysis.article_map import article_map
from wikitopics.session.analysis.cartography import COLOURS
from wikitopics.session.analysis.map_contents import map_batches, map_contents, nothing
from wikitopics.session.analysis.report import map_page
from wikitopics.session.given_names import hide_topics
from wikitopics.session.storage import articles
from wikitopics.session.storage.reader import SessionReader


def read(path):
    with SessionReader(path) as reader:
        return map_contents(reader, "lda", np.arange)


def test_the_table_has_every_article_with_its_place_topic_and_area(trained, cli):
    rows = cli.rows("map")
    with SessionReader(trained) as reader:
        places = article_map(reader, "lda")
        articles = reader.numbered(places.seqs.tolist())
    assert [row["page_id"] for row in rows] == [
        articles[seq].page_id for seq in places.seqs.tolist()
    ]
    assert [row["title"] for row in rows] == [articles[seq].title for seq in places.seqs.tolist()]
    for axis, name in enumerate("xy"):
        coordinates = np.array([row[name] for row in rows])
        np.testing.assert_allclose(coordinates, places.places[:, axis] / 65_535, atol=1e-5)
    assert [row["topic"] for row in rows] == places.topics.tolist()
    topics = json.loads(cli("topics", "--json", "--all").out)
    area_of = {topic["topic"]: topic["area"] for topic in topics}
    assert [row["area"] for row in rows] == [area_of[row["topic"]] for row in rows]


def test_the_page_has_the_names_and_colours_of_topics_and_areas(trained, cli, tmp_path):
    assert cli("export", "map", "-o", tmp_path / "map.html").code == 0
    head, _ = head_and_rest((tmp_path / "map.html").read_text())
    topics = json.loads(cli("topics", "--json").out)
    by_number = sorted((topic for topic in topics if topic["in_use"]), key=lambda t: t["topic"])
    assert [topic["name"] for topic in head["topics"]] == [topic["name"] for topic in by_number]
    for topic, told in zip(by_number, head["topics"], strict=True):
        assert told["colour"] == COLOURS[topic["area"]]
        area = head["areas"][told["area"]]["name"] if told["area"] >= 0 else "other"
        assert area == topic["area_name"]
    again = cli("export", "map", "--format", "html")
    assert again.out == (tmp_path / "map.html").read_text()


def test_hidden_topics_have_no_name_on_the_page(trained):
    before, _ = head_and_rest(read(trained).page())
    hide_topics(trained, "lda", [0], hidden=True)
    after, _ = head_and_rest(read(trained).page())
    names = [topic["name"] for topic in before["topics"]]
    assert [topic["name"] for topic in after["topics"]] == names[1:]
    assert after["n"] == before["n"]


def test_the_second_topic_is_the_next_largest(trained):
    of_model = read(trained)
    with SessionReader(trained) as reader:
        seqs = of_model.map.seqs.tolist()
        leading = reader.leading_topics("lda", seqs, 2)
    for place, seq in enumerate(seqs):
        (first, _), *others = leading[seq]
        assert of_model.map.topics[place] == first
        expected = others[0][0] if others and others[0][1] >= 0.1 else -1
        assert of_model.map.second[place] == expected


def test_names_of_areas_are_on_the_map(trained):
    for area in read(trained).named_areas:
        for x, y in (area.place, *area.others):
            assert 0 <= x <= 1
            assert 0 <= y <= 1


def test_hostile_titles_are_titles(trained):
    bad = "</script><img src=x onerror=alert(1)>\x1b[31m\u202e"
    sql(trained, "UPDATE articles SET title = ?", bad)
    page = read(trained).page()
    assert "<img" not in page
    assert "\x1b" not in page


@pytest.mark.parametrize("arguments", [(), ("--format", "html")])
def test_a_session_without_a_map_says_so_in_one_line(arguments, corpus, cli):
    options = [*corpus.options(), "--topics", 3, "--held-out", 10, "--articles", 64]
    assert cli("train", *options, "--keep-articles", "none").code == 0
    told = cli("export", "map", *arguments)
    assert told.code == 1
    assert told.out == ""
    assert told.err.count("\n") == 1
    assert "--keep-articles all" in told.err


def test_other_tables_are_no_pages(trained, cli):
    told = cli("export", "topics", "-o", "topics.html")
    assert told.code == 2
    assert "topics cannot be exported as html" in told.err


def test_a_session_of_an_earlier_version_says_that_it_has_none(released, cli):
    told = cli("export", "map")
    assert told.code == 1
    assert told.err.count("\n") == 1
    assert "Traceback" not in told.err


def test_each_model_has_its_map(corpus, cli, tmp_path):
    models = ["--model", "lda:topics=4", "--model", "scvb0:topics=6,name=other"]
    few = ["--held-out", 40, "--articles", 300]
    assert cli("train", *corpus.options(), *models, *few).code == 0
    assert cli.rows("map") == cli.rows("map", "--model", "lda")
    largest = max(row["topic"] for row in cli.rows("map", "--model", "other"))
    assert largest > 3
    for model in ("lda", "other"):
        assert cli("export", "map", "--model", model, "-o", tmp_path / "map.html").code == 0
        assert f"<title>default: {model}</title>" in (tmp_path / "map.html").read_text()


def articles_read(reader, monkeypatch):
    """The numbers of articles whose titles are read from now on."""
    read = []
    real = reader._columns

    def columns(*arguments):
        found = real(*arguments)
        if found:
            read.extend(found[0])
        return found

    monkeypatch.setattr(reader, "_columns", columns)
    return read


def test_titles_are_read_only_of_the_articles_that_are_drawn(trained, monkeypatch):
    monkeypatch.setattr(map_page, "MOST_DOTS", 100)
    with SessionReader(trained) as reader:
        whole = map_contents(reader, "lda", np.arange)
        read = articles_read(reader, monkeypatch)
        told = []
        drawn = map_contents(
            reader, "lda", map_page.rows_drawn, advance=lambda *far: told.append(far)
        )
    n = len(whole)
    assert n > 200
    assert len(drawn) == n
    assert read == whole.map.seqs[drawn.rows].tolist()
    assert len(read) <= 100
    assert drawn.page() == whole.page()
    assert told[-1] == ("titles read", len(read), len(read))
    assert ("places read", n, n) in told


def test_a_picture_needs_no_titles(trained, monkeypatch):
    with SessionReader(trained) as reader:
        whole = map_contents(reader, "lda", np.arange)
        read = articles_read(reader, monkeypatch)
        without = map_contents(reader, "lda", nothing)
    assert not read
    assert without.growth() == whole.growth()
    assert not len(without.titles)


def test_the_table_is_made_in_parts(trained, monkeypatch):
    with SessionReader(trained) as reader:
        whole = map_contents(reader, "lda", np.arange).columns()
        monkeypatch.setattr(articles, "_AT_ONCE", 50)
        parts = list(map_batches(reader, "lda", with_ids=False, snippets=False))
    assert max(len(part[0]) for part in parts) == 50
    for place, column in enumerate(whole):
        assert [value for part in parts for value in part[place]] == column
