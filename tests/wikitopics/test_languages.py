"""Other languages: a vocabulary is built first, of words or, with `--tokens links`, of titles."""

import json
import re
from importlib.util import find_spec

import numpy as np
import pytest

import wikitopics
from tests.crawler.dump_server import served
from tests.crawler.dumps import english_links, head_of, multistream
from tests.session.memory import status
from tests.wikitopics.polyglot import SUBJECTS, TITLES, UNSPACED_SUBJECTS, Linked, polyglot
from wikitopics.session.storage.reader import SessionReader
from wikitopics.session.wording import in_line
from wikitopics.vocab import segmenters
from wikitopics.vocab.rules import Rule

SMALL = ["--topics", "3", "--batch-size", "64", "--seed", "1", "--alpha", "0.1"]
OF_250 = [*SMALL, "--vocab-articles", "250"]
LINKS = ["--tokens", "links"]


def check_topics_and_vocabulary(cli, home, subjects, rule):
    """Topics hold words of the subjects alone, of several; their words are found again by another
    session."""
    found = [
        {word["word"] for word in topic["words"]} for topic in cli.json("topics", "--top", "10")
    ]
    assert len(found) == 3
    assert set().union(*found) <= set().union(*subjects)
    of = [max(range(3), key=lambda s, t=topic: len(subjects[s] & t)) for topic in found]
    assert len(set(of)) > 1, "topics of different subjects"
    (kept,) = (home / "vocabularies").glob("*.txt")
    text = kept.read_text()
    assert text.splitlines()[0] == f"# rule {rule}"
    assert (
        cli("vocab", "show", kept.stem).out
        == text
        == cli("vocab", "show", "--session", "default").out
    )
    return kept


def words_of(language):
    """The words that its texts are made of, as its rule reads them, cut-off articles left out."""
    rule = Rule.of_language(language)
    subjects = (map(bytes.decode, rule.words(subject)) for subject in SUBJECTS[language])
    return [{word for word in words if len(word) > 1} for words in subjects]


@pytest.mark.parametrize("language", SUBJECTS)
def test_topics_are_made_of_whole_words(cli, counted_here, samples_are_shared, home, language):
    with polyglot(language, 400) as url:
        outcome = cli.ok("train", "--api-url", url, "--lang", language, *OF_250)
    assert "is built first, from the first 250 articles" in outcome.err
    check_topics_and_vocabulary(cli, home, words_of(language), Rule.of_language(language))


def test_a_vocabulary_that_is_kept_is_not_built_again(
    cli,
    counted_here,
    samples_are_shared,
    home,
    one_line,
):
    asked = []
    with polyglot("de", 300, asked) as url:
        train = ["train", "--api-url", url, "--lang", "de", "--vocab-articles", 200, *SMALL]
        assert cli(*train).code == 0
        texts = [
            query["grncontinue"] for query in asked if "grncontinue" in query and "rvprop" in query
        ]
        assert len(texts) == len(set(texts)) > 0, "nothing is fetched twice"
        assert "is built first" not in cli.ok(*train, "--session", "again").err
        (kept,) = (home / "vocabularies").glob("*.txt")
        assert cli(*train, "--session", "third", "--vocab", kept.stem).code == 0
        compared = cli("compare", "default", "again", "third")
        assert (compared.code, compared.err) == (0, "")
        # As it always was: a vocabulary that is named is taken.
        assert (
            cli(*train, "--session", "english", "--vocab", "english", "--held-out", "0").code == 0
        )
        one_line(cli(*train, "--session", "again", "--vocab", "english"), 2, "--vocab english")
    now = status(home / "default.db")
    assert (now.articles, now.held_out, now.pending, now.crawled) == (270, 30, 0, 300)


def test_too_small_a_wiki_is_told(cli, home, counted_here):
    with polyglot("fr", 2) as url:
        outcome = cli("train", "--api-url", url, "--lang", "fr")
    assert outcome.code == 2
    assert "too little text" in outcome.err.splitlines()[-1]
    assert not (home / "default.db").exists(), "another --lang would be refused"


@pytest.mark.interop
@pytest.mark.usefixtures("samples_are_shared")
@pytest.mark.parametrize("language", UNSPACED_SUBJECTS)
def test_topics_are_made_of_words_that_have_to_be_separated(cli, home, tmp_path, language):
    if len(segmenters.installed_versions(language)) < len(segmenters.PACKAGES[language]):
        pytest.skip(f"wikitopics[{language}] is not installed")
    with polyglot(language, 400) as url:
        cli.ok("train", "--api-url", url, "--lang", language, *OF_250)
    subjects = [set(subject.split()) for subject in UNSPACED_SUBJECTS[language]]
    check_topics_and_vocabulary(cli, home, subjects, Rule.of_language(language))
    text = tmp_path / "text"
    text.write_text(UNSPACED_SUBJECTS[language][0].replace(" ", ""))
    (inferred,) = cli.json("infer", text)
    assert inferred["known"] >= 4


