"""The fixed vocabulary: prose to word counts, and building one. Knows none of the other rooms."""

from vocab.vocabulary import Vocabulary

__all__ = ["Vocabulary"]
