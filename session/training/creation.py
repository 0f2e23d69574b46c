"""A new session: its settings as determined by the source, its models, its file."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

from wikitopics.crawler.source import Identity, SourceInfo, SourceKind, default_held_out
from wikitopics.model.options import HALF_LIFE
from wikitopics.session import sources
from wikitopics.session.errors import BadUsage
from wikitopics.session.models import default_topics, load_kind, new_model
from wikitopics.session.options import ARTICLES, DOCUMENTS, HELD_OUT, PASSES, SEED
from wikitopics.session.records import skips_told
from wikitopics.session.request import TrainRequest
from wikitopics.session.settings import Settings
from wikitopics.session.storage import writer
from wikitopics.session.storage.tables.models import model_row
from wikitopics.session.training.intake.opening import Opened
from wikitopics.vocab import Vocabulary
from wikitopics.vocab.rules import Rule

LEAST = 2
"""The fewest documents to train on: the topics of a single one are nothing but its words."""
MOST_PASSES = 5
"""More passes make models of small collections worse on held-out documents as often as better."""
ENOUGH_READINGS = 20_000
DEFAULT_DOCUMENTS = 7_000_000
"""D if the source's size cannot be known: about the number of articles in English Wikipedia."""


def corpus_size(request: TrainRequest, info: SourceInfo, held_out: int) -> int:
    """The number of articles that a run like this can train on."""
    size = DEFAULT_DOCUMENTS if info.articles is None else max(1, info.articles - held_out)
    return min(size, request.get(ARTICLES) or size)


def too_few(
    name: str,
    kind: SourceKind,
    identity: Identity,
    read: int,
    held_out: int,
    skips: Mapping[str, int] = MappingProxyType({}),
) -> BadUsage:
    """Why fewer than `LEAST` of the documents that were ``read`` are left to train on, and what to do."""
    there = read - sum(skips.values())
    held_out = min(held_out, there)
    why = [f"skipped: {skips_told(skips)}"] if skips else []
    why += [f"held out: {held_out:,}"] if held_out else []
    of = f" (of {'; '.join([f'{read:,}', *why])})" if why else ""
    noun = "document" if kind.own else "article"
    hint = "" if read >= LEAST else kind.division(identity)
    hint = "Give more, or hold out fewer" if there >= LEAST else hint
    left = f"{'only one' if there > held_out else 'no'} {noun} to train on{of}"
    return BadUsage(f"{name}: {left}, and at least two are needed" + (f". {hint}" if hint else ""))


def default_passes(documents: int) -> int:
    """The number of passes over a collection of so many documents: about 20,000 readings, at most five."""
    return max(1, min(MOST_PASSES, ENOUGH_READINGS // max(1, documents)))


def complete(settings: Settings, request: TrainRequest, opened: Opened) -> Settings:
    """The settings of a new session, with what its source has told."""
    values, size = dict(settings.values), opened.info.articles
    held_out = values.setdefault(HELD_OUT.name, default_held_out(size))
    values.setdefault(DOCUMENTS.name, corpus_size(request, opened.info, held_out))
    kind, models = sources.load(settings.source), settings.models
    if size is not None:
        documents = max(1, size - held_out)
        models = tuple(one.with_usual(default_topics(load_kind(one.kind), documents)) for one in models)
        forgets = any(HALF_LIFE.name in spec.options for spec in models)
        if PASSES not in request and kind.own and not forgets:
            values[PASSES.name] = default_passes(documents)
    return replace(
        settings,
        values=values,
        models=models,
        source_name=opened.info.name,
        source_options=opened.identity,
    )


def create(path: Path, settings: Settings, vocabulary: Vocabulary | Rule) -> None:
    """Create the session's file, with its models before their first article; only a rule: without words."""
    words = vocabulary.words if isinstance(vocabulary, Vocabulary) else ()
    writer.create(path, settings, words, new_models(settings, len(words)) if words else ())


def new_models(settings: Settings, n_words: int) -> list[dict[str, object]]:
    """The rows of the models before their first article."""
    models = (new_model(spec, n_words, settings[DOCUMENTS], settings[SEED]) for spec in settings.models)
    return [model_row(model) for model in models]
