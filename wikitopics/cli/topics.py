"""What models say: `topics` (also to name and hide them) and `history`; `infer`, `similar`,
`compare`."""

import contextlib
import gc
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from operator import attrgetter
from typing import TYPE_CHECKING

import click

from wikitopics.cli import options
from wikitopics.cli.options import Command, Group, topic_numbers, whole
from wikitopics.cli.output import (
    ProgressLine,
    column,
    objects,
    put_json,
    put_line,
    say,
    unless_none,
)
from wikitopics.crawler.texts.kind import MARKUP
from wikitopics.session.errors import NO_TOPICS, BadUsage, SessionError
from wikitopics.session.options import LINKS, PASSES, TOKENS
from wikitopics.session.paths import command, session_path
from wikitopics.session.sources import noun, unit_noun

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from wikitopics.crawler.page import Markup
    from wikitopics.session.storage.reader import SessionReader

LARGEST = 3
"""Topics listed for each area."""
NAMING_TITLES = 10
"""How many titles of a topic's leading articles are passed to the command that names it."""


@click.group(cls=Group, invoke_without_command=True)
@options.of_model
@click.option(
    "--top",
    metavar="N",
    type=whole(1),
    default=10,
    show_default=True,
    help="Words per topic.",
)
@click.option(
    "--by",
    type=click.Choice(["relevance", "probability"]),
    help="Order of a topic's words: the most distinctive first, or the most probable (default: "
    "relevance; --json: probability).",
)
@click.option(
    "--areas",
    metavar="[N]",
    type=whole(0),
    is_flag=False,
    flag_value=0,
    help="List areas, which are groups of similar topics; with N, cut the tree of topics into N "
    "areas.",
)
@click.option(
    "--tree",
    is_flag=True,
    help="List the topics by area; --json: the tree that areas are cut from.",
)
@click.option(
    "--all",
    "every",
    is_flag=True,
    help="Include topics that are not in use, and hidden ones.",
)
@options.json_option
def topics(
    session: str,
    top: int,
    model: str | None,
    by: str | None,
    areas: int | None,
    tree: bool,
    every: bool,
    as_json: bool,
) -> None:
    """List the topics, most prevalent first, numbered from 0.

    The share is the fraction of the corpus's words that belong to the topic. The trend is the
    change in that share, in percentage points, since half as many articles had been read. npmi is
    the coherence of the
    leading words: how strongly they tend to occur together in held-out articles (-1 to 1). A topic
    is in use if it has more than a thousandth of the words. --json gives all topics.

    Examples:
      wikitopics topics --top 8
      wikitopics topics --by probability
      wikitopics topics --areas
      wikitopics topics --tree
      wikitopics topics --model hdp --json
      wikitopics topics rename 12 'rivers and lakes'
      wikitopics topics name --command ./ask-model
      wikitopics topics hide 3 17
    """
    ctx = click.get_current_context()
    if ctx.invoked_subcommand is not None:
        options.refuse_early_options(ctx)
        return

    if tree and areas is not None:
        raise BadUsage("give --areas or --tree, not both")
    with options.reading(session) as reader:
        name = reader.model_named(model)
        if areas is not None:
            _areas(reader, name, areas or None, every, as_json)
        elif tree:
            _tree(reader, name, every, as_json)
        else:
            relevant = by == "relevance" if by else not as_json
            _list(reader, name, top, every, as_json, relevant)


