"""What is written for other programs and people: `export`, `report`, and `vocab`, which also builds
one."""

import sys
from pathlib import Path

import click

from wikitopics.cli import options
from wikitopics.cli.options import Command, Group, reading, session_option, whole
from wikitopics.cli.output import ProgressLine, objects, put_data, put_json, put_line, say
from wikitopics.crawler.mediawiki.kinds import API_URL, CONTACT, LANG, RPM, Api, language_of_texts
from wikitopics.crawler.page import Markup
from wikitopics.crawler.texts.kinds import COLUMN, LINES, MARKUP, NO_HEADER, TEXTS, Texts
from wikitopics.session.advance import followed, unseen
from wikitopics.session.analysis import exports, formats
from wikitopics.session.errors import BadUsage
from wikitopics.session.metrics import METRICS
from wikitopics.session.paths import session_path
from wikitopics.session.sources import described

# `report`: the topics of a session as one page for a browser.


@click.command(cls=Command)
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    type=click.Path(),
    help="A file (default: standard output).",
)
@click.option(
    "--no-snippets",
    is_flag=True,
    help="Leave out the beginnings of your own documents, of which the page otherwise has those "
    "that the session keeps.",
)
@session_option
def report(output: str | None, no_snippets: bool, session: str) -> None:
    """Write the topics found as one HTML page, to read or send.

    It shows the map of articles, the topics with their map, tree and history, and the curves. The
    page is self-contained and opens without a network, here or wherever you send it. It contains
    words and titles of articles and, of your own documents, the first 300 characters, but not your
    contact or any path on this machine. Works while a trainer is running.

    Examples:
      wikitopics report -o night.html
      wikitopics report --session demo > demo.html
      wikitopics report --session reviews --no-snippets -o reviews.html
    """
    from wikitopics.session.analysis.report import check_page, render
    from wikitopics.session.storage.files import replacing

    path = session_path(session)
    target = None if output is None or output == "-" else Path(output)
    if target is not None:
        check_page(target)
    elif sys.stdout.isatty():
        raise BadUsage(f"cannot write a page to a terminal: give -o {path.stem}.html or redirect")
    with reading(path) as reader, ProgressLine() as progress:
        page = render(reader, progress, snippets=not no_snippets)
        has_snippets = reader.has_snippets() and not no_snippets
    remark = ""
    if has_snippets:
        remark = ", with the beginnings of documents (`report --no-snippets` leaves them out)"
    if target is None:
        put_data([page.encode("utf-8", "backslashreplace")])
        if remark:
            say(f"wrote the report{remark}")
        return
    content = page.encode()
    with replacing(target) as file:
        file.write(content)
    say(f"wrote {target}: {len(content) / 1e6:.1f} MB{remark}")


# `export`: the tables of a session, and its models.


def _tables_and_metrics() -> str:
    """The lists at the end of the help. Click keeps the lines of a paragraph that begins with
    "\\b"."""
    lines = ["\b", "WHAT is one of:"]
    for table in exports.TABLES.values():
        lines.append(f"  {table.name:11} {table.label}")
    lines += ["", "\b", "In `export metrics`, besides metrics that only one kind of model has:"]
    for metric in METRICS:
        better = f" ({metric.better} is better)" if metric.better else ""
        lines.append(f"  {metric.name:26} {metric.help}{better}")
    return "\n".join(lines) + "\n\n"


def _default_formats() -> str:
    defaults = ["csv"]
    for table in exports.TABLES.values():
        if table.formats[0] != "csv":
            defaults.append(f"{table.formats[0]} for {table.name}")
    return ", ".join(defaults)


_TABLES_WITH_ALL = [table for table in exports.TABLES.values() if table.everything]
"""The tables that take --all."""


