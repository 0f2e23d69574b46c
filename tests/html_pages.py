"""A page as a parser sees it."""

import base64
import hashlib
from html.parser import HTMLParser

VOID = {"meta", "link", "input", "br", "path"}
"""Tags that nothing closes."""


class Seen(HTMLParser):
    """What a browser would make of a page, in which every other tag must be closed."""

    def __init__(self, text):
        super().__init__()
        self.tags = []
        self.open = []
        self.texts = {}
        self.feed(text)
        assert not self.open, self.open

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open:
            self.texts.setdefault(self.open[-1], []).append(data)

    def all(self, name, *tags):
        """The values of an attribute, of these tags or of all."""
        return [
            attrs[name] for tag, attrs in self.tags if name in attrs and (not tags or tag in tags)
        ]


def hash_of(block):
    """What the policy of a page calls a script or a style."""
    return base64.b64encode(hashlib.sha256(block.encode()).digest()).decode()
