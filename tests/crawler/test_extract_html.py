import re
import tarfile
import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.crawler.markup import DEEP_HTML, FLAT_HTML, HTML, SENTENCES
from tests.real_text import CORPUS, needs_corpus
from wikitopics.crawler.markup.html import extract_html

PAGE = """<!DOCTYPE html><html><head><meta charset="UTF-8"><title>Bird</title><style>a{}</style></head>
<body><div id="mw-navigation">Main page Donate</div><h1 id="firstHeading">Bird</h1>
<div class="mw-indicators"><div class="mw-parser-output">indicator</div></div>
<div id="siteSub">From Wiki</div><div id="mw-content-text" class="mw-body-content">
<div class="mw-content-ltr mw-parser-output" lang="en" dir="ltr">%s
<!--
NewPP limit report
Parsed by mw1 --></div><div class="printfooter">Retrieved from "https://x"</div></div>
<div id="catlinks" class="catlinks">Category: Birds</div><div id="footer">Privacy</div></body></html>"""


@pytest.mark.parametrize(
    ("markup", "prose"),
    [
        ("<p>A <b>bird</b> is an <a href='/wiki/Animal'>animal</a>.</p>", "A bird is an animal."),
        (
            "<p>1</p><p>2<br>3</p><ul><li>four<ul><li>five</li></ul></li></ul>",
            "1\n2\n3\nfour\nfive",
        ),
        ("<p>H<sub>2</sub>O caf&eacute; R&amp;D</p>", "H2O café R&D"),
        (
            "<p>co&shy;operate wi&#8203;de j\u2060oin \ufeffmark li<wbr>ne ه\u200cم</p>",
            "cooperate wide join mark line ه\u200cم",
        ),
        ("<p>text<sup id='c' class='reference'><a href='#n'>[1]</a></sup> on</p>", "text on"),
        ("<table class='infobox'><tr><td>box</td></tr></table><p>text</p>", "text"),
        (
            "<table><tr><td>cell<table><tr><td>in</td></tr></table></td></tr></table><p>text</p>",
            "text",
        ),
        (
            "<div role='note' class='hatnote navigation-not-searchable'>For x, see "
            "y</div><p>text</p>",
            "text",
        ),
        (
            "<style "
            "data-mw-deduplicate='T'>.mw-parser-output{}</style><script>f()</script><p>text</p>",
            "text",
        ),
        (
            "<div class='thumb tright'><div class='thumbcaption'>caption</div></div><p>text</p>",
            "text",
        ),
        (
            "<figure class='mw-x'><img "
            "alt='x'><figcaption>caption</figcaption></figure><p>text</p>",
            "text",
        ),
        ("<div class='shortdescription nomobile'>short</div><p>text</p>", "text"),
        ("<p>an<span style='display: none'>hidden</span> end</p>", "an end"),
        (
            "<p>so <span class='mwe-math-element'><math><mi>x</mi></math></span>it is</p>",
            "so it is",
        ),
        (
            "<div id='toc' class='toc'><h2>Contents</h2><ul><li>1 Life</li></ul></div><p>text</p>",
            "text",
        ),
        ("<ul class='gallery'><li>picture</li></ul><p>text</p>", "text"),
        (
            "<div class='navbox'>links</div><ol class='references'><li>note</li></ol><p>text</p>",
            "text",
        ),
        ("<p><ruby>山<rt>やま</rt>寺<rt>でら</rt></ruby>へ登る。</p>", "山寺へ登る。"),
        (
            "<p><ruby><rb>旧金</rb><rp>(</rp><rt>jiù</rt><rp>)</rp><rtc><rt>San</rt></rtc></ruby>山</p>",
            "旧金山",
        ),
        (
            "<p>a<span class='mw-ref' id='x' rel='dc:references'><a href='#n'>"
            "<span class='mw-reflink-text'>[1]</span></a></span> b<sup "
            "id='cite_ref-n_1-0'>[2]</sup> c<span typeof='mw:Extension/ref'>[3]</span> d<a><span "
            "class='mw-reflink-text'>[4]</span></a></p>",
            "a b c d",
        ),
        (
            "<p>a<span typeof='mw:Transclusion mw:Extension/Math'>x</span> b<i "
            "typeof='mw:Transclusion'>c</i><span typeof='mw:Extension/poem'>d</span></p>",
            "a bcd",
        ),
        (
            "<h2>Leben <span class='editsection'>[<a>Bearbeiten</a>]</span></h2><p>kept</p>",
            "Leben\nkept",
        ),
        ("<p>see http://bare.example/x?y=1 there</p>", "see there"),
        ("<p>a\nb\nc</p>", "a b c"),
        (
            "<h2><span class='mw-headline' id='L'>Life</span>"
            "<span class='mw-editsection'>[<a>edit</a>]</span></h2><p>kept</p>",
            "Life\nkept",
        ),
        (
            "<div class='mw-heading mw-heading2'><h2 id='N'>Notes</h2>"
            "<span class='mw-editsection'>[edit]</span></div><p>gone</p>"
            "<div class='mw-heading mw-heading3'><h3 id='S'>Sub</h3></div><p>gone</p>"
            "<div class='mw-heading mw-heading2'><h2 id='A'>After</h2></div><p>kept</p>",
            "After\nkept",
        ),
        (
            "<div><table class='col-begin' "
            "role='presentation'><caption>cap</caption><tbody><tr><td><p>one</p><ul><li>two</li></ul></td><td>three<table class='wikitable'><tr><td>cell</td></tr>"
            "</table></td></tr></tbody></table></div><p>four</p>",
            "one\ntwo\nthree\nfour",
        ),
        (
            "<table "
            "class='multicol'><tr><td><ul><li>1<ul><li>2</li></ul></li></ul></td></tr></table>",
            "1\n2",
        ),
        (
            "<table><tr><th>head</th></tr><tr><td><h3>See "
            "also</h3>cell<ul><li>one<table><tr><td>x<ol><li>two</li></ol>y</td></tr></table>three</li></ul>cell</td></tr></table><p>four</p>",
            "one\ntwo\nthree\nfour",
        ),
        (
            "<table class='wikitable'><tr><td><ul><li>note</li></ul></td></tr></table><p>text</p>",
            "text",
        ),
        (
            "<table class='ambox' role='presentation'><tr><td>box</td></tr></table><p>text</p>",
            "text",
        ),
        ("<div class='nowraplinks'><ul><li>one</li></ul></div>", "one"),
        (f"<p>one &#{'9' * 5000}; &amp;#{'9' * 5000}; two</p>", "one \ufffd two"),
        (
            "<h2>Gallery</h2><ul class='gallery'><li>x</li></ul><h2>See "
            "also</h2><ul><li>Y</li></ul>",
            "",
        ),
    ],
)
def test_a_page_becomes_prose(markup, prose):
    for page in (PAGE % markup, (PAGE % markup).encode(), markup):
        lines = [" ".join(line.split()) for line in extract_html(page).split("\n")]
        assert "\n".join(line for line in lines if line) == prose


