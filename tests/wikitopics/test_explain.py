"""`session.explain`: a text with the topic of each word."""

import pickle
import time

import pandas as pd
import pytest

from tests.wikitopics.in_python.learning import SUBJECTS, TEXTS, learn
from wikitopics.session.analysis import painted

pytestmark = pytest.mark.usefixtures("trainers_run_here")


def test_words_come_from_the_topics_of_their_subjects(home):
    session = learn()
    known = session.vocabulary()
    river, song, _ = ([word for word in words if word in known] for words in SUBJECTS.values())
    text = (
        f"{river[0]} {river[1].title()}, {river[2]} {river[3]} {river[0]} xyz: {song[0]} {song[1]}"
    )
    explained = session.explain(text)
    assert explained.text == text
    assert [word.word for word in explained.words] == [*river[:4], river[0], *song[:2]]
    assert all(text[word.start : word.end].lower() == word.word for word in explained.words)
    topics = [word.topic for word in explained.words]
    assert len(set(topics[:5])) == len(set(topics[5:])) == 1
    assert topics[0] != topics[5]
    assert all(1 / 3 < word.probability <= 1 for word in explained.words)
    first = explained.topics[0]
    assert first.topic == topics[0]
    assert first.share == pytest.approx(session.infer([text])[0].max())
    assert first.name in [one.name for one in session.topics() if one.number == first.topic]
    assert repr(explained).startswith(
        f"<PaintedText, 7 known words in {len(text)} characters: {first.name} "
    )
    frame = pd.DataFrame(explained.words)
    assert list(frame) == ["start", "end", "word", "topic", "probability"]


@pytest.mark.interop
def test_a_notebook_shows_it_painted(home):
    pytest.importorskip("jinja2")
    session = learn()
    explained = session.explain(TEXTS[0])
    html = explained._repr_html_()
    assert html.count("<mark") == len(explained.words) + len(explained.topics)
    assert f"{explained.words[0].probability:.0%}" in html
    topic = explained.topics[0].topic
    session.rename(topic, "Waters & <more>")
    assert "Waters &amp; &lt;more&gt;" in session.explain(TEXTS[0])._repr_html_()


def test_markup_is_removed_and_places_are_in_the_prose(home):
    session = learn()
    word = SUBJECTS["river"][0]
    explained = session.explain(f"<p>a <b>{word}</b> &amp; {word}</p>", markup="html")
    assert "<" not in explained.text
    assert [explained.text[one.start : one.end] for one in explained.words] == [word, word]


def test_the_model_is_loaded_once_until_the_session_changes(home, monkeypatch):
    session = learn()
    loaded = []
    load = painted.saved_model
    monkeypatch.setattr(painted, "saved_model", lambda *of: loaded.append(time.time()) or load(*of))
    first = session.explain(TEXTS[0])
    assert session.explain(TEXTS[0]) == first
    assert len(loaded) == 1
    copied = pickle.loads(pickle.dumps(session))
    assert copied.explain(TEXTS[0]) == first
    assert len(loaded) == 2
    assert pickle.loads(pickle.dumps(first)) == first


def test_a_name_given_meanwhile_is_told(home, cli):
    session = learn()
    topic = session.explain(TEXTS[0]).topics[0].topic
    cli("topics", "rename", topic, "Waters & <more>", "--session", "notes")
    explained = session.explain(TEXTS[0])
    assert explained.topics[0].name == "Waters & <more>"


def test_what_is_no_text_is_refused(home):
    session = learn()
    with pytest.raises(TypeError, match="text must be text, not 3"):
        session.explain(3)
    with pytest.raises(ValueError, match="markup"):
        session.explain("a", markup="tex")
    with pytest.raises(ValueError, match="hdp"):
        session.explain("a", model="hdp")
