"""Texts whose words are painted in the colours of their topics."""

import numpy as np
import pytest

from wikitopics.model import Minibatch
from wikitopics.session.analysis.inference import saved_model
from wikitopics.session.analysis.painted import COLOURED, Painter, own_colours
from wikitopics.session.storage.reader import SessionReader


@pytest.fixture
def reader(trained):
    with SessionReader(trained) as reader:
        yield reader


@pytest.fixture
def painter(reader):
    return Painter(reader, "lda")


def test_each_occurrence_has_the_models_own_phi(reader, painter, corpus):
    one, two = corpus.words[:2]
    other = corpus.words[30]
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


def test_no_two_topics_of_a_text_share_a_colour():
    areas = {0: 3, 1: 3, 2: 0, 3: 18, 4: 3}
    assert own_colours([0, 1, 2, 3, 4, 9], areas) == [3, 1, 0, 2, 4, 5]
    one_area = own_colours(range(COLOURED), dict.fromkeys(range(COLOURED), 7))
    assert len(set(one_area)) == COLOURED
    assert 18 not in one_area
