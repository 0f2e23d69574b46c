"""A new session: its vocabulary, its settings as determined by the source, its models, its file."""

from pathlib import Path

from crawler.kind import SourceKind, default_held_out
from crawler.kinds.wiki import ENGLISH
from crawler.languages import check_spaced
from crawler.source import SourceInfo
from session.errors import BadUsage
from session.models import default_batch_size, new_model
from session.options import ARTICLES, DOCUMENTS, HELD_OUT, KEPT, SEED, VOCAB
from session.paths import user_path, vocabulary_file
from session.request import TrainRequest
from session.settings import Settings, check_batch_sizes
from session.storage import writer
from session.storage.changes import ModelRow
from session.training.intake.opening import Opened
from vocab import Vocabulary
from vocab.errors import UnknownVocabulary
from vocab.rules import Rule
from vocab.vocabulary import shipped

DEFAULT_DOCUMENTS = 7_000_000
"""D if the source's size cannot be known: about the number of articles in English Wikipedia."""


def load_vocabulary(name: str) -> Vocabulary:
    """A shipped vocabulary by name, one that was built for a session, or a file."""
    if "/" in name or "." in name:
        return Vocabulary.from_file(user_path(name))
    kept = sorted(path.stem for path in vocabulary_file(name).parent.glob("*.txt"))
    if name in kept and name not in shipped():
        return Vocabulary.from_file(vocabulary_file(name))
    if name not in shipped():
        known = ", ".join((*shipped(), *kept))
        raise UnknownVocabulary(f"no vocabulary is called {name!r}; available: {known} (or name a file)")
    return Vocabulary.load(name)


def new_vocabulary(request: TrainRequest, kind: SourceKind) -> Vocabulary | Rule:
    """The vocabulary of a new session: the one requested, the one of its source, or that of its language.

    Only a rule if it must be built from the session's first articles. Raises :class:`BadUsage` if the source
    cannot provide that many, and BadSource for a language whose words cannot be separated.
    """
    asked = request.asked(kind)
    words = None if VOCAB in request else kind.words(asked)
    if words is not None:
        return Vocabulary.from_lines(words)
    name, language = vocabulary_name(request, kind), kind.language(asked)
    if name == request[VOCAB] or language is None:
        return load_vocabulary(name)
    check_spaced(language)
    if vocabulary_file(name).exists():
        return load_vocabulary(name)
    if not kind.builds_words(asked):
        raise BadUsage(
            f"--source {kind.name} needs a vocabulary of {language}: `wikitopics train --lang {language}` "
            "builds one in a minute and keeps it; or give --vocab FILE"
        )
    return Rule.of_language(language)


def vocabulary_name(request: TrainRequest, kind: SourceKind) -> str:
    """The name of a new session's vocabulary."""
    asked = request.asked(kind)
    usual = VOCAB in request or kind.language(asked) in (None, ENGLISH)
    return request[VOCAB] if usual else kind.vocabulary_name(asked)


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


def new_models(settings: Settings, n_words: int) -> list[ModelRow]:
    """The models before their first article."""
    models = (new_model(spec, n_words, settings[DOCUMENTS], settings[SEED]) for spec in settings.models)
    return [ModelRow.of(model, None) for model in models]