def _list(
    reader: "SessionReader",
    model: str,
    top: int,
    every: bool,
    as_json: bool,
    relevant: bool,
) -> None:
    from wikitopics.model.online import IN_USE
    from wikitopics.session.analysis.proportions import top_words
    from wikitopics.session.analysis.topics import coherences, described_topics, repeats_in_words
    from wikitopics.session.records import in_line

    with reader.one_moment():
        rows = sorted(reader.topics(model), key=lambda row: -row.share)
        words = top_words(reader, model, top, relevant=relevant) if rows else []
        topics = described_topics(reader, model) if as_json else ()
        npmi, repeated = coherences(reader, model), repeats_in_words(reader, model)
    if not rows:
        say(NO_TOPICS)
    if as_json:
        words_of = [objects("word probability", row) for row in words]
        names = "name npmi parent in_use area area_name hidden"
        rest = attrgetter(*names.split())
        values = (
            (model, one.number, one.share, words_of[one.number], *rest(one))
            for one in sorted(topics, key=lambda one: -one.share)
        )
        put_json(objects(f"model topic share words {names}", values))
        return
    in_use = [row for row in rows if row.share > IN_USE]
    shown = rows if every else [row for row in in_use if not row.hidden]
    head, *called = column(
        (f"{row.name} (hidden)" if row.hidden else row.name for row in shown), "name"
    )
    if shown:
        put_line(f"topic  share  trend   npmi  {head}  words")
    for row, name in zip(shown, called, strict=True):
        coherence = npmi[row.topic]
        npmi_text = "" if coherence is None else f"{coherence:.2f}"
        put_line(
            f"{row.topic:5} {row.share:6.1%} {100 * row.change:+6.2f} {npmi_text:>6}  "
            f"{name}  {in_line(word for word, _ in words[row.topic])}"
        )
    for missing, why in (
        (len(rows) - len(in_use), "not in use"),
        (len(in_use) - len(shown), "hidden"),
    ):
        if missing > 0 and not every:
            verb = "is" if missing == 1 else "are"
            say(f"{missing} of {len(rows)} topics {verb} {why}; --all shows them")
    if repeated:
        say(repeated)


def _areas(reader: "SessionReader", model: str, n: int | None, every: bool, as_json: bool) -> None:
    from wikitopics.session.analysis.areas import areas

    with reader.one_moment():
        found, rows = areas(reader, model, n), reader.topics(model)
    if as_json:
        values = ((model, one.number, one.name, one.share, list(one.topics)) for one in found)
        put_json(objects("model area name share topics", values))
        return
    if not found:
        say(NO_TOPICS)
        return
    head, *called = column((one.name for one in found), "name")
    put_line(f"area  share  topics  {head}  largest topics")
    for one, name in zip(found, called, strict=True):
        if shown := [rows[topic] for topic in one.topics if every or not rows[topic].hidden]:
            largest = "; ".join(row.label for row in shown[:LARGEST])
            put_line(f"{one.number:4} {one.share:6.1%}  {len(shown):6}  {name}  {largest}")


def _tree(reader: "SessionReader", model: str, every: bool, as_json: bool) -> None:
    from wikitopics.session.analysis.areas import areas, in_drawing_order, topic_tree

    with reader.one_moment():
        branches, found, rows = (
            topic_tree(reader, model),
            areas(reader, model),
            reader.topics(model),
        )
    if as_json:
        values = (
            (model, one.number, one.parent, one.height, one.name, one.share) for one in branches
        )
        put_json(objects("model node parent height name share", values))
        return
    if not branches:
        say(NO_TOPICS)
    for area, topics in in_drawing_order(branches, found):
        shown = [rows[topic] for topic in topics if every or not rows[topic].hidden]
        if shown:
            put_line(f"{area.share:6.1%}  {area.name}")
        for row in shown:
            put_line(f"{row.share:6.1%}    {row.topic:4}  {row.name}")


@topics.command()
@click.argument("topic", metavar="K", type=whole(0), shell_complete=topic_numbers)
@click.argument("name")
@options.of_model
def rename(topic: int, name: str, session: str, model: str | None) -> None:
    """Give topic K a name of your own.

    The name is used everywhere from then on; '' removes it. Works while a trainer is running.

    Examples:
      wikitopics topics rename 12 'rivers and lakes'
      wikitopics topics rename 12 '' --session night      back to the automatic name
    """
    from wikitopics.session.control import rename as give

    path = session_path(session)
    with options.reading(path) as reader:
        chosen = reader.model_named(model)
    say(f"topic {topic} of {chosen} is now called {give(path, chosen, topic, name)}")


topics_argument = click.argument(
    "chosen",
    metavar="K\u2026",
    nargs=-1,
    required=True,
    type=whole(0),
    shell_complete=topic_numbers,
)


@topics.command()
@topics_argument
@options.of_model
def hide(chosen: tuple[int, ...], session: str, model: str | None) -> None:
    """Leave topics out of lists, the report and the map.

    Nothing is deleted, and no share changes: `topics --all`, --json and exports still have these
    topics. Works while a trainer is running.

    Examples:
      wikitopics topics hide 3 17
      wikitopics topics unhide 17      list it again
    """
    _hide(chosen, session, model, hidden=True)


