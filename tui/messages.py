"""Requests of a view to the app."""

from pathlib import Path

from textual.message import Message


class Ready(Message):
    """A view is made and can draw."""


class OpenTopic(Message):
    """Show everything about this topic of the model in use."""

    def __init__(self, topic: int) -> None:
        super().__init__()
        self.topic = topic


class OpenArticle(Message):
    """Look this title up among the articles."""

    def __init__(self, title: str) -> None:
        super().__init__()
        self.title = title


class OpenSession(Message):
    """Look at another session."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.path = path
