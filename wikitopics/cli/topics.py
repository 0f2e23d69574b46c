"""`topics`, also to name and hide them, and `history`."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from wikitopics.cli import options
from wikitopics.cli.options import Command, Group, topic_numbers, whole
from wikitopics.cli.output import column, fields_of, objects, put_json, put_line, put_table, say
from wikitopics.session.errors import NO_TOPICS, BadUsage
from wikitopics.session.paths import session_path

if TYPE_CHECKING:
    from wikitopics.session.analysis.inference import WordOrder
    from wikitopics.session.records import TopicRow
    from wikitopics.session.storage.reader import SessionReader

TOPICS_OF_AREA = 3
"""How many topics are listed for each area."""
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
    help="Order of a topic's words, instead of the usual one: the most distinctive first, or the "
    "most probable.",
)
@click.option(
    "--areas",
    metavar="[N]",
    type=whole(0),
    is_flag=False,
    flag_value=0,  # --areas without a number
    help="List areas, which are groups of similar topics; with N, cut their tree into N areas. "
    "Topics that belong to none are listed as other.",
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
    by: "WordOrder | None",
    areas: int | None,
    tree: bool,
    every: bool,
    as_json: bool,
) -> None:
    """List the topics, most prevalent first, numbered from 0.

    The share is the fraction of the corpus's words that belong to the topic. The trend is the
    change in that share, in percentage points, since half as many articles had been read. npmi is
    the coherence of the most probable words: how strongly they tend to occur together in articles
    that were learnt (-1 to 1). Words that tell a topic apart and go with one another come first;
    of forms of one word, only one is listed. The sign before a name says how many replicas of the
    model, with other seeds, have the topic, too: = at least four in five, ~ some, ? few or none.
    The titles are those of the most typical articles; if the terminal is too narrow, they are
    listed below, and lines are cut. A topic is in use if it has more than a thousandth of the
    words. --json gives all topics, with their words by probability, and ten as shown here.

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
            number = None if areas == 0 else areas  # 0: --areas without a number
            _areas(reader, name, number, every, as_json)
        elif tree:
            _tree(reader, name, every, as_json)
        elif as_json:
            _list_as_json(reader, name, top, by or "probability")
        else:
            _list(reader, name, top, every, by or "shown")


def _list_as_json(reader: "SessionReader", model: str, top: int, order: "WordOrder") -> None:
    from wikitopics.session.analysis.described import described_topics
    from wikitopics.session.analysis.exports import TOPIC_COLUMNS
    from wikitopics.session.analysis.inference import top_words
    from wikitopics.session.analysis.quality import coherence_remark

    with reader.one_moment():
        topics = sorted(described_topics(reader, model), key=lambda topic: -topic.share)
        words = top_words(reader, model, top, order) if topics else []
        remark = coherence_remark(reader)
    if not topics:
        say(NO_TOPICS)
    elif remark:
        say(remark)
    records = []
    for topic in topics:
        record = {
            "model": model,
            "topic": topic.number,
            "share": topic.share,
            "words": objects("word probability", words[topic.number]),
            **fields_of(topic, *TOPIC_COLUMNS, "hidden"),
        }
        records.append(record)
    put_json(records)


def _list(
    reader: "SessionReader",
    model: str,
    top: int,
    every: bool,
    order: "WordOrder",
) -> None:
    from wikitopics.model.online import IN_USE
    from wikitopics.session.analysis.inference import top_words
    from wikitopics.session.analysis.quality import coherence_remark, coherences, repeats_in_words
    from wikitopics.session.wording import found_legend

    with reader.one_moment():
        rows = sorted(reader.topics(model), key=lambda row: -row.share)
        words = top_words(reader, model, top, order) if rows else []
        npmi = coherences(reader, model)
        remark = coherence_remark(reader)
        repeated = repeats_in_words(reader, model)
        in_use = [row for row in rows if row.share > IN_USE]
        shown = rows if every else [row for row in in_use if not row.hidden]
        titles = reader.titles_about(model, [row.topic for row in shown])
    if not rows:
        say(NO_TOPICS)
    legend = found_legend(row.found for row in shown)
    if shown:
        _put_topics(shown, words, npmi, titles, has_signs=bool(legend))
    if not every:
        _say_left_out(len(rows) - len(in_use), len(rows), "not in use")
        _say_left_out(len(in_use) - len(shown), len(rows), "hidden")
    if legend:
        say(legend)
    if repeated:
        say(repeated)
    if rows and remark:
        say(remark)


