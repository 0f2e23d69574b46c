"""Canned sessions for the screen: written through the session's own store, with no model and no
wiki."""

import contextlib
import functools
import hashlib
import sqlite3
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from tests.session import rows as small
from wikitopics.model.areas import NONE, Areas
from wikitopics.model.online import IN_USE
from wikitopics.model.relevance import by_relevance
from wikitopics.session.naming import ToldTopics, names_of
from wikitopics.session.records import Progress, TopicEvent, TopWords, TrainerActivity
from wikitopics.session.settings import ModelSpec, Settings
from wikitopics.session.storage.articles import ArticleTopics
from wikitopics.session.storage.block import Block
from wikitopics.session.storage.heartbeats import HeartbeatWriter
from wikitopics.session.storage.places import Layout
from wikitopics.session.storage.writer import (
    Beginning,
    Changes,
    SessionWriter,
    create,
)
from wikitopics.session.system import TrainerLock


def lines_of(name: str) -> tuple[str, ...]:
    return tuple(Path(__file__).with_name(name).read_text(encoding="utf-8").splitlines())


THEMES = lines_of("themes.txt")
TITLES = lines_of("titles.txt")
WORDS = tuple(sorted({word for line in THEMES for word in line.split()}))
EVERYWHERE = "people used time part known called century world state year including large"
FIRST_GUESS = EVERYWHERE.split()
WORD_IDS = {word: i for i, word in enumerate(dict.fromkeys([*WORDS, *FIRST_GUESS]))}
HOSTILE = [
    "[/x] [bold red]not bold[/]",
    "bell\x07 escape\x1b[31m red",
    "two\nlines\ttab",
    "right\u202eto left",
    "日本の鉄道駅一覧",
    "<script>alert(1)</script>",
    '=HYPERLINK("x")',
    "[@click=app.exit]click[/]",
]
"""Titles that a screen, a terminal or another program might obey."""
N_TOPICS = 50
HELD_OUT = 1_000
REFUSED_AT = time.mktime((2026, 5, 4, 16, 2, 30, 0, 0, -1))
"""When the wiki last refused something."""
ENDED_AT = REFUSED_AT + 300
"""When a trainer that runs no more measured its last rates: 16:07:30."""


@dataclass
class Recipe:
    """What kind of session is wanted."""

    models: tuple[str, ...] = ("lda",)
    topics: int = N_TOPICS
    articles: int = 12_480
    source: str = "api"
    source_name: str = "en.wikipedia.org"
    state: str = "running"
    """running, paused, starting, stopped, finished, dead or new."""
    restarts: tuple[int, ...] = (3_000,)
    metric_rows: int = 0
    """At least so many measurements a model and metric (for benchmarks); 0: as a session makes
    them."""
    activity: dict[str, object] = field(default_factory=dict)
    replicas: int = 0
    wide: bool = False
    """Whether each letter of words and titles takes two cells of the screen."""


WIDE = {code: code + 0xFEE0 for code in range(0x21, 0x7F)}


