"""Optional packages for some features: `pip install 'wikitopics[NAME]'`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import metadata

from wikitopics.option import install_command


@dataclass(frozen=True)
class Extra:
    """One of pyproject's optional groups of packages, for users."""

    name: str
    packages: Sequence[str]
    """The packages; messages name the first."""
    purpose: str
    """Its purpose, worded to follow "for"."""

    @property
    def command(self) -> str:
        """The command that installs it, for the interpreter that runs."""
        return install_command(f"wikitopics[{self.name}]")

    def needed(self, what: str) -> str:
        """The message for using ``what`` without it."""
        return f"{what} needs {self.packages[0]}: {self.command}"

    def versions(self) -> dict[str, str]:
        """Its packages with their versions; "" for one that is not installed."""
        return {package: _version(package) for package in self.packages}

    def missing(self) -> list[str]:
        """Its packages that are not installed."""
        return [package for package, version in self.versions().items() if not version]


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return ""


ZST = Extra("zst", ("zstandard",), "dumps and texts that end in .zst")
"""Here, since the crawler needs it; the others are in `wikitopics.session.sources`."""
