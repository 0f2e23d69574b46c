"""Requests to train: resuming a session with something else than it was made with is refused, naming
the option; which vocabulary and which half-life a new session has."""

from dataclasses import replace

import pytest

from tests.session.rows import settings
from wikitopics.crawler import Asked
from wikitopics.crawler.mediawiki.kinds import Api, Recent
from wikitopics.model import OnlineLDA
from wikitopics.session.errors import BadUsage
from wikitopics.session.request import TrainRequest, check_resumable, new_vocabulary
from wikitopics.session.settings import parse_specs
from wikitopics.session.training.new_session import save_user_copy
from wikitopics.vocab import Vocabulary
from wikitopics.vocab.rules import Rule
from wikitopics.vocab.vocabulary import VocabularyError

WORDS = Vocabulary.load("english")
MODELS = ("lda:topics=5,alpha=0.1", "hdp:batch_size=32")
SHARED = {"kappa": 0.7, "tau0": 8, "batch_size": 64}
SAME_MODELS = (
    "lda:topics=5,alpha=0.10,kappa=0.7,tau0=8,batch_size=64",
    "hdp:batch_size=32,kappa=0.7,tau0=8.0",
)
"""`MODELS` as they are with `SHARED`, each with all its settings in its text."""


def stored(**differing):
    """The settings of a session: the usual ones, except those that are given."""
    usual = replace(
        settings(),
        values={"seed": 7, "held_out": 10, "documents": 99, "keep_articles": "all"},
        source_options={"api_url": "http://w/api.php"},
        models=parse_specs(MODELS, SHARED),
        batch_sizes=(64, 32),
        fingerprint=WORDS.fingerprint,
    )
    return replace(usual, **differing)


def check(request, vocabulary=None, **other):
    """Resume the session of `stored` with this request."""
    check_resumable(request, stored(**other), vocabulary)


def refused(message, request, vocabulary=None, **other):
    """`check`, which refuses with this message, a regular expression."""
    with pytest.raises(BadUsage, match=message) as caught:
        check(request, vocabulary, **other)
    assert caught.value.exit_code == 2
    assert "\n" not in str(caught.value)


TEXTS = {"source": "texts", "source_options": {"texts": ["/a"], "text_column": "body"}}


@pytest.mark.parametrize(
    ("given", "other"),
    [
        ({}, {}),
        ({}, {"fingerprint": ""}),
        ({"source": "api", "api_url": "http://w/api.php"}, {}),
        (
            {
                "seed": 7,
                "held_out": 10,
                "documents": 99,
                "keep_articles": "all",
                "keep_counts": False,
            },
            {},
        ),
        ({"model": SAME_MODELS}, {}),
        ({"yes": True}, {}),
        ({"contact": "x", "rpm": 3, "articles": 5, "hours": 1.0, "max_mb": 3.0, "threads": 4}, {}),
        ({"contact": "x", "yes": True}, TEXTS),
        ({"text_column": "body"}, TEXTS),
        ({"markup": "html"}, {**TEXTS, "source_options": {"texts": ["/a"], "markup": "html"}}),
    ],
)
def test_what_is_the_same_or_may_change_resumes(given, other):
    check(TrainRequest(**given), **other)


SIZES = {"models": parse_specs(["lda", "hdp"], {"topics": "10,20"}), "batch_sizes": (64,) * 4}
"""Models of several numbers of topics."""


@pytest.mark.parametrize(
    "given",
    [
        {"topics": "10,20"},
        {"topics": " 10, 20"},
        {"model": ("lda", "hdp"), "topics": "10,20"},
    ],
)
def test_the_same_numbers_of_topics_resume(given):
    check(TrainRequest(**given), **SIZES)
    check(TrainRequest(), **SIZES)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"topics": "10"}, "^--topics 10: this session was made with 10,20; leave --topics out"),
        ({"topics": "20,10"}, "^--topics 20,10: this session was made with 10,20"),
        ({"topics": "10,20,40"}, "^--topics 10,20,40: this session was made with 10,20"),
        ({"topics": "10,x"}, "^topics must be a whole number from 1 to 10,000, not x"),
        ({"model": ("lda",), "topics": "10,20"}, "^--model lda:name=lda-10,topics=10 "),
    ],
)
def test_other_numbers_of_topics_are_refused(given, says):
    refused(says, TrainRequest(**given), **SIZES)


def test_the_same_vocabulary_resumes():
    check(TrainRequest(vocab="english"), WORDS)


def test_what_says_nothing_about_a_source_goes_with_any():
    assert TrainRequest(yes=True).kind().name == "api"
    assert TrainRequest(yes=True, dump=("d.xml",)).kind().name == "dump"
    request = TrainRequest(texts=("t",), contact="x", yes=True)
    assert request.identity(request.kind())["texts"]


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"source": "html"}, "--source "),
        ({"source": "counts", "counts": "x"}, "--source "),
        ({"counts": "x"}, "--source "),
        ({"dump": ("x",)}, "--source "),
        ({"seed": 8}, "--seed "),
        ({"seed": 0}, "--seed "),
        ({"held_out": 11}, "--held-out "),
        ({"held_out": 0}, "--held-out "),
        ({"documents": 100}, "--documents "),
        ({"keep_articles": "none"}, "--keep-articles "),
        ({"keep_counts": True}, "--keep-counts: this session was made without it; leave"),
        ({"model": ("lda:topics=5,alpha=0.1",)}, "--model "),
        ({"model": ("hdp", "lda")}, "--model "),
        ({"topics": "6"}, "--topics 6: "),
        ({"alpha": "learn"}, "--alpha learn: "),
        ({"kappa": "0.8"}, "--kappa 0.8: "),
        ({"tau0": "9.0"}, "--tau0 9.0: "),
        ({"batch_size": "32"}, "--batch-size 32: "),
        ({"half_life": "500"}, "--half-life 500: this session was made without it"),
        ({"api_url": "http://other"}, "--api-url "),
        ({"lang": "de"}, r"--lang https://de\.wikipedia\.org/w/api\.php: "),
    ],
)
def test_another_is_refused_by_its_name(given, says):
    refused(f"^{says}", TrainRequest(**given))


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"rpm": 3}, "--rpm 3: this session was made with --source texts; leave --rpm out"),
        ({"lang": "de"}, "--lang de: this session was made without it; leave --lang out"),
        ({"texts": ("/a", "/b")}, "--texts /a /b: this session was made with /a; leave"),
    ],
)
def test_another_is_refused_of_texts(given, says):
    refused(f"^{says}", TrainRequest(**given), **TEXTS)


