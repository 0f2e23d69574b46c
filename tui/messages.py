"""Requests of a view to the app."""

from pathlib import Path

from textual.message import Message


class OpenTopic(Message):
    """Show everything about this topic of the model in use."""

    def __init__(self, topic: int) -> None:
        super().__init__()
        self.topic = topic


class OpenSession(Message):
    """Look at another session."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.path = path


class Ready(Message):
    """A view is made and can draw."""


class OpenArticle(Message):
    """Look this title up among the articles."""

    def __init__(self, title: str) -> None:
        super().__init__()
        self.title = title


class TrainerAsks(Message):
    """The trainer of the session on screen has ended with a question for the user."""

    def __init__(self, question: str) -> None:
        super().__init__()
        self.question = question


class NewSession(Message):
    """Ask for a new session's settings."""


class LookAgain(Message):
    """Look at the session now, without waiting for the next turn, since something else is wanted of it."""
