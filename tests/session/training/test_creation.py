"""What a new session is made of."""

import pytest

from wikitopics.session.paths import vocabulary_file
from wikitopics.session.request import load_vocabulary
from wikitopics.vocab.errors import UnknownVocabulary


def test_a_vocabulary_that_was_built_is_found_by_its_name_and_told_with_the_others():
    file = vocabulary_file("mine")
    file.parent.mkdir(parents=True)
    file.write_text("aa\nbb\n")
    assert load_vocabulary("mine").words == ("aa", "bb")
    with pytest.raises(UnknownVocabulary, match=r"'yours'; available: .*english.*, mine "):
        load_vocabulary("yours")
