"""`wikitopics.train`: the topics of texts in memory, learnt by a trainer in a separate process."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager, suppress
from functools import partial
from itertools import chain, islice, zip_longest
from pathlib import Path
from typing import Any

from wikitopics.crawler.errors import BadSource
from wikitopics.crawler.file_source import silently
from wikitopics.crawler.markup.texts import noticing
from wikitopics.crawler.mediawiki.kinds import LANG, language_of_texts
from wikitopics.crawler.page import Markup
from wikitopics.crawler.source import default_held_out
from wikitopics.crawler.texts.files import TextFiles
from wikitopics.crawler.texts.kind import BEFORE, LINES, MARKUP, TEXTS
from wikitopics.crawler.texts.records import LONGEST_ID
from wikitopics.option import Option
from wikitopics.session import control
from wikitopics.session.analysis.proportions import as_kept
from wikitopics.session.control import InMemoryTexts
from wikitopics.session.errors import BadUsage, NoSession, Say, SessionError, SessionInUse
from wikitopics.session.escapes import visible
from wikitopics.session.options import MODEL, ON_END, PASSES, SEED, SEEDS, SHARED, SOURCE, VOCAB
from wikitopics.session.paths import session_name
from wikitopics.session.records import KNOWN_ID
from wikitopics.session.request import TrainRequest, check_resumable, load_vocabulary, new_settings
from wikitopics.session.seeds import ids_of, parsed, unknown_words
from wikitopics.session.settings import Settings
from wikitopics.session.storage.opened import keep_index
from wikitopics.session.storage.reader import SessionReader
from wikitopics.session.system import acting_later, in_use, owner, owner_pid
from wikitopics.session.training.blocks import FIRST_TEXTS, short_texts
from wikitopics.session.training.start import LEAST, chosen_by_size
from wikitopics.session.training.vocabulary import file_documents
from wikitopics.stored import StoredSession, cell, check_collection, path_of, whole, wrong_type
from wikitopics.vocab import Vocabulary
from wikitopics.vocab.rules import Rule
from wikitopics.vocab.vocabulary import (
    STOP_WORDS,
    VocabularyError,
    VocabularyRecipe,
    build_vocabulary,
    document_limit,
)

LOOK_SECONDS = 0.3
"""Seconds between two looks at the session for its progress."""
_TOPICS = next(option for option in SHARED if option.name == "topics")
_OPTIONS: tuple[Option[Any], ...] = (
    SOURCE,
    TEXTS,
    VOCAB,
    MODEL,
    _TOPICS,
    PASSES,
    SEED,
    SEEDS,
    MARKUP,
)
_PARAMETERS = {option.flag: option.name for option in (*_OPTIONS, LANG)}
_PARAMETERS |= {VOCAB.flag: "vocabulary", "--session": "session"}
"""The parameters of `train` by the options of the command line."""
_MODELS = "a kind of model or a SPEC, or several"
_END = object()
_USUAL = VocabularyRecipe.of_language(None)


def train(
    texts: Iterable[str | None],
    session: str | os.PathLike[str] = "default",
    *,
    model: str | Sequence[str] | None = None,
    topics: int | None = None,
    passes: int | None = None,
    vocabulary: Vocabulary | Iterable[str] | str | os.PathLike[str] | None = None,
    lang: str | None = None,
    stop_words: Iterable[str] | str | None = "auto",
    min_df: float | None = None,
    max_df: float | None = None,
    min_letters: int = 3,
    digits: bool = False,
    phrases: bool = False,
    seeds: Mapping[str, Iterable[str]] | None = None,
    titles: Iterable[object] | None = None,
    ids: Iterable[object] | None = None,
    seed: int = 0,
    markup: Markup | None = None,
    replace: bool = False,
    add: bool = False,
    progress: bool = True,
) -> StoredSession:
    """Learn the topics of texts, such as a pandas column, and return the session.

    None, NaN and empty texts are skipped and counted, but keep their numbers: a document's
    `page_id` is its position among the texts, from 1.

    titles, ids: one for each text; without ids, the index of a pandas Series is used. Without
    titles, a text
        is called by its id, or "text 727" if it has no id or only the row number that pandas gave
        it. `proportions(frame=True)` has that index, or ids from a pandas Series or Index, with
        their type; other ids are text
    model: a kind of model or a SPEC of `wikitopics train --model`, or several; None: lda
    topics, passes: None: chosen by the number of texts
    vocabulary: a `Vocabulary`, a list of words, or the name or file of one; None builds one from
    the texts,
        according to the next arguments, up to phrases; lang and digits also determine how a list of
        words is read
    lang: the code of the texts' language, such as "de"; None: treat them as English
    stop_words: words to leave out, "en" for the English ones (`ENGLISH_STOP_WORDS`), None for none;
    "auto":
        the English ones if the language is English
    min_df, max_df: the fewest and the most texts in which a word may occur: a whole number of
    texts, or a
        float for a share of them; None: two, and one in 2,500; 0.2, or 0.1 without stop words
    min_letters: the fewest letters of a word; 2 keeps AI and EU
    digits: whether words that also have a letter may have digits, such as 5G
    phrases: whether frequent pairs of words, such as "new york", count as words
    seeds: words that topics should be about, by name: the first topics are about these and get
    these names;
        the others are free
    markup: "wikitext" or "html", which is removed before words are counted
    replace: whether an existing session of this name is deleted and begun again; nothing is deleted
    before
        the arguments have been checked and the texts read
    add: whether a finished session learns these texts in addition to its own: once, without those
    whose ids
        it already has. Their numbers follow those of the earlier texts
    progress: whether to show a progress bar, if there is a terminal or a notebook, and tqdm is
    installed

    A trainer learns in a separate process, as with `wikitopics train --source texts`. Meanwhile,
    the texts are in a file beside the session that only you can read. If the session exists and has
    the same texts and options, training continues; a finished session is returned at once.

    Ctrl+C saves the session, stops the trainer and raises KeyboardInterrupt; the same call resumes
    later. If this process ends, the trainer still finishes. Two concurrent calls need two sessions.

    Raises ValueError or TypeError for a wrong argument, and `SessionError` if the session has other
    texts or options, is in use, or cannot be written, or if the trainer fails. Warns of repeated
    ids, of texts that are short or seem to contain markup, and of an index or ids that can only be
    kept as text.
    """
    if add and replace:
        raise ValueError("add and replace contradict each other: give one")
    path = path_of(session)
    files = InMemoryTexts.of(path)
    if replace:
        with suppress(NoSession):
            control.check_removable(path)
    request = _request(files, model, markup, topics=topics, passes=passes, seed=seed)
    language = _language(lang)
    choice = {"min_df": min_df, "max_df": max_df, "min_letters": min_letters}
    recipe = _recipe(language, stop_words, digits=digits, phrases=phrases, **choice)
    words = _vocabulary(vocabulary, recipe, VocabularyRecipe.of_language(language, digits=digits))
    seeded = {} if seeds is None else _seeds(seeds)
    labels = _labels(texts, ids, None if add else path)
    index, notes = _index(labels, of_ids=ids is not None)
    # pandas numbers the rows of a table that has no index of its own: such numbers are no titles
    by_id = ids is not None or (getattr(labels, "start", 0), getattr(labels, "step", 0)) != (0, 1)
    if ids is None and labels is not None:
        ids = map(str, labels)  # one that is missing is a label, too
    arguments = {"texts": texts, "titles": titles, "ids": ids}
    if (trainer := owner(path)) is not None:
        raise in_use(path, trainer.pid)
    with files.held() as descriptor:
        with _attended(path, files, descriptor) as started:
            if words is not None:
                request = request.giving(vocab=files.write(files.words, words.lines))
            if seeded:
                request = request.giving(seeds=files.write(files.seeds, [json.dumps(seeded)]))
            is_new = replace or not os.path.exists(
                path
            )  # also a name that is too long: refused below
            settings = new_settings(request, request.kind())[0]  # raises for what is wrong with it
            by_id = by_id and (is_new or not _are_numbered(path))
            documents = _documents(arguments, notes.append, noticed=markup is None, by_id=by_id)
            number = files.write_texts(descriptor, documents)
            proses = partial(file_documents, [str(files.texts)], silently, markup=markup or "text")
            if words is None and (is_new or lang is not None or recipe != _USUAL):
                words = build_vocabulary(filter(None, proses()), recipe).vocabulary
                request = request.giving(vocab=files.write(files.words, words.lines))
            if is_new and words is not None:
                sizes = (int(words.count(text)[1].sum()) for text in proses())
                notes += _checked_words(words, seeded, sizes, number if replace else None)
            for note in notes:
                warnings.warn(_in_python(note), stacklevel=2)
            if not is_new:
                is_finished = _is_finished(path, files, request, words, add)
                if not add:  # the index of the first texts is kept
                    _store_index(path, index)
                if is_finished:
                    return StoredSession(path)
            if replace:
                with suppress(NoSession):
                    control.remove(path, texts=False)
            known = 0 if is_new else _known(path)
            command = ["train", "--session", str(path), *_arguments(request, files)]
            with acting_later():  # during a start, no process is known yet that could be ended
                started.append(control.start_trainer(path, command, [descriptor]))
            with _progress_bar(path, number, progress, settings if is_new else None) as look:
                code = None
                while code is None:
                    with acting_later() as signals:
                        code = signals.wait(started[0], LOOK_SECONDS)
                        if is_new and os.path.exists(path):
                            _store_index(path, index)
                            is_new = False
                        look()
        _check_ended(path, code)
        for remark in _remarks(path, number, known):
            warnings.warn(remark, stacklevel=2)
    return StoredSession(path)


@contextmanager
def _attended(
    path: Path, files: InMemoryTexts, held: int
) -> Iterator[list[subprocess.Popen[bytes]]]:
    """Yield a list for the trainer that is started in the block: Ctrl+C stops it, and the files are
    removed at the end unless it still reads them.

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
        raise ValueError(_in_python(str(error))) from None
    except (BadSource, SessionError) as error:
        raise SessionError(_in_python(str(error))) from None
    finally:
        with acting_later():
            if all(process.poll() is not None for process in started) and owner(path) is None:
                files.remove(held)