@pytest.mark.parametrize("heading", ["Literature", "Sources", "Литература", "Bibliography"])
def test_such_a_section_is_left_out_only_where_it_holds_no_prose(heading):
    prose = f"<p>{SENTENCES}</p>"
    item = f"<ul><li>{SENTENCES}<br>{SENTENCES}<p>{SENTENCES}</p></li></ul>"
    books = f"{item}<dl><dd>{SENTENCES}</dd></dl>"
    title = f"<h2>{heading}</h2>"
    assert extract_html(PAGE % f"<p>lead</p>{title}{books}<h2>C</h2>D").split("\n") == [
        "lead",
        "C",
        "D",
    ]
    mixed = f"<p>lead</p>{title}{prose}{books}<h3>Poets</h3>{prose}<h2>C</h2>D"
    kept = ["lead", heading, SENTENCES, "Poets", SENTENCES, "C", "D"]
    assert extract_html(PAGE % mixed).split("\n") == kept


def test_bytes_are_utf_8():
    page = "<html><head><meta charset=rot13></head><body><p>птица</p></body></html>"
    assert extract_html(page.encode()).strip() == "птица"
    assert "caf" in extract_html("<p>café</p>".encode("latin-1"))


@pytest.mark.parametrize(
    "page",
    ["", b"", " ", "no markup &amp; no page", "http://x", "<", "<p", "\x00", "\ud800<p>"]
    + [
        f'{"<" * depth}{"?" * depth}xml version="1.0"?><html><p>x</p></html>' for depth in (1, 2, 9)
    ],
)
def test_odd_pages_give_text_and_no_warnings(page):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert isinstance(extract_html(page), str)


@given(st.lists(st.sampled_from(HTML), max_size=60).map("".join) | st.text())
def test_any_text_gives_text_without_markup(page):
    assert not set("{}[]|<>\x02") & set(extract_html(page))


@given(st.binary() | st.binary().map(lambda data: b"<p>" + data))
def test_any_bytes_give_text(data):
    assert isinstance(extract_html(data), str)


@pytest.mark.parametrize("bomb", DEEP_HTML)
def test_four_megabytes_of_nesting_are_read_in_linear_time(bomb):
    # A quadratic pass would take many minutes and meet the test run's own limit.
    assert extract_html(bomb * (4_000_000 // len(bomb)) + "end").split() == ["end"]


@pytest.mark.parametrize("bomb", FLAT_HTML)
def test_a_page_of_one_mark_gives_text(bomb):
    assert isinstance(extract_html(bomb * (100_000 // len(bomb))), str)


FURNITURE = re.compile(
    r"\[edit\]|\bedit source\b|Jump to (?:navigation|search)|Retrieved from|mw-parser-output|"
    r"Wikimedia Commons has|"
    r"From Wikipedia, the free|\bthumb\||\b\d+px\b|\[\d+\]|\^ |Wayback Machine|\bdoi:|{|}|\bISSN\b|"
    r"Hidden categories|Privacy policy|Main article:|citation needed|Scientific classification|\bPMID\b"
)


@needs_corpus
def test_no_furniture_of_real_pages_comes_through():
    with tarfile.open(CORPUS / "html" / "pages.tar.xz") as archive:
        for member in archive:
            file = archive.extractfile(member)
            if file is None or member.name.endswith("ISBN_(identifier)"):
                continue
            text = extract_html(file.read())
            assert FURNITURE.findall(text) == [], member.name
            assert len(text.split()) >= 30, member.name
