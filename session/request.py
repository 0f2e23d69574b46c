"""What a user asks of a trainer, and whether an existing session can provide it."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from ipaddress import ip_address

from wikitopics.crawler.errors import BadSource, CrawlerError
from wikitopics.crawler.mediawiki.kinds import DOWNLOAD as DOWNLOAD
from wikitopics.crawler.mediawiki.kinds import ENGLISH, LANG
from wikitopics.crawler.page import SURROGATE
from wikitopics.crawler.source import Asked, Identity, PageKind, SourceKind
from wikitopics.crawler.texts.files import GIVEN
from wikitopics.crawler.texts.kinds import BEFORE, EARLIER, MARKUP, TEXTS, Texts
from wikitopics.model.options import HALF_LIFE
from wikitopics.option import OptionValues, flag
from wikitopics.session import __version__, sources
from wikitopics.session.errors import BadUsage
from wikitopics.session.options import (
    ARTICLES,
    CLUSTER,
    CLUSTER_UNENCRYPTED,
    ENCRYPTED,
    HELD_OUT,
    KEPT,
    LINKS,
    MODEL,
    PASSES,
    SEED,
    SEEDS,
    SHARED,
    SOURCE,
    TOKENS,
    TOPICS,
    UNENCRYPTED,
    VOCAB,
)
from wikitopics.session.paths import session_folder, user_path, vocabulary_file
from wikitopics.session.seeds import read_seeds
from wikitopics.session.settings import (
    ModelSpec,
    Settings,
    batch_sizes,
    load_kind,
    numbers_of_topics,
    parse_specs,
    shared_value,
)
from wikitopics.vocab import Vocabulary
from wikitopics.vocab.rules import Rule
from wikitopics.vocab.segmenters import UnseparatedWords
from wikitopics.vocab.vocabulary import UnknownVocabulary, VocabularyError, shipped

WATCHED = 10_000
"""The most articles between two measurements of what is crawled from a server: a minute or two at
Wikipedia's pace."""
CLUSTER_PORT = 8786
"""The port on which `dask scheduler` listens by default."""
_SCHEDULER = re.compile(
    rf"((?P<scheme>{'|'.join((*ENCRYPTED, *UNENCRYPTED))})://)?"
    r"(?P<host>[a-z0-9_.-]+|\[[0-9a-f:.]+\])(:(?P<port>[0-9]{1,5}))?/*"
)


