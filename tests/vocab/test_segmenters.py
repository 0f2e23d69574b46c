"""Word rule 3: words that are separated first, by a stand-in, or by what is installed
(`interop`)."""

import re
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

import wikitopics as wt
from wikitopics.vocab import segmenters
from wikitopics.vocab.building import VocabularyRecipe, build_vocabulary
from wikitopics.vocab.rules import Rule
from wikitopics.vocab.segmenters import UnseparatedWords


@pytest.fixture
def words_of_two_characters(monkeypatch):
    """A stand-in for what separates the words of Japanese: each is two characters long."""

    def words(text):
        return re.findall("..", text)

    monkeypatch.setattr(segmenters, "PACKAGES", {"ja": ("numpy",)})
    monkeypatch.setattr(segmenters, "_words_of", lambda language: words)


@pytest.mark.usefixtures("words_of_two_characters")
def test_words_are_those_of_the_segmenter_read_by_rule_2():
    words = Rule.of_language("ja-JP").split("東京都庁PC\udc80x7a。")
    assert words == ["東京", "都庁", "pc", "x", "a"]
    split = wt.words("ja")
    assert split("東京都庁") == ["東京", "都庁"]


@pytest.mark.usefixtures("words_of_two_characters")
def test_a_vocabulary_is_built_and_counted_by_the_segmenter():
    recipe = VocabularyRecipe.of_language("ja", ["都庁"], max_df=1.0)
    vocabulary = build_vocabulary(["東京都庁区役", "区役東京"], recipe).vocabulary
    assert vocabulary.words == ("区役", "東京")
    _, counts = vocabulary.count("区役東京東京")
    assert counts.tolist() == [1, 2]


@pytest.mark.usefixtures("words_of_two_characters")
def test_the_rule_names_its_versions_but_is_the_same_with_others():
    rule = Rule.of_language("ja")
    assert re.fullmatch(r"3 ja \(numpy [0-9.]+\)", str(rule))
    for text in ("3 ja", "3 th (nlpo3 1.4.0, pythainlp 5.4.0)", str(rule)):
        assert str(Rule.parse(text)) == text
    assert Rule.parse("3 ja (numpy 1.0)") == rule
    assert Rule.parse("3 zh") != rule
    for wrong in ("3", "3 de", "3 ja (", "3 ja (\x1b)", "3 ja digits", "2 tr (numpy 1.0)"):
        with pytest.raises(ValueError, match="no word rule"):
            Rule.parse(wrong)


def test_what_is_missing_is_told_and_vocabularies_can_still_be_read(monkeypatch):
    monkeypatch.setattr(segmenters, "PACKAGES", {"ja": ("numpy", "no-such-package")})
    wt.Vocabulary.from_lines(["# rule 3 ja", "東京", "都庁"])
    for use in (Rule.of_language, wt.words):
        with pytest.raises(UnseparatedWords, match=r"pip install 'wikitopics\[ja\]'`$"):
            use("ja")
    with pytest.raises(UnseparatedWords, match=r"Cantonese .* cannot separate its words$"):
        Rule.of_language("yue")
    assert str(Rule.of_language("zh-min-nan")) == "2", "it is written in Latin letters"
    with pytest.raises(UnseparatedWords, match=r"^words of Japanese hold no digits$"):
        VocabularyRecipe.of_language("ja", digits=True)


def test_a_package_that_does_not_load_is_an_error_of_one_line(monkeypatch):
    monkeypatch.setattr(segmenters, "PACKAGES", {"th": ("numpy",)})
    monkeypatch.setitem(sys.modules, "wikitopics.vocab.segmenters.th", None)
    segmenters._words_of.cache_clear()
    split = wt.words("th")
    with pytest.raises(
        UnseparatedWords, match=r"^what separates the words of Thai does not load: "
    ):
        split("ก")


def test_a_language_is_named_by_its_code():
    with pytest.raises(ValueError, match=r"^lang Thai: give the code of a language"):
        wt.words("Thai")


