"""What texts are told by their markup: disambiguation pages; wikitext and HTML among people's own
texts."""

import pytest

from wikitopics.crawler.markup.disambiguation import is_disambiguation
from wikitopics.crawler.markup.texts import prose
from wikitopics.crawler.markup.undeclared import markup_of, noticing
from wikitopics.crawler.page import Page


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "'''Five''' may mean:\n* this\n{{Disambiguation|geo}}"),
        ("en", "* this\n\n {{Mathematical disambiguation}}[[Category:X]]"),
        ("en", "* this\n{{TOC right}} {{hndis|Smith, John}}"),
        ("en", "{{dab}}"),
        ("en", "<!-- which of them? -->{{disambiguation\n|geo}}"),
        ("en-GB", "{{Disambig}}"),
        ("de", "{{Begriffsklärung}}"),
        ("fr", "{{Homonymie}}"),
        ("nl", "{{dp}}"),
        ("nl", "{{Doorverwijspagina}}"),
        ("ja", "{{人名の曖昧さ回避}}"),
        ("zh", "{{消歧义页}}"),
        ("", "{{ disambig }}"),
    ],
)
def test_disambiguation_pages_are_recognized_in_their_language(language, text):
    assert is_disambiguation(text, language)


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "In the asteroid belt {{dp|Ceres}} is the largest body."),
        ("en", "{{dp|Ceres}} is the largest body."),
        ("", "{{dp|Ceres}}"),
        ("de", "{{dab}}"),
        ("en", "A bank.{{disambigneeded|date=May 2011}}"),
        ("en", "{{disambigneeded|date=May 2011}}"),
        ("en", "{{disambiguation needed|date=May}} stays"),
        ("en", "Such pages hold {{disambiguation}} at their end."),
        ("nl", "Zie {{dp|geo}} in de tekst."),
        ("en", "A\n<!--\n{{disambig}}\n-->\nB"),
        ("en", "<nowiki>\n{{disambig}}\n</nowiki>"),
        ("fr", "{{Voir homonymie|Paris}}"),
        ("de", "{{Begriffsklärungshinweis}}"),
        ("en", "{{" * 50 + "disambig"),
    ],
)
def test_a_template_in_a_sentence_or_of_another_language_marks_no_page(language, text):
    assert not is_disambiguation(text, language)


@pytest.mark.parametrize(
    "bomb", ["{{", "{{a}}", "{{ ", "\n{{", "{{disambig", "{{a disambiguation ", "\t", "{{\n"]
)
def test_half_a_megabyte_of_one_mark_is_read_in_linear_time(bomb):
    # A quadratic pass would take minutes and meet the test run's own limit.
    assert not is_disambiguation(bomb * (500_000 // len(bomb)) + "end", "en")


WIKITEXT = (
    "'''Bach''' was a [[composer]] of the [[Baroque music|Baroque]].{{cn}}\n== Life ==\nHe played."
)
PAGE = '<html><body><p class="x">Bach was a <a href="/c">composer</a>.</p></body></html>'


@pytest.mark.parametrize(
    ("text", "markup"),
    [
        (WIKITEXT, "wikitext"),
        ("{{Infobox}} See [[File:x.jpg|thumb]].<ref name=a>b</ref>", "wikitext"),
        (PAGE, "html"),
        ("A film.<br /><br />It is long.", "html"),
        ("<P>Old pages<P>shout", "html"),
        ("If a < b and c > d, then [1] and [2, p. 3].", "text"),
        ("I <3 this, <b and <a> @ <mail@host.org> in List<String> and Map<K, V>", "text"),
        ("one <br> alone", "text"),
        ("array([[1, 2], [x, y]]) and [[ -f file ]] or {{ jinja }}", "text"),
        ("[[note one]] links to [[note two]], as notebooks do", "text"),
        ("Title\n=====\n\nUsage\n-----\n'''", "text"),
        ("a == b == c, d != e", "text"),
        ("", "text"),
    ],
)
def test_markup_is_taken_for_markup_and_prose_for_prose(text, markup):
    assert markup_of(text)[0] == markup


def test_prose_is_what_our_own_extraction_keeps_and_what_nobody_sees_parts_no_word():
    page = Page(
        1,
        "",
        0,
        "\ufeffco\u00adoperate wi\u200bde j\u2060oin \u2067left\u2069 ه\u200cم",
        "text",
    )
    assert prose(page) == "cooperate wide join left ه\u200cم"
    assert prose_of(WIKITEXT, "wikitext") == "Bach was a composer of the Baroque.\nLife\nHe played."
    assert prose_of(PAGE, "html") == "Bach was a composer."
    assert prose_of(PAGE, "text") == PAGE


def told_of(*texts):
    told = []
    assert list(noticing(texts, str, told.append)) == list(texts)
    return told


def test_it_is_told_once_if_a_share_of_the_first_texts_has_some():
    assert told_of(*["plain"] * 9, PAGE) == []
    assert told_of(*["plain"] * 8, PAGE, PAGE) == [
        "2 of the first 10 texts contain HTML (<p>), whose markup is counted as words: --markup "
        "html keeps only the prose"
    ]
    (line,) = told_of(*[WIKITEXT] * 300, PAGE)
    assert line.startswith("200 of the first 200 texts contain wikitext ([[links]])")
    assert told_of(*["plain"] * 200, *[PAGE] * 300) == []
    assert told_of() == []
    assert told_of("", "plain") == []


@pytest.mark.parametrize(
    "hostile", ["<a " * 50_000, "[[" * 50_000, "'''" * 50_000, "{{a" * 50_000, "== a\n" * 50_000]
)
def test_hostile_texts_are_looked_at_in_a_moment(hostile):
    assert markup_of(hostile)


def prose_of(text, markup):
    return prose(Page(1, "", 0, text, markup)).strip()