class TrainRequest(OptionValues):
    """The settings given, by name: those of `wikitopics.session.options` and those of a source."""

    def __init__(self, **given: object) -> None:
        """None and () mean that a setting was not given."""
        super().__init__({name: value for name, value in given.items() if value not in (None, ())})

    def giving(self, **more: object) -> "TrainRequest":
        """The same request with these settings added or replaced."""
        return TrainRequest(**{**self.values, **more})

    def specs(self, kind: SourceKind | None = None) -> tuple[ModelSpec, ...]:
        """The models requested, with what a source of this kind suggests. Raises `BadUsage`."""
        suggested = {} if kind is None else kind.model_defaults
        shared = {option.name: self[option] for option in SHARED if option in self}
        specs = parse_specs(self.get(MODEL) or (), {**suggested, **shared})
        for spec in specs:
            if HALF_LIFE.name in shared and HALF_LIFE.name not in spec.options:
                raise BadUsage(
                    f"{flag(HALF_LIFE.name)}: {spec.name}, a model of kind {spec.kind}, has no "
                    "half-life; give it to the others, as in --model "
                    f"lda:{HALF_LIFE.name}={shared[HALF_LIFE.name]}"
                )
        return specs

    def kind(self, otherwise: str = str(SOURCE.default)) -> SourceKind:
        """The kind of source requested, by its name or by an option that only one kind has; if
        there is neither, ``otherwise``.

        An option that says nothing about a source, such as `--yes`, implies none. Raises `BadUsage`
        if these disagree.
        """
        implied: dict[str, str] = {}  # kind → the first option given that only this kind has
        for name, (option, kinds) in sources.our_options().items():
            if name in self.values and option.scope != "outside" and len(kinds) == 1:
                implied.setdefault(kinds[0], name)
        if len(implied) > 1:
            flags = " and ".join(map(flag, implied.values()))
            raise BadUsage(f"{flags} name different sources: give one")
        kind = sources.load(self.get(SOURCE) or next(iter(implied), otherwise))
        for implied_kind, name in implied.items():
            if implied_kind != kind.name:
                raise BadUsage(f"{flag(name)} needs --source {implied_kind}, not {kind.name}")
        return kind

    def foreign(self, kind: SourceKind) -> list[str]:
        """The given options that only other kinds of source have, except those that act outside the
        program, such as `--contact`, which do no harm."""
        own = {option.name for option in kind.options}
        foreign = {
            name
            for name, (option, _) in sources.our_options().items()
            if option.scope != "outside" and name not in own
        }
        return [name for name in self.values if name in foreign]

    def asked(self, kind: SourceKind, *, resuming: bool = False) -> Asked:
        """The options for a source of this kind."""

        def resolved(name: str) -> str:
            return str(user_path(name))

        values = {
            option.name: option.resolved(self[option], resolved)
            for option in kind.options
            if option in self
        }
        return Asked(
            values,
            held_out=self.get(HELD_OUT),
            articles=self.get(ARTICLES),
            resuming=resuming,
            seed=self[SEED],
            version=__version__,
            budget_folder=session_folder(),
        )

    def identity(self, kind: SourceKind) -> Identity:
        """The identity of the requested source. Raises `BadUsage` for options that do not give
        one."""
        for name in self.foreign(kind):
            raise BadUsage(f"--source {kind.name} does not take {flag(name)}: leave it out")
        for option in kind.options:
            if option.needed and option not in self:
                raise BadUsage(f"--source {kind.name} needs {option.flag} {option.metavar}")
        try:
            return kind.identity(self.asked(kind))
        except BadSource as error:
            raise BadUsage(str(error)) from None

    def seeds(self) -> str | None:
        """The seeds as a session keeps them; None if none are given. Raises `BadUsage` for a bad
        file."""
        if SEEDS not in self:
            return None
        return json.dumps(read_seeds(self[SEEDS]))

    def cluster_address(self) -> str | None:
        """The requested scheduler, as Dask writes it; None if there is none.

        Raises `BadUsage` for text that is no address, and for an address to which sending is not
        safe.
        """
        text = self.get(CLUSTER)
        if text is None:
            if CLUSTER_UNENCRYPTED in self:
                raise BadUsage(f"{CLUSTER_UNENCRYPTED.flag} needs {CLUSTER.flag} {CLUSTER.metavar}")
            return None
        parts = _SCHEDULER.fullmatch(text.lower())
        if parts is None or int(parts["port"] or 0) > 65_535:
            raise BadUsage(
                f"{CLUSTER.flag} {text!r} is not an address of a Dask scheduler: write "
                f"tls://HOST:{CLUSTER_PORT}"
            )
        scheme = parts["scheme"] or "tcp"
        host = parts["host"]
        port = parts["port"] or CLUSTER_PORT
        address = f"{scheme}://{host}:{port}"
        try:
            is_here = ip_address(host.strip("[]")).is_loopback
        except ValueError:
            is_here = host == "localhost"  # other names may lead anywhere
        if scheme in UNENCRYPTED and not is_here and CLUSTER_UNENCRYPTED not in self:
            raise BadUsage(
                f"{CLUSTER.flag} {address} is not encrypted: anyone on the network can read the "
                "articles and run programs here and on the workers. Use tls:// (docs/scaling.md), "
                f"or {CLUSTER_UNENCRYPTED.flag} on a network of your own"
            )
        return address


def load_vocabulary(name: str, *, of_texts: bool = True) -> Vocabulary:
    """A shipped vocabulary by name, one that was built for a session, or a file.

    Every word of a file must be one that a text can contain, unless the source has no texts.
    """
    if "/" in name or "." in name:
        return Vocabulary.from_file(user_path(name), strict=of_texts)
    built = sorted(path.stem for path in vocabulary_file(name).parent.glob("*.txt"))
    if name in built and name not in shipped():
        return Vocabulary.from_file(vocabulary_file(name))
    if name not in shipped():
        available = ", ".join((*shipped(), *built))
        raise UnknownVocabulary(
            f"no vocabulary is called {name!r}. Available: {available} (or name a file)"
        )
    return Vocabulary.load(name)