def _check_ended(path: Path, code: int) -> None:
    """Raise ValueError or `SessionError` unless the trainer has ended as it should."""
    if code == SessionInUse.exit_code:  # its log may be the other one's
        raise in_use(path, owner_pid(path) or 0)
    if code:
        message = control.last_words(path)
        control.forget(path)
        if message and code == BadUsage.exit_code:
            raise ValueError(_in_python(message))
        raise SessionError(
            _in_python(
                message if message and code > 0 else f"the trainer was {control.death(code)}"
            )
        )


def _remarks(path: Path, number: int, known: int) -> Iterator[str]:
    """Remarks for the user on a session that was given this many texts; ``known``: how many texts
    it had skipped before because it had their ids."""
    with SessionReader(path) as reader:
        now = reader.status()
    if known := now.skips.get(KNOWN_ID, 0) - known:
        yield (
            f"{known:,} of {number:,} texts are skipped, because the session already has their ids"
        )
    if now.state != "finished":
        yield f"the trainer was stopped after {now.documents:,} documents; the same call resumes it"


def _vocabulary(
    argument: object, recipe: VocabularyRecipe, of_list: VocabularyRecipe
) -> Vocabulary | None:
    """The vocabulary that an argument of `train` means; None if ``recipe`` chooses its words.

    ``of_list``: the only recipe that may come with a list of words. Raises `VocabularyError`,
    TypeError, and ValueError for words that are chosen twice.
    """
    if argument is None:
        return None
    chosen = _USUAL  # anything but a list has a rule of its own
    if isinstance(argument, Vocabulary):
        vocabulary = argument
    elif isinstance(argument, str | os.PathLike):
        try:
            vocabulary = load_vocabulary(os.fspath(argument))
        except VocabularyError as error:
            raise type(error)(f"vocabulary: {error}") from None
    else:
        words = _words("vocabulary", "a Vocabulary, words, a name or a file", argument)
        chosen, in_order = of_list, sorted(words) if isinstance(argument, Set) else words
        vocabulary = Vocabulary(in_order, recipe.rule, "vocabulary")
    if recipe != chosen:
        raise ValueError(
            "vocabulary: its words are already chosen; leave out stop_words and the other "
            "arguments that choose words (only lang and digits go with a list of words)"
        )
    return vocabulary