def _put_topics(
    rows: Sequence["TopicRow"],
    words: Sequence[Sequence[tuple[str, float]]],
    npmi: Sequence[float | None],
    titles: Mapping[int, Sequence[str]],
    *,
    has_signs: bool,
) -> None:
    """Print a table of these topics. ``words`` and ``npmi``: of all topics, by number;
    ``has_signs``: whether a sign says which topics come back."""
    from wikitopics.session.wording import APART, found_sign, in_line

    names = [f"{row.name} (hidden)" if row.hidden else row.name for row in rows]
    name_head, *padded_names = column(names, "name")
    lines = [in_line(word for word, _ in words[row.topic]) for row in rows]
    words_head, *padded_words = column(lines, "words")
    head = "topic  share  trend   npmi  "
    if has_signs:
        head += "  "
    table = [(f"{head}{name_head}  {words_head}", "titles")]
    for row, name, topic_words in zip(rows, padded_names, padded_words, strict=True):
        coherence = npmi[row.topic]
        npmi_text = "" if coherence is None else f"{coherence:.2f}"
        start = f"{row.topic:5} {row.share:6.1%} {100 * row.change:+6.2f} {npmi_text:>6}  "
        if has_signs:
            start += f"{found_sign(row.found):1} "
        table.append((f"{start}{name}  {topic_words}", APART.join(titles[row.topic])))
    put_table(table, indent=len(head))


def _say_left_out(left_out: int, topics: int, why: str) -> None:
    if left_out:
        verb = "is" if left_out == 1 else "are"
        say(f"{left_out} of {topics} topics {verb} {why}; --all shows them")


def _areas(reader: "SessionReader", model: str, n: int | None, every: bool, as_json: bool) -> None:
    from wikitopics.session.analysis.areas import areas

    with reader.one_moment():
        listed = areas(reader, model, n)
        rows = reader.topics(model)
    if as_json:
        values = ((model, area.number, area.name, area.share, list(area.topics)) for area in listed)
        put_json(objects("model area name share topics", values))
        return
    if not listed:
        say(NO_TOPICS)
        return
    head, *padded_names = column((area.name for area in listed), "name")
    put_line(f"area  share  topics  {head}  largest topics")
    for area, name in zip(listed, padded_names, strict=True):
        shown = [rows[topic] for topic in area.topics if every or not rows[topic].hidden]
        if shown:
            largest = "; ".join(row.label for row in shown[:TOPICS_OF_AREA])
            put_line(f"{area.number:4} {area.share:6.1%}  {len(shown):6}  {name}  {largest}")


def _tree(reader: "SessionReader", model: str, every: bool, as_json: bool) -> None:
    from wikitopics.session.analysis.areas import areas, in_drawing_order, topic_tree

    with reader.one_moment():
        branches = topic_tree(reader, model)
        all_areas = areas(reader, model)
        rows = reader.topics(model)
    if as_json:
        values = (
            (model, branch.number, branch.parent, branch.height, branch.name, branch.share)
            for branch in branches
        )
        put_json(objects("model node parent height name share", values))
        return
    if not branches:
        say(NO_TOPICS)
    for area, topics in in_drawing_order(branches, all_areas):
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
    from wikitopics.session.given_names import rename as give_name

    path = session_path(session)
    with options.reading(path) as reader:
        chosen = reader.model_named(model)
    new_name = give_name(path, chosen, topic, name)
    say(f"topic {topic} of {chosen} is now called {new_name}")


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
    from wikitopics.session.given_names import hide_topics

    path = session_path(session)
    with options.reading(path) as reader:
        name = reader.model_named(model)
    hide_topics(path, name, chosen, hidden)
    noun = "topic" if len(chosen) == 1 else "topics"
    numbers = ", ".join(map(str, chosen))
    outcome = "hidden from lists" if hidden else "listed again"
    say(f"{noun} {numbers} of {name}: {outcome}")


