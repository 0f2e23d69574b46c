"""A text painted: each of its words with the topic that it most likely comes from.

How likely is the model's own phi (`OnlineModel.word_topics`), given the proportions of the text.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wikitopics.extra import REPORT
from wikitopics.model import Minibatch, OnlineModel
from wikitopics.model.areas import OTHER
from wikitopics.model.states import TINY
from wikitopics.session.analysis.areas import atlas
from wikitopics.session.analysis.inference import saved_model, theta_of
from wikitopics.session.errors import BadUsage, errors_of
from wikitopics.session.storage.reader import SessionReader
from wikitopics.vocab import Vocabulary
from wikitopics.vocab.counting import Counted
from wikitopics.vocab.positions import known_words
from wikitopics.vocab.vocabulary import VocabularyError

COLOURED = 8
"""The most topics of a text that have a colour and a number of their own."""
LEAST = 0.01
"""A topic with a smaller proportion has a colour only if a word most likely comes from it."""
_TOLD = 3
"""The number of topics that a `repr` names."""


class PaintedWord(NamedTuple):
    """One occurrence of a word, or of a phrase, of the vocabulary."""

    start: int
    """Where it begins, in characters from the start of the text."""
    end: int
    word: str
    """As the vocabulary spells it."""
    topic: int
    """The topic that it most likely comes from."""
    probability: float
    """How likely that is."""


class TextTopic(NamedTuple):
    """A topic of a text."""

    topic: int
    share: float
    """Its proportion of the text."""
    name: str
    colour: int
    """The number of its colour among those of areas; 18, that of no area, for one beyond the first
    8."""


@dataclass(frozen=True, slots=True, repr=False)
class PaintedText:
    """A text with the topic of each of its known words. A notebook shows it painted.

    `pandas.DataFrame` takes `words` and `topics`.
    """

    text: str
    """The text without markup and invisible characters, to which the places of words refer."""
    words: tuple[PaintedWord, ...]
    """The words and phrases of the vocabulary in the order of the text; no other has a topic."""
    topics: tuple[TextTopic, ...]
    """The largest topics, and all that a word most likely comes from; the largest first."""

    @property
    def key(self) -> tuple[TextTopic, ...]:
        """The topics that have a colour and a number, from 1, of their own."""
        return self.topics[:COLOURED]

    def words_of(self, topic: int) -> tuple[str, ...]:
        """The words that most likely come from a topic, each once."""
        return tuple(dict.fromkeys(word.word for word in self.words if word.topic == topic))

    def __repr__(self) -> str:
        told = [f"{topic.name} {topic.share:.0%}" for topic in self.topics[:_TOLD]]
        more = ", …" if len(self.topics) > _TOLD else ""
        known = f"{len(self.words):,} known words in {len(self.text):,} characters"
        topics = f": {', '.join(told)}{more}" if told else ""
        return f"<PaintedText, {known}{topics}>"

    def _repr_html_(self) -> str | None:
        if REPORT.missing():
            return None
        from wikitopics.session.analysis.report.painted import framed, legend, painted_html

        return framed(legend(self.topics), painted_html(self.text, self.words, self.topics))


class Painter:
    """Paints texts as one model of a session sees them at one commit.

    The vocabulary and the model are in memory.
    """

    def __init__(
        self,
        reader: SessionReader,
        model: str,
        vocabulary: Vocabulary | None = None,
        saved: OnlineModel | None = None,
    ) -> None:
        """``vocabulary``, ``saved``: the session's vocabulary and its model, if they have been read
        already. Raises `SessionError`."""
        reader.check_trained()
        self._model = model
        self._committed_at = reader.progress().committed_at
        self._given_names = reader.names_given(model)
        grouping = atlas(reader, model)
        areas = {} if grouping is None else grouping.area_of
        self._area_of = {topic: area.number for topic, area in areas.items()}
        self._names = reader.topic_names(model)
        self._vocabulary = vocabulary or reader.counter()
        self._saved = saved or saved_model(reader, model)

    def still_holds(self, reader: SessionReader, model: str) -> bool:
        """Whether this is of that model, and the session has not changed since."""
        if self._model != model or self._committed_at != reader.progress().committed_at:
            return False
        return self._given_names == reader.names_given(model)

    def paint(
        self,
        text: str,
        theta: NDArray[np.floating] | None = None,
    ) -> PaintedText:
        """Paint a text without markup. Raises `SessionError`.

        theta: (K,) the proportions of the document that the text is a part of; None: it is a whole
        one
        """
        try:
            known = known_words(self._vocabulary, text)
        except VocabularyError as error:
            raise BadUsage(str(error)) from None
        if not known:
            return PaintedText(text, (), ())
        ids, row_of_word, counts = np.unique(
            np.array([word_id for _, _, word_id in known], np.int32),
            return_inverse=True,
            return_counts=True,
        )
        counted = ids, counts.astype(np.int32)
        if theta is None:
            (theta,) = theta_of(self._saved, [counted])
        phi = topics_of_words(self._saved, counted, theta)
        likeliest = phi.argmax(axis=1)[row_of_word].tolist()
        probabilities = phi.max(axis=1)[row_of_word].tolist()
        spelled = self._vocabulary.words
        words = []
        painted = zip(known, likeliest, probabilities, strict=True)
        for (start, end, word_id), topic, probability in painted:
            words.append(PaintedWord(start, end, spelled[word_id], topic, probability))
        return PaintedText(text, tuple(words), self._topics(theta, set(likeliest)))

    def paint_about(self, text: str, topic: int, share: float) -> PaintedText:
        """Paint a part of a document of which only one topic's share is known; the rest of it
        counts as the rest of the corpus."""
        theta = self._saved.topic_shares()
        others = 1 - theta[topic]
        theta = theta * ((1 - share) / max(others, TINY))
        theta[topic] = share
        return self.paint(text, theta)

    def _topics(self, theta: NDArray[np.floating], painted: set[int]) -> tuple[TextTopic, ...]:
        """The topics of a text with these proportions, (K,), and topics of words."""
        largest_first = (-theta).argsort(kind="stable").tolist()
        listed = [topic for topic in largest_first if theta[topic] >= LEAST or topic in painted]
        colours = own_colours(listed[:COLOURED], self._area_of)
        found = []
        for place, topic in enumerate(listed):
            name = self._names[topic] if self._names else f"topic {topic}"
            colour = colours[place] if place < COLOURED else OTHER
            found.append(TextTopic(topic, float(theta[topic]), name, colour))
        return tuple(found)


def topics_of_words(
    model: OnlineModel, counted: Counted, theta: NDArray[np.floating]
) -> NDArray[np.float64]:
    """(U, K) how likely each word of a text comes from each topic, if the text has the proportions
    ``theta``, (K,). Raises `SessionError`."""
    ids, counts = counted
    text = Minibatch(np.array([0, len(ids)]), ids, counts)
    with errors_of(f"the model of kind {model.kind}", ""):
        return model.word_topics(text, theta[None])


def own_colours(topics: Sequence[int], area_of: Mapping[int, int]) -> list[int]:
    """A colour for each of a text's topics, the largest first, no two the same: the colour of its
    area, unless a larger topic has it; then one of an area that the text does not have."""
    areas = [area_of.get(topic, OTHER) for topic in topics]
    free = (colour for colour in range(OTHER) if colour not in areas)
    colours: list[int] = []
    for area in areas:
        colour = area
        if area == OTHER or area in colours:
            colour = next(free, OTHER)
        colours.append(colour)
    return colours