def test_other_versions_are_told_on_resume(cli, counted_here, monkeypatch):
    monkeypatch.setattr(segmenters, "PACKAGES", {"ja": ("numpy",)})
    monkeypatch.setattr(segmenters, "_words_of", lambda language: re.compile(r"\w+").findall)
    with polyglot("ja", 400) as url:
        train = ["train", "--api-url", url, "--lang", "ja", *OF_250, "--articles"]
        cli.ok(*train, 100)
        assert "separated" not in cli.ok(*train, 120).err
        monkeypatch.setattr(segmenters, "installed_versions", lambda language: {"numpy": "0.1"})
        assert "but those of articles are now separated by numpy 0.1" in cli.ok(*train, 140).err


def test_own_texts_have_words_of_their_own_in_the_language_given(cli, home, tmp_path, one_line):
    random = np.random.default_rng(0)
    subjects = [subject.split() for subject in SUBJECTS["fr"]]
    for name, start in (("texts", 0), ("more", 300)):
        texts = (" ".join(random.choice(subjects[i % 3], 3)) for i in range(300))
        lines = (json.dumps({"id": str(start + i), "text": text}) for i, text in enumerate(texts))
        (tmp_path / f"{name}.jsonl").write_text("\n".join(lines))
    (home / "vocabularies").mkdir(parents=True)
    (home / "vocabularies" / "texts.txt").write_text("autre\nmots\n")
    train = ["train", "--texts", tmp_path / "texts.jsonl", *SMALL, "--passes", "2"]
    assert (
        "from 270 documents; it is not saved for other sessions"
        in cli.ok(*train, "--lang", "fr").err
    )
    words = cli.ok("vocab", "show", "--session", "default").out.splitlines()
    assert words[0] == "# rule 2 fr"
    assert "étoile" in words
    assert "l'étoile" not in words
    more = ["train", "--session", "default", "--texts", tmp_path / "more.jsonl"]
    for command in (train, more):
        one_line(cli(*command, "--lang", "de"), 2, "--lang de", "was made with fr")
        cli.ok(*command, "--lang", "FR")
    one_line(
        cli(*train[:3], "--session", "other", "--lang", "lo"), 2, "Lao is written without spaces"
    )


def titles_of(language):
    return [set(titles.split(";")) for titles in TITLES[language]]


@pytest.fixture
def of_titles(cli, counted_here, home):
    """A session `default` of an English wiki."""
    with polyglot("en", 400, kind=Linked) as url:
        cli.ok("train", "--api-url", url, "--lang", "en", *LINKS, *OF_250)
    return home / "default.db"


@pytest.mark.parametrize("language", ["zh", "ja", "th"])
def test_without_blanks_topics_are_of_links(
    cli,
    counted_here,
    samples_are_shared,
    home,
    one_line,
    language,
    monkeypatch,
):
    monkeypatch.setattr(segmenters, "PACKAGES", {language: ("no-such-package",)})
    with polyglot(language, 400, kind=Linked) as url:
        train = ["train", "--api-url", url, "--lang", language, *OF_250]
        one_line(cli(*train), 2, f"pip install 'wikitopics[{language}]'", "--tokens links")
        assert not (home / "default.db").exists()
        outcome = cli.ok(*train, *LINKS)
    assert "is built first, from the first 250 articles" in outcome.err
    assert " titles out of " in outcome.err
    kept = check_topics_and_vocabulary(cli, home, titles_of(language), "links")
    assert kept.name.endswith("-links.txt")
    assert kept.read_text().splitlines()[1:] == sorted(set().union(*titles_of(language)))


def test_pages_and_dumps_give_the_same_counts_as_the_api(
    cli,
    counted_here,
    samples_are_shared,
    home,
    tmp_path,
):
    file = tmp_path / "dump.xml.bz2"
    head = head_of("https://de.wikivoyage.org/wiki/Hauptseite")
    file.write_bytes(multistream(range(1, 401), every=20, text=english_links, head=head))
    with (
        polyglot("en", 400, kind=Linked) as url,
        served({"/d.xml.bz2": file.read_bytes()}) as server,
    ):
        for name, source in {
            "api": ["--api-url", url],
            "pages": ["--api-url", url, "--source", "html"],
            "file": ["--dump", file],
            "http": ["--dump", server.url + "/d.xml.bz2", "--lang", "de"],
        }.items():
            assert cli("train", *source, *LINKS, *OF_250, "--session", name).code == 0, name
    words = {
        name: cli("export", "words", "--session", name).out
        for name in ("api", "pages", "file", "http")
    }
    assert words["api"] == words["pages"]
    exported = {row.rsplit(",", 2)[0].strip('"') for row in words["api"].splitlines()[1:]}
    assert exported == set().union(*titles_of("en"))
    assert words["file"] == words["http"], "the same pages in the same order"
    kept = {path.stem for path in (home / "vocabularies").glob("*.txt")}
    assert "de-wikivoyage-org-links" in kept
    assert len(kept) == 2, "and that of the wiki asked"
    cli.ok("compare", "api", "pages")


