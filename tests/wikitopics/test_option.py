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
TEXTS = Option(tuple, "texts", "")


@pytest.mark.parametrize(
    ("read", "given", "value"),
    [
        (SEED.parse, "7", 7),
        (SEED.parse, "4294967295", 2**32 - 1),
        (HOURS.parse, "1e3", 1000.0),
        (COMMAND.parse, "ls", "ls"),
        (TEXTS.parse, "a", "a"),
        (KEEP.parse, "top", "top"),
        (PRIOR.parse, "learn", "learn"),
        (PRIOR.convert, "learn", "learn"),
        (PRIOR.convert, "0.5", 0.5),
        (PRIOR.convert, 2, 2.0),
        (PRIOR.convert, np.float32(0.5), 0.5),
        (PRIOR.convert, None, "learn"),
        (KAPPA.convert, "1", 1.0),
        (KAPPA.convert, None, None),
        (PASSES.convert, "7", 7),
        (PASSES.convert, 7.0, 7),
    ],
)
def test_words_are_read_and_numbers_and_text_taken_as_arguments(read, given, value):
    found = read(given)
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    ("read", "given", "says"),
    [
        (SEED.parse, "-1", "must be a whole number from 0 to 4,294,967,295, not '-1'"),
        (SEED.parse, "1.5", "a whole number"),
        (SEED.parse, "1" + "0" * 400, "a whole number from 0 to 4,294,967,295, not"),
        *((HOURS.parse, text, "a number over 0") for text in ("0", "nan", "inf")),
        (KEEP.parse, "some", "one of all, top, not 'some'"),
        (COMMAND.parse, "", "is empty"),
        # Of a file
        *(
            (SEED.check, value, "^must be a whole number")
            for value in (True, "1", None, 1.0, -1, [1])
        ),
        *((HOURS.check, value, "^must be a number over 0") for value in (True, "1", None, 0)),
        *((COMMAND.check, value, "^must be text") for value in ("", 1, None)),
        (KEEP.check, "some", "^must be one of all, top"),
        (Option(bool, "yes", "").check, 1, "^must be true or false"),
        (TEXTS.check, "a", "^must be a tuple of texts"),
        # As an argument
        (PRIOR.convert, 0, "alpha must be a number over 0, or learn, not 0"),
        (PRIOR.convert, "lern", "a number over 0, or learn, not lern"),
        (PRIOR.convert, True, "not True"),
        (PRIOR.convert, "", "not an empty one$"),
        (PRIOR.convert, [1], "not"),
        (PRIOR.convert, np.ones((9, 90)), "^alpha must be .*, or learn, not .{80}$"),
        (PRIOR.convert, "inf", "not inf"),
        (PRIOR.convert, 10**400, "not 1000"),
        (KAPPA.convert, "0.4", "kappa must be a number from 0.5 to 1, not 0.4"),
        (KAPPA.convert, float("nan"), "not nan"),
        (KAPPA.convert, "learn", "not learn"),
        (PASSES.convert, 1.5, "passes must be a whole number from 1 to 10,000, not 1.5"),
        (PASSES.convert, 0, "not 0"),
    ],
)
def test_anything_else_is_refused_in_one_line_with_what_is_taken(read, given, says):
    with pytest.raises(ValueError, match=says) as caught:
        read(given)
    assert "\n" not in str(caught.value)


def test_a_value_of_a_file_stays_as_it_is():
    for option, value in ((HOURS, 2), (Option(bool, "yes", ""), False), (TEXTS, ("a",))):
        assert option.check(value) is value


def test_what_is_given_and_what_holds():
    given = OptionValues({"passes": 2})
    assert (given.get(PASSES), given[PASSES]) == (2, 2)
    assert (given.get(SEED), given[SEED]) == (None, 0)
    assert KAPPA not in given
    with pytest.raises(KeyError):
        given[KAPPA]


@pytest.mark.parametrize(
    ("default", "help", "told"),
    [("", "A place.", "A place."), ("here", "A place.", "A place (default: here).")],
)
def test_a_default_is_told_once_and_not_if_it_is_empty(default, help, told):
    assert click_option(Option(str, "where", help, default=default)).help == told