@topics.command()
@topics_argument
@options.of_model
def unhide(chosen: tuple[int, ...], session: str, model: str | None) -> None:
    """List hidden topics again.

    Example:
      wikitopics topics unhide 17
    """
    _hide(chosen, session, model, hidden=False)


def _hide(chosen: tuple[int, ...], session: str, model: str | None, *, hidden: bool) -> None:
    from wikitopics.session.control import hide_topics

    path = session_path(session)
    with options.reading(path) as reader:
        name = reader.model_named(model)
    hide_topics(path, name, chosen, hidden)
    listed = f"topic{'s' if len(chosen) > 1 else ''} {', '.join(map(str, chosen))} of {name}"
    say(f"{listed}: {'hidden from lists' if hidden else 'listed again'}")


@topics.command()
@click.option(
    "--command",
    metavar="CMD",
    required=True,
    help="Run with your shell, once for each topic.",
)
@click.option("--all", "every", is_flag=True, help="Include topics that are not in use.")
@click.option("--replace", is_flag=True, help="Include topics that already have a given name.")
@options.of_model
def name(command: str, every: bool, replace: bool, session: str, model: str | None) -> None:
    """Let a script or a language model name the topics.

    CMD gets a JSON object on its standard input: the topic's "number", its "words", the most
    probable first, and the "titles" of the articles that are most about it. The first line that CMD
    prints becomes the topic's name (at most 60 characters); if CMD prints nothing or an empty line,
    the topic keeps its name. CMD may take up to 30 s for each topic. If it fails, the names given
    so far are kept. CMD is not stored. Note that it also receives the titles of private documents.
    Works while a trainer is running.

    Examples:
      wikitopics topics name --command 'jq -r ".titles[0] // empty | .[:60]"'
      wikitopics topics name --command ./ask-model --session night --replace
    """
    from wikitopics.model.online import IN_USE
    from wikitopics.session.control import rename as give
    from wikitopics.session.control import suggested
    from wikitopics.session.records import SNAPSHOT_WORDS
    from wikitopics.session.system import Signals

    path = session_path(session)

    with options.reading(path) as reader:
        chosen = reader.model_named(model)
        candidates = [
            row for row in reader.topics(chosen, SNAPSHOT_WORDS) if every or row.share > IN_USE
        ]
        named = {} if replace else reader.names_given(chosen)
    rows = sorted((row for row in candidates if row.topic not in named), key=lambda row: -row.share)
    if not rows:
        noun = "topic" if every else "topic in use"
        say(f"every {noun} has a given name; --replace renames them" if candidates else NO_TOPICS)

    with Signals() as signals:  # so that whatever ends this ends the command's process group too
        for number, row in enumerate(rows, 1):
            with options.reading(path) as reader:
                if not replace and row.topic in reader.names_given(chosen):
                    continue  # named by hand meanwhile
                titles = [
                    one.title for one in reader.articles_about(chosen, row.topic, NAMING_TITLES)
                ]
            question = {
                "number": row.topic,
                "words": [word for word, _ in row.words],
                "titles": titles,
            }
            name = suggested(path, command, question, signals)
            outcome = (
                f"is now called {give(path, chosen, row.topic, name)}" if name else "keeps its name"
            )
            say(f"{number} of {len(rows)}: topic {row.topic} of {chosen} ({row.name}) {outcome}")


@click.command(cls=Command)
@click.argument(
    "topic",
    metavar="[TOPIC]",
    type=whole(0),
    required=False,
    shell_complete=topic_numbers,
)
@options.of_model
@options.json_option
def history(topic: int | None, session: str, model: str | None, as_json: bool) -> None:
    """List births, deaths, splits, mergers and renamings of topics.

    Births and mergers of areas are listed, too. With TOPIC, list its words over time.

    Examples:
      wikitopics history               what has happened to the topics
      wikitopics history 12            the words of topic 12 over time
      wikitopics history --json
    """
    with options.reading(session) as reader:
        if topic is None:
            _events(reader, model, as_json)
        else:
            _words(reader, reader.model_named(model), topic, as_json)


def _events(reader: "SessionReader", model: str | None, as_json: bool) -> None:
    models = reader.models() if model is None else [reader.model_named(model)]
    events = [event for event in reader.topic_events() if event.model in models]
    if as_json:
        put_json(list(map(asdict, events)))
        return
    if not events:
        say("no events yet")
    for event in events:
        of = f"{event.model:10}" if len(models) > 1 else ""
        put_line(f"{event.articles:11,}  {of}{event.told()}")


