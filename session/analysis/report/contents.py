"""The contents of a report: read from a session once, as of one moment, and then drawn and written.

All texts are made `visible` here, and whatever a stranger's session holds, what is listed is
bounded.
"""

import platform
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import metadata
from pathlib import PurePath
from typing import Any, NamedTuple

import numpy as np

from wikitopics.crawler.texts.kinds import MARKUP
from wikitopics.model import KindError, Metric, kinds
from wikitopics.model.areas import Areas
from wikitopics.model.relevance import ownership
from wikitopics.session import __version__
from wikitopics.session.advance import Advance, unseen
from wikitopics.session.analysis.areas import Area, Branch, atlas, in_drawing_order, topic_tree
from wikitopics.session.analysis.article_map import why_no_map
from wikitopics.session.analysis.listing import Article, articles_of_each
from wikitopics.session.analysis.map_contents import MapContents, map_contents
from wikitopics.session.analysis.origin import licence_of
from wikitopics.session.analysis.painted import PaintedText, Painter
from wikitopics.session.analysis.quality import (
    coherence_remark,
    coherences,
    distinct_words,
    mean_found,
    metrics_of,
    repeats_in_words,
)
from wikitopics.session.analysis.report.map_page import rows_drawn
from wikitopics.session.errors import NO_TOPICS, SessionError
from wikitopics.session.escapes import visible
from wikitopics.session.options import KEPT, LINKS, TOKENS, VOCAB_ARTICLES
from wikitopics.session.records import (
    SNAPSHOT_WORDS,
    Curve,
    ModelStatus,
    ShareHistory,
    Status,
    TopicEvent,
    TopicRow,
    TopWords,
)
from wikitopics.session.settings import Settings
from wikitopics.session.sources import kind_named, noun, singular, unit_noun
from wikitopics.session.storage.database import VERSION
from wikitopics.session.storage.reader import SessionReader
from wikitopics.session.storage.topics import at_even_ratios
from wikitopics.session.wording import (
    APART,
    called,
    found_legend,
    skips_told,
    snippet_shown,
    titles_shown,
)
from wikitopics.vocab.vocabulary import shipped

ARTICLES = 10
"""The most articles listed for each topic."""
PAST_MOMENTS = 9
"""The most moments at which a topic's words are shown, including the present."""
PAST_WORDS = 8
"""The number of words that are shown of each moment."""
NEAREST = 5
"""The number of a topic's neighbours that the map shows."""
POINTS = 48
"""The most points of the curve of a topic's shares."""
CURVE_POINTS = 300
"""The most points of a metric's curve."""
# The page says what is left out.
MOST_TOPICS = 1000
"""The most topics of all models together."""
MOST_MODELS = 12
MOST_CHARTS = 24
LONGEST = 300
"""The most characters of any text; the page cuts most texts shorter."""
LARGEST_DRAWN = 1e100
"""Larger values are not drawn: the ends of a scale are further out."""

Curves = dict[int, Curve]
"""The curves of one metric by the model's place. Each has at least one point; values are finite,
and articles positive."""


class PastTopic(NamedTuple):
    """A topic as it was after this many articles."""

    articles: int
    share: float
    words: Sequence[tuple[str, bool]]
    """Its words as they are shown, each with whether it is new since the moment before."""


class ReportArticle(NamedTuple):
    """An article that is most about a topic."""

    called: str
    url: str | None
    """The address, http or https, of the revision that was read; None if it is not known."""
    typicality: float
    """The larger, the earlier it is listed: see `Article`."""
    proportion: float
    """The topic's share of it."""
    words: Sequence[str]
    """The topic's words that are known to be in it."""
    snippet: PaintedText | None
    """The beginning of its text, painted; None if that is not shown."""


@dataclass(frozen=True, slots=True)
class ReportTopic:
    """One topic in use."""

    anchor: str
    """Its anchor on the page."""
    row: TopicRow
    """The topic as it is stored."""
    coherence: float | None
    words: Sequence[tuple[str, float, float]]
    """Its words as they are shown: (word, probability, the topic's share of the word's uses in
    all topics that have it among their leading words)."""
    area: int
    """The number of its area, which determines its colour."""
    place: tuple[float, float]
    """Its place on a map without a scale."""
    near: Sequence[int]
    """The numbers of the topics nearest to it, the nearest first."""
    shares: Sequence[tuple[int, float, float]]
    """(articles, share, the topic's own part of it) at the snapshots, oldest first."""
    past: Sequence[PastTopic]
    """The topic over time, oldest first; the last moment is the present."""
    titles: Sequence[str]
    """The titles that stand beside its words."""
    articles: Sequence[ReportArticle]
    """The articles most about it, the most typical first."""
    events: Sequence[TopicEvent]
    """Its events, oldest first."""