def _words(argument: str, needed: str, value: object) -> list[str]:
    """The words in an argument that is a collection of them. Raises TypeError."""
    words: list[Any] = (
        list(map(cell, value))
        if isinstance(value, Iterable) and not isinstance(value, bytes)
        else [value]
    )
    if not all(isinstance(word, str) for word in words):
        raise wrong_type(argument, needed, value)
    return words


def _language(lang: object) -> str | None:
    """The language meant by an argument of `train`. Raises ValueError or TypeError."""
    if not isinstance(lang, str | None):
        raise wrong_type("lang", "the code of a language", lang)
    try:
        return language_of_texts(lang)
    except BadSource as error:
        raise ValueError(_in_python(str(error))) from None


def words(lang: str) -> Callable[[str], list[str]]:
    """A function that splits texts in the language of this code, such as "ja", into all its words,
    in order: ``CountVectorizer(analyzer=words("ja"))``.

    Raises ValueError for anything but a code, and for a language whose words cannot be separated
    here.
    """
    return Rule.of_language(_language(lang) or "").split


def _recipe(language: str | None, stop_words: object, **choice: Any) -> VocabularyRecipe:
    """How the arguments of `train` choose words; ``choice``: those that a recipe has under the same
    names.

    Raises ValueError or TypeError.
    """
    if not isinstance(stop_words, str):
        given = () if stop_words is None else stop_words
        words: Collection[str] | None = _words("stop_words", "words", given)
    elif stop_words in ("auto", *STOP_WORDS):
        words = STOP_WORDS.get(stop_words)  # auto: those of the language
    else:
        known = ", ".join(map(repr, STOP_WORDS))
        raise ValueError(
            f"stop_words must be words, 'auto', {known} or None, not {stop_words!r:.60}"
        )
    for name in ("min_df", "max_df"):
        try:
            choice[name] = None if choice[name] is None else document_limit(choice[name])
        except (TypeError, ValueError) as error:
            raise ValueError(f"{name}: {error}") from None
    choice["min_letters"] = whole("min_letters", choice["min_letters"], least=1)
    return VocabularyRecipe.of_language(language, words, **choice)