def _words(reader: "SessionReader", model: str, topic: int, as_json: bool) -> None:
    from wikitopics.session.records import in_line

    reader.check_topic(model, topic)
    history = reader.topic_history(model, topic)
    if as_json:
        rows = (
            (model, at, topic, share, objects("word probability", words))
            for at, share, words in history
        )
        put_json(objects("model articles topic share words", rows))
        return
    if not history:
        say(NO_TOPICS)
    shown = 0
    for number, (articles, share, words) in enumerate(history, 1):
        if articles.bit_length() != shown or number == len(
            history
        ):  # one line per doubling, and the newest
            shown = articles.bit_length()
            put_line(f"{articles:11,} {share:6.1%}  {in_line(word for word, _ in words)}")


# `compare`: score sessions and their models on the same articles.


@click.command(cls=Command)
@click.argument(
    "sessions",
    metavar="[SESSION]\u2026",
    nargs=-1,
    shell_complete=options.session_names,
)
@click.option(
    "--session",
    "more",
    metavar="NAME",
    multiple=True,
    shell_complete=options.session_names,
    help="Another session to compare.",
)
@options.json_option
def compare(sessions: tuple[str, ...], more: tuple[str, ...], as_json: bool) -> None:
    """Score sessions and their models on articles new to all of them.

    If no session is named, the models of `default` are compared.

    The articles scored are those that one session holds out and that every other session either
    holds out too or has not trained on. All models are scored on the same articles, by document
    completion, as on the chart. The sessions must have the same vocabulary. A running session is
    compared as of its last commit.

    Articles of a wiki are identified by page id, documents of a file by number. Two wikis have no
    article in common. Two files, or a file and a wiki, are assumed to have none, and a message says
    so. With
    --keep-articles top or none, a session does not know which articles it trained on, so only those
    that it holds out itself are scored.

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
        with ProgressLine(
            "models scored", sum(len(reader.models()) for reader in readers)
        ) as progress:
            result = compared(readers, progress)
    if as_json:
        put_json(asdict(result))
        return
    for remark in result.remarks:
        say(remark)
    put_line(f"{result.articles:,} {articles} that no model was trained on")
    head, *called = column((one.session for one in result.models), "session")
    width = max(len("model"), *(len(one.model) for one in result.models))
    put_line(
        f"{head}  {'model':{width}}  {'trained':>11}  {'in use':>11}  {'log likelihood':>14}  "
        f"{'difference':>11}  {'perplexity':>10}"
    )
    for one, session in zip(result.models, called, strict=True):
        used = f"{one.topics_in_use:,} of {one.topics:,}"
        put_line(
            f"{session}  {one.model:{width}}  {one.articles:>11,}  {used:>11}  "
            f"{one.log_likelihood:>14.4f}  {one.difference:>11.4f}  {one.perplexity:>10,.1f}"
        )


_MOST = 32 * 2**20
"""The largest text, in bytes."""
_UNREADABLE = 0.3
"""The share of characters that are not UTF-8 above which a file is no text; in Latin-1 one letter
in ten may be accented."""


@click.command(cls=Command)
@click.argument("files", metavar="[FILE]…", nargs=-1, type=click.Path())
@options.take(MARKUP, help=f"{MARKUP.help} Default: as in the session's own texts.")
@options.of_model
@options.json_option
def infer(
    files: tuple[str, ...],
    markup: "Markup | None",
    model: str | None,
    session: str,
    as_json: bool,
) -> None:
    """Infer the topic proportions of any text.

    Each FILE is one text; without FILE, the text is read from standard input. A session of links
    (--tokens links) takes wikitext or HTML.

    Examples:
      wikitopics infer essay.txt
      wikitopics infer --session links page.html
      pbpaste | wikitopics infer --json
    """
    from wikitopics.crawler.texts.files import JSON_LINES, TABLES, ending
    from wikitopics.session.records import in_line

    files = files or ("-",)
    with _uncollected(), options.reading(session) as reader:
        name, unit = reader.model_named(model), reader.settings()[TOKENS]
        texts = list(zip(files, infer_files(reader, name, files, markup), strict=True))
        topics = {row.topic: row for row in reader.topics(name, 8)}
    for file in files:
        if ending(file) in (JSON_LINES, *TABLES):
            say(f"{file} is read as one text; in Python, session.infer takes one text per row")
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
    """Turn garbage collection off: it took a tenth of the startup time.

    Loading compiled kernels makes about a hundred thousand objects, all of which stay.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def infer_files(
    reader: "SessionReader",
    model: str,
    files: Sequence[str],
    markup: "Markup | None" = None,
) -> "list[tuple[int, int, NDArray[np.float32]]]":
    """(words, known words, topic proportions) of each file, where "-" is standard input.

    Raises `SessionError` for a file that is not text, and if no word of any file is known.
    """
    from wikitopics.session.analysis.proportions import proportions, proses

    texts, vocabulary = proses(reader, map(_read, files), markup), reader.counter()
    known, theta = proportions(reader, model, vocabulary, texts)
    if not known.any():
        held = f"{_called(files[0])} contains" if len(files) == 1 else "these texts contain"
        shown = command("vocab show", reader.path)
        what = "wikitext or HTML link to a title" if reader.settings()[TOKENS] == LINKS else "word"
        raise SessionError(f"{held} no {what} of the session's vocabulary (`{shown}` prints it)")
    return list(zip(map(vocabulary.n_words_in, texts), known.tolist(), theta, strict=True))