@dataclass(frozen=True, slots=True)
class ReportModel:
    """One model and its topics."""

    anchor: str
    status: ModelStatus
    in_use: int
    """The number of its topics in use, including those that are not shown."""
    label: str
    """Its kind's name for people, or only the kind if that is not installed."""
    place: int
    """Its place among the session's models, which determines its colour."""
    as_of: int
    """The number of articles at the snapshot from which its topics are taken."""
    topics: Sequence[ReportTopic]
    """The topics in use that are not hidden, largest first, and no more than fit on a page."""
    hidden: int
    """The number of its topics in use that are hidden."""
    distinct: float | None
    """The share of distinct words among the ten most probable ones of topics in use."""
    found: float | None
    """The part of the replicas that have a topic in use, on average; None without replicas."""
    repeats: str
    """A line on how many of them nearly repeat another; "" if none does."""
    found_legend: str
    """What the signs say that tell which topics come back; "" if there are none."""
    tree: Sequence[Branch]
    """The tree over its `topics`."""
    groups: Sequence[tuple[Area, Sequence[ReportTopic]]]
    """Its areas, and the topics of each, in the order of the tree."""
    by_words: bool
    """Whether areas and places come only from the topics' leading words."""
    events: Sequence[TopicEvent]
    """Its events, oldest first."""
    articles: MapContents | None
    """The map of its articles; None if the session has none."""

    def largest(self, most: int) -> "ReportModel":
        """The model with only its largest topics."""
        topics = self.topics[:most]
        kept = {topic.row.topic for topic in topics}
        groups = []
        for area, topics_of_area in self.groups:
            listed = [topic for topic in topics_of_area if topic.row.topic in kept]
            if listed:
                groups.append((area, listed))
        tree = _branches(self.tree, kept, self.status.topics)
        return replace(self, topics=topics, tree=tree, groups=groups)


def contents(
    reader: SessionReader,
    advance: Advance = unseen,
    *,
    snippets: bool = True,
) -> dict[str, Any]:
    """What the page's template needs from the session: the topics, and how they were found.

    ``snippets``: with the beginnings of texts, if the session keeps any. ``advance``: is told how
    many topics and articles have been read. Raises `SessionError` if there are no topics yet.
    """
    with reader.one_moment():
        settings = reader.settings()
        status = reader.status()
        kind = kind_named(settings.source)
        places = [
            place for place, model in enumerate(status.models) if reader.snapshots(model.name)
        ]
        if not places:
            raise SessionError(NO_TOPICS)
        shown = places[:MOST_MODELS]
        most_topics = MOST_TOPICS // len(shown)
        models = [
            _model(reader, status.models[place], place, most_topics, advance, snippets)
            for place in shown
        ]
        charts, left_out = _metrics(reader, status, shown)
        between_words = APART if settings.rule == LINKS else " "
        return {
            "session": _told(reader.path.stem),
            "made_at": time.time(),  # seconds since the epoch, like all times here
            "status": status,
            "all": status.documents + status.held_out,
            "noun": noun(settings.source),
            "read_noun": unit_noun(settings.source, status.passes),
            "skips": _told(skips_told(status.skips)),
            "source_name": _told(kind.shown(settings.source_name)),
            "source_label": _told(kind.label),
            "licence": licence_of(settings),  # None if the documents are the user's own
            "between": between_words,
            "tokens": settings[TOKENS],
            "n_words": len(reader.vocabulary()),
            "models": models,
            "coherence_remark": coherence_remark(reader),
            "replicas": status.replicas,
            "models_left_out": len(places) - len(shown),
            "metrics": charts,
            "metrics_left_out": left_out,
            "runs": reader.runs(),
            "settings": _settings(settings),
            "versions": _versions(),
        }


def _told(text: str) -> str:
    """The text as the page may show it: its beginning, without anything invisible."""
    return visible(text[:LONGEST])


