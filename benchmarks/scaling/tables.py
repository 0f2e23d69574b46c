"""The tables of docs/scaling.md and of decisions 24 and 45, from the figures."""

from collections.abc import Iterator

from benchmarks.harness import Points, compared, table
from benchmarks.scaling import cluster, learning
from benchmarks.scaling.disk import KEPT, MODELS
from wikitopics.session.options import KEEP_ARTICLES
from wikitopics.session.settings import Settings, parse_specs
from wikitopics.session.storage.articles import DROPPED_EVERY
from wikitopics.session.storage.writer import LARGEST_LOG, TOP_ARTICLES

WIKIPEDIAS = {"English": 7_300_000, "all": 65_000_000}
"""Articles."""
API_AN_HOUR = 200 * 60 * 50
"""Articles: 200 requests a minute of 50 each, which is what Wikimedia allows."""
XML_BYTES = 15_000
"""Bytes of an article in a dump of the English Wikipedia, including redirects and templates."""
PACKED = 4.4
"""Bytes of XML in one of bzip2."""
WORDS = 8_000
UNITS = {"documents": "articles", "topics": "K", "words": "W", "batch": "S"}
COSTS = "{learnt_a_cpu_second:,.0f} · {inferred_a_cpu_second:,.0f} · {memory_mb:,.0f}"


def grown(varied: str, points: Points) -> str:
    """Articles learnt and inferred a CPU second, and memory, a row per value."""

    def cells(value: int) -> Iterator[str]:
        yield f"{value:,}"
        yield from (
            COSTS.format(**points[learning.point(varied, value, model)])
            for model in learning.MODELS
        )

    return table([UNITS[varied], *learning.MODELS], map(cells, learning.VARIED[varied]))


def threads(points: Points) -> str:
    """Articles a second on the clock."""

    def speed(threads: int, model: str) -> str:
        return f"{points[learning.point('threads', threads, model)]['learnt_a_second']:,.0f}"

    rows = (
        [f"{n}", *(speed(n, model) for model in learning.MODELS)]
        for n in learning.VARIED["threads"]
    )
    return table(["threads", *learning.MODELS], rows)


def wikipedias(points: Points) -> str:
    """Hours that each way of reading one takes, and learning it."""
    speed = points["dump"]["xml_mb_a_second"]
    cores = points["dump"]["cores"]
    by_dump = speed * 1e6 * 3600 / XML_BYTES

    def row(what: str, articles_an_hour: float, form: str = ",.1f") -> list[str]:
        return [what, *(format(n / articles_an_hour, form) for n in WIKIPEDIAS.values())]

    rows = [
        row("from the API, at 200 requests a minute of 50 articles", API_AN_HOUR),
        row(f"from a dump, {speed:,.1f} MB of XML a second on {cores} cores", by_dump),
        row(f"from a dump over HTTP over a line of {speed / PACKED:.1f} MB/s and more", by_dump),
    ]
    for model in learning.MODELS:
        learnt = points[f"million_{model}"]["learnt_a_cpu_second"]
        rows.append(row(f"learning with {model}, one core", learnt * 3600, ".2f"))
    head = [
        "hours",
        *(f"{which} ({n / 1e6:.1f} million articles)" for which, n in WIKIPEDIAS.items()),
    ]
    return table(head, rows)


# A session file's size, estimated from measured sizes in bytes, which `scale.disk` measures again.

ARTICLE = 50
"""Bytes for each stored trained article: its title, its numbers, and its place in a block."""
LARGEST_TOPIC = 20
"""Bytes for an article's largest topic in one model, with the order by topic."""
PROPORTIONS = 21
"""Bytes for an article's topic proportions in one model."""
COUNTS = 800
"""Bytes for an article's word counts."""
NEWEST = 15_000_000
"""Bytes for the word counts of the newest and the held-out articles, in total."""
TOPIC = 40_000
"""Bytes for each topic: its words over time."""
NUMBER = 4
"""Bytes for each entry of a model's (topics, words) array."""


def file_bytes(settings: Settings, n_words: int, articles: int) -> int:
    """The size of a session with this many articles, including its log."""
    models = len(settings.models)
    topics = sum(spec.topics for spec in settings.models)
    state = NUMBER * n_words * topics
    counts = COUNTS * articles if settings.keeps_counts else 0
    listed = ARTICLE + models * LARGEST_TOPIC
    kept = {
        "all": articles * (listed + models * PROPORTIONS),
        "top": min(articles, TOP_ARTICLES * topics + DROPPED_EVERY) * listed,
        "none": 0,
    }[settings[KEEP_ARTICLES]]
    return NEWEST + TOPIC * topics + state + max(LARGEST_LOG, state) + counts + kept


def disk(points: Points) -> str:
    """Gigabytes by what is kept: as estimated, and as measured."""
    specs = parse_specs(MODELS, {})
    found = points["disk"]

    def row(keep: str) -> list[str]:
        settings = Settings(
            {"keep_articles": keep, "keep_counts": False},
            source="dump",
            source_name="",
            source_options={},
            vocabulary="english",
            fingerprint="-",
            rule="1",
            models=specs,
            batch_sizes=(1,) * len(specs),
        )
        sizes = [f"{file_bytes(settings, WORDS, n) / 1e9:.2f}" for n in WIKIPEDIAS.values()]
        return [f"`{keep}`", f"{found[f'{keep}_mb']:,.1f}", *sizes]

    head = ["`--keep-articles`", f"MB measured after {found['articles']:,} articles"]
    return table([*head, *(f"{which}, GB" for which in WIKIPEDIAS)], map(row, KEPT))


def elsewhere(points: Points) -> str:
    """An E-step on other machines: what is sent there and back, and what it saves."""
    columns = {
        "rows of lambda": "{rows:,.0f}",
        "MB each way": "{mb_each_way:.1f}",
        "there and back, s": "{there_and_back_seconds:.3f}",
        "of that the trainer's CPU, s": "{there_and_back_own_cpu_seconds:.3f}",
        "E-step on one core, s": "{e_step_seconds:.3f}",
    }
    labels = {f"elsewhere_{n}": f"{n:,}" for n in cluster.BATCHES}
    return compared(labels, columns, points, "articles in a minibatch")
