"""`Option`: what is taken at the command line, from a file, and as an argument of a model."""

import numpy as np
import pytest

from wikitopics.cli.options import click_option
from wikitopics.option import Option, OptionValues

PRIOR = Option(float, "alpha", "of the proportions", default="learn", above=0, choices=("learn",))
KAPPA = Option(float, "kappa", "how fast", least=0.5, most=1)
PASSES = Option(int, "passes", "how often", default=3, least=1, most=10_000)
SEED = Option(int, "seed", "Random seed.", least=0, most=2**32 - 1, default=0)
HOURS = Option(float, "hours", "", above=0)
COMMAND = Option(str, "on_end", "A command.")
KEEP = Option(str, "keep", "", choices=("all", "top"))


@pytest.mark.parametrize(
    ("option", "text", "value"),
    [
        (SEED, "7", 7),
        (SEED, "4294967295", 2**32 - 1),
        (HOURS, "1e3", 1000.0),
        (COMMAND, "ls", "ls"),
        (Option(tuple, "texts", ""), "a", "a"),
        (KEEP, "top", "top"),
        (PRIOR, "learn", "learn"),
    ],
)
def test_a_word_is_read(option, text, value):
    found = option.parse(text)
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    ("option", "text", "says"),
    [
        (SEED, "-1", "must be a whole number from 0 to 4,294,967,295, not '-1'"),
        (SEED, "1.5", "a whole number"),
        (SEED, "1" + "0" * 400, "a whole number from 0 to 4,294,967,295, not"),
        (HOURS, "0", "a number over 0"),
        (HOURS, "nan", "a number over 0"),
        (HOURS, "inf", "a number over 0"),
        (KEEP, "some", "one of all, top, not 'some'"),
        (COMMAND, "", "is empty"),
    ],
)
def test_another_is_refused_with_what_it_takes(option, text, says):
    with pytest.raises(ValueError, match=says):
        option.parse(text)


@pytest.mark.parametrize(
    ("option", "value", "takes"),
    [
        *((SEED, value, "a whole number") for value in (True, "1", None, 1.0, -1, [1])),
        *((HOURS, value, "a number over 0") for value in (True, "1", None, 0)),
        *((COMMAND, value, "text") for value in ("", 1, None)),
        (KEEP, "some", "one of all, top"),
        (Option(bool, "yes", ""), 1, "true or false"),
        (Option(tuple, "texts", ""), "a", "a tuple of texts"),
    ],
)
def test_a_file_has_no_other_values(option, value, takes):
    with pytest.raises(ValueError, match=f"^must be {takes}"):
        option.check(value)


def test_a_value_of_a_file_stays_as_it_is():
    for option, value in ((HOURS, 2), (Option(bool, "yes", ""), False), (Option(tuple, "texts", ""), ("a",))):
        assert option.check(value) is value


@pytest.mark.parametrize(
    ("option", "value", "parsed"),
    [
        (PRIOR, "learn", "learn"),
        (PRIOR, "0.5", 0.5),
        (PRIOR, 2, 2.0),
        (PRIOR, np.float32(0.5), 0.5),
        (PRIOR, None, "learn"),
        (KAPPA, "1", 1.0),
        (KAPPA, None, None),
        (PASSES, "7", 7),
        (PASSES, 7.0, 7),
    ],
)
def test_numbers_text_and_words_are_taken_as_arguments(option, value, parsed):
    found = option.convert(value)
    assert found == parsed
    assert type(found) is type(parsed)


@pytest.mark.parametrize(
    ("option", "value", "says"),
    [
        (PRIOR, 0, "alpha must be a number over 0, or learn, not 0"),
        (PRIOR, "lern", "a number over 0, or learn, not lern"),
        (PRIOR, True, "not True"),
        (PRIOR, "", "not an empty one$"),
        (PRIOR, [1], "not"),
        (PRIOR, "inf", "not inf"),
        (PRIOR, 10**400, "not 1000"),
        (KAPPA, "0.4", "kappa must be a number from 0.5 to 1, not 0.4"),
        (KAPPA, float("nan"), "not nan"),
        (KAPPA, "learn", "not learn"),
        (PASSES, 1.5, "passes must be a whole number from 1 to 10,000, not 1.5"),
        (PASSES, 0, "not 0"),
    ],
)
def test_a_wrong_argument_is_one_line(option, value, says):
    with pytest.raises(ValueError, match=says) as caught:
        option.convert(value)
    assert "\n" not in str(caught.value)


def test_what_is_given_and_what_holds():
    given = OptionValues({"passes": 2})
    assert (given.get(PASSES), given[PASSES]) == (2, 2)
    assert (given.get(SEED), given[SEED]) == (None, 0)
    assert KAPPA not in given
    with pytest.raises(KeyError):
        given[KAPPA]


@pytest.mark.parametrize(
    ("default", "help", "told"),
    [
        ("", "A place.", "A place."),
        ("here", "A place.", "A place (default: here)."),
    ],
)
def test_a_default_is_told_once_and_not_if_it_is_empty(default, help, told):
    assert click_option(Option(str, "where", help, default=default)).help == told
