"""A new session: its vocabulary, its settings as the source settles them, its models, its file."""

from pathlib import Path

from crawler.kind import SourceKind, default_held_out
from crawler.source import SourceInfo
from session.models import default_batch_size, new_model
from session.options import ARTICLES, DOCUMENTS, HELD_OUT, KEPT, SEED, VOCAB
from session.paths import user_path
from session.request import TrainRequest
from session.settings import Settings, check_batch_sizes
from session.storage import writer
from session.training.intake.opening import Opened
from vocab import Vocabulary

DEFAULT_DOCUMENTS = 7_000_000
"""D where the source's size cannot be known: about the articles of English Wikipedia."""


def load_vocabulary(name: str) -> Vocabulary:
    """A shipped vocabulary by name, or a file."""
    if "/" in name or "." in name:
        return Vocabulary.from_file(user_path(name))
    return Vocabulary.load(name)


def new_vocabulary(request: TrainRequest, kind: SourceKind) -> Vocabulary:
    """The vocabulary of a new session: the one asked for, or the one that comes with its source."""
    words = None if VOCAB in request else kind.words(request.asked(kind))
    return load_vocabulary(request[VOCAB]) if words is None else Vocabulary.from_lines(words)


def corpus_size(request: TrainRequest, info: SourceInfo, held_out: int) -> int:
    """Articles that a run like this can come to train on."""
    size = DEFAULT_DOCUMENTS if info.articles is None else max(1, info.articles - held_out)
    return min(size, request.get(ARTICLES) or size)


def settle(request: TrainRequest, kind: SourceKind, vocabulary: Vocabulary, opened: Opened) -> Settings:
    """The settings of a new session: what was asked for, and defaults from what the source is."""
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
        vocabulary=request[VOCAB],
        fingerprint=vocabulary.fingerprint,
        rule=str(vocabulary.rule),
        models=specs,
        batch_sizes=sizes,
    )


def create(path: Path, settings: Settings, vocabulary: Vocabulary) -> None:
    """Make the session's file, with its models before their first article."""
    models = [
        new_model(spec, len(vocabulary), settings[DOCUMENTS], settings[SEED]) for spec in settings.models
    ]
    writer.create(path, settings, vocabulary.words, [writer.ModelRow.of(model, None) for model in models])
