"""Optional packages for some features: `pip install 'wikitopics[NAME]'`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import metadata

from wikitopics.installing import install_command


@dataclass(frozen=True)
class Extra:
    """One of pyproject's optional groups of packages, for a feature that needs them."""

    name: str
    package: str
    """The one of its packages that messages name."""
    purpose: str
    """Its purpose, worded to follow "for"."""

    @property
    def command(self) -> str:
        """The command that installs it, for the interpreter that runs."""
        return install_command(f"wikitopics[{self.name}]")

    @property
    def packages(self) -> Sequence[str]:
        """All its packages, `package` first, as pyproject.toml declared them when wikitopics was
        installed; without an installation, only `package` is known."""
        try:
            requirements = metadata.requires("wikitopics") or []
        except metadata.PackageNotFoundError:  # it runs from its folder, without an installation
            requirements = []
        marker = re.compile(f"extra == ['\"]{self.name}['\"]")
        own = [need for need in requirements if marker.search(need)]
        names = [re.split(r"[^\w.-]", need, maxsplit=1)[0] for need in own]
        names.sort(key=lambda name: name != self.package)
        return names or [self.package]

    def needed(self, what: str) -> str:
        """The message for using ``what`` without it."""
        return f"{what} needs {self.package}: {self.command}"

    def versions(self) -> dict[str, str]:
        """Its packages with their versions; "" for one that is not installed."""
        return {package: _version(package) for package in self.packages}

    def missing(self) -> list[str]:
        """Its packages that are not installed."""
        return [package for package in self.packages if not _is_installed(package)]


def _is_installed(package: str) -> bool:
    try:
        metadata.distribution(package)  # which reads nothing: to read a version takes 2 ms
    except metadata.PackageNotFoundError:
        return False
    return True


def _version(package: str) -> str:
    return metadata.version(package) if _is_installed(package) else ""


# Every extra that users can install; `doctor` and all messages use this table.

SKLEARN = Extra(
    "sklearn", "scikit-learn", "the models as scikit-learn estimators (`wikitopics.sklearn`)"
)
NOTEBOOK = Extra("notebook", "pandas", "data frames and progress bars in Python")
PARQUET = Extra("parquet", "pyarrow", "texts that end in .parquet, and `export --format parquet`")
EXCEL = Extra("excel", "xlsxwriter", "`export --format xlsx`")
JAPANESE = Extra("ja", "sudachipy", "the words of Japanese")
CHINESE = Extra("zh", "rjieba", "the words of Chinese")
THAI = Extra("th", "nlpo3", "the words of Thai")
ZST = Extra("zst", "zstandard", "dumps and texts that end in .zst")
REPORT = Extra("report", "matplotlib", "`wikitopics report`, and `plot_…` in Python")
WEB = Extra("web", "textual-serve", "`watch --web`")
INTEROP = Extra(
    "interop", "gensim", "`export model --format gensim`, and tests against other programs"
)
DASK = Extra("dask", "distributed", "`train --cluster`")

EXTRAS = (
    SKLEARN,
    NOTEBOOK,
    PARQUET,
    EXCEL,
    JAPANESE,
    CHINESE,
    THAI,
    ZST,
    REPORT,
    WEB,
    INTEROP,
    DASK,
)
