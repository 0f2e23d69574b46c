"""Names of topics, and how long they are kept."""

import pytest

from wikitopics.model.naming import all_words_fit, most_words_fit, name_words


@pytest.mark.parametrize(
    ("relevant", "expected"),
    [
        (["film", "films", "director", "actor"], ("film", "director", "actor")),
        (["party", "parties", "election", "vote"], ("party", "election", "vote")),
        (["art", "artist", "arts", "museum"], ("art", "artist", "museum")),
        (["sea"], ("sea",)),
        (["one", "once", "on", "won"], ("one", "once", "on")),
        (["car", "card", "cars", "care"], ("car", "card", "care")),
        (["band", "bank", "bands", "banks"], ("band", "bank")),
        (["county", "country", "counties"], ("county", "country")),
        (["state", "station", "states"], ("state", "station")),
        (["radio", "broadcast", "broadcasting", "news"], ("radio", "broadcast", "news")),
        (["racing", "race", "raced", "car"], ("racing", "car")),
        (["plays", "playing", "band"], ("plays", "band")),
        (["king", "kings", "spring", "sport"], ("king", "spring", "sport")),
        (["car", "caring", "bus"], ("car", "caring", "bus")),
        (["история", "истории", "война", "войны"], ("история", "война")),
        (["Iran", "Iraq", "Irans"], ("Iran", "Iraq", "Irans")),
    ],
)
def test_a_name_has_three_words_and_no_two_forms_of_one(relevant, expected):
    assert name_words(relevant) == expected


def test_a_name_holds_while_its_words_lead():
    words = [f"word{letter * 3}" for letter in "abcdefghijkl"]
    name = name_words(words)
    last_of_ten = words[::-1][:3] + words[:7]
    assert all_words_fit(name, last_of_ten)
    one_gone = [*words[1:11], words[0]]
    assert most_words_fit(name, one_gone)
    assert not all_words_fit(name, one_gone)
    all_gone = words[3:]
    assert not most_words_fit(name, all_gone)
