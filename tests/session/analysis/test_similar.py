"""What is said of an article that has no topic proportions."""

from types import SimpleNamespace

from wikitopics.session.analysis.proportions import not_found
from wikitopics.session.records import ArticleRow


def test_of_titles_that_differ_in_case_only_one_is_told_with_its_own_reason():
    found = [ArticleRow(1, 1, "Rust", 0, 9, "skipped"), ArticleRow(2, 2, "RUST", 0, 9, "held_out")]
    said = str(not_found(SimpleNamespace(resembling=lambda _: found), "rust"))
    assert said == "'Rust' was skipped: its topic proportions are not recorded"
