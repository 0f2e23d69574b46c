"""A new session: its settings as determined by the source, its models, its file."""

from pathlib import Path

from wikitopics.crawler.source import SourceInfo, SourceKind, default_held_out
from wikitopics.session.models import default_batch_size, new_model
from wikitopics.session.options import ARTICLES, DOCUMENTS, HELD_OUT, KEPT, SEED
from wikitopics.session.request import TrainRequest, vocabulary_name
from wikitopics.session.settings import Settings, check_batch_sizes
from wikitopics.session.storage import writer
from wikitopics.session.storage.codec.models import model_row
from wikitopics.session.training.intake.opening import Opened
from wikitopics.vocab import Vocabulary
from wikitopics.vocab.rules import Rule

DEFAULT_DOCUMENTS = 7_000_000
"""D if the source's size cannot be known: about the number of articles in English Wikipedia."""


def corpus_size(request: TrainRequest, info: SourceInfo, held_out: int) -> int:
    """The number of articles that a run like this can train on."""
    size = DEFAULT_DOCUMENTS if info.articles is None else max(1, info.articles - held_out)
    return min(size, request.get(ARTICLES) or size)


def settle(
    request: TrainRequest, kind: SourceKind, vocabulary: Vocabulary | Rule, opened: Opened
) -> Settings:
    """The settings of a new session: those requested, and defaults that depend on the source."""
    words = vocabulary if isinstance(vocabulary, Vocabulary) else None
    rule = vocabulary if isinstance(vocabulary, Rule) else vocabulary.rule
    values = {option.name: request.values.get(option.name, option.default) for option in KEPT}
    if HELD_OUT not in request:
        values[HELD_OUT.name] = default_held_out(opened.info.articles)
    if DOCUMENTS not in request:
        values[DOCUMENTS.name] = corpus_size(request, opened.info, values[HELD_OUT.name])
    specs = request.specs(kind)
    sizes = tuple(default_batch_size(spec) for spec in specs)
    check_batch_sizes(specs, sizes)
    return Settings(
        {name: value for name, value in values.items() if value is not None},
        source=kind.name,
        source_name=opened.info.name,
        source_options=opened.identity,
        vocabulary=vocabulary_name(request, kind),
        fingerprint="" if words is None else words.fingerprint,
        rule=str(rule),
        models=specs,
        batch_sizes=sizes,
    )


def create(path: Path, settings: Settings, vocabulary: Vocabulary | None) -> None:
    """Create the session's file, with its models before their first article; None: without a vocabulary."""
    words = () if vocabulary is None else vocabulary.words
    writer.create(path, settings, words, new_models(settings, len(words)) if words else ())


def new_models(settings: Settings, n_words: int) -> list[dict[str, object]]:
    """The rows of the models before their first article."""
    models = (new_model(spec, n_words, settings[DOCUMENTS], settings[SEED]) for spec in settings.models)
    return [model_row(model) for model in models]
