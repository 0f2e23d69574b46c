"""What a session says about any text or one of its articles, for repeated questions: the topics,
the words that argue for each of them, and the articles most like it, or those that its words find.
"""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from wikitopics.session.advance import Advance, unseen
from wikitopics.session.analysis.find import Finder
from wikitopics.session.analysis.inference import counted_words, proses, saved_model, theta_of
from wikitopics.session.analysis.painted import PaintedText, Painter, topics_of_words
from wikitopics.session.analysis.similar import Recorded
from wikitopics.session.analysis.sought import Sought, is_short
from wikitopics.session.analysis.text_words import TextIndex
from wikitopics.session.errors import SessionError
from wikitopics.session.options import LINKS, TOKENS
from wikitopics.session.records import NO_KNOWN_WORD, ArticleRow
from wikitopics.session.storage.articles import RECENT_ARTICLES
from wikitopics.session.storage.reader import SessionReader
from wikitopics.session.wording import snippet_shown
from wikitopics.vocab.counting import Counted

MOST_TOPICS = 8
"""The most topics of a text."""
MOST_WORDS = 20
"""The most words for a topic."""
MOST_ALIKE = 30
"""The most articles like a text."""
LEAST = 0.01
"""Smaller proportions are left out."""
NO_WORDS = (
    f"only the newest {RECENT_ARTICLES:,} articles keep their words; `train --keep-counts` keeps "
    "all"
)


Alike = Sequence[tuple[ArticleRow, float, Sequence[tuple[int, float]]]]
"""(article, likeness, its (topic, proportion)) of some articles."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What is known of a text. For anything that is missing, a sentence gives the reason."""

    topics: Sequence[tuple[int, float, Sequence[str]]] = ()
    """(topic, proportion, the words that argue for it, the strongest first), the largest first."""
    lack: str = ""
    """Why there are no topics, or no words for them."""
    alike: Alike = ()
    """The articles most like it, the most alike first; those that a short text finds, with their
    scores."""
    sought: Sought | None = None
    """What found them; None if they are those most like it."""
    lone: str = ""
    """Why there are no such articles."""
    known: str = ""
    """How many words of the text are known: "41 of 52 words known"."""
    theta: NDArray[np.floating] | None = field(default=None, compare=False)
    """(K,) its proportions; None if there are no topics."""
    painted: PaintedText | None = None
    """The text, or the snippet of an article, painted; None unless `Answers.painted` did."""


