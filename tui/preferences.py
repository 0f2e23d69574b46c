"""The screen's settings in the user's config file.

theme = "light"            # "dark", or the name of any theme in the palette
[keys]
"app.freeze" = "f"         # binding = key; the names of the bindings are in docs/screen.md
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from textual.theme import BUILTIN_THEMES

from wikitopics.session import config
from wikitopics.session.errors import BadUsage
from wikitopics.session.paths import config_file
from wikitopics.tui.themes import DARK, LIGHT


@dataclass(frozen=True, slots=True)
class Preferences:
    """The defaults: the theme follows the terminal, and the keys are ours."""

    theme: str | None = None
    keys: Mapping[str, str] = field(default_factory=dict)


def preferences(names: Collection[str]) -> Preferences:
    """Read the config file; ``names``: those of all keys. Raises `BadUsage` naming the line that is not
    valid."""
    settings = config.load()
    return Preferences(_theme(settings.get("theme")), _keys(settings.get("keys", {}), names))


def _theme(value: object) -> str | None:
    if value is None:
        return None
    ours = {"dark": DARK.name, "light": LIGHT.name, DARK.name: DARK.name, LIGHT.name: LIGHT.name}
    known = ours | {name: name for name in BUILTIN_THEMES}
    if not isinstance(value, str) or value not in known:
        raise BadUsage(
            f"{config_file()}: theme {value!r} is not one of dark, light, {', '.join(BUILTIN_THEMES)}"
        )
    return known[value]


def _keys(value: object, names: Collection[str]) -> dict[str, str]:
    if not isinstance(value, dict) or not all(isinstance(key, str) for key in value.values()):
        raise BadUsage(f'{config_file()}: the table [keys] must hold lines like "app.freeze" = "f"')
    unknown = sorted(set(value).difference(names))
    if unknown:
        raise BadUsage(f"{config_file()}: [keys] names {unknown[0]!r}; available: {', '.join(sorted(names))}")
    return dict(value)
