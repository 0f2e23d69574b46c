"""What a user asks of a trainer, and whether an existing session can give it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from crawler.kind import Asked, SourceKind
from session.errors import BadUsage
from session.paths import session_folder, user_paths
from session.settings import Settings
from session.specs import ModelSpec, parse_specs, shared_value
from session.version import __version__

ENGLISH = "en"
DOWNLOAD = "about 4 kB an article, at most 2,400 MB an hour; --max-mb, --articles and --hours bound it"
"""What a crawl of Wikipedia downloads: 600,000 articles an hour is the most that the rules allow."""
_SHARED = ("topics", "alpha", "eta", "batch_size", "kappa", "tau0")


@dataclass(frozen=True, slots=True)
class TrainRequest:
    """The options of `wikitopics train` as given; None where nothing was said."""

    source: str | None = None
    api_url: str | None = None
    lang: str | None = None
    dump: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()
    text_column: str | None = None
    counts: str | None = None
    vocab: str | None = None
    contact: str | None = None
    rpm: int | None = None
    model: tuple[str, ...] = ()
    model_defaults: Mapping[str, object] = field(default_factory=dict)
    """topics, alpha, eta, batch_size, kappa, tau0 for every model."""
    documents: int | None = None
    held_out: int | None = None
    articles: int | None = None
    hours: float | None = None
    max_mb: float | None = None
    threads: int = 1
    seed: int | None = None
    keep_articles: str | None = None
    keep_counts: bool | None = None
    wiki_size: int | None = None
    """For the embedded wiki: how many articles it has."""

    def specs(self) -> tuple[ModelSpec, ...]:
        """The models asked for. Raises :class:`BadUsage`."""
        return parse_specs(self.model, self.model_defaults)

    def source_kind(self) -> str:
        """The source asked for, by name or by its file. Raises :class:`BadUsage` where they disagree."""
        files = {"dump": self.dump, "texts": self.texts, "counts": self.counts}
        implied = [kind for kind, value in files.items() if value]
        if len(implied) > 1:
            raise BadUsage(f"--{implied[0]} and --{implied[1]} name two sources: give one")
        kind = self.source or (implied[0] if implied else "api")
        if implied and implied[0] != kind:
            raise BadUsage(f"--{implied[0]} needs --source {implied[0]}, not {kind}")
        if kind in files and not implied:
            raise BadUsage(f"--source {kind} needs --{kind} {'PATH' if kind == 'texts' else 'FILE'}")
        if kind in files and (self.api_url or self.lang):
            raise BadUsage(f"--source {kind} reads a file: leave --api-url and --lang out")
        if self.api_url and self.lang:
            raise BadUsage("--api-url and --lang name two wikis: give one")
        return kind

    def asked(self, kind: SourceKind, *, resuming: bool = False) -> Asked:
        """What it asks of a source of this kind."""
        given = {option: getattr(self, option.name, None) for option in kind.options}
        return Asked(
            {
                option.name: user_paths(value) if option.form == "path" else value
                for option, value in given.items()
                if value is not None and value != ()
            },
            held_out=self.held_out,
            articles=self.articles,
            resuming=resuming,
            version=__version__,
            budget_folder=session_folder(),
        )

    def vocabulary_name(self) -> str:
        """The vocabulary asked for. Raises :class:`BadUsage` where a language needs one of its own."""
        if self.vocab is None and self.lang not in (None, ENGLISH):
            raise BadUsage(
                f"--lang {self.lang} needs a vocabulary of that language: make one with "
                f"`wikitopics vocab build --lang {self.lang} --articles 20000 -o {self.lang}.txt` "
                f"and give --vocab {self.lang}.txt"
            )
        return self.vocab or "english"


def check_resumable(
    request: TrainRequest,
    stored: Settings,
    *,
    source_options: Mapping[str, Any] | None,
    fingerprint: str | None,
) -> None:
    """Raises :class:`BadUsage`, naming the option, where ``request`` contradicts what the session is.

    ``source_options`` and ``fingerprint``: those of the source and the vocabulary asked for, None where
    nothing was said about them.
    """
    if request.source is not None or request.dump or request.texts or request.counts:
        _same("--source", request.source_kind(), stored.source)
    wiki = request.api_url or request.lang
    if wiki is not None and "api_url" not in stored.source_options:
        raise _differs("--api-url" if request.api_url else "--lang", wiki, f"--source {stored.source}")
    if source_options is not None:
        for key, value in source_options.items():
            option = "--lang" if key == "api_url" and request.lang else f"--{key.replace('_', '-')}"
            _same(option, value, stored.source_options.get(key))
    if fingerprint is not None and fingerprint != stored.fingerprint:
        raise _differs("--vocab", request.vocab, f"another list of words ({stored.vocabulary})")
    if request.model:
        if request.specs() != stored.models:
            raise _differs("--model", " ".join(request.model), " ".join(map(str, stored.models)))
    else:
        for key in _SHARED:
            value = request.model_defaults.get(key)
            if value is not None:
                _check_shared(key, request, stored)
    for option, value, kept in (
        ("--seed", request.seed, stored.seed),
        ("--held-out", request.held_out, stored.held_out),
        ("--documents", request.documents, stored.documents),
        ("--keep-articles", request.keep_articles, stored.keep_articles),
        ("--keep-counts", request.keep_counts, stored.keep_counts),
    ):
        if value is not None:
            _same(option, value, kept)


def _check_shared(key: str, request: TrainRequest, stored: Settings) -> None:
    for spec in stored.models:
        asked = shared_value(spec.kind, key, request.model_defaults[key])
        if asked is not None:
            _same(f"--{key.replace('_', '-')}", asked, spec.as_json().get(key))


def _same(option: str, asked: object, stored: object) -> None:
    if asked != stored:
        raise _differs(option, asked, stored)


def _differs(option: str, asked: object, stored: object) -> BadUsage:
    return BadUsage(
        f"{option} {asked}: this session was made with {stored}; leave {option} out to resume it, "
        "or start another with --session NAME"
    )
