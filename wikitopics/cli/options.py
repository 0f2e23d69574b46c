"""Options that several commands share, and what they say in --help."""

from collections.abc import Callable
from typing import Any, TypeVar

import click

from session.paths import session_folder

Command = TypeVar("Command", bound=Callable[..., Any])


class Positive(click.FloatRange):
    """A number over 0; not "nan", which no comparison would keep out."""

    def __init__(self) -> None:
        super().__init__(0, min_open=True)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        number: float = super().convert(value, param, ctx)
        if number != number:
            self.fail(f"{value!r} is no number", param, ctx)
        return number


def session_names(ctx: click.Context, param: click.Parameter, begun: str) -> list[str]:
    """What a shell offers to complete: the sessions in the session folder."""
    return sorted(path.stem for path in session_folder().glob("[!.]*.db") if path.stem.startswith(begun))


session_option = click.option(
    "--session", default="default", metavar="NAME", show_default=True, shell_complete=session_names,
    help="The session: a name in the session folder, or a path with a '/' or ending in .db.",
)  # fmt: skip

json_option = click.option("--json", "as_json", is_flag=True, help="Machine-readable output.")

_TRAIN = [
    click.option("--source", type=click.Choice(["api", "html", "dump", "recent", "texts", "counts"]),
                 default="api",
                 help="Where articles come from: a wiki's API (default), its rendered pages, a dump file, "
                      "recent changes, documents of your own, or a file of word counts."),
    click.option("--api-url", metavar="URL", help="The wiki (default: English Wikipedia)."),
    click.option("--lang", metavar="CODE", help="Wikipedia in this language, e.g. de; needs a --vocab."),
    click.option("--dump", metavar="FILE", type=click.Path(), multiple=True,
                 help="An XML dump; '-': standard input."),
    click.option("--texts", metavar="PATH", type=click.Path(), multiple=True,
                 help="Your own documents: a .jsonl of {\"text\", \"title\"?, \"id\"?}, a .csv or .tsv, or a "
                      "folder of .txt; plain or .gz, .bz2, .xz, .zst."),
    click.option("--text-column", metavar="NAME",
                 help="The column of a .csv or .tsv that holds the text (default: text)."),
    click.option("--counts", metavar="FILE", type=click.Path(),
                 help="Word counts: an .npz of the arrays indptr, word_ids, counts and n_words (compressed "
                      "sparse rows; see docs/texts.md), or a session that kept them."),
    click.option("--vocab", metavar="NAME|FILE", type=click.Path(),
                 help="The vocabulary (default: english)."),
    click.option("--contact", metavar="TEXT",
                 help="Your e-mail address or user page, sent to the wiki in the User-Agent; "
                      "Wikimedia asks for it."),
    click.option("--rpm", metavar="N", type=click.IntRange(0, 1_000_000),
                 help="Requests a minute, 0 for no cap (default: 200 on Wikimedia, 60 elsewhere, "
                      "0 on loopback)."),
    click.option("--model", "model", metavar="SPEC", multiple=True,
                 help="KIND[:key=value,…] with KIND lda, scvb0 or hdp and keys name, topics, alpha, eta, "
                      "omega, batch_size, kappa, tau0. Repeat for several models side by side."),
    click.option("--topics", metavar="K", help="Topics of each model (default 100; hdp: at most 300)."),
    click.option("--alpha", metavar="A", help="Prior of the proportions: a number, or 'learn'."),
    click.option("--eta", metavar="E", help="Prior of the topics: a number, or 'learn'."),
    click.option("--batch-size", metavar="S", help="Articles in a full minibatch."),
    click.option("--kappa", metavar="X",
                 help="How fast old minibatches are forgotten, 0.5 to 1; for scvb0 also 'adaptive'."),
    click.option("--tau0", metavar="X", help="How much the first minibatches are slowed down."),
    click.option("--documents", metavar="D", type=click.IntRange(1, 10**12),
                 help="Size of the corpus that the models assume (default: the source's, or --articles "
                      "at the session's start)."),
    click.option("--held-out", metavar="N", type=click.IntRange(0, 1_000_000),
                 help="Articles only measured on (default 1000, or a tenth of a small wiki)."),
    click.option("--articles", metavar="N", type=click.IntRange(1),
                 help="Stop when the session has trained on N."),
    click.option("--hours", metavar="H", type=Positive(), help="Stop after H hours."),
    click.option("--max-mb", metavar="MB", type=Positive(),
                 help="Stop this run after downloading MB megabytes."),
    click.option("--threads", metavar="N", type=click.IntRange(1, 256), default=1,
                 help="Threads for the models; the result is the same for any number."),
    click.option("--seed", metavar="N", type=click.IntRange(0, 2**32 - 1), help="Random seed (default 0)."),
    click.option("--keep-articles", type=click.Choice(["all", "top", "none"]),
                 help="Which articles to remember with their topics (default all)."),
    click.option("--keep-counts", is_flag=True, default=None,
                 help="Keep word counts, so that another session can train on them: --counts THIS.db."),
    click.option("--log", metavar="FILE", type=click.Path(dir_okay=False),
                 help="Keep all messages in FILE too; it is rotated at 5 MB, four files at most."),
    click.option("--json", "as_json", is_flag=True, help="Progress as JSON lines on standard output."),
]  # fmt: skip


def train_options(command: Command) -> Command:
    """All options of `wikitopics train`."""
    for option in reversed(_TRAIN):
        command = option(command)
    return command