@click.command(cls=Command, epilog=_tables_and_metrics())
@click.argument("what", metavar="WHAT", type=click.Choice(list(exports.TABLES)))
@click.option(
    "--format",
    "form",
    type=click.Choice(list(formats.FORMATS)),
    help=f"The format (default: by the ending of PATH; otherwise {_default_formats()}).",
)
@click.option(
    "-o",
    "--output",
    metavar="PATH",
    type=click.Path(),
    help="A file or, for gensim and proxann, a folder (default: standard output).",
)
@click.option(
    "--model",
    metavar="NAME",
    shell_complete=options.model_names,
    help="Export only this model (default for `export map`, `model` and `proxann`: the first).",
)
@click.option(
    "--all",
    "every",
    is_flag=True,
    help=" ".join(f"{table.name}: {table.everything}." for table in _TABLES_WITH_ALL),
)
@click.option(
    "--bom",
    is_flag=True,
    help="csv, tsv: begin with a byte order mark, which some spreadsheets need.",
)
@click.option(
    "--wide", is_flag=True, help="topics: one row per topic, with its name, area and ten words."
)
@click.option(
    "--snippets",
    is_flag=True,
    help="articles, map: include the beginnings of your own documents, which no other export but "
    "proxann has.",
)
@session_option
def export(
    what: str,
    form: str | None,
    output: str | None,
    model: str | None,
    every: bool,
    bom: bool,
    wide: bool,
    snippets: bool,
    session: str,
) -> None:
    """Write what a session holds in a form that other programs read.

    Examples:
      wikitopics export topics > topics.csv
      wikitopics export topics --wide -o topics.xlsx
      wikitopics export history --format json -o history.json
      wikitopics export articles --session reviews --snippets -o reviews.csv
      wikitopics export map -o map.html
      wikitopics export map -o growth.svg
      wikitopics export model --model hdp -o hdp.npz
      wikitopics export proxann --session reviews -o reviews-proxann
    """
    from wikitopics.session.analysis.origin import licence_of

    if wide and what != exports.WIDE.name:
        raise BadUsage("--wide is only for `export topics`")
    table = exports.WIDE if wide else exports.TABLES[what]
    target = None if output is None or output == "-" else Path(output)
    if target is None:
        written_as = formats.format_of(table, form)
    else:
        written_as = formats.written_to(target, table, form)
    if bom and not written_as.bom:
        raise BadUsage(f"--bom is only for csv and tsv, not for {written_as.name}")
    if snippets and not table.has_snippets:
        raise BadUsage("--snippets is only for `export articles` and `export map`")
    if every and not table.everything:
        known = " and ".join(f"`export {table.name}`" for table in _TABLES_WITH_ALL)
        raise BadUsage(f"--all is only for {known}")
    with reading(session) as reader:
        models = table.models(reader, model)
        progress = ProgressLine()
        # On a terminal, the table itself shows how far it is.
        is_shown = target is None and sys.stdout.isatty()
        advance = unseen if is_shown else progress
        request = exports.ExportRequest(reader, models, every, bom, snippets, advance)
        if target is None:
            name = written_as.name
            if written_as.stream is None:
                raise BadUsage(f"{name} writes several files: name a folder for them with -o")
            if written_as.binary and sys.stdout.isatty():
                raise BadUsage(
                    f"cannot write {name} to a terminal: give -o FILE.{name} or redirect"
                )
            with progress:
                put_data(written_as.stream(table, request))
        else:
            with progress:
                rows = formats.save(table, written_as, request, target)
            say(f"wrote {output}" if rows is None else f"wrote {output}: {rows:,} rows")
        if what == "articles" and not every:
            are_the_users_own = described(reader.settings().source).own
            if are_the_users_own:
                say(f"{reader.status().held_out:,} held-out documents left out; --all writes them")
        if table.of_texts:
            licence = licence_of(reader.settings())
            if licence is not None:
                say(licence.text)


# `vocab build` and `vocab show`: build a vocabulary, or print one.

_session_option = click.option(
    "--session",
    metavar="NAME",
    shell_complete=options.session_names,
    help="Print this session's vocabulary instead.",
)


@click.group(cls=Group, no_args_is_help=False)
@_session_option
@click.pass_context
def vocab(ctx: click.Context, session: str | None) -> None:
    """Build a vocabulary, or print one.

    Examples:
      wikitopics vocab show
      wikitopics vocab build articles.jsonl -o my.txt
    """
    # `vocab --session NAME show` means the same as `vocab show --session NAME`.
    ctx.default_map = {"show": {"session": session}}


_why_option = click.option(
    "--why",
    "asked",
    metavar="WORD",
    multiple=True,
    help="Say why WORD, or a phrase in quotes, is in the vocabulary or not; may be given several "
    "times.",
)