def _called(file: str) -> str:
    return "standard input" if file == "-" else file


def _read(file: str) -> str:
    from wikitopics.crawler.texts.records import encoding_of
    from wikitopics.session.storage.files import read_bounded, read_input

    if file == "-" and sys.stdin.isatty():
        say("type or paste a text; Ctrl+D ends it")
    try:
        data = (
            read_bounded(sys.stdin.buffer, _MOST)
            if file == "-"
            else read_input(file, _MOST, pipes=True)
        )
    except FileNotFoundError:
        raise SessionError(
            f"{file}: no such file or folder; to infer the words themselves, pipe them to `infer -`"
        ) from None
    except OSError as error:
        raise SessionError(f"{_called(file)}: {error.strerror}") from None
    text = data.decode(encoding_of(data), "replace")
    unreadable = text.count("\N{REPLACEMENT CHARACTER}")
    if "\0" in text or unreadable > len(text) * _UNREADABLE:
        raise SessionError(f"{_called(file)}: a binary file, or not UTF-8 text")
    if unreadable:
        say(
            f"{_called(file)}: not UTF-8 in {unreadable:,} places, where words are cut: save it as "
            "UTF-8"
        )
    return text


@click.command(cls=Command)
@click.argument("what", metavar="TITLE|FILE")
@options.limit_option
@options.of_model
@options.json_option
def similar(what: str, limit: int, model: str | None, session: str, as_json: bool) -> None:
    """List the articles most like another one, or like any text.

    Give an article by its title, or a text by its file ('-' for standard input).

    An exact title takes precedence over a file of that name (./NAME is always the file), and a file
    over a title that differs only in capitals. The distance is the Hellinger distance (0 to 1)
    between topic proportions. An article's proportions date from its training; those of the newest
    20,000 articles are updated each time the session doubles in size.

    Examples:
      wikitopics similar Cello
      wikitopics similar essay.txt --limit 50 --json
      pbpaste | wikitopics similar -
    """
    from wikitopics.session.analysis.proportions import Recorded, not_found

    with options.reading(session) as reader:
        name = reader.model_named(model)
        recorded = Recorded(reader, name)
        to: NDArray[np.float32] | int | None = (
            None if what == "-" else recorded.row_of(reader, what, exact=True)
        )
        if to is None and (what == "-" or os.path.exists(what)):
            ((_, _, to),) = infer_files(reader, name, [what])
        elif to is None and (to := recorded.row_of(reader, what)) is None:
            raise not_found(reader, what, or_file=True)
        articles, settings = recorded.nearest(reader, to, limit), reader.settings()
    told = f"as of {recorded.as_of.articles:,} {unit_noun(settings.source, settings[PASSES])}"
    if len(recorded) < recorded.as_of.documents:
        told += f"; topic proportions are recorded for {len(recorded):,} of them"
    say(told)
    if as_json:
        put_json([unless_none(asdict(one), "id") for one in articles])
        return
    put_line("distance     page_id  title")
    for one in articles:
        put_line(f"{one.distance:8.3f} {one.page_id:11}  {one.title}")
