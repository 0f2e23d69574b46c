"""The settings with which a session is created, and the specifications of its models.

Resuming a session with other settings is refused. A model is given as `--model KIND[:key=value,…]`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any

from wikitopics.model import KindError, kinds
from wikitopics.model.options import Value
from wikitopics.option import Option, OptionValues
from wikitopics.session.errors import BadUsage, Damaged, MissingKind, SessionError, did_you_mean
from wikitopics.session.options import (
    KEEP_ARTICLES,
    KEEP_COUNTS,
    NO_SNIPPETS,
    PASSES,
    REPLICAS,
    TOPICS,
)
from wikitopics.session.sources import kind_named

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from wikitopics.model import Metric, OnlineModel
    from wikitopics.session.records import ModelStatus


# The models of a session: their specifications, `--model KIND[:key=value,…]`, and models made from
# them.

DEFAULT_KIND = "lda"
NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,63}")
"""A model's name."""
MOST_TOPICS = 10_000
"""The limit for any kind: where articles are stored, a topic's number takes two bytes."""
MOST_NUMBERS = 20
"""The most numbers of topics that are learnt side by side."""
ENOUGH = 10_000
"""With at least this many documents, a model has its kind's default number of topics."""
BATCH_SIZE = Option(int, "batch_size", "articles in a full minibatch", least=1, most=1_000_000)


@dataclass(frozen=True, slots=True)
class ModelSpec:
    """One model's settings."""

    kind: str
    name: str
    topics: int
    batch_size: int | None = None
    """None: the kind's default."""
    options: Mapping[str, Value] = field(default_factory=dict)
    """The options that are set, as the kind describes them; the others keep its defaults."""
    usual_topics: bool = field(default=False, compare=False)
    """Whether ``topics`` is only the kind's default, since no number was given; another may suit
    better."""

    def with_usual(self, topics: int) -> ModelSpec:
        """The same specification, with this many topics if no number was given."""
        return replace(self, topics=topics) if self.usual_topics else self

    def as_json(self) -> dict[str, Value]:
        """Plain values, defaults left out."""
        values: dict[str, Value] = {
            "kind": self.kind,
            "name": self.name,
            "topics": self.topics,
            **self.options,
        }
        if self.batch_size is not None:
            values["batch_size"] = self.batch_size
        return values

    def __str__(self) -> str:
        values = self.as_json()
        del values["kind"]
        if self.name == self.kind:
            del values["name"]
        return f"{self.kind}:" + ",".join(f"{key}={value}" for key, value in values.items())


def default_topics(kind: type[OnlineModel], documents: float) -> int:
    """The number of topics for this many documents: their square root for LDA, three times that for
    the HDP.

    With `ENOUGH` documents or more, it is the kind's default.
    """
    part = math.sqrt(min(1.0, documents / ENOUGH))
    topics = max(2, round(kind.default_topics * part))
    return min(kind.default_topics, topics)


def parse_specs(texts: Sequence[str], shared: Mapping[str, object]) -> tuple[ModelSpec, ...]:
    """The models named by ``--model`` (one `lda` if there are none).

    ``shared``: values of options for all models, by key; None: not given. They apply to models
    whose option of that name is shared; a value in the text takes precedence. Of several numbers
    of topics, such as "10,20", each makes a model of its own of every text without a number: lda-10
    and lda-20. Raises `BadUsage` naming the wrong word.
    """
    specs: list[ModelSpec] = []
    numbers = numbers_of_topics(shared.get(TOPICS.name))
    applied = False
    for text in texts or (DEFAULT_KIND,):
        spec = _parse(text, {**shared, TOPICS.name: None})
        if not numbers or not spec.usual_topics:
            specs.append(spec)
            continue
        applied = True
        if len(numbers) == 1:
            specs.append(_parse(text, shared))
        else:
            specs += (_varied(text, shared, number) for number in numbers)
    if numbers and not applied:
        raise BadUsage(
            f"--topics {shared[TOPICS.name]}: every --model names its own number of topics; leave "
            "out one of the two"
        )
    names = [spec.name for spec in specs]
    for name in names:
        if names.count(name) > 1:
            raise BadUsage(
                f"two models are named {name!r}: give one another name, as in --model "
                "lda:name=small"
            )
    return tuple(specs)


def numbers_of_topics(value: object) -> tuple[str, ...]:
    """The numbers in a value of ``--topics``, such as "10,20,40", as they are given; () for None.

    Raises `BadUsage` if one is missing or given twice, and if there are too many.
    """
    if value is None:
        return ()
    numbers = tuple(number.strip() for number in str(value).split(","))
    if len(numbers) > MOST_NUMBERS:
        raise BadUsage(
            f"--topics: at most {MOST_NUMBERS} numbers of topics are learnt side by side; give "
            "fewer, or try the others in another session"
        )
    for number in numbers:
        if not number:
            raise BadUsage(f"topics must be a number, or several as in 10,20,40, not {value!r}")
        if numbers.count(number) > 1:
            raise BadUsage(f"topics {value}: {number} is given twice")
    return numbers


