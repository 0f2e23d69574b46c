"""The request to the trainer that arguments of `train` mean, besides those of texts and words."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from numbers import Real
from typing import SupportsIndex

from wikitopics.crawler.page import Markup
from wikitopics.crawler.texts.kinds import MARKUP
from wikitopics.in_python.words import given_words
from wikitopics.session.in_memory_texts import InMemoryTexts
from wikitopics.session.options import HELD_OUT, PASSES, REPLICAS, SEED
from wikitopics.session.request import TrainRequest
from wikitopics.session.settings import MOST_NUMBERS
from wikitopics.stored.arguments import whole, wrong_type

_MODELS = "a kind of model or a SPEC, or several"
_NUMBERS = "a number, or several such as [10, 20, 40]"


def given_request(
    files: InMemoryTexts,
    model: object,
    markup: Markup | None,
    topics: int | Iterable[int] | None,
    passes: int | None,
    replicas: int | None,
    seed: int | None,
) -> TrainRequest:
    """The request to the trainer. Raises ValueError or TypeError for a value that its option does
    not take."""
    models: tuple[object, ...] = ()
    if isinstance(model, str):
        models = (model,)
    elif model is not None:
        models = tuple(given_words("model", _MODELS, model))
        if not models:
            raise wrong_type("model", _MODELS, model)
    if passes is not None:
        passes = whole("passes", passes)
    if replicas is not None:
        replicas = whole("replicas", replicas)
    if seed is not None:
        seed = whole("seed", seed)
    return TrainRequest(
        source="texts",
        texts=(str(files.texts),),
        model=models,
        topics=None if topics is None else _numbers(topics),
        passes=None if passes is None else PASSES.convert(passes),
        replicas=None if replicas is None else REPLICAS.convert(replicas),
        seed=SEED.convert(seed),
        markup=MARKUP.convert(markup),
    )


def _numbers(topics: SupportsIndex | Iterable[SupportsIndex]) -> str:
    """A number of topics, or several, as at the command line. Raises ValueError or TypeError."""
    if isinstance(topics, str | bytes):
        raise wrong_type("topics", _NUMBERS, topics)
    if not isinstance(topics, Iterable):
        return str(whole("topics", topics))
    # One more than are accepted is enough to refuse them, and a generator may have no end.
    some = islice(topics, MOST_NUMBERS + 1)
    numbers = [str(whole("topics", number)) for number in some]
    if not numbers:
        raise ValueError(f"topics must be {_NUMBERS}")
    return ",".join(numbers)


def given_held_out(value: object) -> int | float | None:
    """A number of texts to hold out, or as a float a share of them. Raises ValueError or
    TypeError."""
    if value is None:
        return None
    if isinstance(value, Real) and not isinstance(value, SupportsIndex):
        share = float(value)
        if not 0 < share < 1:
            raise ValueError(
                f"held_out must be a whole number, or a share between 0 and 1, not {value!r:.40}"
            )
        return share
    number = whole("held_out", value)  # type: ignore[arg-type]
    HELD_OUT.convert(number)  # raises for too large a number
    return number


def number_to_hold_out(wanted: int | float | None, number: int, *, adds: bool) -> int | None:
    """How many of this many texts to hold out; None: as many as by default, or as the
    session has. ``wanted``: the result of `given_held_out`.

    A share is of the first texts: a session to which texts are added has its number.
    """
    if not isinstance(wanted, float):
        return wanted
    return None if adds else max(1, round(wanted * number))
