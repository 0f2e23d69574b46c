import pytest

from wikitopics.crawler.markup.texts import is_disambiguation


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "'''Five''' may mean:\n* this\n{{Disambiguation|geo}}"),
        ("en", "* this\n\n {{Mathematical disambiguation}}[[Category:X]]"),
        ("en", "* this\n{{TOC right}} {{hndis|Smith, John}}"),
        ("en", "{{dab}}"),
        ("en", "<!-- which of them? -->{{disambiguation\n|geo}}"),
        ("en-GB", "{{Disambig}}"),
        ("de", "{{Begriffsklärung}}"),
        ("fr", "{{Homonymie}}"),
        ("nl", "{{dp}}"),
        ("nl", "{{Doorverwijspagina}}"),
        ("ja", "{{人名の曖昧さ回避}}"),
        ("zh", "{{消歧义页}}"),
        ("", "{{ disambig }}"),
    ],
)
def test_disambiguation_pages_are_recognized_in_their_language(language, text):
    assert is_disambiguation(text, language)


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "In the asteroid belt {{dp|Ceres}} is the largest body."),
        ("en", "{{dp|Ceres}} is the largest body."),
        ("", "{{dp|Ceres}}"),
        ("de", "{{dab}}"),
        ("en", "A bank.{{disambigneeded|date=May 2011}}"),
        ("en", "{{disambigneeded|date=May 2011}}"),
        ("en", "{{disambiguation needed|date=May}} stays"),
        ("en", "Such pages hold {{disambiguation}} at their end."),
        ("nl", "Zie {{dp|geo}} in de tekst."),
        ("en", "A\n<!--\n{{disambig}}\n-->\nB"),
        ("en", "<nowiki>\n{{disambig}}\n</nowiki>"),
        ("fr", "{{Voir homonymie|Paris}}"),
        ("de", "{{Begriffsklärungshinweis}}"),
        ("en", "{{" * 50 + "disambig"),
    ],
)
def test_a_template_in_a_sentence_or_of_another_language_marks_no_page(language, text):
    assert not is_disambiguation(text, language)


@pytest.mark.parametrize(
    "bomb", ["{{", "{{a}}", "{{ ", "\n{{", "{{disambig", "{{a disambiguation ", "\t", "{{\n"]
)
def test_half_a_megabyte_of_one_mark_is_read_in_linear_time(bomb):
    # A quadratic pass would take minutes and meet the test run's own limit.
    assert not is_disambiguation(bomb * (500_000 // len(bomb)) + "end", "en")
