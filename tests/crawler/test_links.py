"""The links of an article: which count, and which titles their targets name."""

import re
from collections import Counter
from itertools import count

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from yarl import URL

from tests.crawler.markup import DEEP_HTML, FLAT_HTML, HTML, WIKITEXT, WIKITEXT_BOMBS
from tests.real_text import needs_corpus
from wikitopics.crawler.dumps.xml import DumpReader
from wikitopics.crawler.markup.html import html_links
from wikitopics.crawler.markup.texts import page_links
from wikitopics.crawler.markup.titles import titles
from wikitopics.crawler.markup.wikitext import extract_wikitext, wikitext_links
from wikitopics.crawler.mediawiki.siteinfo import read_siteinfo
from wikitopics.crawler.page import Page, SourceInfo

NAMESPACES = ("Datei", "Kategorie", "Benutzer", "Wikipedia Diskussion", "BD")
WIKI = SourceInfo("w", None, ("Datei",), ("Kategorie",), namespaces=NAMESPACES)


def of_wikitext(text, info=WIKI, title="Here"):
    return page_links(Page(1, title, 1, text, "wikitext"), info)


def of_html(text, info=WIKI):
    return page_links(Page(1, "Here", 1, f"<p>{text}</p>", "html"), info)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("[[Paris]], [[Paris|the city]] and [[paris]]", ["Paris"] * 3),
        ("[[Mercury (planet)|]] [[Mercury (planet)|planet]]", ["Mercury (planet)"] * 2),
        ("[[Paris#History|its past]] [[#Life]] [[Here]] [[here#Life]] [[Here]]s", ["Paris"]),
        (
            "[[ New__York _City ]] [[New\u00a0York]] [[:Rome]]",
            ["New York City", "New York", "Rome"],
        ),
        ("[[iPod]] [[éclair]] [[ßx]] [[ǆ]] [[北京]]", ["IPod", "Éclair", "ßx", "Ǆ", "北京"]),
        ("[[AT%26T]] [[AT&amp;T]] [[AT&T]] [[Q&A]]", ["AT&T", "AT&T", "AT&T", "Q&A"]),
        ("[[Caf%C3%A9]] [[Cafe&#769;]] [[100%]] [[%zz]]", ["Café", "Café", "100%", "%zz"]),
        ("[[%C3]] [[a%5Bb]] [[a>b]] [[a{b]] [[a\nb|c]] [[]] [[|a]] [[#]] [[ _ ]]", []),
        ("[[.]] [[..]] [[./a]] [[a/../b]] [[a/.]] [[a~~~b]] [[''a'']] [[:]] [[a&nbsp;b]]", ["A b"]),
        ("[[Foo/Bar]] [[/Bar]] [[...And Justice]]", ["Foo/Bar", "/Bar", "...And Justice"]),
        ("[[de:Haus]] [[:fr:Maison|x]] [[wikt:word|word]] [[Commons: A]] [[zh-min-nan:A]]", []),
        (
            "[[Alien: Covenant]] [[Star Trek: First Contact|film]] [[2001: A Space Odyssey]]",
            ["Alien: Covenant", "Star Trek: First Contact", "2001: A Space Odyssey"],
        ),
        (
            "[[File:A.jpg|thumb|a [[Caption]]]] [[Datei:A.jpg]] [[:Datei:A.jpg|a]] [[Category:A]]",
            [],
        ),
        (
            "[[Kategorie:A]] [[benutzer:A]] [[wikipedia_diskussion:A|b]] [[BD:A]] [[Talk:A]] [[ "
            "User :A]]",
            [],
        ),
        (
            "<nowiki>[[A]]</nowiki> <!-- [[B]] --> <ref>[[C]]</ref> <math>[[D]]</math> "
            "<pre>[[E]]</pre>",
            [],
        ),
        ("{{Infobox|a=[[A]]}} {{nowrap|[[B]]}} {{lang|fr|''[[C|c]]''}} {{main|D}}", ["B", "C"]),
        ("{|\n| [[A]]\n|}\n* [[B]]\n== [[C]] ==\n[[D]]", ["B", "C", "D"]),
        ("a\n== See also ==\n* [[B]]\n== Notes ==\n[[C]], p. 3.\n== [[D]] ==\n{|\n|}", []),
        (
            "a\n== References ==\nThe word [[of]] a friend is all that there is to say about it "
            "here.",
            ["Of"],
        ),
        ("[[A]] \x03" + "0\x03 &#3;0&#3; [[B]]", ["A", "B"]),
        ("#REDIRECT [[A]]", []),
        ("[[" + "a" * 256 + "]] [[" + "é" * 128 + "]]", []),
        ("[[\u200eParis\u202c]] [[[A]]] [[B]", ["Paris", "A"]),
    ],
)
def test_the_titles_behind_wikitext(text, found):
    assert of_wikitext(text) == found


