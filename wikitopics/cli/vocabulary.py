"""`vocab build` and `vocab show`: build a vocabulary, or print one."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import click

from wikitopics.cli.options import CommandGroup, reading, session_names, take, whole
from wikitopics.cli.output import ProgressLine, put_data, say
from wikitopics.crawler.mediawiki.source import API_URL, CONTACT, LANG, RPM, Api, check_spaced, language_of
from wikitopics.crawler.source import Markup
from wikitopics.crawler.texts.source import COLUMN, LINES, MARKUP, TEXTS, Texts
from wikitopics.session.errors import BadUsage

_session_option = click.option(
    "--session",
    metavar="NAME",
    shell_complete=session_names,
    help="For `vocab show`: print this session's vocabulary instead.",
)


@click.group(cls=CommandGroup, no_args_is_help=False)
@_session_option
@click.pass_context
def vocab(ctx: click.Context, session: str | None) -> None:
    """Build a vocabulary, or print one.

    Examples:
      wikitopics vocab show
      wikitopics vocab build articles.jsonl -o my.txt
    """
    ctx.default_map = {"show": {"session": session}}


@vocab.command()
@click.argument("name", default="english")
@_session_option
def show(name: str, session: str | None) -> None:
    """Print a vocabulary in the format of a vocabulary file.

    Its size, rule and fingerprint go to standard error.

    Examples:
      wikitopics vocab show
      wikitopics vocab show my.txt
    """
    from wikitopics.session.request import load_vocabulary

    if session is not None:
        with reading(session) as reader:
            vocabulary = reader.counter()
    else:
        vocabulary = load_vocabulary(name)
    say(f"{len(vocabulary):,} words by rule {vocabulary.rule}, fingerprint {vocabulary.fingerprint}")
    put_data([("\n".join(vocabulary.lines) + "\n").encode("utf-8", "backslashreplace")])


@vocab.command()
@click.argument("sources", metavar="[SOURCE]…", nargs=-1)
@click.option(
    "-o", "--output", metavar="FILE", required=True, type=click.Path(dir_okay=False, path_type=Path),
    help="The vocabulary file to write.",
)  # fmt: skip
@click.option("--size", metavar="W", type=whole(2, 1_000_000), default=8000, show_default=True, help="Words.")
@take(COLUMN)
@take(LINES)
@take(MARKUP)
@take(LANG, help="Crawl Wikipedia in this language; with files, the language of the files.")
@take(API_URL, help="Crawl this wiki instead of reading files.")
@click.option(
    "--articles", metavar="N", type=whole(1), default=20_000, show_default=True, help="Articles to crawl."
)
@take(CONTACT, help="As in `wikitopics train`.")
@take(RPM, help="As in `wikitopics train`.")
@click.option(
    "--session", metavar="NAME", help="Accepted for consistency; ignored: building reads no session."
)
def build(
    sources: tuple[str, ...],
    output: Path,
    size: int,
    text_column: str | None,
    lines: bool | None,
    markup: Markup | None,
    articles: int,
    session: str | None,
    **wiki: Any,
) -> None:
    """Build a vocabulary from SOURCE.

    SOURCE is a dump (.xml, .xml.bz2 …), a .jsonl file of {"text"}, a .csv or .tsv table, a folder of .txt
    files, each of which is a document, or a plain-text file in which blank lines separate the documents.

    Examples:
      wikitopics vocab build articles.jsonl.xz -o english.txt
      wikitopics vocab build reviews.csv --text-column review -o reviews.txt
      wikitopics vocab build notes.txt --lines -o notes-words.txt
      wikitopics vocab build dewiki-pages-articles.xml.bz2 -o german.txt
      wikitopics vocab build --lang de --articles 20000 --contact me@host.org -o german.txt
    """
    from wikitopics.crawler.texts.records import is_packed
    from wikitopics.session.config import with_contact
    from wikitopics.session.request import TrainRequest
    from wikitopics.session.storage.files import check_target, replacing
    from wikitopics.session.training.intake.vocabulary import crawled_documents, file_documents
    from wikitopics.vocab.build import VocabularyRecipe, build_vocabulary
    from wikitopics.vocab.vocabulary import BadDocuments

    language = None if wiki[LANG.name] is None else language_of(wiki[LANG.name])
    if language is not None:
        check_spaced(language)
    crawl = not sources
    if crawl and language is None and wiki[API_URL.name] is None:
        raise BadUsage("give files to read, or --lang or --api-url to crawl")
    if sources and wiki[API_URL.name] is not None:
        raise BadUsage("give files to read or --api-url to crawl, not both")
    if crawl and markup is not None:
        raise BadUsage(f"{MARKUP.flag} is for files: a wiki names its markup itself")
    if not output.parent.is_dir():
        raise BadUsage(f"cannot write {output}: there is no folder {output.parent}")
    check_target(output)
    if is_packed(output.name):
        raise BadUsage(f"{output.name}: a vocabulary is not compressed: leave out {output.suffix}")
    if crawl:
        kind, request = Api(), TrainRequest(**wiki)
        identity = request.identity(kind)
        source = kind.open(identity, with_contact(request, kind, identity).asked(kind))
        progress = ProgressLine("articles", articles)
        documents = crawled_documents(source, articles, progress, say)
    else:
        progress = ProgressLine("documents")
        documents = _counted(
            file_documents(sources, say, text_column, markup or "text", bool(lines)), progress
        )
    try:
        with progress:
            built = build_vocabulary(documents, VocabularyRecipe.of_language(language), size=size)
    except BadDocuments as error:
        told = {TEXTS.name: [path for path in sources if ".xml" not in Path(path).name], LINES.name: lines}
        hint = Texts().division(told)
        raise BadDocuments(f"{error}. {hint}" if hint else str(error)) from None
    with replacing(output) as file:
        file.write(("\n".join(built.vocabulary.lines) + "\n").encode())
    say(
        f"wrote {output}: {len(built.vocabulary):,} words out of {built.distinct_words:,}, "
        f"from {built.documents:,} documents"
    )


def _counted(documents: Iterable[str], progress: ProgressLine) -> Iterator[str]:
    for done, document in enumerate(documents):
        progress(done)
        yield document
