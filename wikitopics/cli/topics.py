"""`topics`, `topics rename`, `topics name` and `history`: the topics found, and how they developed."""

from typing import TYPE_CHECKING

import click

from wikitopics.cli import options
from wikitopics.cli.options import topic_numbers, whole
from wikitopics.cli.output import objects, put_json, put_line, say
from wikitopics.session.errors import NO_TOPICS
from wikitopics.session.escapes import visible
from wikitopics.session.paths import session_path

if TYPE_CHECKING:
    from wikitopics.session.storage.reader import SessionReader

NAMING_TITLES = 10
"""Titles of a topic's leading articles that a command is told which is to name it."""


@click.group(
    invoke_without_command=True,
    epilog="""\b
Examples:
  wikitopics topics --top 8
  wikitopics topics --by probability
  wikitopics topics --tree
  wikitopics topics --model hdp --json
  wikitopics topics rename 12 'rivers and lakes'
  wikitopics topics name --command ./ask-my-model""",
)
@options.session_option
@click.option("--top", metavar="N", type=whole(1), default=10, show_default=True, help="Words per topic.")
@options.model_option
@click.option(
    "--by",
    type=click.Choice(["relevance", "probability"]),
    help="Order of a topic's words: those first that tell it apart from the others, or the most probable "
    "(default: relevance; --json: probability).",
)
@click.option("--tree", is_flag=True, help="Group similar topics.")
@click.option("--all", "every", is_flag=True, help="Include topics that are not in use.")
@options.json_option
def topics(
    session: str, top: int, model: str | None, by: str | None, tree: bool, every: bool, as_json: bool
) -> None:
    """List the topics, most prevalent first, numbered from 0.

    The share is the topic's part of the words of the corpus. The trend is the change of that share, in
    percentage points, since half as many articles had been read. npmi is the coherence of the leading words:
    how strongly they occur together in held-out articles (-1 to 1). A topic is in use if it has over a
    thousandth of the words. --json gives all topics.
    """
    ctx = click.get_current_context()
    if ctx.invoked_subcommand is not None:
        options.refuse_early_options(ctx)
        return

    with options.reading(session) as reader:
        name = reader.model_named(model)
        if tree:
            _tree(reader, name, as_json)
        else:
            relevant = by == "relevance" if by else not as_json
            _list(reader, name, top, every, as_json, relevant)


def _list(reader: "SessionReader", model: str, top: int, every: bool, as_json: bool, relevant: bool) -> None:
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
        values = (
            (
                *(model, one.number, one.share, objects("word probability", words[one.number])),
                *(one.name, one.npmi, one.parent, one.in_use),
            )
            for one in sorted(topics, key=lambda one: -one.share)
        )
        put_json(objects("model topic share words name npmi parent in_use", values))
        return
    shown = [row for row in rows if every or row.share > IN_USE]
    wide = max((len(visible(row.name)) for row in shown), default=0)
    if shown:
        put_line(f"topic  share  trend   npmi  {'name':{wide}}  words")
    for row in shown:
        coherence = npmi[row.topic]
        npmi_text = "" if coherence is None else f"{coherence:.2f}"
        put_line(
            f"{row.topic:5} {row.share:6.1%} {100 * row.change:+6.2f} {npmi_text:>6}  "
            f"{row.name:{wide}}  {in_line(word for word, _ in words[row.topic])}"
        )
    if len(shown) < len(rows):
        say(f"{len(rows) - len(shown)} of {len(rows)} topics are not in use; --all shows them")
    if repeated:
        say(repeated)


def _tree(reader: "SessionReader", model: str, as_json: bool) -> None:
    from wikitopics.model.online import IN_USE
    from wikitopics.session.analysis.topics import overview, topic_tree

    branches = topic_tree(reader, model)
    if as_json:
        values = ((model, one.number, one.parent, one.height, one.name, one.share) for one in branches)
        put_json(objects("model node parent height name share", values))
        return
    if not branches:
        say(NO_TOPICS)
    for group in overview(branches):
        put_line(f"{group.share:6.1%}  {group.name}")
        for topic in group.topics:
            if branches[topic].share > IN_USE:
                put_line(f"{branches[topic].share:6.1%}    {topic:4}  {branches[topic].name}")


@topics.command(
    epilog="""\b
Examples:
  wikitopics topics rename 12 'rivers and lakes'
  wikitopics topics rename 12 '' --session night      back to the automatic name"""
)
@click.argument("topic", metavar="K", type=whole(0), shell_complete=topic_numbers)
@click.argument("name")
@options.session_option
@options.model_option
def rename(topic: int, name: str, session: str, model: str | None) -> None:
    """Give topic K a name of your own.

    The name is used everywhere from then on; '' removes it. Works while a trainer is running.
    """
    from wikitopics.session.control import rename as give

    path = session_path(session)
    with options.reading(path) as reader:
        chosen = reader.model_named(model)
    say(f"topic {topic} of {chosen} is now called {give(path, chosen, topic, name)}")