def _checked_words(
    words: Vocabulary,
    seeds: Mapping[str, Sequence[str]],
    sizes: Iterator[int],
    number: int | None,
) -> list[str]:
    """Remarks for the user on the words of a new session; ``sizes``: the number of known words of
    each text;
    ``number``: that of the texts, if a session is to be replaced.

    Raises `BadUsage` if a seeded topic has no known word, and ValueError if too few of the texts
    have one: the trainer would find that only after the session to replace has been deleted.
    """
    ids_of(seeds, words)
    first = list(islice(sizes, FIRST_TEXTS))
    remarks = [*unknown_words(seeds, words), *short_texts(first)]
    if number is None:
        return remarks
    held_out = default_held_out(number)
    some = sum(1 for _ in islice(filter(None, chain(first, sizes)), held_out + LEAST))
    if some < held_out + LEAST:
        raise ValueError(
            f"texts: only {some:,} of {number:,} have words of the vocabulary; {held_out:,} are "
            "held out, and at least two more are needed"
        )
    return remarks


def _seeds(argument: object) -> dict[str, list[str]]:
    """The seeds that an argument of `train` means. Raises ValueError or TypeError."""
    needed = "a dictionary of lists of words"
    if not isinstance(argument, Mapping) or any(
        isinstance(words, str) for words in argument.values()
    ):
        raise wrong_type("seeds", needed, argument)
    seeds = {str(name): _words("seeds", needed, words) for name, words in argument.items()}
    try:
        return parsed(json.dumps(seeds)) if seeds else {}
    except ValueError as error:
        raise ValueError(f"seeds: {error}") from None


def _labels(texts: object, ids: object, path: Path | None) -> Any:
    """The ids as an index of pandas: those given, otherwise the index of the texts; None if they
    are of other types, or if the session at ``path`` was made by 1.1.0, which did not use an index
    as ids."""
    if (pandas := sys.modules.get("pandas")) is None:
        return None
    if isinstance(ids, pandas.Series | pandas.Index):
        return pandas.Index(ids)
    if ids is not None or not isinstance(texts, pandas.Series):
        return None
    if path is not None and os.path.exists(path):
        with SessionReader(path) as reader:
            if LINES.name not in reader.settings().source_options:
                return None
    return texts.index


def _index(labels: Any, *, of_ids: bool) -> tuple[dict[str, object] | None, list[str]]:
    """What a session must keep to restore the index of these labels, or None if it cannot, and a
    remark that says why; ``of_ids``: whether the labels are ids that were given."""
    if labels is None:
        return None, []
    if of_ids and labels.hasnans:
        return None, ["ids: some are missing, so tables of documents show numbers instead"]
    subject, index = "ids are" if of_ids else "the index of the texts is", as_kept(labels)
    return index, [] if index else [f"{subject} of a type that can only be kept as text"]


