"""What every page of this package is made of: its files, and how its policy names them."""

import base64
import hashlib
from collections.abc import Iterable
from importlib import resources

LARGEST = 2_990_000
"""The most bytes of a page: small enough for a phone and an e-mail."""


def asset(name: str) -> str:
    """The text of a file that comes with this package."""
    package = resources.files("wikitopics.session.analysis.report")
    return package.joinpath("assets", name).read_text("utf-8")


def hashed(text: str) -> str:
    """The text as a Content-Security-Policy names what it allows."""
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def policy(styles: Iterable[str], scripts: Iterable[str]) -> str:
    """The policy of a page that loads nothing, and has only these styles and scripts."""
    style = " ".join(map(hashed, styles))
    script = " ".join(map(hashed, scripts))
    return (
        f"default-src 'none'; style-src {style}; script-src {script}; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
