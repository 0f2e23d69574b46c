"""Requests of a view to the app."""

from dataclasses import dataclass
from pathlib import Path

from textual.message import Message


class Ready(Message):
    """A view is made and can draw."""


@dataclass
class OpenTopic(Message):
    """Show everything about this topic of the model in use."""

    topic: int


@dataclass
class OpenArticle(Message):
    """Look this title up among the articles."""

    title: str


@dataclass
class OpenSession(Message):
    """Look at another session."""

    path: Path