def _model(
    reader: SessionReader,
    status: ModelStatus,
    place: int,
    most_topics: int,
    advance: Advance,
    snippets: bool,
) -> ReportModel:
    """One model with its largest topics."""
    name = status.name
    # Not made of the name, which may contain text that looks like another anchor.
    anchor = f"m{place}"
    newest = reader.newest_words(name)
    assert newest is not None
    tree = topic_tree(reader, name)
    topic_map = atlas(reader, name)
    assert topic_map is not None
    area_of = topic_map.area_of
    place_of = dict(zip(topic_map.grouping.topics.tolist(), topic_map.places.tolist(), strict=True))
    near = nearest(topic_map.grouping)
    rows = reader.topics(name, SNAPSHOT_WORDS)
    in_use = [row for row in rows if row.topic in area_of]
    shown = [row for row in in_use if not row.hidden]
    shown.sort(key=lambda row: -row.share)
    own = ownership(newest.leading, newest.shares, newest.shown).tolist()
    npmi = coherences(reader, name)
    history = reader.share_history(name)
    moments = spread(reader.snapshots(name), PAST_MOMENTS)
    past_words = list(reader.words_at(name, moments))
    events = [event for event in reader.topic_events() if event.model == name]
    events_of = _by_topic(events, status.topics)
    listed = shown[:most_topics]
    articles_of = articles_of_each(reader, name, [row.topic for row in listed], ARTICLES)
    painter = Painter(reader, name) if snippets and reader.has_snippets() else None
    topics: dict[int, ReportTopic] = {}
    for row in listed:
        articles = [_article(article, row.topic, painter) for article in articles_of[row.topic]]
        topics[row.topic] = ReportTopic(
            anchor=f"{anchor}-{row.topic}",
            row=replace(row, name=_told(row.name)),
            coherence=npmi[row.topic],
            words=[
                (_told(word), probability, part)
                for (word, probability), part in zip(row.shown, own[row.topic], strict=True)
            ],
            area=area_of[row.topic].number,
            place=place_of[row.topic],
            near=near[row.topic],
            shares=course_of(history, row.topic),
            past=_past(past_words, row.topic, reader.vocabulary()),
            titles=titles_shown(article.called for article in articles),
            articles=articles,
            events=events_of[row.topic],
        )
        advance("topics read", len(topics), len(listed))
    articles_on_map = None
    if not why_no_map(reader, name):
        articles_on_map = map_contents(reader, name, rows_drawn, snippets=snippets, advance=advance)
    return ReportModel(
        anchor=anchor,
        status=status,
        in_use=len(area_of),
        label=_label(status.kind),
        place=place,
        as_of=newest.articles,
        topics=list(topics.values()),
        hidden=len(in_use) - len(shown),
        distinct=distinct_words(newest),
        found=mean_found(rows),
        repeats=repeats_in_words(reader, name),
        found_legend=found_legend(row.found for row in listed),
        tree=_branches(tree, topics, status.topics),
        groups=_groups(topics, tree, topic_map.areas),
        by_words=topic_map.by_words,
        events=events,
        articles=articles_on_map,
    )


def _by_topic(events: Sequence[TopicEvent], n_topics: int) -> list[list[TopicEvent]]:
    """The events of each topic, in their order; when all start over, that is one of each."""
    events_of: list[list[TopicEvent]] = [[] for _ in range(n_topics)]
    for event in events:
        if event.event == "started_over":
            for of_topic in events_of:
                of_topic.append(event)
            continue
        events_of[event.topic].append(event)
        if event.other is not None and event.other != event.topic:
            events_of[event.other].append(event)
    return events_of


def _branches(tree: Sequence[Branch], topics: Collection[int], n_topics: int) -> list[Branch]:
    """The branches of these topics and all groups, whose numbers follow those of all topics."""
    return [branch for branch in tree if branch.number in topics or branch.number >= n_topics]


def _groups(
    topics: Mapping[int, ReportTopic], tree: Sequence[Branch], all_areas: Sequence[Area]
) -> list[tuple[Area, Sequence[ReportTopic]]]:
    """The areas of these topics, by number, and the topics of each, in the order of the tree."""
    groups: list[tuple[Area, Sequence[ReportTopic]]] = []
    for area, topics_of_area in in_drawing_order(tree, all_areas):
        listed = [topics[topic] for topic in topics_of_area if topic in topics]
        if listed:
            groups.append((replace(area, name=_told(area.name)), listed))
    return groups


def _article(article: Article, topic: int, painter: Painter | None) -> ReportArticle:
    """An article that is most about a topic; ``painter``: None to leave snippets out."""
    snippet = article.snippet if painter is not None else None
    proportion = article.proportion or 0.0
    painted = None
    if painter is not None and snippet:
        painted = painter.paint_about(snippet_shown(snippet), topic, proportion)
    return ReportArticle(
        called=_told(called(article.title, snippet)),
        url=article.url,
        typicality=article.typicality or 0.0,
        proportion=proportion,
        words=[_told(word) for word in article.topic_words],
        snippet=painted,
    )


