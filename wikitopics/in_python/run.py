"""`wikitopics.train`: the topics of texts in memory, learnt by a trainer in a separate process."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from importlib.util import find_spec
from itertools import islice
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Any, SupportsIndex, TypeVar

from wikitopics.crawler.errors import BadSource
from wikitopics.crawler.file_source import silently
from wikitopics.crawler.page import Markup
from wikitopics.crawler.texts.kinds import COLUMN, MARKUP, TEXTS
from wikitopics.extra import NOTEBOOK
from wikitopics.in_python.parameters import OPTIONS, in_python
from wikitopics.in_python.progress import progress_bar
from wikitopics.in_python.resuming import are_numbered, is_finished, skips_so_far, store_index
from wikitopics.in_python.texts import (
    are_row_numbers,
    kept_index,
    kept_texts,
    labels_of,
    lines_of_texts,
    texts_given,
    unreadable,
)
from wikitopics.in_python.words import (
    given_language,
    given_recipe,
    given_seeds,
    given_vocabulary,
    given_words,
    known_words,
    remarks_on_words,
    usual_recipe,
    words_built,
)
from wikitopics.session import control
from wikitopics.session.advance import followed
from wikitopics.session.analysis.frames import remark_on_index
from wikitopics.session.errors import BadUsage, NoSession, NotNow, Say, SessionError, SessionInUse
from wikitopics.session.in_memory_texts import InMemoryTexts
from wikitopics.session.options import HELD_OUT, NO_SNIPPETS, ON_END, PASSES, REPLICAS, SEED
from wikitopics.session.paths import DEFAULT_SESSION, session_name
from wikitopics.session.records import KNOWN_ID
from wikitopics.session.request import TrainRequest, new_settings
from wikitopics.session.settings import MOST_NUMBERS
from wikitopics.session.signals import Signals, acting_later
from wikitopics.session.storage.reader import SessionReader
from wikitopics.session.system import in_use, owner, owner_pid
from wikitopics.session.training.vocabulary_texts import file_documents
from wikitopics.stored import StoredSession
from wikitopics.stored.arguments import check_collection, given_flag, path_of, whole, wrong_type
from wikitopics.stored.columns import parts_of
from wikitopics.stored.given import Given
from wikitopics.stored.progress_bars import following
from wikitopics.vocab import Vocabulary
from wikitopics.vocab.vocabulary import VocabularyError

if TYPE_CHECKING:
    from pandas import DataFrame

    from wikitopics.crawler.texts.parquet import ParquetRows
    from wikitopics.stored.given import Documents

T = TypeVar("T")

POLL_SECONDS = 0.3
"""Seconds after which the session is read again for its progress."""
_MODELS = "a kind of model or a SPEC, or several"
_NUMBERS = "a number, or several such as [10, 20, 40]"
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
    request = _request(files, model, markup, topics, passes, replicas, seed)
    try:
        parts = parts_of("texts", texts, text_column, titles, ids)
        given = Given("texts", parts.texts)  # looks at the first texts
    except OSError as error:
        raise unreadable(error) from error
    rows: ParquetRows | None = None
    if parts.files is not None:
        paths, names, rows = parts.files
        request = request.giving(
            texts=paths, text_column=names.text, title_column=names.title, id_column=names.id
        )
    counter = None if replace else _counter_of_tokens(path, given)
    has_tokens = given.kind != "texts" or counter is not None
    if has_tokens and markup not in (None, "text"):
        raise ValueError("markup: tokens and counts have none; leave it out")
    language = given_language(lang)
    recipe = given_recipe(
        language,
        stop_words,
        min_df=min_df,
        max_df=max_df,
        min_letters=min_letters,
        digits=digits,
        phrases=phrases,
        tokens=has_tokens,
    )
    recipe_of_list = usual_recipe(language, digits=digits, tokens=has_tokens)
    words = given_vocabulary(vocabulary, recipe, recipe_of_list)
    if given.kind == "counts" and words is None:
        raise ValueError(
            "vocabulary: counts need the words that they are of, such as the vectorizer that made "
            "them, or its get_feature_names_out()"
        )
    to_hold_out = _given_held_out(held_out)
    keeps_snippets = given_flag("snippets", snippets)
    seeded = {} if seeds is None else given_seeds(seeds)
    # Texts that are added have their index as ids, even in a session of 1.1.0.
    path_of_same_texts = None if add else path
    labels = labels_of(parts.texts, parts.ids, path_of_same_texts)
    ids_are_given = parts.ids is not None
    index, notes = kept_index(labels, of_ids=ids_are_given)
    arguments = {
        "texts": texts_given(given, notes.append, words, counter),
        "titles": parts.titles,
        "ids": _ids_to_keep(parts.ids, labels),
    }
    trainer = owner(path)
    if trainer is not None:
        raise in_use(path, trainer.pid)
    with files.held() as descriptor:
        with _attended(path, files, descriptor) as started:
            if words is not None:
                request = request.giving(vocab=files.write(files.words, words.lines))
            if seeded:
                request = request.giving(seeds=files.write(files.seeds, [json.dumps(seeded)]))
            # True also for a name that is too long, which is refused below.
            is_new = replace or not os.path.exists(path)
            has_nothing_to_keep = is_new and given.kind == "counts"
            if not keeps_snippets or has_nothing_to_keep:
                request = request.giving(**{NO_SNIPPETS.name: True})
            settings, _ = new_settings(request, request.kind())  # raises for a wrong request
            has_own_ids = ids_are_given or not are_row_numbers(labels)
            ids_are_titles = has_own_ids and (is_new or not are_numbered(path))
            if rows is not None:
                number = rows.rows
            else:
                documents = lines_of_texts(
                    arguments,
                    notes.append,
                    markup_is_noticed=markup is None and not has_tokens,
                    ids_are_titles=ids_are_titles,
                )
                with _followed(documents, "texts read", 0, progress) as taken:
                    number = files.write_texts(descriptor, taken)
            n_held_out = _number_to_hold_out(to_hold_out, number, adds=add and not is_new)
            if n_held_out is not None:
                request = request.giving(held_out=HELD_OUT.convert(n_held_out))
            # What was written to the file of texts has been looked at.
            tell = silently if rows is None else notes.append
            proses = _proses(request, files, markup, tell, has_tokens=has_tokens)
            # An existing session has its words. They are chosen again only if an argument says how,
            # to be compared with the session's.
            usual = usual_recipe(digits=False, tokens=has_tokens)
            chooses_words = is_new or lang is not None or recipe != usual
            if words is None and chooses_words:
                what = "texts read for the vocabulary"
                with _followed(proses(), what, number, progress) as taken:
                    words = words_built(taken, recipe)
                request = request.giving(vocab=files.write(files.words, words.lines))
            if is_new and words is not None:
                sizes = known_words(words, proses())
                number_to_check = number if replace else None
                notes += remarks_on_words(
                    words, seeded, sizes, number_to_check, request.get(HELD_OUT)
                )
            for note in dict.fromkeys(notes):
                warnings.warn(in_python(note), stacklevel=2)
            if not is_new:
                nothing_is_left = is_finished(path, request, words, add, rows)
                if not add:  # a session to which texts are added keeps the index of its first texts
                    store_index(path, index)
                if nothing_is_left:
                    return StoredSession(path)
            if replace:
                with suppress(NoSession):
                    control.remove(path, texts=False)
            skips_before = {} if is_new else skips_so_far(path)
            process = _start(path, request, files, descriptor, started)
            # An existing session has its index, and its choices have been told.
            requested = settings if is_new else None
            index_to_store = index if is_new else None
            with progress_bar(path, progress, requested) as show:
                code = _wait(process, path, index_to_store, show)
        _check_ended(path, code)
        for remark in _remarks(path, number, skips_before):
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


def _ids_to_keep(ids: Iterable[object] | None, labels: Any) -> Iterable[object] | None:
    """The ids that were given, otherwise the index of the texts; None without either.

    ``labels``: the result of `labels_of`.
    """
    if ids is None and labels is not None:
        return map(str, labels)  # a missing label becomes text, too, such as "nan"
    return ids


@contextmanager
def _followed(items: Iterable[T], what: str, total: int, wanted: bool) -> Iterator[Iterator[T]]:
    """Yield the items. A progress bar counts those that are taken, if one is wanted; ``what`` and
    ``total`` are as for `Advance`."""
    with following(wanted=wanted) as advance:
        yield followed(items, what, total, advance)


def _number_to_hold_out(wanted: int | float | None, number: int, *, adds: bool) -> int | None:
    """How many of this many texts to hold out; None: as many as by default, or as the
    session has. ``wanted``: the result of `_given_held_out`.

    A share is of the first texts: a session to which texts are added has its number.
    """
    if not isinstance(wanted, float):
        return wanted
    return None if adds else max(1, round(wanted * number))


def _proses(
    request: TrainRequest,
    files: InMemoryTexts,
    markup: Markup | None,
    tell: Say,
    *,
    has_tokens: bool,
) -> Callable[[], Iterator[str]]:
    """A function that reads the texts for the trainer, without markup, as often as it is called."""
    if has_tokens:
        return partial(kept_texts, files.texts)

    def proses() -> Iterator[str]:
        documents, _ = file_documents(
            request[TEXTS], tell, request.get(COLUMN), markup=markup or "text"
        )
        return documents

    return proses


def _start(
    path: Path,
    request: TrainRequest,
    files: InMemoryTexts,
    descriptor: int,
    started: list[subprocess.Popen[bytes]],
) -> subprocess.Popen[bytes]:
    """Start the trainer, which keeps the file of texts open. Ctrl+C waits until it is in
    ``started``, and can be ended."""
    command = ["train", "--session", str(path), *_arguments(request, files)]
    with acting_later() as signals:
        process = control.start_trainer(path, command, [descriptor])
        started.append(process)
        _stop_if_terminated(process, signals)
    return process


def _wait(
    process: subprocess.Popen[bytes],
    path: Path,
    index: Mapping[str, object] | None,
    show: Callable[[], None],
) -> int:
    """Wait for the trainer, and show its progress; returns its exit code.

    ``index``: what is to be stored in a new session as soon as the trainer has created it.
    """
    to_store = index
    while True:
        with acting_later() as signals:
            code = signals.wait(process, POLL_SECONDS)
            _stop_if_terminated(process, signals)
            if to_store is not None and os.path.exists(path):
                try:
                    store_index(path, to_store)
                    to_store = None
                except NotNow:  # such as during a long commit of the trainer
                    if code is not None:
                        raise
            show()
        if code is not None:
            return code


def _stop_if_terminated(process: subprocess.Popen[bytes], signals: Signals) -> None:
    """Stop the trainer if SIGTERM is recorded, which ends this process without an exception."""
    if signal.SIGTERM in signals.noted:
        process.terminate()
        signals.wait(process, control.STOP_SECONDS, until=())


@contextmanager
def _attended(
    path: Path, files: InMemoryTexts, descriptor: int
) -> Iterator[list[subprocess.Popen[bytes]]]:
    """Yield a list to which the block adds the trainer that it starts: Ctrl+C stops that trainer,
    and the files are removed at the end unless a trainer still reads them. ``descriptor``: of the
    file of texts, which is held.

    Errors in the block are told in terms of the parameters of `train`, as ValueError or
    `SessionError`.
    """
    started: list[subprocess.Popen[bytes]] = []
    try:
        yield started
    except KeyboardInterrupt:
        with acting_later() as signals:
            for process in started:
                process.terminate()
                signals.wait(process, control.STOP_SECONDS)
            control.forget(path)
        raise
    except (BadUsage, VocabularyError) as error:
        raise ValueError(in_python(str(error))) from None
    except (BadSource, SessionError) as error:
        raise SessionError(in_python(str(error))) from None
    finally:
        with acting_later():
            all_have_ended = all(process.poll() is not None for process in started)
            if all_have_ended and owner(path) is None:
                files.remove(descriptor)


def _check_ended(path: Path, code: int) -> None:
    """Raise ValueError or `SessionError` unless the trainer has ended as it should."""
    if code == 0:
        return
    if code == SessionInUse.exit_code:  # the log may be the running trainer's, so it is not read
        raise in_use(path, owner_pid(path) or 0)
    message = control.last_words(path)
    control.forget(path)
    if message and code == BadUsage.exit_code:
        raise ValueError(in_python(message))
    if not message or code < 0:
        message = f"the trainer was {control.death(code)}"
    raise SessionError(in_python(message))


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


def _counter_of_tokens(path: Path, given: Given) -> Vocabulary | None:
    """The vocabulary of the session at ``path`` if that counts tokens; None if it does not, or if
    there is no session. Raises `SessionError` for tokens or counts in a session that counts the
    words of texts."""
    try:
        with SessionReader(path) as reader:
            if reader.settings().building:
                return None
            counter = reader.counter()
    except NoSession:
        return None
    if counter.rule.tokens:
        return counter
    if given.kind != "texts":
        raise SessionError(
            f"session {session_name(path)} counts the words of texts, not {given.kind}: give texts "
            "or another session, or replace=True to start over"
        )
    return None


def _given_held_out(value: object) -> int | float | None:
    """A number of texts to hold out, or as a float a share of them. Raises ValueError or
    TypeError."""
    if value is None:
        return None
    if isinstance(value, Real) and not isinstance(value, SupportsIndex):
        share = float(value)
        if not 0 < share < 1:
            raise ValueError(
                f"held_out must be a whole number, or a share between 0 and 1, not {value!r:.40}"
            )
        return share
    number = whole("held_out", value)  # type: ignore[arg-type]
    HELD_OUT.convert(number)  # raises for too large a number
    return number


def _request(
    files: InMemoryTexts,
    model: object,
    markup: Markup | None,
    topics: int | Iterable[int] | None,
    passes: int | None,
    replicas: int | None,
    seed: int | None,
) -> TrainRequest:
    """The request to the trainer. Raises ValueError or TypeError for a value that its option does
    not take."""
    models: tuple[object, ...] = ()
    if isinstance(model, str):
        models = (model,)
    elif model is not None:
        models = tuple(given_words("model", _MODELS, model))
        if not models:
            raise wrong_type("model", _MODELS, model)
    if passes is not None:
        passes = whole("passes", passes)
    if replicas is not None:
        replicas = whole("replicas", replicas)
    if seed is not None:
        seed = whole("seed", seed)
    return TrainRequest(
        source="texts",
        texts=(str(files.texts),),
        model=models,
        topics=None if topics is None else _numbers(topics),
        passes=None if passes is None else PASSES.convert(passes),
        replicas=None if replicas is None else REPLICAS.convert(replicas),
        seed=SEED.convert(seed),
        markup=MARKUP.convert(markup),
    )


def _numbers(topics: SupportsIndex | Iterable[SupportsIndex]) -> str:
    """A number of topics, or several, as at the command line. Raises ValueError or TypeError."""
    if isinstance(topics, str | bytes):
        raise wrong_type("topics", _NUMBERS, topics)
    if not isinstance(topics, Iterable):
        return str(whole("topics", topics))
    # One more than are accepted is enough to refuse them, and a generator may have no end.
    some = islice(topics, MOST_NUMBERS + 1)
    numbers = [str(whole("topics", number)) for number in some]
    if not numbers:
        raise ValueError(f"topics must be {_NUMBERS}")
    return ",".join(numbers)


def _arguments(request: TrainRequest, files: InMemoryTexts) -> Iterator[str]:
    """The words of the command line. The trainer, too, removes the files at its end, unless they
    are another trainer's."""
    for option in OPTIONS:
        if option in request:
            value = request[option]
            values = value if isinstance(value, tuple) else (value,)
            for each in values:
                yield option.flag if each is True else f"{option.flag}={each}"
    files_are_anothers = f'[ "$WIKITOPICS_EXIT_CODE" = {SessionInUse.exit_code} ]'
    remove = shlex.join(["rm", "-f", "--", *map(str, files)])
    # In a shell, what stands after || is run only if the test before it fails.
    yield f"{ON_END.flag}={files_are_anothers} || {remove}"
