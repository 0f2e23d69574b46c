"""Markup in people's own texts: what is taken for it, what is not, and when it is told."""

import pytest

from wikitopics.crawler.markup.texts import markup_of, noticing, prose
from wikitopics.crawler.source import Page

WIKITEXT = "'''Bach''' was a [[composer]] of the [[Baroque music|Baroque]].{{cn}}\n== Life ==\nHe played."
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
    page = Page(1, "", 0, "\ufeffco\u00adoperate wi\u200bde j\u2060oin \u2067left\u2069 ه\u200cم", "text")
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
        "2 of the first 10 texts contain HTML (<p>), whose markup is counted as words: --markup html keeps "
        "only the prose"
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