def test_what_the_wiki_says_decides_of_titles_and_paths():
    kept = SourceInfo("w", None, keeps_case=True)
    assert of_wikitext("[[apple]] [[Apple]]", kept) == ["apple", "Apple"]
    turkish = SourceInfo("w", None, language="tr")
    assert of_wikitext("[[istanbul]] [[ısı]]", turkish) == ["İstanbul", "Isı"]
    georgian = SourceInfo("w", None, language="ka")
    assert of_wikitext("[[თბილისი]]", georgian) == ["თბილისი"]
    info = SourceInfo("w", None, article_path="/a/$1/b")
    assert of_html('<a href="/a/X_y/b">x</a> <a href="/wiki/Z">z</a>', info) == ["X y"]
    info = SourceInfo("w", None, article_path="/index.php?title=$1")
    assert of_html('<a href="/index.php?title=X_y">x</a>', info) == ["X y"]


@pytest.mark.parametrize(
    ("page", "found"),
    [
        ('<a href="/wiki/New_York_City" title="x">x</a>', ["New York City"]),
        ('<a href="/wiki/AT%26T">x</a> <a href="/wiki/Caf%C3%A9#Food">x</a>', ["AT&T", "Café"]),
        (
            '<a href="/wiki/Here">x</a> <a href="#Life">x</a> <a class="mw-selflink '
            'selflink">x</a>',
            [],
        ),
        (
            '<a href="https://de.wikipedia.org/wiki/A">x</a> <a href="//h/wiki/B?x=1">x</a>',
            ["A", "B"],
        ),
        ('<a href="./A_b#c">x</a> <a href="../A">x</a> <a href="B">x</a> <a>x</a>', ["A b"]),
        (
            '<a href="https://h/wiki/A" class="external text">x</a> <a class="extiw" '
            'href="/wiki/B">x</a>',
            [],
        ),
        ('<a href="/w/index.php?title=A&action=edit&redlink=1" class="new">x</a>', []),
        (
            '<a href="/wiki/Datei:A.jpg" class="image"><img></a> <a href="/wiki/Benutzer:A">x</a>',
            [],
        ),
        (
            '<sup class="reference"><a href="/wiki/A">1</a></sup> <i><a href="/wiki/B">b</a></i>',
            ["B"],
        ),
        (
            '<table class="infobox"><tr><td><a href="/wiki/A">a</a></table><p><a '
            'href="/wiki/B">b</a>',
            ["B"],
        ),
        (
            '<table><tr><td><a href="/wiki/A">a</a><ul><li><a href="/wiki/B">b</a></ul></table>',
            ["B"],
        ),
        ('&#3;0&#3; \x031\x03 <a href="/wiki/A">a</a>', ["A"]),
        ("no link", []),
    ],
)
def test_the_titles_behind_a_page(page, found):
    assert of_html(page) == found


def test_a_wiki_tells_its_namespaces_and_its_case():
    user = {"id": 2, "name": "Benutzer", "canonical": "User"}
    namespaces = {"0": {"id": 0, "name": "", "case": "case-sensitive"}, "2": user, "x": 3}
    aliases = [{"id": 2, "alias": "Benutzerin"}, {"id": 0, "alias": "no"}, 7, {"id": []}]
    general = {"generator": "MediaWiki 1.39", "lang": "de"}
    reply = {"query": {"general": general, "namespaces": namespaces, "namespacealiases": aliases}}
    info = read_siteinfo(reply, URL("http://w.net/w/api.php"))
    assert info.namespaces == ("Benutzer", "User", "Benutzerin")
    assert (info.keeps_case, info.language) == (True, "de")
    for odd in ([], {"0": []}, {"0": {"case": 3}}, {"2": {"name": "x" * 999}}, None):
        assert (
            read_siteinfo({"query": {"general": general, "namespaces": odd}}, URL("http://w/"))
            is not None
        )