@topics.command(
    epilog="""\b
Examples:
  wikitopics topics name --command 'jq -r ".titles[0] // empty | .[:60]"'
  wikitopics topics name --command ./ask-my-model --session night --replace"""
)
@click.option("--command", metavar="CMD", required=True, help="Run with your shell, once for each topic.")
@click.option("--all", "every", is_flag=True, help="Include topics that are not in use.")
@click.option("--replace", is_flag=True, help="Include topics that already have a given name.")
@options.session_option
@options.model_option
def name(command: str, every: bool, replace: bool, session: str, model: str | None) -> None:
    """Let a script or a language model name the topics.

    CMD gets a JSON object on its standard input: the topic's "number", its "words", the most probable first,
    and the "titles" of the articles that are most about it. The first line that CMD prints becomes the
    topic's name (at most 60 characters); without a line, or with an empty one, the name stays. CMD may take
    up to 30 s for each topic. If it fails, the names given so far stay. CMD is not stored. Note that it gets
    the titles of private documents, too. Works while a trainer is running.
    """
    from wikitopics.model.online import IN_USE
    from wikitopics.session.control import rename as give
    from wikitopics.session.control import suggested
    from wikitopics.session.records import SNAPSHOT_WORDS
    from wikitopics.session.system import Signals

    path = session_path(session)

    def given(reader: "SessionReader") -> set[int]:
        number = reader.models().index(chosen)
        return set() if replace else {topic for of, topic, _ in reader.given_names() if of == number}

    with options.reading(path) as reader:
        chosen = reader.model_named(model)
        candidates = [row for row in reader.topics(chosen, SNAPSHOT_WORDS) if every or row.share > IN_USE]
        taken = given(reader)
    rows = sorted((row for row in candidates if row.topic not in taken), key=lambda row: -row.share)
    if not rows:
        noun = "topic" if every else "topic in use"
        say(f"every {noun} has a given name; --replace renames them" if candidates else NO_TOPICS)

    with Signals() as signals:  # so that whatever ends this ends the command's process group too

        def check() -> None:
            if signals.noted:
                raise KeyboardInterrupt

        for number, row in enumerate(rows, 1):
            with options.reading(path) as reader:
                if row.topic in given(reader):
                    continue  # named by hand meanwhile
                titles = [one.title for one in reader.articles_about(chosen, row.topic, NAMING_TITLES)]
            name = suggested(path, command, row.topic, [word for word, _ in row.words], titles, check)
            outcome = f"is now called {give(path, chosen, row.topic, name)}" if name else "keeps its name"
            say(f"{number} of {len(rows)}: topic {row.topic} of {chosen} ({row.name}) {outcome}")


@click.command(
    epilog="""\b
Examples:
  wikitopics history               what has happened to the topics
  wikitopics history 12            the words of topic 12 over time
  wikitopics history --json"""
)
@click.argument("topic", metavar="[TOPIC]", type=whole(0), required=False, shell_complete=topic_numbers)
@options.session_option
@options.model_option
@options.json_option
def history(topic: int | None, session: str, model: str | None, as_json: bool) -> None:
    """List births, deaths, splits, mergers and renamings of topics.

    With TOPIC, list its words over time.
    """
    with options.reading(session) as reader:
        if topic is None:
            _events(reader, model, as_json)
        else:
            _words(reader, reader.model_named(model), topic, as_json)


def _events(reader: "SessionReader", model: str | None, as_json: bool) -> None:
    from wikitopics.session.analysis.exports import TABLES, ExportRequest
    from wikitopics.session.records import TopicEvent

    events = TABLES["events"]
    models = events.models(reader, model)
    rows = list(events.rows(ExportRequest(reader, models)))
    if as_json:
        put_json(objects(events.columns, rows))
        return
    if not rows:
        say("no events yet")
    for event in (TopicEvent(*row) for row in rows):
        of = f"{event.model:10}" if len(models) > 1 else ""
        put_line(f"{event.articles:11,}  {of}{event.told()}")


def _words(reader: "SessionReader", model: str, topic: int, as_json: bool) -> None:
    from wikitopics.session.records import in_line

    reader.check_topic(model, topic)
    history = reader.topic_history(model, topic)
    if as_json:
        rows = ((model, at, topic, share, objects("word probability", words)) for at, share, words in history)
        put_json(objects("model articles topic share words", rows))
        return
    if not history:
        say(NO_TOPICS)
    shown = 0
    for number, (articles, share, words) in enumerate(history, 1):
        if articles.bit_length() != shown or number == len(history):  # one line per doubling, and the newest
            shown = articles.bit_length()
            put_line(f"{articles:11,} {share:6.1%}  {in_line(word for word, _ in words)}")
