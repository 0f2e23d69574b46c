"""`vocab build` and `vocab show`: build a vocabulary, or print one."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from wikitopics.cli import options
from wikitopics.cli.options import Group, reading, whole
from wikitopics.cli.output import ProgressLine, objects, put_data, put_json, put_line, say
from wikitopics.crawler.mediawiki.kinds import API_URL, CONTACT, LANG, RPM, Api, language_of_texts
from wikitopics.crawler.page import Markup
from wikitopics.crawler.texts.kinds import COLUMN, LINES, MARKUP, NO_HEADER, TEXTS, Texts
from wikitopics.session.advance import followed
from wikitopics.session.errors import BadUsage

if TYPE_CHECKING:
    from wikitopics.session.request import TrainRequest

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
    place of the list. How many documents have a word is known only for a session (of those trained
    on) and for the vocabulary that comes with the program.

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

    SOURCE is a dump (.xml, .xml.bz2 …), a .jsonl file of {"text"}, a .csv, .tsv or .parquet table,
    a folder of .parquet files or of .txt files, each of which is a document, or a plain-text file
    in which blank lines separate the documents.

    Examples:
      wikitopics vocab build articles.jsonl.xz -o english.txt
      wikitopics vocab build reviews.csv --text-column review -o reviews.txt
      wikitopics vocab build notes.txt --lines -o notes-words.txt
      wikitopics vocab build news.csv --stop-words en --stop-words mine.txt --min-df 5 -o news.txt
      wikitopics vocab build news.csv --phrases --why york --why 'new york' -o phrases.txt
      wikitopics vocab build dewiki-pages-articles.xml.bz2 -o german.txt
      wikitopics vocab build --lang de --articles 20000 --contact me@host.org -o german.txt
    """
    from wikitopics.session.request import TrainRequest
    from wikitopics.session.storage.files import replacing
    from wikitopics.session.training.vocabulary_texts import file_documents
    from wikitopics.vocab.building import BadDocuments, VocabularyRecipe, build_vocabulary

    language = language_of_texts(lang)
    recipe = VocabularyRecipe.of_language(
        language,
        _words_left_out(stop_words),
        min_df=min_df,
        max_df=max_df,
        min_letters=min_letters,
        digits=digits,
        phrases=phrases,
    )
    _check_sources(sources, language, api_url, markup)
    _check_output(output, sources)
    if sources:
        what = "documents"
        documents, total = file_documents(
            sources,
            say,
            text_column,
            markup or "text",
            bool(lines),
            not no_header,
        )
    else:
        what = "articles"
        total = articles
        request = TrainRequest(lang=lang, api_url=api_url, contact=contact, rpm=rpm)
        documents = _crawled(request, articles)
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


def _words_left_out(names: Sequence[str]) -> list[str] | None:
    """The stop words of these names or files; None without any: those that are usual in the
    language."""
    from wikitopics.vocab.building import read_stop_words

    if not names:
        return None
    left_out: list[str] = []
    for name in names:
        left_out += read_stop_words(name)
    return left_out


def _check_sources(
    sources: Sequence[str], language: str | None, api_url: str | None, markup: Markup | None
) -> None:
    """Raise `BadUsage` unless there are files to read or a wiki to crawl."""
    if sources:
        if api_url is not None:
            raise BadUsage("give files to read or --api-url to crawl, not both")
        return
    if language is None and api_url is None:
        raise BadUsage("give files to read, or --lang or --api-url to crawl")
    if markup is not None:
        raise BadUsage(f"{MARKUP.flag} is only for files: a wiki states its own markup")


def _check_output(output: Path, sources: Sequence[str]) -> None:
    """Raise at once what writing the vocabulary would raise, and `BadUsage` if it would replace a
    file to read."""
    from wikitopics.crawler.texts.contents import is_packed
    from wikitopics.session.storage.files import check_target

    if not output.parent.is_dir():
        raise BadUsage(f"cannot write {output}: there is no folder {output.parent}")
    check_target(output)
    existing_sources = [name for name in sources if Path(name).exists()]
    if output.exists() and any(output.samefile(name) for name in existing_sources):
        raise BadUsage(f"{output} is one of the files to read: name another one with -o")
    if is_packed(output.name):
        raise BadUsage(f"{output.name}: vocabularies are not compressed; leave out {output.suffix}")


def _crawled(given: "TrainRequest", articles: int) -> Iterator[str]:
    """The prose of so many articles of the wiki that the request names, crawled as they are
    taken."""
    from wikitopics.session.config import with_contact
    from wikitopics.session.training.vocabulary_texts import crawled_documents

    kind = Api()
    identity = given.identity(kind)
    request = with_contact(given, kind, identity)
    source = kind.open(identity, request.asked(kind))
    return crawled_documents(source, articles, say)