@topics.command()
@click.option(
    "--command",
    metavar="CMD",
    required=True,
    help="Run with your shell, once for each topic.",
)
@click.option(
    "--all",
    "every",
    is_flag=True,
    help="Include topics that are not in use, and hidden ones.",
)
@click.option("--replace", is_flag=True, help="Include topics that already have a given name.")
@options.of_model
def name(command: str, every: bool, replace: bool, session: str, model: str | None) -> None:
    """Let a script or a language model name the topics.

    CMD gets a JSON object on its standard input: the topic's "number", its "words", the most
    probable first, the "titles" of the articles that are most about it and, of your own documents,
    their "snippets": the beginning of each text, or null. The first line that CMD prints becomes
    the topic's name (at most 60 characters); if CMD prints nothing or an empty line, the topic
    keeps its name. CMD may take up to 30 s for each topic. If it fails, the names given so far are
    kept. CMD is not stored. Note that it receives titles and snippets of private documents. Works
    while a trainer is running.

    Examples:
      wikitopics topics name --command 'jq -r ".titles[0] // empty | .[:60]"'
      wikitopics topics name --command ./ask-model --session night --replace
    """
    from wikitopics.session.given_names import name_topics, suggested, topics_to_name
    from wikitopics.session.signals import Signals

    path = session_path(session)

    with options.reading(path) as reader:
        chosen = reader.model_named(model)
        has_topics = bool(reader.topics(chosen))
    rows = topics_to_name(path, chosen, every=every, replace=replace)
    if not has_topics:
        say(NO_TOPICS)
    elif not rows:
        noun = "topic" if every else "listed topic"
        say(f"every {noun} has a given name; --replace renames them")
    place_of = {row.topic: number for number, row in enumerate(rows, 1)}

    with Signals() as signals:  # a signal that ends the program ends CMD's process group too

        def suggestion(row: "TopicRow") -> str:
            with options.reading(path) as reader:
                articles = reader.articles_about(chosen, row.topic, NAMING_TITLES)
            snippets = [article.snippet for article in articles]
            if not any(snippets):
                snippets = []
            question = {
                "number": row.topic,
                "words": [word for word, _ in row.words],
                "titles": [article.title for article in articles],
                "snippets": snippets,
            }
            return suggested(path, command, question, signals)

        for row, new_name in name_topics(path, chosen, rows, suggestion, replace=replace):
            outcome = f"is now called {new_name}" if new_name else "keeps its name"
            place = f"{place_of[row.topic]} of {len(rows)}"
            say(f"{place}: topic {row.topic} of {chosen} ({row.name}) {outcome}")


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

    Births and mergers of areas are listed, too, and when all topics started over. With TOPIC, list
    its words over time.

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
        model_column = f"{event.model:10}" if len(models) > 1 else ""
        put_line(f"{event.articles:11,}  {model_column}{event.told()}")


def _words(reader: "SessionReader", model: str, topic: int, as_json: bool) -> None:
    from wikitopics.session.wording import in_line

    reader.check_topic(model, topic)
    history = reader.topic_history(model, topic, shown=not as_json)
    if as_json:
        rows = (
            (model, at, topic, share, objects("word probability", words))
            for at, share, words in history
        )
        put_json(objects("model articles topic share words", rows))
        return
    if not history:
        say(NO_TOPICS)
    doublings_shown = 0
    for number, (articles, share, words) in enumerate(history, 1):
        doublings = articles.bit_length()
        is_newest = number == len(history)
        if doublings != doublings_shown or is_newest:  # one line per doubling, and the newest
            doublings_shown = doublings
            put_line(f"{articles:11,} {share:6.1%}  {in_line(word for word, _ in words)}")
