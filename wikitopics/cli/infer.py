"""`infer` and `similar`: the topics of any text, by a session's model, and the articles most like it."""

import contextlib
import gc
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from wikitopics.cli import options
from wikitopics.cli.options import Command
from wikitopics.cli.output import ProgressLine, objects, put_json, put_line, say, unless_none
from wikitopics.crawler.texts.source import MARKUP
from wikitopics.session.errors import SessionError
from wikitopics.session.options import LINKS, TOKENS
from wikitopics.session.paths import command, session_path
from wikitopics.session.sources import noun

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from wikitopics.crawler.source import Markup
    from wikitopics.session.storage.reader import SessionReader


# `compare`: score sessions and their models on the same articles.


@click.command(cls=Command)
@click.argument("sessions", metavar="[SESSION]\u2026", nargs=-1, shell_complete=options.session_names)
@click.option(
    "--session", "more", metavar="NAME", multiple=True, shell_complete=options.session_names,
    help="Another session to compare.",
)  # fmt: skip
@options.json_option
def compare(sessions: tuple[str, ...], more: tuple[str, ...], as_json: bool) -> None:
    """Score sessions and their models on articles new to all of them.

    If no session is named, the models of `default` are compared.

    The articles scored are those that one session holds out and that every other session either holds out too
    or has not trained on. All models are scored on the same articles, by document completion, as on the
    chart. The sessions must have the same vocabulary. A running session is compared as of its last commit.

    Articles of a wiki are identified by page id, documents of a file by number. Two wikis have no article in
    common. Two files, or a file and a wiki, are assumed to have none, and a message says so. With
    --keep-articles top or none, a session does not know which articles it trained on, so only those that it
    holds out itself are scored.

    Examples:
      wikitopics compare
      wikitopics compare night day ~/old.db --json
    """
    from wikitopics.session.analysis.comparison import compare as compared

    names = (*sessions, *more) or ("default",)
    with contextlib.ExitStack() as opened:
        paths = dict.fromkeys(map(session_path, names))
        readers = [opened.enter_context(options.reading(path)) for path in paths]
        nouns = {noun(reader.settings().source) for reader in readers}
        articles = nouns.pop() if len(nouns) == 1 else "articles"
        with ProgressLine("models scored", sum(len(reader.models()) for reader in readers)) as progress:
            result = compared(readers, progress)
    if as_json:
        put_json(asdict(result))
        return
    for remark in result.remarks:
        say(remark)
    put_line(f"{result.articles:,} {articles} that no model was trained on")
    width = max(len("session"), *(len(one.session) for one in result.models))
    name = max(len("model"), *(len(one.model) for one in result.models))
    put_line(
        f"{'session':{width}}  {'model':{name}}  {'trained':>11}  {'in use':>11}  {'log likelihood':>14}  "
        f"{'difference':>11}  {'perplexity':>10}"
    )
    for one in result.models:
        used = f"{one.topics_in_use:,} of {one.topics:,}"
        put_line(
            f"{one.session:{width}}  {one.model:{name}}  {one.articles:>11,}  {used:>11}  "
            f"{one.log_likelihood:>14.4f}  {one.difference:>11.4f}  {one.perplexity:>10,.1f}"
        )


_MOST = 32 * 2**20
"""The largest text, in bytes."""
_UNREADABLE = 0.3
"""The share of characters that are not UTF-8 above which a file is no text; in Latin-1 one letter in ten
may be accented."""


@click.command(cls=Command)
@click.argument("files", metavar="[FILE]…", nargs=-1, type=click.Path())
@options.take(MARKUP, help=f"{MARKUP.help} Default: as in the session's own texts.")
@options.model_option
@options.session_option
@options.json_option
def infer(
    files: tuple[str, ...], markup: "Markup | None", model: str | None, session: str, as_json: bool
) -> None:
    """Infer topic proportions of any text.

    Each FILE is one text; without files, standard input is. A session of links (--tokens links) takes
    wikitext or HTML.

    Examples:
      wikitopics infer essay.txt
      wikitopics infer --session links page.html
      pbpaste | wikitopics infer --json
    """
    from wikitopics.session.records import in_line

    files = files or ("-",)
    with _uncollected(), options.reading(session) as reader:
        name, unit = reader.model_named(model), reader.settings()[TOKENS]
        texts = list(zip(files, infer_files(reader, name, files, markup), strict=True))
        topics = {row.topic: row for row in reader.topics(name, 8)}
    if as_json:
        rows = ((file, words, known, name, theta.tolist()) for file, (words, known, theta) in texts)
        put_json(objects("file words known model proportions", rows))
        return
    for file, (words, known, theta) in texts:
        put_line(f"{_called(file)}: {known:,} of {words:,} {unit} known")
        for topic in (-theta).argsort(kind="stable")[:8].tolist() if known else ():
            if theta[topic] >= 0.01:
                row = topics.get(topic)
                label = f"{row.name}: {in_line(word for word, _ in row.words)}" if row else ""
                put_line(f"  {theta[topic]:6.1%}  {topic:4}  {label}")


