"""The tables of docs/scaling.md and of decisions 24 and 45, from the figures."""

from benchmarks.harness import Points, compared, table
from benchmarks.scaling import cluster, learning
from benchmarks.scaling.disk import KEPT, MODELS
from wikitopics.session.options import KEEP_ARTICLES
from wikitopics.session.settings import Settings, parse_specs
from wikitopics.session.storage.articles import DROPPED_EVERY
from wikitopics.session.storage.writer import LARGEST_LOG, TOP_ARTICLES

WIKIPEDIAS = {"English": 7_300_000, "all": 65_000_000}
"""How many articles they have."""
API_AN_HOUR = 200 * 60 * 50
"""Articles an hour: 200 requests a minute of 50 articles each, which is what Wikimedia allows."""
XML_BYTES = 15_000
"""Bytes of an article in a dump of the English Wikipedia, including redirects and templates."""
PACKED = 4.4
"""Bytes of XML in a byte of bzip2."""
WORDS = 8_000
UNITS = {"documents": "articles", "topics": "K", "words": "W", "batch": "S"}
COSTS = "{learnt_a_cpu_second:,.0f} · {inferred_a_cpu_second:,.0f} · {memory_mb:,.0f}"


def grown(varied: str, points: Points) -> str:
    """Articles learnt and inferred a CPU second, and memory; a row for each value of what is
    varied."""
    rows = []
    for value in learning.VARIED[varied]:
        cells = [f"{value:,}"]
        for model in learning.MODELS:
            figures = points[learning.point(varied, value, model)]
            cells.append(COSTS.format(**figures))
        rows.append(cells)
    return table([UNITS[varied], *learning.MODELS], rows)


def threads(points: Points) -> str:
    """Articles a second on the clock."""
    rows = []
    for value in learning.VARIED["threads"]:
        cells = [f"{value}"]
        for model in learning.MODELS:
            figures = points[learning.point("threads", value, model)]
            cells.append(f"{figures['learnt_a_second']:,.0f}")
        rows.append(cells)
    return table(["threads", *learning.MODELS], rows)


def wikipedias(points: Points) -> str:
    """Hours that each way of reading a Wikipedia takes, and that learning it does."""
    speed = points["dump"]["xml_mb_a_second"]
    cores = points["dump"]["cores"]
    from_dump = speed * 1e6 * 3600 / XML_BYTES

    def row(label: str, articles_an_hour: float, form: str = ",.1f") -> list[str]:
        hours = [articles / articles_an_hour for articles in WIKIPEDIAS.values()]
        return [label, *(format(each, form) for each in hours)]

    rows = [
        row("from the API, at 200 requests a minute of 50 articles", API_AN_HOUR),
        row(f"from a dump, {speed:,.1f} MB of XML a second on {cores} cores", from_dump),
        row(f"from a dump over HTTP over a line of {speed / PACKED:.1f} MB/s and more", from_dump),
    ]
    for model in learning.MODELS:
        learnt = points[f"million_{model}"]["learnt_a_cpu_second"]
        rows.append(row(f"learning with {model}, one core", learnt * 3600, ".2f"))
    head = ["hours"]
    for name, articles in WIKIPEDIAS.items():
        head.append(f"{name} ({articles / 1e6:.1f} million articles)")
    return table(head, rows)


# A session file's size is estimated from these sizes in bytes, which `scale.disk` measures again.

ARTICLE = 62
"""Of each stored trained article: its title, its numbers, its place in a block, and on the map."""
LARGEST_TOPIC = 15
"""Of such an article in each model: the order by topic."""
PROPORTIONS = 17
"""Of such an article in each model: its topic proportions."""
COUNTS = 800
"""Of such an article: its word counts."""
NEWEST = 15_000_000
"""The word counts of the newest and the held-out articles, in total."""
TOPIC = 40_000
"""Of each topic: its words over time."""
NUMBER = 4
"""Of each entry of a model's (topics, words) array."""


def file_bytes(settings: Settings, n_words: int, articles: int) -> int:
    """The size of a session with this many articles, including its log."""
    n_models = len(settings.models)
    n_topics = sum(spec.topics for spec in settings.models)
    states = NUMBER * n_words * n_topics
    log = max(LARGEST_LOG, states)
    counts = COUNTS * articles if settings.keeps_counts else 0
    of_listed = ARTICLE + n_models * LARGEST_TOPIC
    most_on_top = TOP_ARTICLES * n_topics + DROPPED_EVERY
    kept = {
        "all": articles * (of_listed + n_models * PROPORTIONS),
        "top": min(articles, most_on_top) * of_listed,
        "none": 0,
    }
    return NEWEST + TOPIC * n_topics + states + log + counts + kept[settings[KEEP_ARTICLES]]


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
        cells = [f"`{keep}`", f"{found[f'{keep}_mb']:,.1f}"]
        for articles in WIKIPEDIAS.values():
            gigabytes = file_bytes(settings, WORDS, articles) / 1e9
            cells.append(f"{gigabytes:.2f}")
        return cells

    head = ["`--keep-articles`", f"MB measured after {found['articles']:,} articles"]
    head += [f"{name}, GB" for name in WIKIPEDIAS]
    return table(head, [row(keep) for keep in KEPT])


def elsewhere(points: Points) -> str:
    """An E-step on other machines: what is sent there and back, and what it saves."""
    columns = {
        "rows of lambda": "{rows:,.0f}",
        "MB each way": "{mb_each_way:.1f}",
        "there and back, s": "{there_and_back_seconds:.3f}",
        "of that the trainer's CPU, s": "{there_and_back_own_cpu_seconds:.3f}",
        "E-step on one core, s": "{e_step_seconds:.3f}",
    }
    labels = {f"elsewhere_{size}": f"{size:,}" for size in cluster.BATCHES}
    return compared(labels, columns, points, "articles in a minibatch")
