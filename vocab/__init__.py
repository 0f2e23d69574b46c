"""The fixed vocabulary: turning prose into word counts, and building a vocabulary. Imports no other room."""

from wikitopics.vocab.vocabulary import UnknownVocabulary, Vocabulary

__all__ = ["UnknownVocabulary", "Vocabulary"]