def _request(
    files: InMemoryTexts,
    model: object,
    markup: Markup | None,
    **numbers: int | None,
) -> TrainRequest:
    """The request to the trainer; ``numbers``: topics, passes and seed.

    Raises ValueError or TypeError for a value that its option does not take.
    """
    models: tuple[object, ...] = ()
    if model is not None:
        models = (model,) if isinstance(model, str) else tuple(_words("model", _MODELS, model))
        if not models:
            raise wrong_type("model", _MODELS, model)
    topics, passes, seed = (
        None if one is None else whole(name, one) for name, one in numbers.items()
    )
    return TrainRequest(
        source="texts",
        texts=(str(files.texts),),
        model=models,
        topics=None if topics is None else str(topics),
        passes=None if passes is None else PASSES.convert(passes),
        seed=SEED.convert(seed),
        markup=MARKUP.convert(markup),
    )


def _in_python(message: str) -> str:
    """A message with the parameters of `train` in place of the options of the command line. Names
    in it cannot act on a terminal."""
    # A command in backticks keeps its options.
    return visible(
        re.sub("`[^`]*`|--[a-z-]+", lambda option: _PARAMETERS.get(option[0], option[0]), message)
    )


def _known(path: Path) -> int:
    """The number of texts that the session has skipped because it had their ids."""
    with SessionReader(path) as reader:
        return reader.progress().skips.get(KNOWN_ID, 0)


def _are_numbered(path: Path) -> bool:
    """Whether the session calls texts with ids by their numbers, as an earlier version did: it can
    be resumed only with the same titles."""
    with SessionReader(path) as reader:
        given = (
            one.title for one in reader.recent_articles() if one.id not in (None, "", one.title)
        )
        return any(re.fullmatch(r"text \d+", title) for title in given)


def _is_finished(
    path: Path,
    files: InMemoryTexts,
    request: TrainRequest,
    vocabulary: Vocabulary | None,
    add: bool,
) -> bool:
    """Whether nothing is left to do. Raises `SessionError` for a session with other options, or
    with other texts unless these can be added."""
    with SessionReader(path) as reader:
        settings, position, state = (
            reader.settings(),
            reader.progress().position,
            reader.status().state,
        )
        counter = None if vocabulary is None else reader.counter()
        holdings = reader.holdings()
    takes_more = state == "finished" and settings.source == request[SOURCE]
    adds, over = add and takes_more, ", or replace=True to start over"
    other = f"session {session_name(path)} was made from other texts ({holdings}): "
    other += "pass those again, or another session"
    other += over + ("; add=True adds these" if takes_more else "")
    is_the_same = settings.source_options.get(TEXTS.name) == [str(files.texts)]
    if position is None and BEFORE in settings.source_options:
        # Up to 1.2.0, a session that had just been told of more texts did not know yet what they
        # were.
        is_the_same = is_the_same and add
    if not is_the_same and not adds:
        raise SessionError(other)
    try:
        check_resumable(request, settings, adds=adds)
    except BadUsage as error:  # the arguments are right, but not those of this session
        raise SessionError(f"{error}{over}") from None
    try:
        if position and is_the_same:
            TextFiles([str(files.texts)], lines=settings.source_options.get(LINES.name)).mark(
                position
            )
    except BadSource:
        if not adds:
            raise SessionError(other) from None
        is_the_same = False
    if vocabulary != counter:
        raise SessionError(
            "vocabulary: this session counts other words; to resume it, leave out vocabulary and "
            f"the arguments that choose its words, or give another session{over}"
        )
    return state == "finished" and is_the_same


def _store_index(path: Path, index: Mapping[str, object] | None) -> None:
    """Store an index in the session unless it is there already."""
    if index is not None:
        with SessionReader(path) as reader:
            is_there = reader.index() == (index["name"], index["dtype"])
        if not is_there:
            keep_index(path, index)


