"""The kinds of models that there are: those of this package, and those that other packages bring.

Another package joins by an entry point of the group `wikitopics.models`, name → subclass of `OnlineModel`.
It is imported only when its kind is asked for by name, and it cannot take the name of a built-in kind.
"""

from __future__ import annotations

import inspect
from difflib import get_close_matches
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from model.online import OnlineModel

GROUP = "wikitopics.models"
BUILT_IN = {"lda": "OnlineLDA", "scvb0": "SCVB0", "hdp": "OnlineHDP"}  # in the module of the kind's name


class KindError(ValueError):
    """A kind of model that does not exist or cannot be used; one line."""


def names() -> tuple[str, ...]:
    """Every kind's name, the built-in ones first; loads none of them."""
    return (*BUILT_IN, *(name for name in _entry_points() if name not in BUILT_IN))


def load(name: str) -> type[OnlineModel]:
    """The class of a kind. Raises `KindError` where there is none, or none that works."""
    if name in BUILT_IN:
        kind: type[OnlineModel] = getattr(import_module(f"model.{name}"), BUILT_IN[name])
        return kind
    there = _entry_points()
    if name not in there:
        near = get_close_matches(name, names(), n=1)
        there_are = f"did you mean {near[0]}?" if near else f"there are {', '.join(names())}"
        raise KindError(f"{name!r} is no kind of model; {there_are}")
    return _loaded(name, there[name])


def _entry_points() -> dict[str, EntryPoint]:
    from importlib.metadata import entry_points

    return {point.name: point for point in entry_points(group=GROUP)}


def _loaded(name: str, point: EntryPoint) -> type[OnlineModel]:
    from model.online import OnlineModel

    where = f"the kind of model {name!r} ({point.value})"
    try:
        kind = point.load()
    except (Exception, SystemExit) as error:  # noqa: BLE001 (somebody else's package, broken in whatever way)
        reason = str(error).partition("\n")[0] or type(error).__name__
        raise KindError(f"{where} cannot be loaded: {reason}") from None
    if not (isinstance(kind, type) and issubclass(kind, OnlineModel)):
        raise KindError(f"{where} is not a subclass of model.OnlineModel")
    if inspect.isabstract(kind):
        missing = ", ".join(sorted(kind.__abstractmethods__))
        raise KindError(f"{where} lacks {missing}")
    if getattr(kind, "kind", None) != name:
        raise KindError(f"{where} calls itself {getattr(kind, 'kind', None)!r}; both names must be the same")
    return kind
