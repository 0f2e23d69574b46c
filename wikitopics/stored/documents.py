"""The documents of a session in Python, and what it says about other texts."""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Integral
from typing import TYPE_CHECKING, Literal, overload

import numpy as np

from wikitopics.crawler.texts.kinds import MARKUP
from wikitopics.extra import NOTEBOOK
from wikitopics.model import Minibatch
from wikitopics.session.advance import Advance
from wikitopics.session.analysis import find, frames, inference, listing, similar
from wikitopics.session.analysis.find import Finder, Found
from wikitopics.session.analysis.listing import Article
from wikitopics.session.analysis.painted import PaintedText, Painter
from wikitopics.session.analysis.similar import Neighbour, Recorded
from wikitopics.session.storage.counts import KeptCounts
from wikitopics.session.storage.reader import SessionReader
from wikitopics.stored.arguments import whole, wrong_type
from wikitopics.stored.columns import parts_of
from wikitopics.stored.given import Given, check_text
from wikitopics.stored.opening import SessionFile
from wikitopics.stored.progress_bars import following
from wikitopics.vocab.counting import Counted

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from pandas import DataFrame
    from scipy.sparse import csr_array

    from wikitopics.crawler.page import Markup
    from wikitopics.session.analysis.groups import Level
    from wikitopics.session.analysis.map_frame import MapFrame
    from wikitopics.stored.given import Documents


