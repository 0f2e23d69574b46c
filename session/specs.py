"""What a model of a session is to be: `--model KIND[:key=value,…]`, checked before anything starts."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from session.errors import BadUsage, did_you_mean

KINDS = ("lda", "scvb0", "hdp")
_DEFAULT_TOPICS = {"lda": 100, "scvb0": 100, "hdp": 300}
_KEYS = ("name", "topics", "alpha", "eta", "omega", "batch_size", "kappa", "tau0")
NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,63}")
"""Of a model."""
MOST_TOPICS = 10_000
MOST_BATCH = 1_000_000
_PRIORS = (1e-9, 1e9)
"""Smallest and largest prior: beyond them single precision overflows, or a topic's share becomes 0 / 0."""

Prior = float | Literal["learn"] | None


@dataclass(frozen=True, slots=True)
class ModelSpec:
    """One model's settings; None means the model's own default."""

    kind: str
    name: str
    topics: int
    alpha: Prior = None
    eta: Prior = None
    omega: float | None = None
    batch_size: int | None = None
    kappa: float | Literal["adaptive"] | None = None
    tau0: float | None = None

    def as_json(self) -> dict[str, Any]:
        """Plain values, defaults left out."""
        return {key: value for key, value in asdict(self).items() if value is not None}

    def options(self) -> dict[str, Any]:
        """The model's options that are set."""
        names = ("alpha", "eta", "omega", "kappa", "tau0")
        return {name: getattr(self, name) for name in names if getattr(self, name) is not None}


def parse_specs(texts: Sequence[str], defaults: Mapping[str, object]) -> tuple[ModelSpec, ...]:
    """The models named by ``--model`` (one `lda` where none is), over the options given for all.

    ``defaults``: option values by key, None where not given. alpha and eta from there are for lda and
    scvb0 only. Raises :class:`BadUsage` with the word that is wrong.
    """
    specs = tuple(_parse(text, defaults) for text in (texts or ("lda",)))
    names = [spec.name for spec in specs]
    for name in names:
        if names.count(name) > 1:
            raise BadUsage(
                f"two models are named {name!r}: give one another name, as in --model lda:name=small"
            )
    return specs


def _parse(text: str, defaults: Mapping[str, object]) -> ModelSpec:
    kind, _, rest = text.partition(":")
    if kind not in KINDS:
        raise BadUsage(f"--model {text!r}: {kind!r} is no kind of model. {did_you_mean(kind, KINDS)}")
    values: dict[str, object] = {}
    for item in filter(None, (part.strip() for part in rest.split(","))):
        key, equals, value = item.partition("=")
        if not equals:
            raise BadUsage(f"--model {text!r}: {item!r} is not KEY=VALUE with KEY one of {', '.join(_KEYS)}")
        if key not in _KEYS:
            raise BadUsage(f"--model {text!r}: {key!r} is no setting of a model. {did_you_mean(key, _KEYS)}")
        if key in values:
            raise BadUsage(f"--model {text!r}: {key} is given twice")
        values[key] = value
    if kind != "hdp" and "omega" in values:
        raise BadUsage(f"--model {text!r}: omega belongs to hdp")
    shared = {key: value for key, value in defaults.items() if value is not None}
    if kind == "hdp":
        shared = {key: value for key, value in shared.items() if key not in ("alpha", "eta", "omega")}
    merged = shared | values
    name = str(merged.get("name", kind))
    if not NAME.fullmatch(name):
        raise BadUsage(f"--model {text!r}: a model's name has letters, digits, '.', '_' and '-'")
    try:
        return ModelSpec(
            kind=kind,
            name=name,
            topics=_whole("topics", merged.get("topics", _DEFAULT_TOPICS[kind]), 1, MOST_TOPICS),
            alpha=_prior("alpha", merged.get("alpha"), learnable=kind != "hdp"),
            eta=_prior("eta", merged.get("eta"), learnable=kind != "hdp"),
            omega=_optional("omega", merged.get("omega"), *_PRIORS, closed=True),
            batch_size=_whole("batch-size", merged["batch_size"], 1, MOST_BATCH)
            if "batch_size" in merged
            else None,
            kappa=_kappa(kind, merged.get("kappa")),
            tau0=_optional("tau0", merged.get("tau0"), 0.0, math.inf, closed=True),
        )
    except BadUsage as error:
        raise BadUsage(f"--model {text}: {error}" if rest else str(error)) from None


def _whole(name: str, value: object, low: int, high: int) -> int:
    try:
        number = int(str(value))
    except ValueError:
        raise BadUsage(f"{name} must be a whole number, not {value!r}") from None
    if not low <= number <= high:
        raise BadUsage(f"{name} must be from {low} to {high:,}, not {number}")
    return number


def _optional(name: str, value: object, low: float, high: float, *, closed: bool = False) -> float | None:
    if value is None:
        return None
    try:
        number = float(str(value))
    except ValueError:
        number = math.nan
    inside = low <= number <= high if closed else low < number < high
    if not inside or not math.isfinite(number):
        bounds = (
            f"from {low:g} to {high:g}"
            if math.isfinite(high)
            else f"a number {'from' if closed else 'over'} {low:g}"
        )
        raise BadUsage(f"{name} must be {bounds}, not {value}")
    return number


def _kappa(kind: str, value: object) -> float | Literal["adaptive"] | None:
    if value == "adaptive":
        if kind != "scvb0":
            raise BadUsage(f"kappa=adaptive belongs to scvb0; for {kind} kappa is from 0.5 to 1")
        return "adaptive"
    return _optional("kappa", value, 0.5, 1.0, closed=True)


def _prior(name: str, value: object, *, learnable: bool) -> Prior:
    if value == "learn":
        if not learnable:
            raise BadUsage(f"{name} of an hdp is a number")
        return "learn"
    return _optional(name, value, *_PRIORS, closed=True)
