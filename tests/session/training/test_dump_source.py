"""A dump all the way: from the file to committed articles, and to a vocabulary."""

import bz2

import pytest

from tests.crawler.dump_server import served
from tests.crawler.dumps import english_links, german, head_of, multistream
from tests.session.training.own_texts import WORDS
from tests.wikitopics.polyglot import SUBJECTS
from wikitopics.crawler.dumps.kinds import DUMP, Dump
from wikitopics.crawler.file_source import page_hash
from wikitopics.crawler.source import Asked
from wikitopics.session.training.vocabulary_texts import file_documents


def dump(articles, streams=1):
    """A small dump, cut into so many streams wherever it falls."""
    pages = "".join(
        f"<page><title>T{i}</title><ns>0</ns><id>{i}</id><revision><id>{i}</id>"
        f"<text>{WORDS[i % 9]} [[{WORDS[i * 7 % 9]}|{WORDS[i * 5 % 9]}]] "
        "it</text></revision></page>"
        for i in range(1, articles + 1)
    )
    whole = f"<mediawiki>{pages}</mediawiki>".encode()
    each = -(-len(whole) // streams)
    return b"".join(bz2.compress(whole[i : i + each]) for i in range(0, len(whole), each))


@pytest.mark.parametrize("streams", [1, 90])
def test_every_article_once_also_when_the_run_is_resumed(cli, one_worker, tmp_path, streams):
    (tmp_path / "wiki.xml.bz2").write_bytes(dump(400, streams))
    options = (
        "--source",
        "dump",
        "--dump",
        tmp_path / "wiki.xml.bz2",
        "--topics",
        3,
        "--batch-size",
        16,
    )
    assert cli("train", *options, "--articles", 100).code == 0
    assert cli("train", "--articles", 1000).code == 0
    status = cli.json("status")
    assert (status["articles"], status["held_out"], status["crawled"]) == (360, 40, 400)
    rows = cli.rows("articles", "--all")
    assert sorted(row["page_id"] for row in rows) == list(range(1, 401))
    held_out = {row["page_id"] for row in rows if row["role"] == "held_out"}
    if streams == 1:  # nowhere to begin but at the start
        assert held_out == set(sorted(range(1, 401), key=page_hash)[:40])
    else:
        assert len({number // 20 for number in held_out}) >= 18


@pytest.mark.parametrize("together", [5, 400])
def test_another_languages_vocabulary_comes_from_the_first_articles(
    cli,
    counted_here,
    tmp_path,
    together,
):
    (tmp_path / "wiki.xml.bz2").write_bytes(multistream(range(1, 401), every=together, text=german))
    options = (
        "--dump",
        tmp_path / "wiki.xml.bz2",
        "--lang",
        "de",
        "--topics",
        3,
        "--batch-size",
        64,
    )
    outcome = cli.ok("train", *options, "--vocab-articles", 200)
    assert "is built first, from the first 200 articles" in outcome.err
    words = {word.lower() for subject in SUBJECTS["de"] for word in subject.split()}
    found = cli("vocab", "show", "--session", "default").out.splitlines()[1:]
    assert len(found) > 20
    assert words.issuperset(found)
    status = cli.json("status")
    assert (status["crawled"], status["pending"]) == (400, 0)
    assert status["articles"] > 300


def test_a_dump_in_another_language_is_told_and_no_wrong_words_are_kept(
    cli,
    counted_here,
    tmp_path,
    home,
):
    (tmp_path / "wiki.xml.bz2").write_bytes(multistream(range(1, 401), text=german))
    options = ("--dump", tmp_path / "wiki.xml.bz2", "--topics", 3, "--articles", 64)
    told = "is in 'de', but the session counts the words of the vocabulary"
    outcome = cli("train", *options, "--source", "dump")
    assert f"{told} 'english': start a new --session with --lang de" in outcome.err
    outcome = cli.ok(
        "train",
        *options,
        "--lang",
        "fr",
        "--vocab-articles",
        200,
        "--session",
        "french",
    )
    assert f"{told} 'dump'" in outcome.err
    assert "it is not saved for other sessions" in outcome.err
    assert not list((home / "vocabularies").glob("*"))


MAIN_PAGES = {
    "de": "https://de.wikipedia.org/wiki/Wikipedia:Hauptseite",
    "de-wiktionary-org": "https://de.wiktionary.org/wiki/Wiktionary:Hauptseite",
    "alt-example-org-8080-eins": "http://alt.example.org:8080/eins/wiki/Haupt",
    "": "not an address",
}
"""The main page of a wiki, by the name under which its vocabulary is kept."""
ANOTHERS = {
    "de": "# rule 2",
    "dump": "# rule 2",
    "de-links": "# rule links",
    "dump-links": "# rule links",
}


@pytest.mark.parametrize(
    ("wiki", "tokens", "by_address"),
    [
        *((wiki, "words", False) for wiki in MAIN_PAGES),
        *(("", "links", by_address) for by_address in (False, True)),
        *(("de", "links", by_address) for by_address in (False, True)),
    ],
)
def test_a_vocabulary_is_kept_under_the_name_of_its_wiki(
    cli,
    counted_here,
    samples_are_shared,
    tmp_path,
    home,
    wiki,
    tokens,
    by_address,
):
    """A session over a dump of another wiki does not find it, even if the file has the same
    name."""
    kept = f"{wiki}-links" if wiki and tokens == "links" else wiki
    folder = home / "vocabularies"
    folder.mkdir(parents=True)
    for name, rule in ANOTHERS.items():
        if name != kept:
            (folder / f"{name}.txt").write_text(f"{rule}\nandere\nworte\n")
    before = set(folder.glob("*"))
    text = german if tokens == "words" else english_links
    data = multistream(range(1, 401), text=text, head=head_of(MAIN_PAGES[wiki]))
    (tmp_path / "dump.xml.bz2").write_bytes(data)
    with served({"/dump.xml.bz2": data}) as server:
        dump = f"{server.url}/dump.xml.bz2" if by_address else tmp_path / "dump.xml.bz2"
        options = (
            "--dump",
            dump,
            "--lang",
            "de",
            "--tokens",
            tokens,
            "--topics",
            3,
            "--vocab-articles",
            200,
        )
        outcome = cli.ok("train", *options, "--yes")
        assert "is built first, from the first 200 articles" in outcome.err
        new = {path.stem for path in set(folder.glob("*")) - before}
        assert new == ({kept} if kept else set())
        assert ("it is saved for other sessions" in outcome.err) == bool(kept)
        again = cli.ok("train", *options, "--session", "again", "--yes")
        assert ("is built first" in again.err) == (by_address or not kept)


def test_a_vocabulary_of_a_sample_is_kept_by_its_session_alone(cli, counted_here, tmp_path, home):
    head = head_of(MAIN_PAGES["de"])
    (tmp_path / "wiki.xml.bz2").write_bytes(multistream(range(1, 401), text=german, head=head))
    options = (
        "--dump",
        tmp_path / "wiki.xml.bz2",
        "--lang",
        "de",
        "--topics",
        3,
        "--batch-size",
        64,
    )
    outcome = cli.ok("train", *options, "--vocab-articles", 200)
    told = (
        "it is not saved for other sessions, for which it would have to come from at least 2,000 "
        "articles"
    )
    assert told in outcome.err
    assert not list((home / "vocabularies").glob("*"))
    assert len(cli("vocab", "show", "--session", "default").out.splitlines()) > 20


def test_page_ids_are_those_of_the_wiki_that_was_dumped():
    german = {"dump": ["x.xml"], "api_url": "https://de.wikipedia.org/w/api.php"}
    assert Dump().wiki(german) == german["api_url"]
    assert Dump().wiki({**german, "base": MAIN_PAGES["de"]}) == german["api_url"]
    assert Dump().wiki({**german, "base": MAIN_PAGES["de-wiktionary-org"]}) == ""


@pytest.mark.parametrize(
    ("address", "name"),
    [
        ("https://dumps.wikimedia.org/dewiki/latest/dewiki-latest-pages-articles.xml.bz2", "de"),
        ("https://mirror.org/dumps/simplewiki/20260101/x.xml.bz2", "simple"),
        ("https://mirror.org/zh_yuewiki-20260101-pages-articles.xml.bz2", "yue"),
        ("https://dumps.wikimedia.org/dewiktionary/latest/", "de-wiktionary-org"),
        ("https://host.org/mywikipages.xml", ""),
        ("https://host.org/dump.xml.bz2", ""),
    ],
)
def test_an_address_of_one_of_wikimedias_dumps_tells_the_wiki(address, name):
    assert Dump().vocabulary_name(Asked({DUMP.name: (address,), "lang": "de"})) == name


def test_the_newest_dump_is_of_the_wikipedia_asked_for():
    for given in ({}, {DUMP.name: ("https://mirror.org/dumps/",)}):
        assert Dump().vocabulary_name(Asked({**given, "lang": "de"})) == "de"


def test_what_comes_once_builds_no_vocabulary(cli, one_line):
    one_line(
        cli("train", "--dump", "-", "--lang", "de"),
        2,
        "needs a vocabulary of de",
        "--vocab FILE",
    )


def test_damage_is_told_and_counts_no_article_that_nobody_saw(cli, counted_here, tmp_path):
    data = bytearray(dump(400, 90))
    middle = len(data) // 2
    data[middle : middle + 20] = bytes(20)
    (tmp_path / "wiki.xml.bz2").write_bytes(data)
    options = (
        "--source",
        "dump",
        "--dump",
        tmp_path / "wiki.xml.bz2",
        "--topics",
        3,
        "--batch-size",
        16,
    )
    told = cli.ok("train", *options).err
    assert "damaged; " in told
    assert "lost" in told
    status = cli.json("status")
    assert 390 < status["crawled"] < 400
    assert status["skipped"] <= 2
    assert status["articles"] == status["crawled"] - status["held_out"] - status["skipped"]


def test_a_dump_gives_documents_for_a_vocabulary(tmp_path):
    path = tmp_path / "wiki.xml.bz2"
    path.write_bytes(dump(3))
    found = ["mountain theorem it", "church mountain it", "football village it"]
    documents, n_rows = file_documents([str(path)], print)
    assert (list(documents), n_rows) == (found, 0)


def test_a_page_that_cannot_be_read_is_told_and_left_out(tmp_path, monkeypatch):
    path = tmp_path / "wiki.xml.bz2"
    path.write_bytes(dump(3))

    def choosy(page, info):
        if page.page_id == 2:
            raise ValueError("&#" + "9" * 5000)
        return page.title

    monkeypatch.setattr("wikitopics.session.training.vocabulary_texts.prose", choosy)
    told = []
    documents, _ = file_documents([str(path)], told.append)
    assert len([text for text in documents if text]) == 2
    (line,) = told
    assert line.startswith("page 2 (")
    assert "is skipped: ValueError(" in line
    assert len(line) < 400