def new_settings(request: TrainRequest, kind: SourceKind) -> tuple[Settings, Vocabulary | Rule]:
    """Settings of a new session that do not depend on the opened source.

    Raises `BadUsage` for whatever is wrong with the request so far, and the errors of
    `new_vocabulary`.
    """
    specs = request.specs(kind)
    identity = request.identity(kind)
    if request[PASSES] > 1:
        _check_passes(request, kind, identity, specs)
    if SEEDS in request:
        _check_seeds(request, specs)
    sizes = batch_sizes(specs)
    name, vocabulary = new_vocabulary(request, kind)
    if isinstance(vocabulary, Vocabulary):
        fingerprint = vocabulary.fingerprint
        rule = vocabulary.rule
    else:
        fingerprint = ""
        rule = vocabulary
    values = {option.name: request.values.get(option.name, option.default) for option in KEPT}
    values[SEEDS.name] = request.seeds()
    settings = Settings(
        {name: value for name, value in values.items() if value is not None},
        source=kind.name,
        source_name="",
        source_options=identity,
        vocabulary=name,
        fingerprint=fingerprint,
        rule=str(rule),
        models=specs,
        batch_sizes=sizes,
        measured_every=WATCHED if kind.asks_server else None,
    )
    check_names(settings.as_json())
    return settings, vocabulary


def _check_passes(
    request: TrainRequest,
    kind: SourceKind,
    identity: Identity,
    specs: Sequence[ModelSpec],
) -> None:
    """Raise `BadUsage` if this source, or one of these models, cannot have several passes."""
    wanted = f"{PASSES.flag} {request[PASSES]}"
    if not kind.repeatable(identity):
        raise BadUsage(
            f"{wanted}: only texts, word counts and dump files can be read more than once; "
            "leave it out"
        )
    for spec in specs:
        if HALF_LIFE.name in spec.options:
            raise BadUsage(
                f"{wanted}: {spec.name} has a half-life, so it forgets a pass during the next "
                f"one; leave out {PASSES.flag} or {flag(HALF_LIFE.name)}"
            )


def _check_seeds(request: TrainRequest, specs: Sequence[ModelSpec]) -> None:
    """Raise `BadUsage` if one of these models cannot take the seeds."""
    from wikitopics.model import OnlineModel

    for spec in specs:
        if load_kind(spec.kind).seed is OnlineModel.seed:
            raise BadUsage(f"{SEEDS.flag}: models of kind {spec.kind} take no seeds; leave it out")
    seeded = len(read_seeds(request[SEEDS]))
    for spec in specs:
        if spec.topics < seeded and not spec.usual_topics:
            raise BadUsage(
                f"{SEEDS.flag}: {seeded} topics are seeded, but {spec.name} has only {spec.topics}"
            )


def _are_from_python(request: TrainRequest) -> bool:
    """Whether the documents are those of a Python program."""
    paths = request.get(TEXTS) or ()
    return bool(paths) and all(path.endswith(GIVEN) for path in paths)


def check_names(values: Mapping[str, object]) -> None:
    """Raise `BadUsage` for the name of a file or folder that a session cannot store: names are
    bytes, but its settings are text."""
    for text in _texts_in(values):
        if SURROGATE.search(text):
            raise BadUsage(f"{text}: this name is not UTF-8, so no session can store it: rename it")


