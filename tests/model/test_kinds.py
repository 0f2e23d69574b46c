"""Kinds of models: ours, and those of other packages, which join by an entry point."""

import pytest

from tests import packages
from wikitopics.model import KindError, OnlineLDA, kinds

FILES = packages.files(packages.section("A model of your own"))
UNIGRAMS = FILES["wikitopics_unigrams.py"]


def odd_options(options):
    """The source of a kind "odd" with these options."""
    return f"{UNIGRAMS}class Kind(MixtureOfUnigrams):\n    kind = 'odd'\n    options = ({options},)"


@pytest.mark.parametrize(
    ("name", "says"), [("ldaa", "Did you mean 'lda'"), ("", "Available: lda, scvb0, hdp")]
)
def test_an_unknown_kind_is_one_line(name, says):
    with pytest.raises(KindError, match=says) as caught:
        kinds.load(name)
    assert "\n" not in str(caught.value)


def test_a_built_in_name_cannot_be_replaced(install):
    install("raise RuntimeError('never imported')", "wikitopics.models", lda="foreign_models:Other")
    assert kinds.names() == ("lda", "scvb0", "hdp")
    assert kinds.load("lda") is OnlineLDA


def test_a_name_that_two_packages_bring_is_refused_with_both(install):
    install("", "wikitopics.models", odd="foreign_models:Kind")
    install("", "wikitopics.models", package="others", odd="others:Kind")
    with pytest.raises(KindError) as caught:
        kinds.load("odd")
    assert "foreign-models (foreign_models:Kind)" in str(caught.value)
    assert "others (others:Kind)" in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["two words", "a:b", "1st", "x" * 65, "new.kind"])
def test_a_name_that_no_command_can_write_is_refused(install, name):
    install(UNIGRAMS, "wikitopics.models", **{name: "foreign_models:MixtureOfUnigrams"})
    assert kinds.names() == ("lda", "scvb0", "hdp")
    with pytest.raises(KindError, match="letters, digits") as caught:
        kinds.load(name)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("source", "says"),
    [
        ("1 / 0", "cannot be loaded: division by zero"),
        ("raise SystemExit(0)", r"cannot be loaded: it exits the program \(0\)"),
        ("", "cannot be loaded: .*Kind"),
        *(
            (s, "not a subclass of wikitopics.OnlineModel")
            for s in ("Kind = 3", "class Kind: pass")
        ),
        (
            "import wikitopics.model as m\nclass Kind(m.OnlineModel):\n kind = 'odd'",
            "lacks document_prior, infer",
        ),
        (odd_options("'eta'"), "not a tuple of Options"),
        (odd_options("Option(float, 'topics', '')"), "an option 'topics'"),
        (odd_options("Option(float, 'a-b', '')"), "an option 'a-b'"),
        (odd_options("Option(float, 'lambda', '')"), "an option 'lambda': .* not a Python keyword"),
        (odd_options("Option(float, 'a', ''), Option(float, 'a', '')"), "an option 'a'"),
        (UNIGRAMS + "Kind = MixtureOfUnigrams", "calls itself 'unigrams'"),
    ],
)
def test_a_kind_that_does_not_work_is_one_line(install, source, says):
    install(source, "wikitopics.models", odd="foreign_models:Kind")
    assert kinds.names()[-1] == "odd"
    with pytest.raises(KindError, match=says) as caught:
        kinds.load("odd")
    assert "\n" not in str(caught.value)
    assert "'odd'" in str(caught.value)
