"""The workers that may count: those that count exactly as this machine would."""

import platform
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import metadata

from wikitopics.session.version import __version__

PACKAGES = ("wikitopics", "distributed")
"""The packages of which a worker must have the same versions."""


@dataclass(frozen=True, slots=True)
class Versions:
    """The versions on which counts depend."""

    wikitopics: str | None
    """None: not installed."""
    python: str
    """Without the last number, since Unicode's tables change only with the others."""
    distributed: str | None

    @classmethod
    def here(cls) -> "Versions":
        """The versions installed on this machine."""
        return cls(_installed("wikitopics"), _two(platform.python_version()), _installed("distributed"))

    @classmethod
    def there(cls, told: object) -> "Versions":
        """The versions that Dask reports for one of its processes."""
        packages = told.get("packages") if isinstance(told, Mapping) else None
        host = told.get("host") if isinstance(told, Mapping) else None
        found = {name: _text(packages, name) for name in PACKAGES}
        return cls(found["wikitopics"], _two(_text(host, "python") or "?"), found["distributed"])

    def differs(self, here: "Versions", names: tuple[str, ...] = ("python", *PACKAGES)) -> str:
        """The differences from ``here``, in words; "" for none."""
        return ", ".join(
            f"{_said(name, getattr(self, name))} (the trainer: {getattr(here, name)})"
            for name in names
            if getattr(self, name) != getattr(here, name)
        )


def in_use(fingerprint: str) -> dict[str, str]:
    """The versions in use in this process, as its answers report: installed versions may not be the
    running ones."""
    return {"wikitopics": __version__, "python": _two(platform.python_version()), "vocabulary": fingerprint}


def told_differently(there: object, here: Mapping[str, str]) -> str:
    """The differences between an answer's `in_use` and that of ``here``, in words; "" for none."""
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
