"""The fixed vocabulary: turning prose into word counts, and building a vocabulary. Imports no other room."""

from wikitopics.vocab.errors import UnknownVocabulary
from wikitopics.vocab.vocabulary import Vocabulary

__all__ = ["UnknownVocabulary", "Vocabulary"]