def test_another_vocabulary_is_refused():
    others = Vocabulary.from_words(("aa", "bb"))
    refused("^--vocab ", TrainRequest(vocab="other.txt"), others)
    same_words = Vocabulary.from_words(WORDS.words, "2")
    refused("word rule 2", TrainRequest(vocab="english.txt"), same_words)


def test_a_session_that_builds_its_vocabulary_takes_no_other():
    message = "is building a vocabulary of its own; leave --vocab out"
    refused(message, TrainRequest(vocab="english"), WORDS, fingerprint="")


@pytest.mark.parametrize(
    ("options", "language", "name"),
    [
        ({}, "en", "en"),
        ({"lang": " De "}, "de", "de"),
        ({"lang": "simple"}, "en", "simple"),
        ({"lang": "zh-yue"}, "yue", "yue"),
        ({"api_url": "https://Wiki.host.org:81/w/api.php"}, None, "wiki-host-org-81"),
        ({"api_url": "https://de.wikipedia.org/wiki/Zug", "lang": "de"}, "de", "de"),
        ({"api_url": "https://de.wiktionary.org", "lang": "de"}, "de", "de-wiktionary-org"),
        ({"api_url": "https://x.org/one/api.php"}, None, "x-org-one"),
        ({"api_url": "https://x.org/two/wiki/Page"}, None, "x-org-two"),
        ({"api_url": "http://x.org", "lang": "tr"}, "tr", "x-org"),
        ({"api_url": "http://x.org/wiki/Main"}, None, "x-org"),
        ({"api_url": "http://x.org/de/wiki/Main"}, None, "x-org-de"),
        ({"api_url": "http://x.org/fr/w/api.php"}, None, "x-org-fr"),
    ],
)
def test_a_vocabulary_is_called_after_the_language_or_the_wiki(options, language, name):
    asked = Asked(options)
    assert Api().language(asked) == language
    assert Api().vocabulary_name(asked) == name


def test_the_vocabulary_of_a_language_has_to_be_built_by_its_rule():
    assert new_vocabulary(TrainRequest(lang="de"), Api()) == ("de", Rule.parse("2"))
    _, turkish = new_vocabulary(TrainRequest(lang="tr"), Api())
    assert str(turkish) == "2 tr"


def test_a_language_finds_the_vocabulary_that_was_built():
    german = TrainRequest(lang="de")
    built = Vocabulary.from_words(["straße", "über's"], "2")
    assert save_user_copy("de", built).startswith("it is saved")
    assert "already" in save_user_copy("de", WORDS)
    for kind in (Api(), Recent()):
        name, found = new_vocabulary(german, kind)
        assert name == "de"
        assert found.lines == ("# rule 2", "straße", "über's")
    assert new_vocabulary(TrainRequest(lang="de", vocab="english"), Api()) == ("english", WORDS)
    assert new_vocabulary(TrainRequest(api_url="http://x.org"), Api()) == ("english", WORDS)
    with pytest.raises(VocabularyError, match="Available: english, de"):
        new_vocabulary(TrainRequest(vocab="fr"), Api())


def test_a_half_life_is_a_setting_of_every_model_that_is_compared():
    forgetting = parse_specs(["lda"], {"half_life": 500})
    check(TrainRequest(half_life="500.0"), models=forgetting, batch_sizes=(1024,))
    with pytest.raises(BadUsage, match=r"^--half-life 600: this session was made with 500"):
        check(TrainRequest(half_life="600"), models=forgetting, batch_sizes=(1024,))


HALF_LIFE = Recent.model_defaults["half_life"]


def test_recent_changes_come_with_a_half_life():
    (spec,) = TrainRequest().specs(Recent())
    assert spec.options == {"half_life": HALF_LIFE}
    (spec,) = TrainRequest(half_life="500").specs(Recent())
    assert spec.options == {"half_life": 500}
    (spec,) = TrainRequest().specs(Api())
    assert spec.options == {}


@pytest.mark.parametrize("model", ["lda", f"lda:half_life={HALF_LIFE}"])
@pytest.mark.parametrize("source", [{}, {"source": "recent"}], ids=["resumed", "named"])
def test_the_half_life_of_recent_changes_may_be_given(model, source):
    models = TrainRequest(model=("lda",)).specs(Recent())
    request = TrainRequest(model=(model,), **source)
    check(request, source="recent", models=models, batch_sizes=(1024,))


def test_a_kind_without_half_life_is_refused(monkeypatch):
    others = tuple(option for option in OnlineLDA.options if option.name != "half_life")
    monkeypatch.setattr("wikitopics.model.lda.OnlineLDA.options", others)
    lda, _ = TrainRequest(model=("lda", "hdp")).specs(Recent())
    assert lda.options == {}
    with pytest.raises(
        BadUsage, match=r"^--half-life: lda, a model of kind lda, has no half-life; give it"
    ):
        TrainRequest(half_life="500", model=("lda", "hdp")).specs()
