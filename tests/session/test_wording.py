"""What people are told of a time left, of topics that come back in replicas, and of documents
without a title."""

import pytest

from wikitopics.session.wording import (
    FOUND_SIGNS,
    LONGEST_CALLED,
    LONGEST_SNIPPET,
    called,
    found_legend,
    left_in_words,
    snippet_shown,
)


def test_the_legend_explains_every_sign_whichever_of_them_are_shown():
    legend = found_legend([0.2, None, 0.4])
    assert "models with other seeds" in legend
    for _, sign, how_many in FOUND_SIGNS:
        assert f"{sign} {how_many}" in legend
    assert legend == found_legend(iter([1.0]))


def test_topics_without_replicas_have_no_legend():
    assert found_legend([]) == found_legend([None, None]) == ""


@pytest.mark.parametrize(
    ("seconds", "uncertain", "words"),
    [
        (0.4, 0.0, "<1 s left"),
        (46, 0.0, "46 s left"),
        (46, 0.05, "46 s left"),
        (250, 0.05, "4 min left"),
        (1_000, 0.3, "13–24 min left"),
        (7_000, 0.05, "120 min left"),
        (7_300, 0.05, "2 h left"),
        (9_100, 0.05, "2.6 h left"),
        (43_000, 0.05, "12 h left"),
        (43_000, 0.2, "10–15 h left"),
        (4e5, 0.05, "4.6 d left"),
        (4e10, 0.0, "460,000 d left"),
    ],
)
def test_a_time_left_is_told_as_exactly_as_it_is_known(seconds, uncertain, words):
    low = seconds / (1 + uncertain)
    high = seconds / (1 - uncertain)
    assert left_in_words(seconds, low, high) == words


@pytest.mark.parametrize(
    ("snippet", "expected"),
    [
        (None, ""),
        ("The battery broke.", "The battery broke."),
        ("word " * 58 + "breaks o", "word " * 58 + "breaks o"),
        ("word " * 58 + "a whole", "word " * 58 + "a whole"),
        ("word " * 59 + "broke", "word " * 58 + "word…"),
        ("word " * 58 + "battery by", "word " * 58 + "battery…"),
        ("word " * 58 + "a battery", "word " * 58 + "a…"),
        ("語" * 300, "語" * 299 + "…"),
    ],
)
def test_a_snippet_of_a_longer_text_ends_after_a_whole_word(snippet, expected):
    shown = snippet_shown(snippet)
    assert shown == expected
    assert len(shown) <= LONGEST_SNIPPET


@pytest.mark.parametrize(
    ("title", "snippet", "expected"),
    [
        ("text 727", "The battery broke.", "The battery broke."),
        ("reviews.csv:12", "The battery broke.", "The battery broke."),
        ("notes/a b.jsonl.gz:3", "The battery broke.", "The battery broke."),
        ("text 727", None, "text 727"),
        ("text 727", " \n ", "text 727"),
        ("text 007", "The battery broke.", "text 007"),
        ("Matthew 3:16", "And Jesus", "Matthew 3:16"),
        ("Batteries", "The battery broke.", "Batteries"),
        ("text 1", "word " * 60, "word " * 11 + "word…"),
        ("text 1", "語" * 300, "語" * 59 + "…"),
        ("text 1", "  one\n two ", "one two"),
    ],
)
def test_a_document_without_a_title_is_called_by_how_it_begins(title, snippet, expected):
    assert called(title, snippet) == expected
    assert len(expected) <= LONGEST_CALLED