def _texts_in(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for part in value.values():
            yield from _texts_in(part)
    elif isinstance(value, list | tuple):
        for part in value:
            yield from _texts_in(part)


def new_vocabulary(request: TrainRequest, kind: SourceKind) -> tuple[str, Vocabulary | Rule]:
    """(name, vocabulary) of a new session: the vocabulary requested, the one of its source, or that
    of its language; for links, one of titles.

    A vocabulary that must be built from the session's first articles has only its rule so far.
    Raises `BadUsage` if the source cannot provide these, and `UnseparatedWords`.
    """
    if request[TOKENS] == LINKS:
        return _new_titles(request, kind)
    asked = request.asked(kind)
    of_texts = isinstance(kind, PageKind)
    language = kind.language(asked)
    words = None if VOCAB in request else kind.words(asked)
    if VOCAB in request or language in (None, ENGLISH):
        own_name = ""
        name = request[VOCAB]
    else:
        own_name = kind.vocabulary_name(asked)
        name = own_name or kind.name
    if words is not None:
        return name, Vocabulary.from_lines(words, strict=of_texts)
    if language is None or name == request[VOCAB]:
        vocabulary = load_vocabulary(name, of_texts=of_texts)
        if vocabulary.rule.of_titles and of_texts:
            raise BadUsage(
                f"{VOCAB.flag} {name} is a vocabulary of titles: add {TOKENS.flag} {LINKS}"
            )
        if vocabulary.rule.tokens and of_texts and not _are_from_python(request):
            raise BadUsage(
                f"{VOCAB.flag} {name} is a vocabulary of tokens, of which only Python "
                "(`wikitopics.train`) gives lists: give another"
            )
        return name, vocabulary
    try:
        rule = Rule.of_language(language)
    except UnseparatedWords as error:
        if not kind.has_links:
            raise
        raise BadUsage(
            f"{error}; {TOKENS.flag} {LINKS} learns the links of its articles instead"
        ) from None
    if own_name and not kind.own and vocabulary_file(own_name).exists():
        return name, load_vocabulary(own_name)
    if not kind.builds_words(asked):
        raise BadUsage(
            f"--source {kind.name} needs a vocabulary of {language}: `wikitopics train --lang "
            f"{language}` builds one in a minute and keeps it; or give --vocab FILE"
        )
    return name, rule


def _new_titles(request: TrainRequest, kind: SourceKind) -> tuple[str, Vocabulary | Rule]:
    """`new_vocabulary` for a session that counts links: a vocabulary of titles, whatever the
    language."""
    asked = request.asked(kind)
    wanted = f"{TOKENS.flag} {LINKS}"
    if not kind.has_links:
        raise BadUsage(
            f"{wanted}: --source {kind.name} has no links between articles; leave it out"
        )
    own_name = "" if VOCAB in request else kind.vocabulary_name(asked)
    name = request.get(VOCAB) or f"{own_name or kind.name}-{LINKS}"
    if VOCAB in request or (own_name and vocabulary_file(name).exists()):
        vocabulary = load_vocabulary(name)
        if not vocabulary.rule.of_titles:
            raise BadUsage(f"{wanted}: {name} is a vocabulary of words; leave {VOCAB.flag} out")
        return name, vocabulary
    if not kind.builds_words(asked):
        raise BadUsage(
            f"{wanted} needs a vocabulary of titles, since the input can be read only once: give "
            "--vocab"
        )
    return name, Rule(LINKS)


def check_new(request: TrainRequest, kind: SourceKind) -> Identity:
    """The identity of a new session's source.

    Raises `BadUsage` for whatever is wrong with it or its vocabulary, as far as is known before the
    source is opened.
    """
    identity = request.identity(kind)
    try:
        new_vocabulary(request, kind)
    except (CrawlerError, VocabularyError) as error:
        raise BadUsage(str(error)) from None
    return identity


def added_texts(request: TrainRequest, stored: Settings) -> Identity | None:
    """The identity of the requested texts, if a session that has read all of its own is to learn
    these too; None if they are the ones that it read last, or if no texts are requested.

    Options of the source that are not given are taken from the session. Raises `BadUsage` for texts
    that it has read before, and for another markup or language.
    """
    kind = request.kind(otherwise=stored.source)
    if not isinstance(kind, Texts) or stored.source != kind.name or TEXTS not in request:
        return None
    identity = _identity(request, kind, stored)
    last = dict(stored.source_options)
    last.pop(BEFORE, None)
    first = last.pop(EARLIER, [])
    all_read = [*first, last]
    # Texts of a Python program are always in the same file.
    paths = [path for path in identity[TEXTS.name] if not path.endswith(GIVEN)]
    if paths and paths == last[TEXTS.name]:
        return None
    for path in paths:
        if any(path in texts[TEXTS.name] for texts in all_read):
            raise BadUsage(
                f"{TEXTS.flag} {path}: this session has already read it; to add what is new in it, "
                "give the file another name"
            )
    for option in (MARKUP, LANG):
        _same(option.flag, identity.get(option.name), stored.source_options.get(option.name))
    check_names(identity)
    if Rule.parse(stored.rule).tokens and not _are_from_python(request):
        raise BadUsage(
            "this session counts tokens, of which only Python gives lists: use "
            "`wikitopics.train(texts, session=…, add=True)`"
        )
    return {**identity, EARLIER: all_read}


def check_resumable(
    request: TrainRequest,
    stored: Settings,
    vocabulary: Vocabulary | None = None,
    *,
    adds: bool = False,
) -> None:
    """Raise `BadUsage`, naming the option, if ``request`` contradicts the session's settings.

    ``vocabulary``: the one requested, None if none was. ``adds``: whether the request is for other
    texts, which the session is to learn too.
    """
    kind = request.kind(otherwise=stored.source)
    _same(SOURCE.flag, kind.name, stored.source)
    for name in request.foreign(kind):
        raise _differs(flag(name), request.values[name], f"{SOURCE.flag} {kind.name}")
    if not adds:
        _check_source(request, kind, stored)
    if vocabulary is not None:
        if stored.building:
            raise BadUsage(
                f"{VOCAB.flag} {request[VOCAB]}: this session is building a vocabulary of its own; "
                f"leave {VOCAB.flag} out to resume it, or give another --session"
            )
        if vocabulary.fingerprint != stored.fingerprint:
            raise _differs(
                VOCAB.flag, request[VOCAB], f"another list of words ({stored.vocabulary})"
            )
        rule = Rule.parse(stored.rule)
        if vocabulary.rule != rule:
            requested = f"{request[VOCAB]} of word rule {vocabulary.rule}"
            raise _differs(VOCAB.flag, requested, f"word rule {rule}")
    _check_models(request, kind, stored)
    if SEEDS in request and request.seeds() != stored.get(SEEDS):
        raise _differs(SEEDS.flag, True, "other seeds" if SEEDS in stored else None)
    for option in KEPT:
        if option in request and option != SEEDS:
            _same(option.flag, request[option], stored.values.get(option.name, option.default))


def _check_models(request: TrainRequest, kind: SourceKind, stored: Settings) -> None:
    """`check_resumable` for the models, or for options of all models."""
    if MODEL in request:
        topics_of = {spec.name: spec.topics for spec in stored.models}
        models = [
            spec.with_usual(topics_of.get(spec.name, spec.topics)) for spec in request.specs(kind)
        ]
        if list(stored.models) != models:
            requested = " ".join(map(str, models))
            raise _differs(MODEL.flag, requested, " ".join(map(str, stored.models)))
        return
    for option in SHARED:
        if option not in request:
            continue
        if option == TOPICS:
            _same_topics(option.flag, request[option], stored)
            continue
        for spec in stored.models:
            value = shared_value(spec.kind, option.name, request[option])
            if value is not None:
                _same(option.flag, value, spec.as_json().get(option.name))


def _same_topics(flag: str, requested: str, stored: Settings) -> None:
    """`check_resumable` for the numbers of topics of all models, of which there may be several."""
    kind = stored.models[0].kind
    numbers = [shared_value(kind, TOPICS.name, number) for number in numbers_of_topics(requested)]
    numbers_stored = list(dict.fromkeys(spec.topics for spec in stored.models))
    if numbers != numbers_stored:
        raise _differs(flag, requested, ",".join(map(str, numbers_stored)))


def _check_source(request: TrainRequest, kind: SourceKind, stored: Settings) -> None:
    """`check_resumable` for the options of the source; those not given are taken from the
    session."""
    options = [option for option in kind.options if option.scope == "session" and option in request]
    identity = _identity(request, kind, stored) if options else {}
    for option in options:
        key = option.kept_as if option.kept_as in identity else option.name
        if key not in identity:
            raise BadUsage(
                f"{option.flag}: --source {kind.name} cannot tell whether the session was made "
                "with this; leave it out to resume, or give another --session"
            )
        _same(option.flag, identity[key], stored.source_options.get(key))


def _identity(request: TrainRequest, kind: SourceKind, stored: Settings) -> Identity:
    """The identity of the requested source, with the session's options where none are given."""
    asked = request.asked(kind)
    given = [option for option in kind.options if option in asked]
    given_names = {option.name for option in given} | {option.kept_as for option in given}
    values = dict(asked.values)
    for option in kind.options:
        value = stored.source_options.get(option.name)
        if value is not None and option.name not in given_names:
            values[option.name] = tuple(value) if isinstance(value, list) else value
    return kind.identity(replace(asked, values=values))


def _same(flag: str, requested: object, stored: object) -> None:
    if requested != stored:
        raise _differs(flag, requested, stored)


def _differs(flag: str, requested: object, stored: object) -> BadUsage:
    how = "without it" if stored is None or stored is False else f"with {_as_typed(stored)}"
    typed = flag if requested is True else f"{flag} {_as_typed(requested)}"
    return BadUsage(
        f"{typed}: this session was made {how}; leave {flag} out to resume it, or give another "
        "--session"
    )


def _as_typed(value: object) -> str:
    """The value as written after its option."""
    return " ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
