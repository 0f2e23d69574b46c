"""The fixed vocabulary: turning prose into word counts, and building a vocabulary. Imports no other
room."""

from wikitopics.vocab.stop_words import ENGLISH_STOP_WORDS
from wikitopics.vocab.vocabulary import UnknownVocabulary, Vocabulary

__all__ = ["ENGLISH_STOP_WORDS", "UnknownVocabulary", "Vocabulary"]
