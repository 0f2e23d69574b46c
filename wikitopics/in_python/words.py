"""The words that `train` counts: the vocabulary, recipe and seeds that its arguments mean."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from itertools import chain, islice
from typing import NamedTuple, SupportsIndex

from wikitopics.crawler.errors import BadSource
from wikitopics.crawler.mediawiki.kinds import language_of_texts
from wikitopics.crawler.source import default_held_out
from wikitopics.in_python.parameters import in_python
from wikitopics.session.request import load_vocabulary
from wikitopics.session.seeds import ids_of, parsed, unknown_words
from wikitopics.session.training.defaults import LEAST
from wikitopics.session.training.first_texts import FIRST_TEXTS, short_texts
from wikitopics.stored.arguments import cell, whole, wrong_type
from wikitopics.stored.given import Kind
from wikitopics.vocab import Vocabulary
from wikitopics.vocab.building import (
    VocabularyRecipe,
    best_words,
    build_vocabulary,
    document_limit,
)
from wikitopics.vocab.counting import Counted
from wikitopics.vocab.rules import Rule, tokens_in
from wikitopics.vocab.stop_words import STOP_WORDS
from wikitopics.vocab.vocabulary import VocabularyError

USUAL_LETTERS = 3
"""The fewest letters of a word if no argument says so. A token may have any number."""


def given_language(lang: object) -> str | None:
    """The language meant by an argument of `train`. Raises ValueError or TypeError."""
    if not isinstance(lang, str | None):
        raise wrong_type("lang", "the code of a language", lang)
    try:
        return language_of_texts(lang)
    except BadSource as error:
        raise ValueError(in_python(str(error))) from None


def words(lang: str) -> Callable[[str], list[str]]:
    """A function that splits texts in the language of this code, such as "ja", into all its words,
    in order: ``CountVectorizer(analyzer=words("ja"))``.

    Raises ValueError for anything but a code, and for a language whose words cannot be separated
    here.
    """
    return Rule.of_language(given_language(lang) or "").split


def given_recipe(
    language: str | None,
    stop_words: object,
    *,
    min_df: float | None,
    max_df: float | None,
    min_letters: int | None,
    digits: bool,
    phrases: bool,
    tokens: bool,
) -> VocabularyRecipe:
    """How the arguments of `train` choose words; ``tokens``: from lists of tokens. Raises
    ValueError or TypeError."""
    if tokens and phrases:
        raise ValueError(
            "phrases: tokens are words as they are; join those that belong together, or give texts"
        )
    if min_letters is None:
        min_letters = 1 if tokens else USUAL_LETTERS
    words: Collection[str] | None
    if stop_words is None:
        words = ()  # nothing is left out
    elif not isinstance(stop_words, str):
        words = given_words("stop_words", "words", stop_words)
    elif stop_words == "auto":
        words = None  # those of the language
    elif stop_words in STOP_WORDS:
        words = STOP_WORDS[stop_words]
    else:
        known = ", ".join(map(repr, STOP_WORDS))
        raise ValueError(
            f"stop_words must be words, 'auto', {known} or None, not {stop_words!r:.60}"
        )
    return VocabularyRecipe.of_language(
        language,
        words,
        min_df=_document_limit("min_df", min_df),
        max_df=_document_limit("max_df", max_df),
        min_letters=whole("min_letters", min_letters, least=1),
        digits=digits,
        phrases=phrases,
        tokens=tokens,
    )


def _document_limit(argument: str, value: float | None) -> int | float | None:
    """A number of documents, or a share of them; None if the argument is not given. Raises
    ValueError."""
    if value is None:
        return None
    try:
        return document_limit(value)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{argument}: {error}") from None


def _usual_recipe(language: str | None = None, *, digits: bool, tokens: bool) -> VocabularyRecipe:
    """How words are chosen if no argument says so, besides one for the language, and one that
    allows digits."""
    return VocabularyRecipe.of_language(
        language,
        digits=digits,
        tokens=tokens,
        min_letters=1 if tokens else USUAL_LETTERS,
    )


class WordChoice(NamedTuple):
    """Which words are counted."""

    vocabulary: Vocabulary | None
    """The words that were given; None: the recipe chooses them."""
    recipe: VocabularyRecipe
    has_recipe: bool
    """Whether an argument says how words are chosen."""


def given_choice(
    vocabulary: object,
    recipe: VocabularyRecipe,
    language: str | None,
    kind: Kind,
    *,
    digits: bool,
) -> WordChoice:
    """The words that the arguments of `train` mean, for documents of this kind. Raises
    `VocabularyError`, ValueError or TypeError."""
    tokens = recipe.rule.tokens
    recipe_of_list = _usual_recipe(language, digits=digits, tokens=tokens)
    words = _given_vocabulary(vocabulary, recipe, recipe_of_list)
    if kind == "counts" and words is None:
        raise ValueError(
            "vocabulary: counts need the words that they are of, such as the vectorizer that made "
            "them, or its get_feature_names_out()"
        )
    has_recipe = language is not None or recipe != _usual_recipe(digits=False, tokens=tokens)
    return WordChoice(words, recipe, has_recipe)


def _given_vocabulary(
    argument: object, recipe: VocabularyRecipe, recipe_of_list: VocabularyRecipe
) -> Vocabulary | None:
    """The vocabulary that an argument of `train` means; None if ``recipe`` chooses its words.

    A vocabulary has its words already, so ``recipe`` must not choose any. With a list of words, it
    must be ``recipe_of_list``, which only says how they are read; otherwise, it must be the usual
    one.

    Raises `VocabularyError`, TypeError, and ValueError for words that are chosen twice.
    """
    if argument is None:
        return None
    tokens = recipe.rule.tokens
    # A vocabulary that is not a list of words has a rule of its own.
    allowed_recipe = _usual_recipe(digits=False, tokens=tokens)
    if isinstance(argument, str | os.PathLike):
        try:
            argument = load_vocabulary(os.fspath(argument))
        except VocabularyError as error:
            raise type(error)(f"vocabulary: {error}") from None
    if isinstance(argument, Vocabulary):
        vocabulary = argument
        if tokens and not vocabulary.rule.tokens:
            rule = replace(vocabulary.rule, tokens=True)
            vocabulary = Vocabulary(vocabulary.words, rule, "vocabulary")
        elif vocabulary.rule.tokens and not tokens:
            raise ValueError(
                "vocabulary: its words are tokens, which texts need not have; give its words as a "
                "list, or lists of tokens instead of texts"
            )
    else:
        vocabulary = Vocabulary(_listed_words(argument, tokens), recipe.rule, "vocabulary")
        allowed_recipe = recipe_of_list
    if recipe != allowed_recipe:
        raise ValueError(
            "vocabulary: its words are already chosen; leave out stop_words and the other "
            "arguments that choose words (only lang and digits go with a list of words)"
        )
    return vocabulary


def _listed_words(argument: object, tokens: bool) -> list[str]:
    """The words of a list, of a dictionary between words and their numbers, or of a vectorizer.
    Raises ValueError or TypeError."""
    names = getattr(argument, "get_feature_names_out", None)
    if names is not None:
        if not tokens:
            raise ValueError(
                "vocabulary: a vectorizer splits texts in its own way, so give the texts as it "
                "counts them: wikitopics.train(vectorizer.transform(texts), vocabulary=vectorizer)"
            )
        argument = names()
    if isinstance(argument, Mapping):
        # scikit-learn's dictionaries number words; gensim's have the words by number.
        by_number = dict(argument)
        if not all(isinstance(number, SupportsIndex) for number in by_number):
            by_number = {number: word for word, number in argument.items()}
        if sorted(by_number) != list(range(len(by_number))):
            raise ValueError("vocabulary: a dictionary must number its words from 0 on")
        argument = [by_number[number] for number in range(len(by_number))]
    words = given_words("vocabulary", "a Vocabulary, words, a name or a file", argument)
    if isinstance(argument, Set):
        words.sort()  # the order of a set differs from process to process
    return words


def given_seeds(argument: object) -> dict[str, list[str]]:
    """The seeds that an argument of `train` means. Raises ValueError or TypeError."""
    needed = "a dictionary of lists of words"
    if not isinstance(argument, Mapping):
        raise wrong_type("seeds", needed, argument)
    if any(isinstance(words, str) for words in argument.values()):
        raise wrong_type("seeds", needed, argument)
    seeds = {str(name): given_words("seeds", needed, words) for name, words in argument.items()}
    if not seeds:
        return {}
    try:
        return parsed(json.dumps(seeds))
    except ValueError as error:
        raise ValueError(f"seeds: {error}") from None


def given_words(argument: str, needed: str, value: object) -> list[str]:
    """The words in an argument that is a collection of them. Raises TypeError."""
    if isinstance(value, bytes) or not isinstance(value, Iterable):
        raise wrong_type(argument, needed, value)
    words = []
    for word in map(cell, value):
        if not isinstance(word, str):
            raise wrong_type(argument, needed, value)
        words.append(word)
    return words


def words_built(texts: Iterable[str], recipe: VocabularyRecipe) -> Vocabulary:
    """The vocabulary that a recipe chooses from texts, or from lists of tokens as `token_lines`.

    Raises `VocabularyError` if they have too few words.
    """
    if not recipe.rule.tokens:
        return build_vocabulary(filter(None, texts), recipe).vocabulary
    counts = ({token.encode(): n for token, n in tokens_in(text).items()} for text in texts)
    return best_words(counts, recipe).vocabulary


def known_words(vocabulary: Vocabulary, texts: Iterable[str]) -> Iterator[int]:
    """How many words of the vocabulary each text has."""
    counted: Iterator[Counted]
    if vocabulary.rule.tokens:
        counted = map(vocabulary.count_tokens, map(tokens_in, texts))
    else:
        counted = vocabulary.count_all(texts)
    for _, counts in counted:
        yield int(counts.sum())


def remarks_on_words(
    words: Vocabulary,
    seeds: Mapping[str, Sequence[str]],
    sizes: Iterator[int],
    number: int | None,
    held_out: int | None,
) -> list[str]:
    """Remarks for the user on the words of a new session.

    ``sizes``: how many known words each text has; ``number``: how many texts there are, if a
    session is to be replaced; ``held_out``: how many of them are to be held out, if that is given.

    Raises `BadUsage` if a seeded topic has no known word, and ValueError if too few of the texts
    have one: the trainer would find that only after the session to replace has been deleted.
    """
    ids_of(seeds, words)  # raises for a topic none of whose words are known
    first = list(islice(sizes, FIRST_TEXTS))
    remarks = [*unknown_words(seeds, words), *short_texts(first)]
    if number is None:
        return remarks
    if held_out is None:
        held_out = default_held_out(number)
    with_words = 0
    for size in chain(first, sizes):
        if size:
            with_words += 1
        if with_words == held_out + LEAST:  # so that LEAST texts remain to be learnt
            return remarks
    raise ValueError(
        f"texts: only {with_words:,} of {number:,} have words of the vocabulary; {held_out:,} are "
        "held out, and at least two more are needed"
    )