@vocab.command()
@click.argument("name", default="english")
@_why_option
@_session_option
@options.json_option
def show(name: str, asked: tuple[str, ...], session: str | None, as_json: bool) -> None:
    """Print a vocabulary in the format of a vocabulary file.

    Its size, rule and fingerprint go to standard error. With --why, sentences about words take the
    place of the list. In how many documents a word is, is known of a session (those trained on) and
    of the vocabulary that comes with the program.

    A list of words does not record how rare the other words were: to learn that, give --why to
    `wikitopics vocab build`.

    Examples:
      wikitopics vocab show
      wikitopics vocab show my.txt | grep '^[^#].* '    # its phrases
      wikitopics vocab show my.txt --why york --why 'new york'
      wikitopics vocab show --session night --why river --json
    """
    from wikitopics.session.request import load_vocabulary

    if session is not None:
        with reading(session) as reader:
            vocabulary = reader.counted_vocabulary()
    else:
        vocabulary = load_vocabulary(name)
    frequencies = vocabulary.document_frequencies
    if asked and as_json:
        answers = []
        for word in asked:
            as_read = vocabulary.as_read(word)
            is_in = as_read in vocabulary
            answers.append((word, is_in, frequencies.get(as_read), vocabulary.why(word)))
        put_json(objects("word in documents why", answers))
        return
    if asked:
        for word in asked:
            put_line(vocabulary.why(word))
        return
    if as_json:
        entries = [(word, frequencies.get(word)) for word in vocabulary.words]
        put_json(
            {
                "words": len(vocabulary),
                "phrases": len(vocabulary.phrases),
                "rule": str(vocabulary.rule),
                "fingerprint": vocabulary.fingerprint,
                "documents": vocabulary.n_documents or None,
                "entries": objects("word documents", entries),
            }
        )
        return
    say(f"{vocabulary.extent} by rule {vocabulary.rule}, fingerprint {vocabulary.fingerprint}")
    put_data([("\n".join(vocabulary.lines) + "\n").encode("utf-8", "backslashreplace")])


def _document_limit(
    ctx: click.Context, param: click.Parameter, value: str | None
) -> int | float | None:
    """A click callback: the number or share of documents that an option's value means."""
    from wikitopics.vocab.building import document_limit

    if value is None:
        return None
    try:
        number = int(value) if value.isdecimal() else float(value)
        return document_limit(number)
    except ValueError:
        raise click.BadParameter(
            "must be a number of documents, such as 5, or a share of them, such as 0.05, not "
            f"{value!r}"
        ) from None


