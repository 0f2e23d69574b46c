"""Errors of vocabularies; each message is one line for people."""


class VocabularyError(ValueError):
    """Base of this room's errors. ``exit_code`` is the code with which `wikitopics` exits."""

    exit_code = 2


class UnknownVocabulary(VocabularyError):
    """No vocabulary of that name is shipped."""


class BadVocabulary(VocabularyError):
    """The word list cannot be used: unreadable, empty, or with lines that are not words."""


class BadDocuments(VocabularyError):
    """The documents to build a vocabulary from hold too few words."""