def nearest(grouping: Areas) -> dict[int, list[int]]:
    """The topics nearest to each topic in use, the nearest first."""
    nearest_first = grouping.far.argsort(axis=1, kind="stable")
    near = {}
    for topic, places in zip(grouping.topics.tolist(), nearest_first, strict=True):
        others = [other for other in grouping.topics[places].tolist() if other != topic]
        near[topic] = others[:NEAREST]
    return near


def spread(points: Sequence[int], most: int) -> list[int]:
    """At most ``most`` of these ascending numbers, at even ratios, including the first and the
    last."""
    if len(points) <= most:
        return list(points)
    return at_even_ratios(points, most, points[0])


def course_of(history: ShareHistory, topic: int) -> list[tuple[int, float, float]]:
    """(articles, share, the topic's own part of it) at some snapshots, oldest first."""
    articles = history.articles.tolist()
    chosen = np.searchsorted(history.articles, spread(articles, POINTS)).tolist()
    return [
        (articles[i], float(history.shares[i, topic]), float(history.own[i, topic])) for i in chosen
    ]


def _past(snapshots: Sequence[TopWords], topic: int, vocabulary: Sequence[str]) -> list[PastTopic]:
    """A topic at each of these snapshots."""
    past: list[PastTopic] = []
    ids_before: list[int] | None = None
    for snapshot in snapshots:
        shown_ids, _ = snapshot.shown
        ids = shown_ids[topic, :PAST_WORDS].tolist()
        words = []
        for id in ids:
            is_new = ids_before is not None and id not in ids_before
            words.append((_told(vocabulary[id]), is_new))
        past.append(PastTopic(snapshot.articles, float(snapshot.shares[topic]), words))
        ids_before = ids
    return past


def _metrics(
    reader: SessionReader, status: Status, places: Sequence[int]
) -> tuple[list[tuple[Metric, Curves]], int]:
    """The metrics that have curves, with the titles of their charts, and how many more there are.

    Metrics that are declared come first, so that only undeclared ones are left out.
    """
    texts = noun(status.source)
    if status.held_out == 1:
        texts = singular(texts)
    held_out = f"{status.held_out:,} held-out {texts}"
    metrics = metrics_of(reader)
    charts = []
    for metric in metrics[:MOST_CHARTS]:
        curves = {
            place: sound(reader.curve(status.models[place].name, metric.name)) for place in places
        }
        shown = {place: curve for place, curve in curves.items() if len(curve.values)}
        if shown:
            title = _told(metric.title.replace("{held_out}", held_out))
            brief = _told(metric.brief or metric.name.replace("_", " "))
            charts.append((replace(metric, title=title, brief=brief), shown))
    return charts, max(0, len(metrics) - MOST_CHARTS)


def sound(curve: Curve) -> Curve:
    """The part of the curve that can be drawn over articles, with at most `CURVE_POINTS` points."""
    can_be_drawn = (np.abs(curve.values) <= LARGEST_DRAWN) & (curve.articles > 0)
    known = np.flatnonzero(can_be_drawn)
    points = spread(curve.articles[known].astype(int).tolist(), CURVE_POINTS)
    kept = known[np.searchsorted(curve.articles[known], points)]
    return Curve(curve.articles[kept], curve.tokens[kept], curve.seconds[kept], curve.values[kept])


def _label(kind: str) -> str:
    try:
        return _told(kinds.load(kind).label)
    except KindError:  # installed when the session was trained, but no longer
        return kind


def _settings(settings: Settings) -> tuple[tuple[str, str], ...]:
    """(setting, value) as needed to repeat the training; nothing about the machine, no contact, no
    path."""
    listed = [("--source", settings.source)]
    markup = settings.source_options.get(MARKUP.name)
    if markup is not None:
        listed.append((MARKUP.flag, _told(str(markup))))
    vocabulary = _told(PurePath(settings.vocabulary).name)
    listed.append(("--vocab", f"{vocabulary}, fingerprint {settings.fingerprint[:12]}"))
    models = list(zip(settings.models, settings.batch_sizes, strict=True))
    for spec, batch_size in models[:MOST_MODELS]:
        listed.append(("--model", _told(str(replace(spec, batch_size=batch_size)))))
    is_given = settings.vocabulary in shipped() or "/" in settings.vocabulary
    for option in KEPT:
        value = settings.values.get(option.name)
        if value is not None and not (is_given and option == VOCAB_ARTICLES):
            listed.append((option.flag, _in_words(value)))
    return tuple(listed)


def _in_words(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    return _told(str(value))


def _versions() -> tuple[tuple[str, str], ...]:
    packages = ("numpy", "scipy", "numba")
    return (
        ("wikitopics", __version__),
        ("session format", str(VERSION)),
        ("Python", platform.python_version()),
        *((package, metadata.version(package)) for package in packages),
    )