def _varied(text: str, shared: Mapping[str, object], topics: str) -> ModelSpec:
    """The model of this text with one of several numbers of topics, which becomes part of its
    name."""
    spec = _parse(text, {**shared, TOPICS.name: topics})
    name = f"{spec.name}-{spec.topics}"
    if not NAME.fullmatch(name):
        raise BadUsage(f"--model {text!r}: with its number of topics, the name is too long")
    return replace(spec, name=name)


def vary_in_topics(models: Iterable[tuple[str, int]]) -> bool:
    """Whether models of one kind differ in their number of topics; (kind, topics) of each."""
    different = set(models)
    kinds_of_models = {kind for kind, _ in different}
    return len(different) > len(kinds_of_models)


def shared_value(kind: str, key: str, value: object) -> Value | None:
    """The value that ``value``, given for all models, has for this kind; None if it does not apply.

    Raises `BadUsage`.
    """
    for option in options_of(load_kind(kind)):
        if option.name == key and option.shared:
            return _parsed(option, value)
    return None


def load_kind(name: str, error_class: type[SessionError] = BadUsage) -> type[OnlineModel]:
    """The class of a kind of model. Raises `BadUsage`, or another error."""
    try:
        return kinds.load(name)
    except KindError as error:
        raise error_class(str(error)) from None


def model_choices() -> Iterator[tuple[str, str, str]]:
    """(kind, default topics, description) of each kind. Kinds of other packages are listed without
    being loaded."""
    for name in kinds.names():
        if name in kinds.built_in:
            kind = kinds.load(name)
            yield name, str(kind.default_topics), f"{kind.label}: {kind.summary}"
        else:
            yield name, "", "from another package"


def options_of(kind: type[OnlineModel]) -> tuple[Option[float], ...]:
    """All options, including the sizes that every kind has."""
    topics = Option(
        int,
        TOPICS.name,
        "number of topics",
        default=kind.default_topics,
        least=1,
        most=min(kind.most_topics, MOST_TOPICS),
    )
    return (topics, *kind.options, replace(BATCH_SIZE, default=kind.default_batch_size))


def _parse(text: str, shared: Mapping[str, object]) -> ModelSpec:
    """The model of one ``--model``; ``shared``: as for `parse_specs`. Raises `BadUsage`."""
    kind_name, _, rest = text.partition(":")
    if kind_name not in kinds:
        meant = did_you_mean(kind_name, kinds.names())
        raise BadUsage(f"--model {text!r}: {kind_name!r} is not a kind of model. {meant}")
    try:
        kind = load_kind(kind_name)
        options = options_of(kind)
        texts = _texts_by_key(rest, kind.kind, ("name", *(option.name for option in options)))
        name = texts.get("name", kind.kind)
        if not NAME.fullmatch(name):
            raise BadUsage("a model's name has letters, digits, '.', '_' and '-'")
        values: dict[str, Any] = {}
        for option in options:
            for_all = shared.get(option.name) if option.shared else None
            value = texts.get(option.name, for_all)
            if value is not None:
                values[option.name] = _parsed(option, value)
    except BadUsage as error:
        raise BadUsage(f"--model {text!r}: {error}" if rest else str(error)) from None
    topics = values.pop(TOPICS.name, None)
    batch_size = values.pop(BATCH_SIZE.name, None)
    return ModelSpec(
        kind=kind.kind,
        name=name,
        topics=kind.default_topics if topics is None else topics,
        batch_size=batch_size,
        options=values,
        usual_topics=topics is None,
    )


def _texts_by_key(text: str, kind: str, keys: Sequence[str]) -> dict[str, str]:
    """The values of "key=value,…" by key."""
    values: dict[str, str] = {}
    for part in text.split(","):
        item = part.strip()
        if not item:
            continue
        key, equals, value = item.partition("=")
        if not equals:
            raise BadUsage(f"{item!r} is not KEY=VALUE with KEY one of {', '.join(keys)}")
        if key not in keys:
            raise BadUsage(f"{key!r} is not a setting of {kind}. {did_you_mean(key, keys)}")
        if key in values:
            raise BadUsage(f"{key} is given twice")
        values[key] = value
    return values


def _parsed(option: Option[float], value: object) -> Value:
    try:
        parsed = option.convert(value)
    except ValueError as error:
        raise BadUsage(str(error)) from None
    assert parsed is not None
    return parsed