def test_a_dump_tells_its_namespaces_and_its_case():
    head = (
        '<mediawiki xml:lang="de"><siteinfo><namespaces>'
        '<namespace key="-1" case="first-letter">Spezial</namespace>'
        '<namespace key="0" case="case-sensitive" /><namespace key="6">Datei</namespace>'
        "</namespaces></siteinfo>"
    )
    with DumpReader("d") as reader:
        list(reader.feed(head.encode()))
        info = reader.info
    assert (info.namespaces, info.file_names, info.keeps_case) == (
        ("Spezial", "Datei"),
        ("Datei",),
        True,
    )
    assert of_wikitext("[[spezial:A]] [[b]]", info) == ["b"]


@given(
    st.lists(st.sampled_from([*WIKITEXT, "[[", "]]", "\x03", "\x030\x03"]), max_size=60).map(
        "".join
    )
    | st.text()
)
def test_any_text_gives_titles(text):
    for title in of_wikitext(text):
        assert title
        assert not set("[]{}|<>#\n\x00\x03") & set(title)
        assert len(title.encode()) <= 255
        assert "  " not in title
        assert title == title.strip(" ")


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=40))
@example("i\u0307")
def test_the_title_of_a_title_is_itself(text):
    for title in titles([text], WIKI):
        if "%" not in title and "&" not in title:  # which may be written in codes
            assert list(titles([title], WIKI)) == [title]


@given(
    st.lists(
        st.sampled_from([*HTML, '<a href="/wiki/A_b">', "</a>", "\x03", "\x030\x03"]), max_size=60
    )
)
def test_any_page_gives_titles(tags):
    assert set(of_html("".join(tags))) <= {"A b"}


@given(st.binary())
def test_any_bytes_give_targets(data):
    assert isinstance(html_links(data, "/wiki/$1"), list)


@pytest.mark.parametrize(
    "bomb", [*WIKITEXT_BOMBS, "[[a]]", "[[a|b]] ", "[[a&", "[[%4", "[[a:", "\x030\x03"]
)
def test_half_a_megabyte_of_one_mark_is_read_in_linear_time(bomb):
    assert isinstance(of_wikitext(bomb * (500_000 // len(bomb))), list)


@pytest.mark.parametrize("inside", ["a", "&a", "%4", "_ ", "/.", "a:", "é", ":", "&#1", "~~", "' "])
def test_a_target_of_half_a_megabyte_is_read_in_linear_time(inside):
    assert set(titles([inside * (500_000 // len(inside))], WIKI)) <= {"&"}


@pytest.mark.parametrize("bomb", [*DEEP_HTML, *FLAT_HTML, '<a href="/wiki/A">', "<a href='//'>"])
def test_a_page_of_one_mark_gives_titles(bomb):
    assert isinstance(of_html(bomb * (200_000 // len(bomb))), list)


TAG = "qlinkq"
"""A word that no article has; with a number it stands for a link while its place is sought in the
prose."""


@needs_corpus
def test_the_links_are_those_of_a_general_parser_where_prose_is_kept(articles):
    """mwparserfromhell says which links there are, and our prose says which of their places are
    kept."""
    parser = pytest.importorskip("mwparserfromhell", reason="it has no wheel for this Python")
    info = SourceInfo("en.wikipedia.org", None)
    both = ours_alone = theirs_alone = 0
    for article in articles:
        text = article["text"]
        tree = parser.parse(text)
        links = tree.filter_wikilinks(recursive=True)
        targets = [str(link.title) for link in links]
        for number, link in enumerate(links):
            if not re.match(r"\s*:?\s*(file|image|category)\s*:", str(link.title), re.IGNORECASE):
                shown = link.title if link.text is None else link.text
                link.text = f"{shown} {TAG}{number}z"
        kept = [
            int(number) for number in re.findall(f"{TAG}([0-9]+)z", extract_wikitext(str(tree)))
        ]
        theirs = Counter(titles([targets[number] for number in kept], info, article["title"]))
        ours = Counter(of_wikitext(text, info, article["title"]))
        both += (ours & theirs).total()
        ours_alone += (ours - theirs).total()
        theirs_alone += (theirs - ours).total()
    assert both > 40_000
    assert both / (both + theirs_alone) > 0.99
    assert both / (both + ours_alone) > 0.99


@needs_corpus
def test_the_same_places_are_kept_as_for_prose(articles):
    for article in articles:
        number = count()
        simple = r"\[\[[^\[\]|{}<>:#=]+(\|[^\[\]|{}<>:#=]+)?\]\]"
        text = re.sub(
            simple,
            lambda match, number=number: "[[{0}|{1}{0}z]]".format(next(number), TAG),
            article["text"],
        )
        found = [target for target in wikitext_links(text) if target.isdecimal()]
        assert found == re.findall(f"{TAG}([0-9]+)z", extract_wikitext(text)), article["title"]
