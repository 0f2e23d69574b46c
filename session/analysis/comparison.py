"""Sessions side by side: all their models, scored on articles that none of them was trained on.

The articles are those that any session holds out. An article counts if it is new to every session:
held out there too, or not among the articles that the session trained on. For a session that does
not know which articles it trained on, only its own held-out articles count.

A page id identifies an article only within one wiki or one file of documents. Two sources that may
be the same wiki, as with a dump, are taken for the same: then too few articles may be scored, but
never one that was trained on. Two different wikis have no article in common. Whether two files have
articles in common is not recorded: it is assumed that they have none, and the user is told
(`remarks`).
"""

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wikitopics.crawler.texts.kinds import EARLIER, Texts
from wikitopics.model import CompletionSet
from wikitopics.session.advance import Advance, unseen
from wikitopics.session.analysis.quality import (
    coherence_remark,
    distinct_words,
    mean_coherence,
    mean_found,
)
from wikitopics.session.errors import BadUsage, Damaged, SessionError
from wikitopics.session.options import SEED
from wikitopics.session.paths import session_name
from wikitopics.session.records import ModelStatus, perplexity
from wikitopics.session.settings import load_model
from wikitopics.session.sources import check_identity, kind_named
from wikitopics.session.storage.block import Block
from wikitopics.session.storage.reader import SessionReader
from wikitopics.vocab.rules import Rule


@dataclass(frozen=True, slots=True)
class ComparedModel:
    """One model of one session, and its score."""

    session: str
    model: str
    kind: str
    articles: int
    """The number of articles that the session has trained on."""
    topics: int
    topics_in_use: int
    log_likelihood: float
    """Nats per held-out word, by document completion."""
    perplexity: float
    difference: float
    """Its log-likelihood minus that of the best model: 0 for the best, negative for the others."""
    standard_error: float | None
    """Of the difference, over the articles scored; None for fewer than two."""
    npmi: float | None
    """The mean coherence of its topics in use, in articles that its session has learnt."""
    distinct: float | None
    """As `distinct_words`."""
    found: float | None
    """As `mean_found`."""

    @property
    def margin(self) -> float:
        """Twice the standard error: a smaller difference may be chance."""
        return 2 * (self.standard_error or 0.0)


@dataclass(frozen=True, slots=True)
class Comparison:
    """The result of a comparison."""

    articles: int
    """The number of articles scored."""
    models: Sequence[ComparedModel]
    """The models, the best first."""
    remarks: tuple[str, ...]
    """What was assumed, and what was not known."""

    def by_topics(self) -> list[ComparedModel]:
        """The models of each session and kind together, in the order of their numbers of topics,
        which makes a curve; those of the best model come first."""
        families: dict[tuple[str, str], list[ComparedModel]] = {}
        for model in self.models:
            families.setdefault((model.session, model.kind), []).append(model)
        ordered = [sorted(family, key=lambda model: model.topics) for family in families.values()]
        return list(chain.from_iterable(ordered))

    def level(self) -> list[ComparedModel]:
        """The models that the articles scored do not tell from the best."""
        _, *others = self.models
        return [model for model in others if -model.difference <= model.margin]


class _Session:
    """A session that takes part, as of one commit."""

    def __init__(self, reader: SessionReader) -> None:
        settings = reader.settings()
        kind = kind_named(settings.source)
        check_identity(kind, settings.source_options)
        self.reader = reader
        self.name = session_name(reader.path)
        self.wiki = kind.wiki(settings.source_options)
        first = settings.source_options
        if settings.source == Texts.name and first.get(EARLIER):
            first = first[EARLIER][0]
        self.content = first.get("checksum") or (settings.source, first)
        """Identifies the documents that contain the held-out articles, which are the first ones, if
        the source is not a wiki."""
        self.articles = reader.progress().articles
        self.held_out = reader.held_out()


class _Model(NamedTuple):
    """A model that takes part, as of its session's commit."""

    session: _Session
    status: ModelStatus
    state: Mapping[str, Any]
    npmi: float | None
    """This and the following are those of a `ComparedModel`."""
    distinct: float | None
    found: float | None


def compare(readers: Sequence[SessionReader], advance: Advance = unseen) -> Comparison:
    """Score every model of these sessions on the same articles; ``advance``: is told how many
    models are done.

    Raises `BadUsage` for sessions with different words, and `SessionError` if no article is known
    to be new to all of them.
    """
    with contextlib.ExitStack() as moments:
        for reader in readers:
            moments.enter_context(reader.one_moment())
        sessions = list(map(_Session, readers))
        _check_words(sessions)
        block, remarks = _new_to_all(sessions)
        for session in sessions:
            remark = coherence_remark(session.reader)
            if remark:
                remarks += (f"{session.name}: {remark}",)
        models = list(chain.from_iterable(map(_models, sessions)))
    # Scoring may take minutes, and a trainer's write-ahead log grows as long as a moment lasts.
    completion = CompletionSet(block.minibatch(), readers[0].settings()[SEED])
    if not completion.hidden.D:
        raise SessionError(
            "no held-out article has two different words: there is nothing to predict"
        )
    scored: list[tuple[ComparedModel, NDArray[np.float64]]] = []
    for model in models:
        scored.append(_scored(model, completion))
        advance("models scored", len(scored), len(models))
    scored.sort(key=lambda one: -one[0].log_likelihood)
    best, nats_of_best = scored[0]
    compared_models = []
    for compared, nats in scored:
        difference = compared.log_likelihood - best.log_likelihood
        error = completion.standard_error(nats, nats_of_best)
        known_error = error if np.isfinite(error) else None
        compared_models.append(replace(compared, difference=difference, standard_error=known_error))
    return Comparison(len(block), compared_models, remarks)