def batch_sizes(specs: Sequence[ModelSpec]) -> tuple[int, ...]:
    """The largest minibatch of each model. Raises `BadUsage` unless each size divides the largest
    one."""
    sizes = tuple(spec.batch_size or _kind_of(spec).default_batch_size for spec in specs)
    largest = max(sizes)
    for spec, size in zip(specs, sizes, strict=True):
        if largest % size:
            raise BadUsage(
                f"model {spec.name!r} has batch size {size}, which does not divide the largest, "
                f"{largest}: models that train side by side read the same minibatches"
            )
    return sizes


def new_model(
    spec: ModelSpec,
    n_words: int,
    n_documents: int,
    seed: int,
    seeds: Sequence[NDArray[np.int64]] = (),
) -> OnlineModel:
    """A model made from its spec, before its first article. ``seeds``: word ids for its first
    topics.

    Raises `BadUsage` if its kind refuses.
    """
    try:
        model = _kind_of(spec).create(
            spec.topics,
            n_words,
            n_documents,
            spec.options,
            seed,
        )
        if seeds:
            model.seed(seeds)
        return model
    except (ValueError, NotImplementedError) as error:
        raise BadUsage(f"model {spec.name}: {error}") from None


def own_metrics(kind: str) -> tuple[Metric, ...]:
    """The metrics that only this kind of model can measure; none if it is not installed."""
    try:
        return kinds.load(kind).metrics
    except KindError:
        return ()


def load_model(state: Mapping[str, Any], stored: ModelStatus, n_words: int) -> OnlineModel:
    """The model with this state. Raises `Damaged` if it does not match ``stored``."""
    kind = _kind_of(stored)
    try:
        model = kind.from_state(state)
    except Exception as error:  # a kind of another package may raise anything
        if stored.kind in kinds.built_in:
            raise Damaged(f"model {stored.name}: {error}") from error
        cure = "if its package now stores something else, it needs a new `version` and `upgraded`"
        raise SessionError(
            f"model {stored.name}: {error}: {cure}; if not, restore a backup"
        ) from error
    if model.n_topics != stored.topics or model.n_words != n_words:
        raise Damaged(
            f"model {stored.name} has {model.n_topics:,} topics over {model.n_words:,} words"
        )
    return model


def _kind_of(model: ModelSpec | ModelStatus) -> type[OnlineModel]:
    """The class of a session's model. Raises `MissingKind` if it is not installed."""
    if model.kind not in kinds:
        raise MissingKind("kind of model", model.kind)
    return load_kind(model.kind, SessionError)


@dataclass(frozen=True, kw_only=True)
class Settings(OptionValues):
    """The settings of a session, resolved once from the request and fixed at creation. `values`
    holds those of `KEPT`; the fields below are determined in addition.

    When the source of a new session has been opened, its name, the rest of `source_options`, and
    the values that were not requested are added. Limits, threads, requests a minute and the contact
    are not here: they may change.
    """

    source: str
    """The name of a kind in `wikitopics.session.sources`."""
    source_name: str
    """The name for people, e.g. "en.wikipedia.org"."""
    source_options: Mapping[str, Any]
    """What the source needs to be opened again, as its kind defines. Never a contact."""
    vocabulary: str
    """The name or file it was loaded from; the words themselves are in the session."""
    fingerprint: str
    """The fingerprint of its words; "" until the session has built its vocabulary from its first
    articles."""
    rule: str
    """The word rule, as a vocabulary names it: as much a part of the vocabulary as its words."""
    models: tuple[ModelSpec, ...]
    batch_sizes: tuple[int, ...]
    """The largest minibatch of each model, in the order of ``models``; all divide the largest
    one."""
    measured_every: int | None = None
    """The most articles between two measurements, during the first million articles; None: no such
    limit."""

    @property
    def building(self) -> bool:
        """Whether the session is still collecting the articles from which its vocabulary will be
        built."""
        return not self.fingerprint

    @property
    def n_all_models(self) -> int:
        """How many models learn: `models`, and the replicas of each."""
        return len(self.models) * (1 + self[REPLICAS])

    @property
    def batch_size(self) -> int:
        """Articles in a full minibatch of the session: the largest of the models'."""
        return max(self.batch_sizes)

    @property
    def keeps_counts(self) -> bool:
        """Whether the session keeps its word counts: for other sessions, or to read them again."""
        return self[KEEP_COUNTS] or self[PASSES] > 1

    @property
    def keeps_snippets(self) -> bool:
        """Whether the session keeps the beginnings of the user's own documents."""
        is_own = kind_named(self.source).own
        return is_own and self[KEEP_ARTICLES] == "all" and not self[NO_SNIPPETS]

    def as_json(self) -> dict[str, Any]:
        """Plain values for the store; `decode_settings` is the inverse."""
        plain = {field.name: getattr(self, field.name) for field in fields(self)}
        del plain["values"]
        plain["source_options"] = dict(self.source_options)
        plain["models"] = [spec.as_json() for spec in self.models]
        return {**plain, **self.values}
