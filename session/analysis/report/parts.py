"""What every page of this package is made of: its files, and how its policy names them."""

import base64
import hashlib
from collections.abc import Iterable
from importlib import resources

from markupsafe import Markup

from wikitopics.session.analysis.cartography import COLOURS

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


def colours(within: str = "") -> str:
    """The styles of the classes that give a piece the colour of an area; ``within``: the selector
    of what such pieces are in."""
    return "".join(f"{within}.a{area} {{ --a: {colour} }}\n" for area, colour in enumerate(COLOURS))


def framed(*parts: Markup) -> str:
    """Pieces of HTML together as one, for a notebook, with their style."""
    style = asset("notebook.css") + asset("painted.css") + colours(".wikitopics ")
    piece = Markup('<div class="wikitopics"><style>\n{}</style>{}</div>')
    return str(piece.format(Markup(style), Markup("").join(parts)))