def _models(session: _Session) -> Iterator[_Model]:
    """The models of a session."""
    reader = session.reader
    for status in reader.model_statuses():
        yield _Model(
            session,
            status,
            reader.model_state(status.name),
            npmi=mean_coherence(reader, status.name),
            distinct=distinct_words(reader.newest_words(status.name)),
            found=mean_found(reader.topics(status.name)),
        )


def _scored(model: _Model, completion: CompletionSet) -> tuple[ComparedModel, NDArray[np.float64]]:
    """The model with its score, not compared yet, and its likelihoods, from which the score
    follows."""
    session = model.session
    status = model.status
    saved = load_model(model.state, status, len(session.reader.vocabulary()))
    nats = completion.nats(saved)
    score = completion.mean(nats)
    if not np.isfinite(score):
        raise Damaged(f"model {status.name} of {session.name} gives no finite likelihood")
    compared = ComparedModel(
        session=session.name,
        model=status.name,
        kind=status.kind,
        articles=session.articles,
        topics=status.topics,
        topics_in_use=status.topics_in_use,
        log_likelihood=score,
        perplexity=float(perplexity(score)),
        difference=0.0,
        standard_error=None,
        npmi=model.npmi,
        distinct=model.distinct,
        found=model.found,
    )
    return compared, nats


def _check_words(sessions: Sequence[_Session]) -> None:
    """Raise `BadUsage` unless all sessions have the same vocabulary, and find its words by the same
    rule."""
    first = sessions[0]
    settings = first.reader.settings()
    for other in sessions[1:]:
        others = other.reader.settings()
        if settings.fingerprint != others.fingerprint:
            raise BadUsage(
                f"{first.name} and {other.name} have different vocabularies: their models predict "
                "different words, so their scores cannot be compared"
            )
        if Rule.parse(settings.rule) != Rule.parse(others.rule):
            raise BadUsage(
                f"{first.name} and {other.name} find words in a text by different rules "
                f"({settings.rule} and {others.rule}): they read the same article differently, so "
                "their scores cannot be compared"
            )


def _new_to_all(sessions: Sequence[_Session]) -> tuple[Block, tuple[str, ...]]:
    """The held-out articles that no session has trained on, each once, and the remarks on them.

    A dictionary collects the remarks, so that each is made once.
    """
    if not any(len(session.held_out) for session in sessions):
        names = ", ".join(session.name for session in sessions)
        raise SessionError(
            f"no held-out articles yet in {names}: a session holds out the first articles that it "
            "reads, unless it was begun with none; compare with a session that has some"
        )
    remarks: dict[str, None] = {}
    parts = []
    for number, owner in enumerate(sessions):
        ids = owner.held_out.page_ids
        new = np.ones(len(ids), np.bool_)
        for other in sessions:
            if other is owner or _disjoint(owner, other, remarks):
                continue
            held_out = np.isin(ids, other.held_out.page_ids)
            new &= held_out | _untrained(ids, other, remarks)
            if other in sessions[:number]:
                new &= ~held_out  # these were already taken from that session
        new_ones, _ = owner.held_out.split(new)
        parts.append(new_ones)
    block = Block.concatenate(parts)
    if not len(block):
        message = "no held-out article is known to be new to all of these sessions"
        if remarks:
            raise SessionError(f"{message}: {'; '.join(remarks)}")
        raise SessionError(f"{message}; each has trained on what the others hold out")
    return block, tuple(remarks)


def _disjoint(first: _Session, second: _Session, remarks: dict[str, None]) -> bool:
    """Whether the two have no article in common."""
    if first.wiki is not None and second.wiki is not None:
        are_known = bool(first.wiki and second.wiki)
        return are_known and first.wiki != second.wiki
    if first.wiki is None and second.wiki is None and first.content == second.content:
        return False
    pair = " and ".join(sorted((first.name, second.name)))
    remarks[f"assuming that {pair} read different texts, which cannot be checked"] = None
    return True


def _untrained(
    ids: NDArray[np.int64], session: _Session, remarks: dict[str, None]
) -> NDArray[np.bool_]:
    """(n,) whether the session is known not to have trained on each page."""
    trained, complete = session.reader.trained_among(ids.tolist())
    if not complete:
        remarks[
            f"{session.name} did not record which articles it trained on: only "
            "those it holds out are known to be new to it"
        ] = None
        return np.zeros(len(ids), np.bool_)
    return ~np.isin(ids, np.array(sorted(trained), np.int64))
