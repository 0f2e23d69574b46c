"""Texts whose words are painted in the colours of their topics."""

import numpy as np
import pytest

from wikitopics.model import Minibatch
from wikitopics.session.analysis.inference import saved_model
from wikitopics.session.analysis.painted import COLOURED, Painter, own_colours
from wikitopics.session.analysis.report.painted import LONGEST, legend, painted_html, topic_html
from wikitopics.session.storage.reader import SessionReader


@pytest.fixture
def reader(trained):
    with SessionReader(trained) as reader:
        yield reader


@pytest.fixture
def painter(reader):
    return Painter(reader, "lda")


def test_each_occurrence_has_the_models_own_phi(reader, painter, corpus):
    one, two, other = corpus.words[0], corpus.words[1], corpus.words[30]
    text = f"{one.upper()}, qq {two}\n{one} {other}"
    painted = painter.paint(text)
    places = [(word.word, text[word.start : word.end]) for word in painted.words]
    assert places == [(one, one.upper()), (two, two), (one, one), (other, other)]
    model = saved_model(reader, "lda")
    ids, counts = reader.counter().count(text)
    batch = Minibatch([0, len(ids)], ids, counts)
    theta = model.infer(batch)
    phi = model.word_topics(batch, theta)
    row_of = dict(zip(ids.tolist(), phi, strict=True))
    for word in painted.words:
        row = row_of[corpus.words.index(word.word)]
        assert (word.topic, word.probability) == (row.argmax(), pytest.approx(row.max()))
    shares = {topic.topic: topic.share for topic in painted.topics}
    assert shares == pytest.approx({topic: theta[0, topic] for topic in shares})
    assert list(shares.values()) == sorted(shares.values(), reverse=True)
    assert {word.topic for word in painted.words} <= shares.keys()
    names = reader.topic_names("lda")
    assert all(topic.name == names[topic.topic] for topic in painted.topics)


def test_a_part_of_a_document_is_painted_by_the_whole_ones_topics(painter, corpus):
    text = corpus.words[0]
    (word,) = painter.paint(text).words
    theta = np.full(5, 1e-9)
    theta[(word.topic + 1) % 5] = 1
    (again,) = painter.paint(text, theta).words
    assert again.topic == (word.topic + 1) % 5


def test_a_part_is_painted_by_one_topics_share(reader, painter, corpus):
    text = " ".join(corpus.words[::12])
    shares = saved_model(reader, "lda").topic_shares()
    of_corpus = painter.paint(text, shares).words
    for topic in range(5):
        again = painter.paint_about(text, topic, float(shares[topic])).words
        assert [word[:4] for word in again] == [word[:4] for word in of_corpus]
        assert [word.probability for word in again] == pytest.approx(
            [word.probability for word in of_corpus]
        )
        assert {word.topic for word in painter.paint_about(text, topic, 1.0).words} == {topic}


def test_a_text_without_a_known_word_has_no_topics(painter):
    for text in ("", "qq 12"):
        painted = painter.paint(text)
        assert (painted.text, painted.words, painted.topics) == (text, (), ())
        assert f"0 known words in {len(text)} characters" in repr(painted)
        assert "no word of the vocabulary" in legend(painted.topics)


def test_no_two_topics_of_a_text_share_a_colour():
    areas = {0: 3, 1: 3, 2: 0, 3: 18, 4: 3}
    assert own_colours([0, 1, 2, 3, 4, 9], areas) == [3, 1, 0, 2, 4, 5]
    one_area = own_colours(range(COLOURED), dict.fromkeys(range(COLOURED), 7))
    assert len(set(one_area)) == COLOURED
    assert 18 not in one_area


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