@contextlib.contextmanager
def _uncollected() -> Iterator[None]:
    """Turn garbage collection off, which took a tenth of a start.

    Loading compiled kernels makes about a hundred thousand objects, all of which stay.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def infer_files(
    reader: "SessionReader", model: str, files: Sequence[str], markup: "Markup | None" = None
) -> "list[tuple[int, int, NDArray[np.float32]]]":
    """(words, those known, topic proportions) of each file, where "-" is standard input.

    Raises `SessionError` for a file that is not text, and if no word of any file is known.
    """
    from wikitopics.session.analysis.proportions import proportions, proses

    texts, vocabulary = proses(reader, map(_read, files), markup), reader.counter()
    known, theta = proportions(reader, model, vocabulary, texts)
    if not known.any():
        held = f"{_called(files[0])} holds" if len(files) == 1 else "these texts hold"
        shown = command("vocab show", reader.path)
        what = "wikitext or HTML link to a title" if reader.settings()[TOKENS] == LINKS else "word"
        raise SessionError(f"{held} no {what} of the session's vocabulary (`{shown}` prints it)")
    return list(zip(map(vocabulary.n_words_in, texts), known.tolist(), theta, strict=True))


def _called(file: str) -> str:
    return "standard input" if file == "-" else file


def _read(file: str) -> str:
    from wikitopics.session.storage.files import read_bounded, read_input

    if file == "-" and sys.stdin.isatty():
        say("type or paste a text; Ctrl+D ends it")
    try:
        data = read_bounded(sys.stdin.buffer, _MOST) if file == "-" else read_input(file, _MOST, pipes=True)
    except FileNotFoundError:
        raise SessionError(
            f"{file}: no such file; to infer the words themselves, pipe them to `infer -`"
        ) from None
    except OSError as error:
        raise SessionError(f"{_called(file)}: {error.strerror}") from None
    text = data.decode("utf-8", "replace")
    if "\0" in text or text.count("\N{REPLACEMENT CHARACTER}") > len(text) * _UNREADABLE:
        raise SessionError(f"{_called(file)}: a binary file, or not UTF-8 text")
    return text


@click.command(cls=Command)
@click.argument("what", metavar="TITLE|FILE")
@options.limit_option
@options.model_option
@options.session_option
@options.json_option
def similar(what: str, limit: int, model: str | None, session: str, as_json: bool) -> None:
    """List the articles most like another one, or like any text.

    Give an article by its title, or a text by its file ('-' for standard input).

    An exact title takes precedence over a file of that name (./NAME is always the file), and a file over a
    title that differs only in capitals. The distance is the Hellinger distance (0 to 1) between topic
    proportions. An article's proportions date from its training; those of the newest 20,000 articles are
    updated each time the session doubles in size.

    Examples:
      wikitopics similar Cello
      wikitopics similar essay.txt --limit 50 --json
      pbpaste | wikitopics similar -
    """
    from wikitopics.session.analysis.proportions import Recorded, not_found

    with options.reading(session) as reader:
        name = reader.model_named(model)
        recorded = Recorded(reader, name)
        row = None if what == "-" else recorded.row_of(reader, what, exact=True)
        if row is None and (what == "-" or os.path.exists(what)):
            ((_, _, theta),) = infer_files(reader, name, [what])
            articles = recorded.nearest(reader, theta, limit)
        elif row is None and (row := recorded.row_of(reader, what)) is None:
            raise not_found(reader, what, or_file=True)
        else:
            articles = recorded.like(reader, row, limit)
    say(recorded.as_of_told())
    if as_json:
        put_json([unless_none(asdict(one), "id") for one in articles])
        return
    put_line("distance     page_id  title")
    for one in articles:
        put_line(f"{one.distance:8.3f} {one.page_id:11}  {one.title}")