@given(st.lists(st.sampled_from(["あ" * 700, "。", "\n", " ", "x"]), max_size=20).map("".join))
def test_pieces_are_short_end_with_sentences_and_lose_nothing(text):
    pieces = segmenters._PIECE.findall(text)
    assert "".join(pieces) == text
    assert all(0 < len(piece) <= segmenters._MOST for piece in pieces)
    for piece in pieces[:-1]:
        ends_a_sentence = piece[-1] in "。\n"
        has_no_end_of_a_sentence = not set(piece) & set("。\n")
        assert ends_a_sentence or has_no_end_of_a_sentence


def skip_unless_installed(language):
    if len(segmenters.installed_versions(language)) < len(segmenters.PACKAGES[language]):
        pytest.skip(f"wikitopics[{language}] is not installed")


SENTENCES = {
    # language: text, words
    "ja": (
        "東京都庁は、りぼんの付録やＮＨＫの吹替を当初から７年間、組み立てていた。",
        "東京都庁 リボン 付録 nhk 吹き替え",
    ),
    "zh": (
        "臺灣的计算机科学與資訊工程,開發於臺北。NBA的第3次比賽",
        "台湾 计算机科学 资讯 工程 开发 台北 nba 比赛",
    ),
    "th": (
        "กระทรวงวิทยาศาสตร์ เทคโนโลยีและพลังงาน 2532 NBA",
        "กระทรวง วิทยาศาสตร์ เทคโนโลยี และ พลังงาน nba",
    ),
}
HOSTILE = (
    "計算機科學กา" * 80_000,
    "a" * 500_000,
    "が" + "\u3099" * 10_000,
    "ก" + "\u0e48" * 10_000,
    "\ufdfa" * 5000,
)


@pytest.mark.interop
@pytest.mark.parametrize("language", SENTENCES)
def test_words_by_language(language):
    skip_unless_installed(language)
    text, words_of_text = SENTENCES[language]
    expected = words_of_text.split()
    rule = Rule.of_language(language)
    assert rule.split(text) == expected
    assert all(map(rule.is_word, expected))
    many_characters = "".join(map(chr, range(0x3000)))
    for hostile in (*HOSTILE, many_characters):
        words = rule.split(f"{text}\n{hostile}\ud800\x00\n{text}")
        assert words[: len(expected)] == expected


@pytest.fixture
def thai():
    """The module for Thai."""
    skip_unless_installed("th")
    from wikitopics.vocab.segmenters import th

    return th


@pytest.mark.interop
@pytest.mark.parametrize(
    "written",
    [
        "\u0e19\u0e49\u0e33",  # as dictionaries have it: sara am after the tone mark
        "\u0e19\u0e49\u0e4d\u0e32",
        "\u0e19\u0e4d\u0e49\u0e32",
        "\u0e19\u0e33\u0e49",
        "\u0e19\u0e49\u0e49\u0e33",
    ],
    ids=ascii,
)
def test_thai_vowels_and_tone_marks_are_composed_and_in_order(thai, written):
    assert Rule.of_language("th").split(f"{written}ตาล") == ["น้ำตาล"]


@pytest.mark.interop
def test_other_thai_spellings(thai):
    split = Rule.of_language("th").split
    assert split("เเม่น้ำ") == split("แม่น้ำ")
    assert split("ท\u0e48\u0e35") == ["ท\u0e35\u0e48"]
    assert split("น\u0e4d\u0e32") == ["น\u0e33"]


@pytest.mark.interop
def test_long_thai_repetitions_are_cut_and_nothing_is_lost(thai, monkeypatch):
    lengths = []
    real_segment = thai.nlpo3.segment

    def segment(text, name):
        lengths.append(len(text))
        return real_segment(text, name)

    monkeypatch.setattr(thai.nlpo3, "segment", segment)
    for part in ("ส", "อิ", "รอม", "บงกชกร"):
        text = f"กระทรวง{part * 1000}กระทรวง"
        assert "".join(thai.words(text)) == text
        assert max(lengths) < 80
        lengths.clear()
    with_short_repetitions = "กระทรวงวิทยาศาสตร์เทคโนโลยีและพลังงาน" * 3 + "มาก" + "ก" * 9
    words = list(filter(None, thai.words(with_short_repetitions)))
    assert words == real_segment(with_short_repetitions, thai._NAME), "they are left as they are"
