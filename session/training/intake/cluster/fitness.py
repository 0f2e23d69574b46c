"""The workers that may count: those that count exactly as this machine would."""

import platform
from collections.abc import Mapping
from importlib import metadata

from wikitopics.session.version import __version__

PACKAGES = ("wikitopics", "distributed")
"""The packages of which a worker must have the same versions."""


Versions = Mapping[str, str | None]
"""By name; None: not installed."""


def installed() -> Versions:
    """The versions on which counts depend, as installed on this machine."""
    return {"python": _two(platform.python_version()), **{name: _installed(name) for name in PACKAGES}}


def reported(told: object) -> Versions:
    """The same, as Dask reports them for one of its processes."""
    packages, host = (told.get(key) if isinstance(told, Mapping) else None for key in ("packages", "host"))
    return {
        "python": _two(_text(host, "python") or "?"),
        **{name: _text(packages, name) for name in PACKAGES},
    }


def in_use(fingerprint: str) -> dict[str, str]:
    """The versions in use in this process, as its answers report: installed versions may not be the
    running ones."""
    return {"wikitopics": __version__, "python": _two(platform.python_version()), "vocabulary": fingerprint}


def difference(there: object, here: Versions) -> str:
    """In what a worker differs from ``here``, in words; "" for nothing."""
    return ", ".join(
        f"{_said(name, _text(there, name))} (the trainer: {str(value)[:16]})"
        for name, value in here.items()
        if _text(there, name) != value
    )


def _said(name: str, value: str | None) -> str:
    return f"no {name}" if value is None else f"{name} {value[:16]}"


def _text(found: object, name: str) -> str | None:
    value = found.get(name) if isinstance(found, Mapping) else None
    return value[:80] if isinstance(value, str) else None


def _two(version: str) -> str:
    """Without the last number, since Unicode's tables change only with the others."""
    return ".".join(version.split(".")[:2])


def _installed(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None
