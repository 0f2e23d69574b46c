"""`demo`: the whole system on a wiki that comes with the program."""

import click

from wikitopics.cli.options import progress_option, take
from wikitopics.cli.train import run_trainer
from wikitopics.crawler.embedded.source import WIKI_SIZE, Demo
from wikitopics.session.options import ARTICLES, NOTIFY


@click.command(
    epilog="""\b
Examples:
  wikitopics demo
  wikitopics demo --headless --articles 5000"""
)
@click.option("--headless", is_flag=True, help="Print progress lines instead of opening the screen.")
@take(ARTICLES, help=f"{ARTICLES.help} A new session makes its wiki large enough for N.")
@take(WIKI_SIZE)
@take(NOTIFY)
@click.option(
    "--session", default="demo", metavar="NAME", show_default=True, help="The session's name or path."
)
@progress_option
def demo(
    headless: bool,
    articles: int | None,
    wiki_size: int | None,
    notify: str | None,
    session: str,
    as_json: bool,
) -> int:
    """See the whole system work, with no network and no settings.

    Crawls a small wiki that comes with the program, through the same client that crawls Wikipedia. Its
    articles are generated from the word counts of 20,000 real ones. The demo finishes when each has been
    read once; --wiki-size makes it longer.
    """
    if not headless:
        from wikitopics.cli.screen import open_demo

        return open_demo(session, articles, wiki_size, notify)
    from wikitopics.session.request import TrainRequest

    request = TrainRequest(
        source=Demo.name, articles=articles, wiki_size=wiki_size, notify=notify, **Demo.presets
    )
    return run_trainer(session, request, as_json)
