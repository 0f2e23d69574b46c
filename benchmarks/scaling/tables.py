"""The tables of docs/scaling.md, from the figures; cells that have not been measured say so."""

from collections.abc import Iterable, Mapping

from benchmarks.frame import Figures
from benchmarks.scaling import cluster, learning
from benchmarks.scaling.disk import KEPT, MODELS
from wikitopics.session.settings import Settings
from wikitopics.session.specs import parse_specs
from wikitopics.session.storage.sizes import file_bytes

NOT_MEASURED = "not measured yet"
WIKIPEDIAS = {"English": 7_300_000, "all": 65_000_000}
"""Articles."""
API_AN_HOUR = 200 * 60 * 50
"""Articles: 200 requests a minute of 50 each, which is what Wikimedia allows."""
XML_BYTES = 15_000
"""Bytes of an article in a dump of the English Wikipedia, including redirects and templates."""
PACKED = 4.4
"""Bytes of XML in one of bzip2."""
WORDS = 8_000
UNITS = {
    "documents": "articles",
    "topics": "K",
    "words": "W",
    "batch": "S",
}

Points = Mapping[str, Figures]


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Markdown."""
    lines = [list(head)]
    lines.append(["---"] * len(lines[0]))
    return "\n".join(f"| {' | '.join(line)} |" for line in (*lines, *map(list, rows)))


def number(figures: Figures | None, key: str) -> float | None:
    """A figure; None where it was not measured."""
    value = None if figures is None else figures.get(key)
    return float(value) if isinstance(value, int | float) else None


def said(value: float | None, form: str = ",.0f") -> str:
    return NOT_MEASURED if value is None else format(value, form)


def grown(varied: str, points: Points) -> str:
    """Articles learnt and inferred a CPU second, and memory, one row a value."""
    rows = [
        [f"{value:,}"]
        + [_costs(points.get(learning.point(varied, value, model))) for model in learning.MODELS]
        for value in learning.VARIED[varied]
    ]
    return table([UNITS[varied], *learning.MODELS], rows)


def _costs(found: Figures | None) -> str:
    numbers = [number(found, key) for key in ("learnt_a_cpu_second", "inferred_a_cpu_second", "memory_mb")]
    return NOT_MEASURED if None in numbers else " · ".join(map(said, numbers))


def threads(points: Points) -> str:
    """Articles a second on the clock."""
    rows = [
        [str(value)]
        + [
            said(number(points.get(learning.point("threads", value, model)), "learnt_a_second"))
            for model in learning.MODELS
        ]
        for value in learning.VARIED["threads"]
    ]
    return table(["threads", *learning.MODELS], rows)


def wikipedias(points: Points) -> str:
    """Hours that each way of reading one takes, and learning it."""
    speed = number(points.get("dump"), "xml_mb_a_second")
    cores = number(points.get("dump"), "cores")
    learnt = {
        model: number(points.get(f"million_{model}"), "learnt_a_cpu_second") for model in learning.MODELS
    }

    def row(what: str, articles_an_hour: float | None, form: str = ",.1f") -> list[str]:
        hours = (None if articles_an_hour is None else n / articles_an_hour for n in WIKIPEDIAS.values())
        return [what, *(said(value, form) for value in hours)]

    by_dump = None if speed is None else speed * 1e6 * 3600 / XML_BYTES
    line = "" if speed is None else f" over a line of {speed / PACKED:.1f} MB/s and more"
    rows = [
        row("from the API, at 200 requests a minute of 50 articles", API_AN_HOUR),
        row(f"from a dump, {said(speed, '.1f')} MB of XML a second on {said(cores)} cores", by_dump),
        row(f"from a dump over HTTP{line}", by_dump),
        *(
            row(f"learning with {model}, one core", rate and rate * 3600, ".2f")
            for model, rate in learnt.items()
        ),
    ]
    head = ["hours", *(f"{which} ({n / 1e6:.1f} million articles)" for which, n in WIKIPEDIAS.items())]
    return table(head, rows)


def disk(points: Points) -> str:
    """Gigabytes by what is kept: as a run announces them, and as measured."""
    specs = parse_specs(MODELS, {})
    found = points.get("disk")

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
        return [f"`{keep}`", said(number(found, f"{keep}_mb"), ".1f"), *sizes]

    articles = said(number(found, "articles"))
    head = ["`--keep-articles`", f"MB measured after {articles} articles"]
    return table([*head, *(f"{which}, GB" for which in WIKIPEDIAS)], map(row, KEPT))


def elsewhere(points: Points) -> str:
    """An E-step on other machines: what is sent there and back, and what it saves."""
    head = [
        "articles in a minibatch",
        "rows of lambda",
        "MB each way",
        "there and back, s",
        "of that the trainer's CPU, s",
        "E-step on one core, s",
    ]
    keys = {
        "rows": ",.0f",
        "mb_each_way": ".1f",
        "there_and_back_seconds": ".3f",
        "there_and_back_own_cpu_seconds": ".3f",
        "e_step_seconds": ".3f",
    }
    rows = [
        [f"{batch:,}"]
        + [said(number(points.get(f"elsewhere_{batch}"), key), form) for key, form in keys.items()]
        for batch in cluster.BATCHES
    ]
    return table(head, rows)