def build(path: Path, recipe: Recipe | None = None) -> Path:
    """Write a whole session to ``path``."""
    recipe = recipe or Recipe()
    rng = np.random.default_rng(0)
    specs = tuple(ModelSpec(kind=name, name=name, topics=recipe.topics) for name in recipe.models)
    wide = WIDE if recipe.wide else {}
    words = [word.translate(wide) for word in WORD_IDS]
    settings = Settings(
        {"seed": 0, "held_out": HELD_OUT, "documents": 7_000_000, "replicas": recipe.replicas},
        source=recipe.source,
        source_name=recipe.source_name,
        source_options={
            "api_url": "http://127.0.0.1:9/",
            "counts": "counts.npz",
            "dump": ["dump.xml"],
        },
        vocabulary="english",
        fingerprint=hashlib.sha256("\n".join(words).encode()).hexdigest(),
        rule="1",
        models=specs,
        batch_sizes=(1024,) * len(specs),
    )
    create(path, settings, Beginning(words, [row(0, 0, 1.0)] * settings.n_all_models))
    store = SessionWriter(path)
    if recipe.state not in {"new", "starting"}:
        points = measured_at(recipe.articles)
        changes = Changes()
        for model, spec in enumerate(specs):
            snapshots = [
                snapshot(model, articles, recipe.topics) for articles in points if articles >= 16
            ]
            if recipe.replicas:
                times = np.arange(recipe.topics) % (recipe.replicas + 1)
                found = (times / recipe.replicas).astype(np.float32)
                snapshots = [replace(one, found=found) for one in snapshots]
            changes.snapshots += snapshots
            if snapshots:
                changes.told_topics[model] = told(snapshots[-1], words)
                changes.areas[model] = charted(snapshots[-1])
            changes.metrics += metrics(model, points, recipe, rng)
            events = happenings(spec.name, recipe.articles)
            changes.topic_events += [(model, event) for event in events]
            changes.models[model] = row(44 - 3 * model, 18, 0.087)
        changes.articles = [(documents(list(TITLES[:5]), rng), "held_out", None)]
        for titles in ([f"List of things ({i})" for i in range(200)], HOSTILE, list(TITLES)):
            titles = [title.translate(wide) for title in titles]
            block = documents(titles, rng)
            changes.articles.append((block, "trained", topics(len(titles), specs, rng)))
        store.commit(progress(recipe, recipe.articles), changes, 0)
    store.close()
    with contextlib.closing(sqlite3.connect(path)) as db, db:
        end = ENDED_AT if recipe.state in {"stopped", "finished", "dead"} else time.time()
        measured = 0 if recipe.state in {"new", "starting"} else 120
        rows = [(end - 2 * i, *rates(i)) for i in range(measured, 0, -1)]
        db.executemany(
            "INSERT INTO flow (at, crawl_rate, train_rate, queue) VALUES (?, ?, ?, ?)", rows
        )
    pulse = HeartbeatWriter(path)
    begun_at = () if recipe.state == "new" else (0, *recipe.restarts)
    for first in begun_at:
        run = pulse.begin(first)
        pulse.event("info", f"training began at article {first:,}")
    if recipe.state != "new":
        pulse.event("warning", "429: told to wait 30 s")
        pulse.event("info", "saved at 12,288 articles")
    if recipe.state in {"stopped", "finished"}:
        pulse.end(run, "stopped on request", recipe.articles)
    if recipe.state not in {"new", "starting"}:
        last = {"finished": "stopped", "dead": "running"}.get(recipe.state, recipe.state)
        beat(pulse, recipe, last, tick=-1)
    pulse.close()
    return path


def progress(recipe: Recipe, articles: int) -> Progress:
    return Progress(
        articles=articles,
        tokens=articles * 137,
        held_out=HELD_OUT,
        crawled=articles + HELD_OUT + 340 + 25,
        pending=340,
        skipped=25,
        skips={"disambiguation": 14, "no known word": 8, "deleted or hidden": 3},
        minibatches=18,
        lap=0.0019,
        finished=recipe.state == "finished",
        elapsed_seconds=6_130.0 + (articles - recipe.articles) / 9,
        bytes_read=articles * 9_100,
    )


def measured_at(articles: int) -> list[int]:
    powers = [2**k for k in range(4, 40) if 2**k < articles]
    return sorted({*powers, *range(2048, articles, 1024), articles})


def metrics(
    model: int,
    points: list[int],
    recipe: Recipe,
    rng: np.random.Generator,
) -> list[tuple[int, int, int, float, str, float]]:
    if recipe.metric_rows:
        points = list(range(64, 64 + 64 * recipe.metric_rows, 64))
    rows = []
    for articles in points:
        noise = rng.normal(0, 0.004)
        perplexity = 1150.0 - 70 * model + 5200.0 * articles**-0.36
        values = {
            "log_likelihood": -np.log(perplexity) + noise,
            "npmi": 0.14 - 0.6 * articles**-0.4 + noise,
            "topics_in_use": float(min(50, 8 + articles**0.4)),
        }
        words = articles * 137
        seconds = articles * 0.49
        for metric, value in values.items():
            rows.append((model, articles, words, seconds, metric, float(value)))
    return rows


@functools.cache
def strays(k: int) -> tuple[str, ...]:
    """The first words of a topic, which have nothing to do with one another."""
    return tuple(np.random.default_rng(k).permutation(list(WORD_IDS))[:40].tolist())