@vocab.command()
@click.argument("sources", metavar="[SOURCE]…", nargs=-1)
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    required=True,
    type=click.Path(dir_okay=False, path_type=Path),
    help="The vocabulary file to write.",
)
@click.option(
    "--size",
    metavar="W",
    type=whole(2, 1_000_000),
    default=8000,
    show_default=True,
    help="Words.",
)
@click.option(
    "--stop-words",
    metavar="FILE|en|none",
    multiple=True,
    help="Stop words to leave out: those in FILE, the English ones, or none; may be given several "
    "times (default: the English ones, unless --lang names another language).",
)
@click.option(
    "--min-df",
    metavar="N|SHARE",
    callback=_document_limit,
    help="Leave out words that occur in fewer than N documents, or in less than this share of "
    "them, such as 0.01 (default: 2, and one in 2,500).",
)
@click.option(
    "--max-df",
    metavar="N|SHARE",
    callback=_document_limit,
    help="Leave out words that occur in more than N documents, or in more than this share of them "
    "(default: 0.2; 0.1 without stop words).",
)
@click.option(
    "--min-letters",
    metavar="N",
    type=whole(1),
    default=3,
    show_default=True,
    help="Leave out words with fewer letters; 2 keeps AI and EU.",
)
@click.option(
    "--digits", is_flag=True, help="Allow digits in words that also have a letter, such as 5G."
)
@click.option("--phrases", is_flag=True, help='Count frequent pairs, such as "new york", as words.')
@_why_option
@options.take(COLUMN)
@options.take(LINES)
@options.take(NO_HEADER)
@options.take(MARKUP)
@options.take(LANG, help="Crawl Wikipedia in this language; with files, the language of the files.")
@options.take(API_URL, help="Crawl this wiki instead of reading files.")
@click.option(
    "--articles",
    metavar="N",
    type=whole(1),
    default=20_000,
    show_default=True,
    help="Articles to crawl.",
)
@options.take(CONTACT, help="As in `wikitopics train`.")
@options.take(RPM, help="As in `wikitopics train`.")
@click.option(
    "--session",
    metavar="NAME",
    expose_value=False,
    help="Accepted for consistency; ignored: building reads no session.",
)
def build(
    sources: tuple[str, ...],
    output: Path,
    size: int,
    stop_words: tuple[str, ...],
    min_df: int | float | None,
    max_df: int | float | None,
    min_letters: int,
    digits: bool,
    phrases: bool,
    asked: tuple[str, ...],
    text_column: str | None,
    lines: bool | None,
    no_header: bool | None,
    markup: Markup | None,
    lang: str | None,
    api_url: str | None,
    articles: int,
    contact: str | None,
    rpm: float | None,
) -> None:
    """Build a vocabulary from SOURCE.

    SOURCE is a dump (.xml, .xml.bz2 …), a .jsonl file of {"text"}, a .csv or .tsv table, a folder
    of .txt files, each of which is a document, or a plain-text file in which blank lines separate
    the documents.

    Examples:
      wikitopics vocab build articles.jsonl.xz -o english.txt
      wikitopics vocab build reviews.csv --text-column review -o reviews.txt
      wikitopics vocab build notes.txt --lines -o notes-words.txt
      wikitopics vocab build news.csv --stop-words en --stop-words mine.txt --min-df 5 -o news.txt
      wikitopics vocab build news.csv --phrases --why york --why 'new york' -o phrases.txt
      wikitopics vocab build dewiki-pages-articles.xml.bz2 -o german.txt
      wikitopics vocab build --lang de --articles 20000 --contact me@host.org -o german.txt
    """
    from wikitopics.crawler.texts.records import is_packed
    from wikitopics.session.config import with_contact
    from wikitopics.session.request import TrainRequest
    from wikitopics.session.storage.files import check_target, replacing
    from wikitopics.session.training.vocabulary import crawled_documents, file_documents
    from wikitopics.vocab.building import (
        BadDocuments,
        VocabularyRecipe,
        build_vocabulary,
        read_stop_words,
    )

    language = language_of_texts(lang)
    left_out: list[str] | None = None  # the usual stop words of the language
    if stop_words:
        left_out = []
        for name in stop_words:
            left_out += read_stop_words(name)
    recipe = VocabularyRecipe.of_language(
        language,
        left_out,
        min_df=min_df,
        max_df=max_df,
        min_letters=min_letters,
        digits=digits,
        phrases=phrases,
    )
    crawl = not sources
    if crawl and language is None and api_url is None:
        raise BadUsage("give files to read, or --lang or --api-url to crawl")
    if sources and api_url is not None:
        raise BadUsage("give files to read or --api-url to crawl, not both")
    if crawl and markup is not None:
        raise BadUsage(f"{MARKUP.flag} is only for files: a wiki states its own markup")
    if not output.parent.is_dir():
        raise BadUsage(f"cannot write {output}: there is no folder {output.parent}")
    check_target(output)
    existing_sources = [name for name in sources if Path(name).exists()]
    if output.exists() and any(output.samefile(name) for name in existing_sources):
        raise BadUsage(f"{output} is one of the files to read: name another one with -o")
    if is_packed(output.name):
        raise BadUsage(f"{output.name}: vocabularies are not compressed; leave out {output.suffix}")
    if crawl:
        what = "articles"
        total = articles
        kind = Api()
        given = TrainRequest(lang=lang, api_url=api_url, contact=contact, rpm=rpm)
        identity = given.identity(kind)
        request = with_contact(given, kind, identity)
        source = kind.open(identity, request.asked(kind))
        documents = crawled_documents(source, articles, say)
    else:
        what = "documents"
        total = 0
        documents = file_documents(
            sources,
            say,
            text_column,
            markup or "text",
            bool(lines),
            not no_header,
        )
    try:
        with ProgressLine() as progress:
            counted = followed(documents, what, total, progress)
            built = build_vocabulary(counted, recipe, size=size, asked=asked)
    except BadDocuments as error:
        texts = [path for path in sources if ".xml" not in Path(path).name]  # the others are dumps
        # As much of a source's identity as says how its documents are separated.
        identity_of_texts = {TEXTS.name: texts, LINES.name: lines}
        hint = Texts().division(identity_of_texts)
        raise BadDocuments(f"{error}. {hint}" if hint else str(error)) from None
    content = "\n".join(built.vocabulary.lines) + "\n"
    with replacing(output) as file:
        file.write(content.encode())
    say(
        f"wrote {output}: {built.vocabulary.extent} out of {built.distinct_words:,}, "
        f"from {built.documents:,} documents"
    )
    for reason in built.reasons.values():
        put_line(reason)
