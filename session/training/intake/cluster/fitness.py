"""Which workers may count: those that do it exactly as this machine would."""

import platform
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import metadata

from session.version import __version__

PACKAGES = ("wikitopics", "distributed")
"""Of these a worker has to have the versions that are here."""


@dataclass(frozen=True, slots=True)
class Versions:
    """What somebody's counts depend on."""

    wikitopics: str | None
    """None: not installed."""
    python: str
    """Without the last number: Unicode's tables change with the others only."""
    distributed: str | None

    @classmethod
    def here(cls) -> "Versions":
        """Those of this machine, as they are installed."""
        return cls(_installed("wikitopics"), _two(platform.python_version()), _installed("distributed"))

    @classmethod
    def there(cls, told: object) -> "Versions":
        """Those that Dask tells of one of its processes."""
        packages = told.get("packages") if isinstance(told, Mapping) else None
        host = told.get("host") if isinstance(told, Mapping) else None
        found = {name: _text(packages, name) for name in PACKAGES}
        return cls(found["wikitopics"], _two(_text(host, "python") or "?"), found["distributed"])

    def differs(self, here: "Versions", names: tuple[str, ...] = ("python", *PACKAGES)) -> str:
        """What is not as it is ``here``, in words; "" for nothing."""
        return ", ".join(
            f"{_said(name, getattr(self, name))} (the trainer: {getattr(here, name)})"
            for name in names
            if getattr(self, name) != getattr(here, name)
        )


def in_use(fingerprint: str) -> dict[str, str]:
    """What this process counts with, as its answers tell: what is installed may not be what runs."""
    return {"wikitopics": __version__, "python": _two(platform.python_version()), "vocabulary": fingerprint}


def told_differently(there: object, here: Mapping[str, str]) -> str:
    """What an answer tells that :func:`in_use` does not tell ``here``, in words; "" for nothing."""
    return ", ".join(
        f"{_said(name, _text(there, name))} (the trainer: {value[:16]})"
        for name, value in here.items()
        if _text(there, name) != value
    )


def _said(name: str, value: str | None) -> str:
    return f"no {name}" if value is None else f"{name} {value[:16]}"


def _text(found: object, name: str) -> str | None:
    value = found.get(name) if isinstance(found, Mapping) else None
    return value[:80] if isinstance(value, str) else None


def _two(version: str) -> str:
    return ".".join(version.split(".")[:2])


def _installed(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None
