"""A painted text as a piece of a page."""

import pytest

pytest.importorskip("jinja2")
from wikitopics.session.analysis.report.painted import LONGEST, legend, painted_html, topic_html

pytestmark = pytest.mark.interop


def test_the_legend_of_a_text_without_a_known_word_says_so():
    assert "no word of the vocabulary" in legend(())


def test_html_tells_topic_and_probability_and_escapes_everything():
    text = 'a <b>x</b>\x1b[31m\u202e "film"\nend'
    start = text.index("film")
    topics = [(7, 0.6, "<i>film</i> 'star'", 2), (3, 0.4, "rest", 18)]
    words = [(2, 3, "lt", 3, 0.08), (start, start + 4, "film", 7, 0.971)]
    html = painted_html(text, words, topics)
    assert (
        '<mark class="a2 u0 p9" title="1 &lt;i&gt;film&lt;/i&gt; &#39;star&#39;: 97%">film</mark>'
        in html
    )
    assert '<mark class="a18 p0" title="rest: 8%">&lt;</mark>b&gt;x&lt;/b&gt;' in html
    assert "\x1b" not in html
    assert "\u202e" not in html
    assert "\nend</p>" in html
    told = legend(topics)
    assert "<b>1</b> &lt;i&gt;film&lt;/i&gt; &#39;star&#39;</mark> 60%" in told
    assert "other topics</mark> 40%" in told


def test_html_of_one_topic_has_only_its_words_and_is_cut():
    text = "a film & a star"
    words = [(2, 6, "film", 7, 0.971), (11, 15, "star", 3, 0.5)]
    assert topic_html(text, words, 7, 99) == (
        'a <mark class="p9" title="97%">film</mark> &amp; a star'
    )
    assert topic_html(text, words, 3, 13) == "a film &amp; a s…"


def test_html_of_a_long_text_says_what_it_leaves_out():
    text = "x" * (LONGEST - 2) + " word"
    words = [(LONGEST - 1, LONGEST + 3, "word", 0, 1.0)]
    html = painted_html(text, words, [(0, 1.0, "topic", 0)])
    assert "<mark" not in html
    assert f"the first {LONGEST:,} of {LONGEST + 3:,} characters" in html