@functools.cache
def snapshot(model: int, n: int, n_topics: int = N_TOPICS) -> TopWords:
    """Topics that settle: early snapshots hold many words that belong nowhere."""
    settled = min(1.0, np.log2(n) / 14)
    ids = np.zeros((n_topics, 20), np.int32)
    probabilities = np.zeros((n_topics, 20), np.float32)
    for k in range(n_topics):
        theme = THEMES[k % len(THEMES)].split()
        shift = k // len(THEMES) * 3
        own = theme[shift:] + theme[:shift]
        keep = int(len(own) * settled)
        swap = 1 + n // 1024 % 4
        words = own[:keep]
        words[swap : swap + 2] = words[swap : swap + 2][::-1]
        words = list(dict.fromkeys([*words, *FIRST_GUESS[: 6 - keep // 2], *strays(k)]))[:20]
        ids[k] = [WORD_IDS[w] for w in words]
        probabilities[k] = 0.06 * 0.8 ** np.arange(20)
    base = np.random.default_rng(model).dirichlet(np.full(n_topics, 1.2))
    steps = np.random.default_rng(7).normal(0, 0.12, (60, n_topics))
    drift = np.exp(np.cumsum(steps, axis=0))[min(n // 512, 59)]
    shares = base * drift * settled + (1 - settled) / n_topics
    shares = (shares / shares.sum()).astype(np.float32)
    leading = (ids, probabilities)
    return TopWords(model, n, leading, by_relevance(leading, shares), shares)


N_AREAS = 9


def charted(taken: TopWords) -> Areas:
    """Areas of a few themes each, around a circle; alike topics are near each other."""
    topics = np.flatnonzero(taken.shares > IN_USE)
    areas = topics % len(THEMES) % N_AREAS
    within = topics % len(THEMES) // N_AREAS
    turn = 2 * np.pi * (areas / N_AREAS + 0.03 * within)
    away = 3 + within + topics / len(THEMES) / 3
    places = np.stack([away * np.cos(turn), away * np.sin(turn)], axis=1).round(3)
    right, down = np.moveaxis(places[:, None] - places, 2, 0)
    apart = np.hypot(right, down)[np.triu_indices(len(topics), 1)]
    of_topic = np.full(len(taken.shares), NONE, np.int16)
    of_topic[topics] = areas
    words = {area: THEMES[area].split()[:2] for area in np.unique(areas).tolist()}
    return Areas(of_topic, apart.astype(np.float16), places.astype(np.float32), words)


def happenings(model: str, articles: int) -> list[TopicEvent]:
    """What has happened to a few topics by then."""
    events = [
        TopicEvent(model, 512, "born", 3, None, "film, actor, directed"),
        TopicEvent(model, 4_096, "split", 24, 48, "flows, creek, tributary"),
        TopicEvent(model, 8_192, "died", 17, None, "theorem, function, space"),
        TopicEvent(model, 9_216, "renamed", 6, None, "city, town, district"),
    ]
    return [event for event in events if event.articles <= articles]


def documents(titles: list[str], rng: np.random.Generator) -> Block:
    """Articles with these titles, each of three words."""
    number = len(titles)
    ids = np.arange(number) + int(rng.integers(10**6))
    lengths = np.arange(number) + 9_000
    words = np.tile(np.array([1, 5, 9], np.int32), number)
    counts = rng.integers(1, 200, 3 * number).astype(np.int32)
    return Block(ids, lengths, tuple(titles), np.arange(number + 1) * 3, words, counts)


def topics(n: int, specs: tuple[ModelSpec, ...], rng: np.random.Generator) -> ArticleTopics:
    """Each article's largest topic, and two smaller ones."""
    thetas = []
    for spec in specs:
        first = rng.integers(0, N_TOPICS, n)
        share = rng.uniform(0.15, 0.8, n)
        theta = np.zeros((n, spec.topics))
        for place, part in enumerate((1, 0.5, 0.2)):
            left = 1 - theta.sum(axis=1)
            theta[np.arange(n), (first + 7 * place) % N_TOPICS] = np.minimum(part * share, left)
        theta += (1 - theta.sum(axis=1, keepdims=True)) / spec.topics
        thetas.append(theta)
    return ArticleTopics.of(thetas, with_proportions=True)


def row(topics_in_use: int, updates: int, rho: float) -> dict[str, object]:
    return small.row() | {"topics_in_use": topics_in_use, "updates": updates, "rho": rho}


def rates(i: int) -> tuple[float, float, int]:
    crawl = 150 + 25 * np.sin(i / 9) + i % 7 * 3
    train = 148 + 9 * np.sin(i / 5 + 1)
    return crawl, train, int(340 + 200 * np.sin(i / 13))


def beat(pulse: HeartbeatWriter, recipe: Recipe, state: Any, tick: int = 0) -> None:
    crawl, train, queue = rates(tick)
    refused = (REFUSED_AT, "429: told to wait 30 s")
    cut = (REFUSED_AT + 61, "reply cut after 8,192 bytes")
    values: dict[str, Any] = {
        "crawl_rate": crawl,
        "train_rate": train,
        "queue": queue,
        "bound_by": "network",
        "requests": 812,
        "requests_last_minute": 41,
        "allowed_per_minute": 200,
        "batch_pages": 50,
        "latency_seconds": 0.31,
        "retries": 3,
        "throttled": 2,
        "errors": (refused, cut),
        "seconds_left": 46_800.0,
        "seconds_left_range": (43_200.0, 50_400.0),
    }
    activity = TrainerActivity(**values | recipe.activity)
    pulse.beat(state, activity, keep_flow=tick >= 0)


@contextlib.contextmanager
def live(path: Path, recipe: Recipe | None = None) -> Iterator[None]:
    """As long as this is open, a trainer seems to hold the session (its pid is ours)."""
    recipe = recipe or Recipe()
    with TrainerLock(path):
        pulse = HeartbeatWriter(path)
        beat(pulse, recipe, recipe.state)
        pulse.close()
        yield


def lay_out(path: Path, recipe: Recipe, turned: bool = False) -> Path:
    """Give all articles places around their largest topics, as a trainer does at doublings;
    ``turned``: elsewhere than before."""
    store = SessionWriter(path)
    articles = store.progress().articles
    number = articles if turned else articles - 1
    areas = charted(snapshot(0, articles, recipe.topics))
    spread = (areas.places - areas.places.min(axis=0)) / np.ptp(areas.places, axis=0)
    at = np.full((recipe.topics, 2), np.nan, np.float32)
    within = 1 - spread if turned else spread
    at[areas.topics] = 0.1 + 0.8 * within
    changes = Changes()
    for model, name in enumerate(recipe.models):
        landmarks = small.recorded_proportions(store, name)
        around = np.random.default_rng(0).normal(0, 0.02, (len(landmarks), 2))
        largest = [landmarks.largest(row)[0][0] for row in range(len(landmarks))]
        places = np.rint(np.clip(np.nan_to_num(at[largest], nan=0.5) + around, 0, 1) * 65_535)
        places = places.astype(np.uint16)
        changes.layouts.append((model, Layout(number, landmarks, at, places)))
        start = 0
        for first_seq, n in store.blocks():
            changes.places.append((model, first_seq, number, places[start : start + n]))
            start += n
    store.commit(progress(recipe, articles), changes, 0)
    store.close()
    return path


def told(taken: TopWords, words: Sequence[str]) -> ToldTopics:
    shown_ids, _ = taken.shown
    return ToldTopics(tuple(names_of(shown_ids, words)), frozenset())


def grow(path: Path, recipe: Recipe, by: int, titles: tuple[str, ...] = ()) -> None:
    """One commit more, as a trainer makes them; ``titles`` of the articles that come with it, or
    one."""
    store = SessionWriter(path)
    rng = np.random.default_rng(by)
    articles = store.progress().articles + by
    titles = titles or (str(rng.choice(TITLES)),)
    score = -float(np.log(1150.0 + 5200.0 * articles**-0.36))
    newest = snapshot(0, articles, recipe.topics)
    share_of = topics(len(titles), store.settings().models, rng)
    changes = Changes(
        metrics=[(0, articles, articles * 137, articles * 0.49, "log_likelihood", score)],
        snapshots=[newest],
        told_topics={0: told(newest, store.vocabulary())},
        areas={0: charted(newest)},
        articles=[(documents(list(titles), rng), "trained", share_of)],
    )
    store.commit(progress(recipe, articles), changes, 0)
    store.close()