class DocumentMethods(SessionFile):
    """What `StoredSession` says about documents and other texts."""

    _recorded: Recorded | None = None
    """What was read for `similar`, kept for its next call."""
    _finder: Finder | None = None
    """The same for `find`."""
    _painter: Painter | None = None
    """The same for `explain`."""

    def articles(
        self,
        topic: int | None = None,
        limit: int = 20,
        model: str | None = None,
    ) -> list[Article]:
        """The articles most about a topic, the most typical first: those with a large share of the
        topic, while the share of a short article counts for less (`typicality`). If `topic` is
        None, the newest articles, whatever their role. Your own documents have a `snippet`, the
        beginning of the text, unless the session keeps none."""
        limit = whole("limit", limit, least=0)
        if topic is not None:
            topic = whole("topic", topic)
        with self._reading(model) as (reader, name):
            return listing.listed_articles(reader, name, topic, limit)

    def infer(
        self,
        texts: Documents,
        model: str | None = None,
        *,
        markup: Markup | None = None,
        text_column: str | None = None,
    ) -> NDArray[np.float32]:
        """(D, K) topic proportions of texts, rows sum to 1. Many texts in one call are quicker than
        one at a time.

        As for `train`, texts may also be lists of tokens, which are looked up as they are, or
        counts of the session's words: a matrix with a column for each, in the order of
        `vocabulary().words`.

        Texts may be a table of pandas, polars or Arrow, a dataset of Arrow, or the path of a
        Parquet file: then ``text_column`` names the column, otherwise it is `text`; each row is a
        text.

        ``markup``: "wikitext" or "html", to be removed first; None: as in the session's own texts.
        A session of links takes texts with links in either markup, and recognises which of the two
        it is.

        A text without any word of the vocabulary, None or NaN, gets what the model expects of an
        unread document.
        """
        _, theta = self._inferred(texts, model, markup, text_column=text_column)
        return theta

    def _inferred(
        self,
        texts: object,
        model: str | None,
        markup: Markup | None,
        argument: str = "texts",
        text_column: str | None = None,
    ) -> tuple[list[Counted], NDArray[np.float32]]:
        """(the known words of each text; what `infer` returns)."""
        found = parts_of(argument, texts, text_column, reads_ids=False)
        given = Given(argument, found.texts)
        MARKUP.convert(markup)  # raises ValueError for an unknown one
        with self._open() as reader:
            name = reader.model_named(model)
            vocabulary = reader.counter()
            if given.kind == "tokens":
                counted = [vocabulary.count_tokens(tokens or ()) for tokens in given.tokens()]
            elif given.kind == "counts":
                counted = list(given.counts(len(vocabulary)))
            else:
                texts = (text or "" for text in given.texts())
                proses = inference.proses(reader, texts, markup)
                counted = inference.counted_words(vocabulary, proses)
            reader.check_trained()
            return counted, inference.theta_of(inference.saved_model(reader, name), counted)

    def explain(
        self,
        text: str,
        model: str | None = None,
        *,
        markup: Markup | None = None,
    ) -> PaintedText:
        """The text with the topic that each of its words most likely comes from, and how likely
        that is: the model's own posterior, given the topics of the whole text. ``markup`` is as
        for `infer`.

        A notebook shows the words in their topics' colours, with the probability where the pointer
        is. `words` lists them: (start, end, word, topic, probability), in the order of the text; a
        phrase of the vocabulary is one. `topics` are those of the text: (topic, share, name,
        colour). Both are empty for a text without any word of the vocabulary.

        The first call loads the model; later calls find it in memory until the session changes.
        """
        if not isinstance(text, str):
            raise wrong_type("text", "text", text)
        MARKUP.convert(markup)  # raises ValueError for an unknown one
        with self._open() as reader:
            with reader.one_moment():
                painter = self._painter_as_of_now(reader, reader.model_named(model))
            (plain,) = inference.proses(reader, [text], markup)
            return painter.paint(plain)

    def _painter_as_of_now(self, reader: SessionReader, model: str) -> Painter:
        """The painter in memory unless the session has changed since, or it is another model's."""
        painter = self._painter
        if painter is None or not painter.still_holds(reader, model):
            painter = Painter(reader, model)
            self._painter = painter
        return painter

    def similar(
        self,
        title: str | int | None = None,
        limit: int = 20,
        model: str | None = None,
        *,
        text: str | Iterable[str] | None = None,
        markup: Markup | None = None,
    ) -> list[Neighbour]:
        """The articles most like the one with this title, or like any text, the most alike first:
        trained ones and, once the session has ended, also the user's own held-out documents. If
        there is no such title, ``title`` is the id of one of your own documents.
        ``text`` may also be a list of tokens; ``markup`` is the text's, as for `infer`. Raises
        ValueError for a text without any word of the vocabulary.

        `likeness` is from 0, no more alike than the average article, to 1, the same. It compares
        topics and, in a session that has the words of all its articles, words.

        The first call reads what is kept of all articles; later calls find it in memory until the
        session changes.
        """
        if (title is None) == (text is None):  # neither, or both
            raise ValueError("similar takes either a title or a text")
        if not isinstance(title, str | Integral | None):
            raise wrong_type("title", "a title or an id", title)
        limit = whole("limit", limit, least=1)
        of_text: tuple[Counted, NDArray[np.float32]] | None = None
        if text is not None:
            check_text("text", text)
            (counted,), (theta,) = self._inferred([text], model, markup, "text")
            word_ids, _ = counted
            if not len(word_ids):
                raise ValueError(
                    "text contains no word of the session's vocabulary; find(text) also looks for "
                    "words in titles and snippets"
                )
            of_text = counted, theta
        with self._reading(model) as (reader, name), following() as advance:
            recorded = self._recorded_as_of_now(reader, name, advance)
            if of_text is not None:
                counted, theta = of_text
                return recorded.nearest(reader, theta, limit, counted)
            row = recorded.row_of(reader, str(title))
            if row is None:
                raise similar.not_found(reader, str(title))
            return recorded.nearest(reader, row, limit)

    def find(self, words: str, n: int = 10, model: str | None = None) -> Found:
        """The topics and the documents that words find, at most `n` of each, the best first: topics
        in which the words are more probable than on average, and documents that have the words, or
        topics like theirs. `print` lists them; a notebook shows them with the words marked.

        Documents are found by their word counts, if the session has those of all, by the snippets
        of your own documents, and by titles, even by a part of one. Those with all the words in
        their title come first. If nothing is found, `suggestion` may say what was meant.

        The first call reads what is kept of all documents; later calls find it in memory until the
        session changes.
        """
        if not isinstance(words, str):
            raise wrong_type("words", "text", words)
        n = whole("n", n, least=1)
        with self._open() as reader:
            with following() as advance:
                finder = self._finder_as_of_now(reader, reader.model_named(model), advance)
                finder.index.read(reader, advance)  # which takes too long to be one moment
            with reader.one_moment():
                return find.find(finder, reader, words, n)

    def _finder_as_of_now(self, reader: SessionReader, model: str, advance: Advance) -> Finder:
        """What answers to words: that in memory unless the session has changed since, or it is
        another model's."""
        finder = self._finder
        if finder is None or not finder.still_holds(reader, model):
            index = None if finder is None else finder.index
            recorded = None
            if find.has_proportions(reader):
                recorded = self._recorded_as_of_now(reader, model, advance)
            finder = Finder(reader, model, recorded, index=index)
            self._finder = finder
        return finder

    def _recorded_as_of_now(self, reader: SessionReader, model: str, advance: Advance) -> Recorded:
        """The recorded proportions: those in memory unless the session has changed since, or they
        are another model's."""
        recorded = self._recorded
        if recorded is None or not recorded.still_holds(reader, model):
            recorded = Recorded(reader, model, advance)
            self._recorded = recorded
        return recorded

    @overload
    def proportions(
        self,
        model: str | None = None,
        *,
        held_out: bool | None = None,
        frame: Literal[False] = False,
    ) -> tuple[csr_array, NDArray[np.int64]]: ...

    @overload
    def proportions(
        self,
        model: str | None = None,
        *,
        held_out: bool | None = None,
        frame: Literal[True],
    ) -> DataFrame: ...

    def proportions(
        self,
        model: str | None = None,
        *,
        held_out: bool | None = None,
        frame: bool = False,
    ) -> tuple[csr_array, NDArray[np.int64]] | DataFrame:
        """(scipy CSR (D, K) float32, (D,) page ids): the topic proportions of every trained
        article, if they are recorded; with `held_out`, also those of the user's own held-out
        documents, which the finished model has inferred.

        With `frame`, a pandas table with a column for each topic; held-out documents are in it
        unless `held_out` is False. Every one of your own documents has a row, in the order in which
        they were given; the row is empty (NaN) for a document without proportions, such as a text
        without any known word. The index is that of the Series given to `train`, otherwise `id` if
        every document has a unique one, otherwise `page_id`.

        Those of your own documents are what `infer` returns for the same texts once the session has
        ended: half of the absolute differences is at most 0.02, since at most 0.03 of a row is not
        recorded. Until then, as in a crawl, each article has at most its 16 largest proportions,
        to within 0.008. Those under 0.005 are not recorded; in a model of over 100 topics, this
        limit is lower: half of what each topic would have if all were equal. These proportions
        date from the article's latest training; those of the newest 20,000 articles were updated
        each time the session doubled in size. A row sums to 1 minus what was not recorded.
        """
        if held_out is None:
            held_out = frame  # by default, a table has them, and a matrix does not
        with self._reading(model) as (reader, name), following() as advance:
            if frame:
                return frames.as_frame(reader, name, held_out=held_out, advance=advance)
            return frames.as_csr(reader, name, held_out=held_out, advance=advance)

    def documents(self, model: str | None = None, *, titles: bool = False) -> DataFrame:
        """A pandas table of the documents with the largest topic of each: `topic`, `name`, `share`
        (its proportion), `area`, `area_name` and, if the session keeps the beginnings of texts,
        `snippet`. Rows and index are those of `proportions(frame=True)`; in a row without
        proportions there is no topic.

        With `titles`, also `title`: by default it is left out, since your own table may have a
        column of that name, and pandas does not join two.
        """
        with self._reading(model) as (reader, name), following() as advance:
            return frames.documents(reader, name, titles=titles, advance=advance)

    def by(self, groups: object, *, level: Level = "areas", model: str | None = None) -> DataFrame:
        """What documents are about, by group: a pandas table with a row for each group and area.

        The columns are `group`; `area`, its number; `name`; `share`, the mean proportion of the
        area in the group's documents, each of which counts the same; `standard_error` of this mean,
        NaN for one document; and `documents`, the number of documents of the group that have
        proportions. Groups are sorted, areas are in the order of `areas()`. The shares of a group
        add up to 1 minus what `proportions` does not record. `frame.pivot(index="group",
        columns="name", values="share")` makes a column of each area.

        groups: a column such as ``frame["label"]``, whose index has the documents' ids (of other
            articles, their `page_id`), or a value for each document, in order. Documents without a
            value are left out, with a warning
        level: "topics" for topics instead of areas: those in use and not hidden, the largest first,
            in a column `topic`

        Raises ValueError if there are too few values, or too many.
        """
        if NOTEBOOK.missing():
            raise ValueError(NOTEBOOK.needed("by()"))
        from wikitopics.session.analysis.groups import by_group

        with self._reading(model) as (reader, name), following() as advance:
            return by_group(reader, name, groups, level, advance)

    def over_time(
        self,
        dates: object,
        freq: str | None = None,
        *,
        level: Level = "areas",
        model: str | None = None,
    ) -> DataFrame:
        """What documents are about, over time: the table of `by` with a column `period` instead of
        `group`. Every period from the first to the last has rows, also one without documents.

        dates: for each document, as the groups of `by`: dates, text that `pandas.to_datetime`
            reads, periods, or years as numbers. The period is that of the clock in the date's own
            time zone
        freq: the length of a period, such as "D", "W", "M", "Q" or "Y"; None: the shortest that
            makes at most 40 periods, or that of the periods given

        Raises ValueError for what is no date.
        """
        if NOTEBOOK.missing():
            raise ValueError(NOTEBOOK.needed("over_time()"))
        from wikitopics.session.analysis.groups import over_time

        with self._reading(model) as (reader, name), following() as advance:
            return over_time(reader, name, dates, freq, level, advance)

    def map(self, model: str | None = None, *, color: object = None) -> MapFrame:
        """The map of articles as a pandas table: `page_id`, `title`, `x` and `y` from 0 to 1
        (upwards), `topic`, the largest, and `area`, empty for a topic that is not in use. Articles
        are in the order of reading; your own documents have the rows and the index of
        `documents()`, or are numbered from 0 if they have no ids.

        A notebook shows the map, to be zoomed and searched, with the beginnings of your own
        documents; its `save` writes it as a page (`.html`) or, with the extra `report`, a picture
        (`.png`).

        ``color``: what to colour by instead of areas: a column such as ``frame["label"]``, whose
        index has the documents' ids (of other articles, their `page_id`), or a value for each
        document, in order. Numbers and dates become a scale of at most seven parts. Documents
        without a value are grey, with a warning that says how many.

        Raises `SessionError` if the session has no map of articles.
        """
        if NOTEBOOK.missing():
            raise ValueError(NOTEBOOK.needed("map()"))
        from wikitopics.session.analysis.map_frame import map_frame

        with self._open() as reader, following() as advance:
            return map_frame(reader, reader.model_named(model), color, advance)

    def counts(self) -> tuple[Minibatch, NDArray[np.int64]]:
        """(word counts, (D,) page ids) of all documents, held-out ones first, if the session has
        kept them: of your own documents, with several passes, or with `--keep-counts`. A model's
        `learn` and `infer` take them unchanged.
        """
        with self._open(), KeptCounts(self.path) as kept:
            documents = kept.documents(0, len(kept))
        return documents.minibatch(), documents.page_ids

    def __getstate__(self) -> dict[str, object]:
        # Read again by the receiver.
        return {**self.__dict__, "_recorded": None, "_finder": None, "_painter": None}