def _arguments(request: TrainRequest, files: InMemoryTexts) -> Iterator[str]:
    """The words of the command line. The trainer, too, removes the files at its end, unless they
    are another trainer's."""
    for option in _OPTIONS:
        if option in request:
            value = request[option]
            yield from (
                f"{option.flag}={one}" for one in (value if isinstance(value, tuple) else (value,))
            )
    remove = shlex.join(["rm", "-f", "--", *map(str, files)])
    yield f'{ON_END.flag}=[ "$WIKITOPICS_EXIT_CODE" = {SessionInUse.exit_code} ] || {remove}'


def _documents(
    arguments: Mapping[str, Any],
    tell: Say,
    *,
    noticed: bool,
    by_id: bool,
) -> Iterator[dict[str, str | None]]:
    """The lines of the file of texts, from the arguments of `train`.

    ``tell``: is told of repeated ids and, if ``noticed``, of markup in the texts. ``by_id``:
    whether the title of a text without one is its id, if it has any.

    Raises ValueError or TypeError, and `SessionError` where the texts are read from files that
    cannot be read.
    """
    columns = {
        name: values for name, values in arguments.items() if name == "texts" or values is not None
    }
    for name, values in columns.items():
        check_collection(name, values)

    def read() -> Iterator[dict[str, str | None]]:
        number = some = repeated = 0
        seen = set[str]()
        try:
            for number, cells in enumerate(zip_longest(*columns.values(), fillvalue=_END), start=1):
                row = dict(zip(columns, cells, strict=True))
                if ended := [name for name, cell in row.items() if cell is _END]:
                    raise ValueError(
                        f"{ended[0]}: only {number - 1:,} of them, fewer than the others"
                    )
                text, title, external_id = (
                    cell(row.get(name)) for name in ("texts", "titles", "ids")
                )
                if text is not None and not isinstance(text, str):
                    raise TypeError(
                        f"texts: number {number - 1} is of type {type(text).__name__}, not a string"
                    )
                some += bool(text and text.strip())
                label = None if external_id is None else str(external_id)
                if label is not None:
                    if len(label.encode(errors="surrogatepass")) > LONGEST_ID:
                        raise ValueError(f"ids: number {number - 1} is over {LONGEST_ID:,} bytes")
                    repeated += label in seen
                    seen.add(label)
                title = label if title is None and by_id and label else title
                yield {
                    "text": text,
                    "title": f"text {number}" if title is None else str(title),
                    "id": label,
                }
        except OSError as error:
            raise SessionError(f"cannot read the texts: {error}") from error
        if not some:
            raise ValueError(f"texts: all {number:,} are empty" if number else "texts is empty")
        if repeated:
            tell(
                f"ids: {repeated:,} of {number:,} repeat an earlier one, so an id no longer tells "
                "which text is which"
            )

    return noticing(read(), lambda document: document["text"] or "", tell) if noticed else read()


@contextmanager
def _progress_bar(
    path: Path,
    documents: int,
    wanted: bool,
    requested: Settings | None,
) -> Iterator[Callable[[], None]]:
    """Yield a function that looks at the session and shows its progress, if somebody can see it.

    ``requested``: the settings of a new session before its size is known.
    """
    if not wanted or not (sys.stderr.isatty() or "ipykernel" in sys.modules):
        yield lambda: None
        return
    try:
        with warnings.catch_warnings():
            warnings.simplefilter(
                "ignore"
            )  # in a notebook without widgets, it warns and shows a bar of text
            from tqdm.auto import tqdm
    except ImportError:
        yield lambda: None
        return
    name, began = visible(session_name(path)), time.time()
    with tqdm(desc=name, unit=" texts") as bar:

        def look() -> None:
            with suppress(SessionError), SessionReader(path) as reader:
                now = reader.status()
                if now.committed_at < began:  # this is from before this training
                    return
                passes = 1 if now.added else now.passes
                if bar.total is None:
                    if requested and (chosen := chosen_by_size(requested, reader.settings())):
                        # Notebooks show what is on standard error as if it were an error.
                        bar.write(_in_python(chosen), file=sys.stdout)
                    bar.reset(documents * passes)
                scores = {
                    one.name: f"{one.perplexity:,.0f}" for one in now.models if one.perplexity
                }
                label = f"{name}, pass {now.pass_} of {passes}" if passes > 1 else name
                bar.set_description(label, refresh=False)
                bar.set_postfix(scores, refresh=False)
                # Later passes leave out texts that are held out or skipped; the bar counts all in
                # each.
                bar.update(round((now.lap or 0) * bar.total) - bar.n)

        yield look