def test_what_has_no_links_is_refused(cli, home, one_line, tmp_path):
    texts = tmp_path / "t.jsonl"
    words = tmp_path / "words.txt"
    texts.write_text('{"text": "one"}\n')
    words.write_text("one\ntwo\n")
    one_line(
        cli("train", *LINKS, "--texts", texts), 2, "--source texts has no links between articles"
    )
    one_line(cli("train", *LINKS, "--counts", texts), 2, "--source counts has no links")
    one_line(cli("train", *LINKS, "--source", "recent"), 2, "--source recent has no links")
    assert cli("demo", "--headless", *LINKS).code == 2
    one_line(cli("train", *LINKS, "--dump", "-"), 2, "needs a vocabulary of titles")
    one_line(
        cli("train", *LINKS, "--vocab", words, "--contact", "a@b.org"), 2, "vocabulary of words"
    )
    words.write_text("# rule links\nParis, Texas\nD-Day\n")
    one_line(cli("train", "--vocab", words, "--contact", "a@b.org"), 2, "add --tokens links")
    words.write_text("# rule links\nParis\n Rome\n")
    one_line(cli("train", *LINKS, "--vocab", words), 2, "line 3")
    one_line(cli("train", "--tokens", "letters"), 2, "--tokens")
    assert not (home / "default.db").exists()


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        (["river", "l'eau", "नदी"], "river l'eau नदी"),
        (["Sun", "Moon"], "Sun · Moon"),
        (["1990", "1945"], "1990 · 1945"),
        (["apple pie", "pie"], "apple pie · pie"),
        (["太陽", "月"], "太陽 月"),
        ([], ""),
    ],
)
def test_titles_are_told_from_words(words, shown):
    assert in_line(words) == shown


def test_titles_are_told_apart_wherever_they_are_shown(cli, of_titles, one_line, tmp_path):
    table = cli("topics").out
    assert "Battle of Britain · " in table or " · Battle of Britain" in table
    topic = cli.json("topics")[0]
    assert " · " in topic["name"]
    named = topic["name"].split(" · ")
    assert set(named) <= {word["word"] for word in topic["words"]}
    assert " · " in cli("history", topic["topic"]).out
    assert cli("topics", "rename", topic["topic"], "Mine").code == 0
    assert {row["word"] for row in cli.rows("topics")} <= set().union(*titles_of("en"))
    if find_spec("jinja2"):
        cli.ok("report", "-o", tmp_path / "report.html")
        assert " · " in (tmp_path / "report.html").read_text()
    one_line(
        cli("train", "--tokens", "words"), 2, "--tokens words: this session was made with links"
    )
    with SessionReader(of_titles) as reader:
        assert reader.settings().rule == "links"


def test_other_programs_get_underscores(cli, of_titles, tmp_path):
    gensim = pytest.importorskip("gensim")
    assert cli("export", "model", "--format", "gensim", "-o", tmp_path / "g").code == 0
    assert (
        "Battle_of_Britain"
        in gensim.models.LdaModel.load(str(tmp_path / "g" / "model")).id2word.token2id
    )
    assert cli("export", "model", "--format", "ldavis", "-o", tmp_path / "l.json").code == 0
    assert "Battle_of_Britain" in json.loads((tmp_path / "l.json").read_text())["tinfo"]["Term"]
    assert cli("export", "model", "--format", "npz", "-o", tmp_path / "m.npz").code == 0
    with np.load(tmp_path / "m.npz") as arrays:
        assert "Battle of Britain" in arrays["vocabulary"]
        assert arrays["word_rule"] == "links"


def test_wikitext_and_pages_are_inferred(cli, of_titles, one_line, tmp_path):
    text = "[[world War II#End|the war]] and [[D-Day]], [[Cold_War]], [[Nowhere]]"
    page = (
        '<p><a href="/wiki/World_War_II#End">war</a> <a '
        'href="https://en.wikipedia.org/wiki/D-Day">d</a> <a href="./Cold_War">c</a> <a '
        'href="/wiki/Nowhere">n</a></p>'
    )
    files = {"a.txt": text, "b.html": page, "c.txt": "World War II and the D-Day"}
    for name, content in files.items():
        (tmp_path / name).write_text(content)
    one, other, none = cli.json("infer", *(tmp_path / name for name in files))
    assert (one["words"], one["known"]) == (other["words"], other["known"]) == (4, 3)
    assert one["proportions"] == other["proportions"]
    assert none["words"] == 0
    shown = cli("infer", tmp_path / "a.txt").out
    assert "3 of 4 links known" in shown
    assert " · " in shown
    one_line(cli("infer", tmp_path / "c.txt"), 1, "no wikitext or HTML link to a title")
    assert cli("similar", tmp_path / "a.txt").code == 0
    session = wikitopics.open(of_titles)
    assert session.infer([text])[0].tolist() == pytest.approx(one["proportions"])
    assert " · " in repr(session.topics()[0])
    assert "Paris, Texas" in session.vocabulary().words
    assert cli("similar", session.articles()[0].title).code == 0
