"""Optional packages for some features: `pip install 'wikitopics[NAME]'`."""

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import metadata


@dataclass(frozen=True)
class Extra:
    """One of pyproject's optional groups of packages, for users."""

    name: str
    packages: Sequence[str]
    """The packages; messages name the first."""
    purpose: str
    """Its purpose, as it follows "for"."""

    @property
    def command(self) -> str:
        """The command that installs it."""
        return f"pip install 'wikitopics[{self.name}]'"

    def needed(self, what: str) -> str:
        """The message for using ``what`` without it."""
        return f"{what} needs {self.packages[0]}: {self.command}"

    def missing(self) -> list[str]:
        """Its packages that are not installed."""
        return [package for package in self.packages if not _installed(package)]


def _installed(package: str) -> bool:
    try:
        metadata.version(package)
    except metadata.PackageNotFoundError:
        return False
    return True


ZST = Extra("zst", ("zstandard",), "dumps and texts that end in .zst")
"""The crawler's extras; all extras are in `wikitopics.session.extras`."""
