"""`wikitopics.train`: the topics of texts in memory, learnt by a trainer in a separate process."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wikitopics.crawler.page import Markup
from wikitopics.extra import NOTEBOOK
from wikitopics.in_python import trainer
from wikitopics.in_python.parameters import in_python
from wikitopics.in_python.preparing import Task, prepared
from wikitopics.in_python.progress import progress_bar
from wikitopics.in_python.request import given_held_out, given_request
from wikitopics.in_python.resuming import is_finished, skips_so_far, store_index
from wikitopics.in_python.texts import given_documents, kept_index, labels_of
from wikitopics.in_python.words import given_choice, given_language, given_recipe, given_seeds
from wikitopics.session import control
from wikitopics.session.analysis.frames import remark_on_index
from wikitopics.session.errors import NoSession
from wikitopics.session.in_memory_texts import InMemoryTexts
from wikitopics.session.options import NO_SNIPPETS
from wikitopics.session.paths import DEFAULT_SESSION
from wikitopics.session.records import KNOWN_ID
from wikitopics.session.storage.reader import SessionReader
from wikitopics.session.system import in_use, owner
from wikitopics.stored import StoredSession
from wikitopics.stored.arguments import check_collection, given_flag, path_of
from wikitopics.vocab import Vocabulary

if TYPE_CHECKING:
    from pandas import DataFrame

    from wikitopics.stored.given import Documents

_HAVE_THEIR_IDS = {KNOWN_ID: "the session already has", "repeated": "texts before them have"}
"""By the reason for which texts are skipped, what has their ids."""


def train(
    texts: Documents,
    session: str | os.PathLike[str] = DEFAULT_SESSION,
    *,
    text_column: str | None = None,
    model: str | Sequence[str] | None = None,
    topics: int | Iterable[int] | None = None,
    passes: int | None = None,
    replicas: int | None = None,
    vocabulary: Vocabulary | Iterable[str] | str | os.PathLike[str] | None = None,
    lang: str | None = None,
    stop_words: Iterable[str] | str | None = "auto",
    min_df: float | None = None,
    max_df: float | None = None,
    min_letters: int | None = None,
    digits: bool = False,
    phrases: bool = False,
    seeds: Mapping[str, Iterable[str]] | None = None,
    titles: Iterable[object] | str | None = None,
    ids: Iterable[object] | str | None = None,
    held_out: float | None = None,
    snippets: bool = True,
    seed: int = 0,
    markup: Markup | None = None,
    replace: bool = False,
    add: bool = False,
    progress: bool = True,
) -> StoredSession:
    """Learn the topics of texts, such as a pandas column, and return the session.

    None, NaN and empty texts are skipped and counted, but keep their numbers: a document's
    `page_id` is its position among the texts, from 1.

    A text may be given as a list of tokens, which are words as they are: nothing is split, folded
    or joined, but tokens that are blank or cannot be shown in a line are left out. Texts may also
    be counts of the words in `vocabulary`: a matrix of SciPy or NumPy with a row for each text and
    a column for each word, such as `CountVectorizer` makes, or a corpus of gensim. A session of
    tokens or counts splits other texts as usual, here with add=True, and in `infer` and `similar`,
    unless a text is itself a token.

    Texts may also be a table of pandas, polars or Arrow, a dataset of Arrow, or the path of a
    Parquet file or of a folder of such files. The trainer reads such files, also those of a
    dataset, in a random order and without copying them.

    text_column: the column of the texts, in a table or file; None: the one called `text`
    titles, ids: one for each text; for a table or file, the name of the column instead, without
        which those called `title` and `id` (otherwise `url`) are used, if there are any.
        Without ids, the index of a pandas Series or DataFrame is used. A text
        without a title is called by its id. It is called "text 727" if it has no id, or only the
        row number that pandas gave it. The index of `proportions(frame=True)` is the index of
        that Series, or ids from a pandas Series or Index, with their type; other ids are text
    model: a kind of model or a SPEC of `wikitopics train --model`, or several; None: lda
    topics, passes: None: chosen by the number of texts. Several numbers of topics, such as
        [10, 20, 40], at most 20, make a model of each, lda-10, lda-20 and lda-40, which learn side
        by side; `StoredSession.compare` compares them
    replicas: how many more models learn beside each model with other seeds, at most 11, so that
        `Topic.found` tells which topics come back; None: as many as hardly take longer (see
        --replicas in `wikitopics train --help`)
    vocabulary: a `Vocabulary`, a list of words, or the name or file of one; None builds one from
        the texts, according to the arguments from lang to phrases; lang and digits also
        determine how a list of words is read. With counts, it names the columns, and may also be
        the vectorizer or gensim's `Dictionary`
    lang: the code of the texts' language, such as "de"; None: treat them as English
    stop_words: words to leave out, "en" for the English ones (`ENGLISH_STOP_WORDS`), None for none;
        "auto": the English ones if the language is English
    min_df, max_df: the fewest and the most texts in which a word may occur: a whole number of
        texts, or a float for a share of them. If min_df is None: two texts, or one in 2,500 if that
        is more; if max_df is None: 0.2, or 0.1 without stop words
    min_letters: the fewest letters of a word; 2 keeps AI and EU. None: 3; of a token, 1
    digits: whether words that also have a letter may have digits, such as 5G
    phrases: whether frequent pairs of words, such as "new york", count as words
    seeds: words that topics should be about, by name: the first topics are about these and get
        these names; the others are free
    held_out: how many texts are set aside to measure perplexity, and not learnt: a whole number, or
        a float for a share of them; None: a tenth, at most 1,000
    snippets: whether the session keeps the first 300 characters of each text, to show what it is
        about; of counts, nothing is kept
    markup: "wikitext" or "html", which is removed before words are counted
    replace: whether an existing session of this name is deleted and begun again; nothing is deleted
        before the arguments have been checked and the texts read
    add: whether a finished session learns these texts in addition to its own: once, without those
        whose ids it already has. Their numbers follow those of the earlier texts
    progress: whether to show a progress bar, if there is a terminal or a notebook, and tqdm is
        installed

    A trainer learns in a separate process, as with `wikitopics train --source texts`. Meanwhile,
    the texts are in a file beside the session that only you can read. If the session exists and has
    the same texts and options, training continues; a finished session is returned at once.

    Ctrl+C saves the session, stops the trainer and raises KeyboardInterrupt; the same call resumes
    later. SIGTERM saves the session and stops the trainer, too, before it ends this process. If
    this process ends in another way, the trainer still finishes. Two concurrent calls need two
    sessions.

    Raises ValueError or TypeError for a wrong argument, and `SessionError` if the session has other
    texts or options, is in use, or cannot be written, or if the trainer fails. Warns of repeated
    ids, of texts that are short or seem to contain markup, and of an index or ids that can only be
    kept as text, also because those of added texts are of another type.
    """
    if add and replace:
        raise ValueError("add and replace contradict each other: give one")
    path = path_of(session)
    files = InMemoryTexts.of(path)
    if replace:
        with suppress(NoSession):
            control.check_removable(path)
    request = given_request(files, model, markup, topics, passes, replicas, seed)
    path_to_resume = None if replace else path
    documents = given_documents(texts, text_column, titles, ids, markup, path_to_resume)
    language = given_language(lang)
    recipe = given_recipe(
        language,
        stop_words,
        min_df=min_df,
        max_df=max_df,
        min_letters=min_letters,
        digits=digits,
        phrases=phrases,
        tokens=documents.has_tokens,
    )
    choice = given_choice(vocabulary, recipe, language, documents.given.kind, digits=digits)
    to_hold_out = given_held_out(held_out)
    if not given_flag("snippets", snippets):
        request = request.giving(**{NO_SNIPPETS.name: True})
    seeded = {} if seeds is None else given_seeds(seeds)
    # Texts that are added have their index as ids, even in a session of 1.1.0.
    path_of_same_texts = None if add else path
    parts = documents.parts
    labels = labels_of(parts.texts, parts.ids, path_of_same_texts)
    index, notes = kept_index(labels, of_ids=parts.ids is not None)
    task = Task(
        path=path,
        files=files,
        request=request,
        documents=documents,
        labels=labels,
        choice=choice,
        seeds=seeded,
        to_hold_out=to_hold_out,
        replace=replace,
        add=add,
        progress=progress,
    )
    running = owner(path)
    if running is not None:
        raise in_use(path, running.pid)
    with files.held() as descriptor:
        with trainer.attended(path, files, descriptor) as started:
            # True also for a name that is too long, which is refused below.
            is_new = replace or not os.path.exists(path)
            ready = prepared(task, descriptor, is_new, notes.append)
            for note in dict.fromkeys(notes):
                warnings.warn(in_python(note), stacklevel=2)
            if not is_new:
                rows = documents.rows
                nothing_is_left = is_finished(path, ready.request, ready.words, add, rows)
                if not add:  # a session to which texts are added keeps the index of its first texts
                    store_index(path, index)
                if nothing_is_left:
                    return StoredSession(path)
            if replace:
                with suppress(NoSession):
                    control.remove(path, texts=False)
            skips_before = {} if is_new else skips_so_far(path)
            process = trainer.start(path, ready.request, files, descriptor, started)
            # An existing session has its index, and its choices have been told.
            requested = ready.settings if is_new else None
            index_to_store = index if is_new else None
            with progress_bar(path, progress, requested) as show:
                code = trainer.wait(process, path, index_to_store, show)
        trainer.check_ended(path, code)
        for remark in _remarks(path, ready.number, skips_before):
            warnings.warn(remark, stacklevel=2)
    return StoredSession(path)


def vary_topics(
    texts: Documents,
    topics: Iterable[int],
    session: str | os.PathLike[str] = "vary-topics",
    **options: Any,
) -> DataFrame:
    """Learn texts with several numbers of topics, and return a pandas table that compares these.

    It is `train(texts, session, topics=topics, **options).compare()`: a row for each model, the
    columns of `StoredSession.compare`. `open(session)` has the models, and the same call again
    returns the same table. The log-likelihood is measured in texts that no model has learnt. It
    says how well words are predicted, not which number of topics is the most useful.

    options: other arguments of `train`, such as model and replicas; where topics are too many for
        replicas by default, `found` is NaN unless these are asked for

    Raises the errors of `train`, and of `StoredSession.compare`.
    """
    check_collection("topics", topics)
    if find_spec("pandas") is None:  # better now than after training
        raise ValueError(NOTEBOOK.needed("vary_topics"))
    return train(texts, session, topics=topics, **options).compare()


def _remarks(path: Path, number: int, skips_before: Mapping[str, int]) -> Iterator[str]:
    """Remarks for the user on a session that was given this many texts; ``skips_before``: how many
    it had already skipped before, by reason."""
    with SessionReader(path) as reader:
        now = reader.status()
        has_tables = find_spec("pandas") is not None
        on_index = remark_on_index(reader) if has_tables else ""
    if on_index:
        yield on_index
    for reason, who_has in _HAVE_THEIR_IDS.items():
        skipped = now.skips.get(reason, 0) - skips_before.get(reason, 0)
        if skipped:
            yield f"{skipped:,} of {number:,} texts are skipped, because {who_has} their ids"
    if now.state != "finished":
        yield f"the trainer was stopped after {now.documents:,} documents; the same call resumes it"
