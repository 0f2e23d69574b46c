"""MediaWiki of every version: read from 1.26 on, and refused at once before that."""

import pytest

from tests.crawler.dumps import ids
from wikitopics.crawler.errors import WikiUnreachable
from wikitopics.crawler.mediawiki.api import ApiSource
from wikitopics.crawler.mediawiki.html import HtmlSource
from wikitopics.crawler.mediawiki.recent import RecentSource
from wikitopics.crawler.mediawiki.wiki import Wiki

SOURCES = {
    "api": ApiSource,
    "html": HtmlSource,
    "recent": lambda wiki: RecentSource(wiki, "http://x.invalid"),
}


@pytest.mark.parametrize("kind", SOURCES)
@pytest.mark.parametrize("version", ["1.19.24", "1.23.17", "1.25.6", "1.25.0-wmf.3", "1.9"])
async def test_too_old_is_refused_at_once(wiki, clock, acts, kind, version):
    reply = acts.siteinfo(7)
    reply["query"]["general"]["generator"] = f"MediaWiki {version}"
    wiki.script = [acts.json(reply)] * 9
    source = SOURCES[kind](Wiki(wiki.url, version="0", clock=clock))
    before = clock.now
    number = version.partition("-")[0]
    told = rf"^127\.0\.0\.1 runs MediaWiki {number}, .* the first version that can be read is 1\.26"
    with pytest.raises(WikiUnreachable, match=told) as caught:
        async for _ in source.batches(None):
            pass
    await source.close()
    assert caught.value.exit_code == 3
    assert len(wiki.requests) == 1
    assert clock.now == before


async def test_too_old_without_a_version_is_known_by_its_format(wiki, acts, source, read):
    reply = acts.siteinfo(7)
    reply["query"]["general"]["generator"] = "MediaWiki"
    reply["query"]["namespaces"]["6"] = {"id": 6, "*": "Datei"}
    wiki.script = [acts.json(reply)]
    with pytest.raises(WikiUnreachable, match=r"runs an old MediaWiki, .* 1\.26"):
        await read(source())


@pytest.mark.parametrize(
    "generator",
    [
        "MediaWiki 1.26.0",
        "MediaWiki 1.26wmf12",
        "MediaWiki 1.31.16",
        "MediaWiki 1.46.0-wmf.3",
        "MediaWiki 2.0",
        "MediaWiki",
        "MediaWiki unknown",
    ],
)
async def test_from_1_26_on_they_are_read(wiki, acts, source, read, generator):
    """Until 1.31, texts are not in slots; 1.26 lists its namespaces."""
    reply = acts.siteinfo(7)
    query = reply["query"]
    query["general"]["generator"] = generator
    if generator == "MediaWiki 1.26.0":
        query["namespaces"] = list(query["namespaces"].values())
    for page in wiki.pages:
        page["revisions"] = [{"revid": 3, "contentmodel": "wikitext", "content": page.pop("text")}]
    wiki.entry = lambda page, with_text=True: page
    wiki.script = [acts.json(reply)]
    opened = source()
    info = await opened.open()
    assert "Datei" in info.file_names
    batches = await read(opened)
    assert ids(batches) == [1, 2, 3, 4, 5, 6, 7]
    assert batches[0].pages[0].text == "text of page 1"