class Answers:
    """Answers about a session at one commit, as one of its models sees it.

    The vocabulary, the model, and what `Recorded` holds of all articles are in memory. Every method
    raises `SessionError`.
    """

    def __init__(
        self,
        reader: SessionReader,
        model: str,
        texts: TextIndex | None = None,
        advance: Advance = unseen,
    ) -> None:
        """``texts``: titles and snippets that earlier answers have read. ``advance``: is told how
        much has been read, then and later."""
        self._reader = reader
        self._name = model
        self._committed_at = reader.progress().committed_at
        reader.check_trained()
        self._vocabulary = reader.counter()
        self._model = saved_model(reader, model)
        self._painter = Painter(reader, model, self._vocabulary, self._model)
        self._recorded = None
        self._lone = ""
        try:
            self._recorded = Recorded(reader, model, advance)
        except SessionError as error:
            self._lone = str(error)
        self.finder: Finder = Finder(reader, model, self._recorded, self._model, texts, advance)

    def texts_of(self, reader: SessionReader) -> TextIndex | None:
        """The titles and snippets that have been read; None if this is about another file."""
        return self.finder.index if self._reader == reader else None

    def still_hold(self, reader: SessionReader, model: str, committed_at: float) -> bool:
        """Whether these answers are of this model, at this commit or a later one."""
        if reader != self._reader or model != self._name:
            return False
        # A commit in the future was made before the clock was set back, so it is no later one.
        is_later = committed_at < self._committed_at <= time.time()
        return is_later or committed_at == self._committed_at

    def of_text(self, text: str) -> Answer:
        """The answer for any text, in the session's own format. The words of a short one find
        articles, also by their titles."""
        unit = self._reader.settings()[TOKENS]
        (plain,) = proses(self._reader, [text])
        (counted,) = counted_words(self._vocabulary, [plain])
        _, counts = counted
        n_known = counts.sum()
        n_words = self._vocabulary.n_words_in(plain)
        sought = self.finder.sought(text) if is_short(text, n_words) else None
        if n_known:
            (theta,) = theta_of(self._model, [counted])
            alike = [] if sought else self._alike(theta, counted, asked=True)
            answer = self._answer(theta, counted, alike)
        elif n_words:
            answer = Answer(lack=f"none of its {unit} is in the session's vocabulary")
        elif unit == LINKS and text.strip():
            answer = Answer(
                lack="this session counts links: paste wikitext or HTML with links to articles"
            )
        else:
            answer = Answer()
        if n_words:
            answer = replace(answer, known=f"{n_known:,} of {n_words:,} {unit} known")
        if sought is None:
            return answer
        return replace(answer, alike=self._matching(sought), sought=sought, lone="")

    def of_article(self, article: ArticleRow) -> Answer:
        """The answer for an article of the session; topics that are not recorded are inferred."""
        if article.role == "skipped":
            return Answer(lack=f"it was skipped: {NO_KNOWN_WORD}")
        counted = self._reader.words_of(article)
        row = None if self._recorded is None else self._recorded.row(article.seq)
        if self._recorded is not None and row is not None:
            theta = self._recorded.theta(self._reader, row)
            alike = self._alike(theta, counted, article.page_id)
            return self._answer(theta, counted, alike)
        if counted is not None:
            (inferred,) = theta_of(self._model, [counted])
            alike = self._alike(inferred, counted, article.page_id)
            return self._answer(inferred, counted, alike)
        largest = [
            (topic, proportion, ())
            for model, topic, proportion in article.topics
            if model == self._name and proportion >= LEAST
        ]
        return Answer(largest, lack=NO_WORDS, lone=self._lone)

    def _answer(
        self,
        theta: NDArray[np.floating],
        counted: Counted | None,
        alike: Alike,
    ) -> Answer:
        """The answer for these proportions, (K,). ``counted``: the words, if they are known."""
        largest_first = (-theta).argsort(kind="stable").tolist()
        leading = [topic for topic in largest_first[:MOST_TOPICS] if theta[topic] >= LEAST]
        if counted is None:
            lack = NO_WORDS
            words: list[list[str]] = [[] for _ in leading]
        else:
            lack = ""
            words = list(self._reasons(theta, counted, leading))
        topics = list(zip(leading, theta[leading].tolist(), words, strict=True))
        return Answer(topics, lack, alike, lone=self._lone, theta=theta)

    def _alike(
        self,
        theta: NDArray[np.floating],
        counted: Counted | None,
        without: int | None = None,
        *,
        asked: bool = False,
    ) -> Alike:
        """The articles most like a text with these proportions and words, without this page;
        ``asked``: as for `Recorded.likeness`."""
        if self._recorded is None:
            return []
        return self._recorded.rows_near(
            self._reader, theta, MOST_ALIKE, counted, without, asked=asked
        )

    def _matching(self, sought: Sought) -> Alike:
        """The articles that words find."""
        matches = self.finder.documents(self._reader, sought, MOST_ALIKE)
        seqs = [match.article.seq for match in matches]
        topics = self._reader.leading_topics(self._name, seqs, MOST_TOPICS)
        return [
            (match.article, match.score, topics.get(match.article.seq, ())) for match in matches
        ]

    def _reasons(
        self,
        theta: NDArray[np.floating],
        counted: Counted,
        topics: Sequence[int],
    ) -> Iterator[list[str]]:
        """The words that argue for each of these topics: those that are more probable in the topic
        than in the text as a whole, ordered by how many of their occurrences the topic explains."""
        ids, counts = counted
        explained = topics_of_words(self._model, counted, theta)
        for topic in topics:
            part = explained[:, topic]
            order = np.argsort(-part * counts, kind="stable")[:MOST_WORDS]
            argues = part[order] > theta[topic]
            yield [self._vocabulary.words[id] for id in ids[order[argues]].tolist()]

    def painted(self, answer: Answer, question: ArticleRow | str) -> Answer:
        """The answer to a question with the text painted; of an article, its snippet, if that is
        kept. The topics of all painted words are among its topics."""
        if isinstance(question, str):
            (text,) = proses(self._reader, [question])
        else:
            text = snippet_shown(self._reader.snippets([question.seq]).get(question.seq))
        if not text:
            return answer
        painted = self._painter.paint(text, answer.theta)
        topics = list(answer.topics)
        if answer.theta is not None:
            listed = {topic for topic, _, _ in topics}
            small = [topic for topic in painted.key if topic.topic not in listed]
            topics += [(topic.topic, topic.share, painted.words_of(topic.topic)) for topic in small]
        return replace(answer, topics=topics, painted=painted)
