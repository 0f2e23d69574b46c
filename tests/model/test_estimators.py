"""The scikit-learn face, with scikit-learn's own checks where they apply."""

import importlib
import pickle

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

from tests.model.conftest import planted, planted_batch, read
from tests.packages import needs_scikit_learn
from wikitopics.model import document_completion, kinds

pytestmark = needs_scikit_learn


ALL = ["OnlineLDAEstimator", "SCVB0Estimator", "OnlineHDPEstimator"]


def named(name):
    return getattr(importlib.import_module("wikitopics.model.estimators"), name)


@pytest.fixture(params=ALL)
def estimator(request):
    return named(request.param)


def matrix_of(batch, n_words=40):
    return csr_array((batch.counts, batch.word_ids, batch.indptr), shape=(batch.D, n_words))


NOT_PASSED = {"check_array_api_input": "arrays are numpy's: it runs where SCIPY_ARRAY_API is set"}
"""Of the checks of scikit-learn, with reasons."""
TO_BE_ASKED_FOR = [
    "check_dataframe_column_names_consistency",
    "check_n_features_in_after_fitting",
    "check_set_output_transform",
    "check_set_output_transform_pandas",
    "check_transformer_get_feature_names_out",
    "check_transformer_get_feature_names_out_pandas",
]
"""What scikit-learn asks of its own estimators only."""


@pytest.mark.filterwarnings("ignore:X .* feature names:UserWarning")
def test_passes_scikit_learns_checks(estimator):
    from sklearn.utils import estimator_checks

    tried = estimator(n_components=2, n_passes=1)
    results = estimator_checks.check_estimator(tried, on_skip=None, on_fail=None)
    not_passed = [result["check_name"] for result in results if result["status"] != "passed"]
    assert set(not_passed) == NOT_PASSED.keys()
    for name in TO_BE_ASKED_FOR:
        getattr(estimator_checks, name)(estimator.__name__, tried)


def test_a_search_reaches_the_options_of_the_kind(estimator):
    from sklearn.base import clone
    from sklearn.model_selection import GridSearchCV

    X = matrix_of(planted_batch(90))
    search = GridSearchCV(estimator(2, n_passes=1, random_state=0), {"alpha": [0.01, 5.0]}, cv=2)
    search.fit(X)
    by_dict = (
        clone(search.best_estimator_).set_params(alpha=None, options=search.best_params_).fit(X)
    )
    assert (by_dict.transform(X) == search.best_estimator_.transform(X)).all()
    with pytest.raises(ValueError, match=r"^eta must be .*, not -1$"):
        estimator(2, eta=-1).fit(X)
    with pytest.raises(ValueError, match=r"^options: .* has no 'etta'; it has alpha, .*eta"):
        estimator(2, options={"etta": 1}).fit(X)
    for name in ("seed", "threads", "n_words", "n_documents", "self"):
        with pytest.raises(ValueError, match=f"^options: .* has no '{name}'; it has alpha"):
            estimator(2, options={name: 1}).fit(X)
    for name in ("n_components", "n_passes"):
        with pytest.raises(TypeError, match=f"^{name} must be an instance of int, not NoneType"):
            estimator(**{name: None}).fit(X)
    with pytest.raises(TypeError, match="unexpected keyword argument 'etta'"):
        estimator(2, etta=1)


def test_partial_fit_is_the_models_own_learning(estimator):
    batch, _ = planted(300)
    X = matrix_of(batch)
    fitted = estimator(n_components=4, n_documents=300, batch_size=50, random_state=0)
    fitted.partial_fit(X[:150]).partial_fit(X[150:])
    seed = np.random.RandomState(0).randint(2**31)
    model = read(kinds.load(estimator.kind).create(4, 40, 300, seed=seed), batch, 50)
    np.testing.assert_array_equal(fitted.components_, model.topics())
    np.testing.assert_array_equal(fitted.transform(X), model.infer(batch))
    assert fitted.score(X) == document_completion(model, batch)


def test_pickled_estimators_go_on_as_the_original(estimator):
    from sklearn.base import clone

    X = matrix_of(planted_batch(300))
    fitted = estimator(n_components=4, random_state=0, n_jobs=2).partial_fit(X[:200])
    again = pickle.loads(pickle.dumps(fitted))
    fitted.partial_fit(X[200:])
    again.partial_fit(X[200:])
    np.testing.assert_array_equal(fitted.components_, again.components_)
    assert again.model_.threads == 2
    assert again.score(X) == fitted.score(X) == pytest.approx(-np.log(fitted.perplexity(X)))
    assert not hasattr(clone(fitted), "model_")


def test_the_state_that_was_pickled_is_checked():
    fitted = named("OnlineLDAEstimator")(3, n_passes=1).fit(matrix_of(planted_batch(20)))
    kept = fitted.__getstate__()
    kept["model_"]["alpha"] = kept["model_"]["alpha"][1:]
    with pytest.raises(ValueError, match="alpha"):
        named("OnlineLDAEstimator")().__setstate__(kept)


def test_the_same_counts_in_any_form_are_the_same_documents(estimator):
    from sklearn.base import clone

    X = matrix_of(planted_batch(60))
    dense = X.toarray()
    fitted = estimator(n_components=3, n_passes=1, random_state=1).fit(X)
    theta = fitted.transform(X)
    frame = pd.DataFrame(dense, columns=[f"word{w}" for w in range(40)])
    others = [
        dense.astype(dtype)
        for dtype in (np.uint8, np.float16, np.float32, ">f2", ">f4", ">f8", ">i8")
    ]
    swapped = X.copy()
    swapped.data = swapped.data.astype(">f4")
    for form in (dense, *others, swapped, X.tocsc(), X.tocoo(), frame):
        again = clone(fitted).fit(form)
        np.testing.assert_array_equal(again.transform(form), theta)
    assert list(again.feature_names_in_) == list(frame)
    assert list(again.set_output(transform="pandas").transform(frame)) == [
        "topic0",
        "topic1",
        "topic2",
    ]
    with pytest.raises(ValueError, match="feature names should match"):
        again.transform(frame[frame.columns[::-1]])
    flags = clone(fitted).fit(dense > 0)
    np.testing.assert_array_equal(flags.transform(X > 0), flags.transform((dense > 0).astype(int)))


def test_refuses_what_are_no_counts():
    for wrong, said in (
        (-1, "Negative values"),
        (np.nan, "contains NaN"),
        (np.inf, "contains infinity"),
    ):
        for X in ([[wrong, 2.0]], csr_array([[wrong, 2.0]])):
            with pytest.raises(ValueError, match=said):
                named("SCVB0Estimator")(n_components=2).fit(X)


@pytest.mark.parametrize("name", ["n_components", "n_passes", "batch_size"])
def test_refuses_sizes_that_are_none(name):
    for wrong in (0, -5, 2.5):
        with pytest.raises((ValueError, TypeError), match=name):
            named("SCVB0Estimator")(**{name: wrong}).fit([[1, 2]])


def test_models_and_their_estimators_are_the_same_kinds():
    assert [named(name).kind for name in ALL] == list(kinds.names())


@pytest.mark.parametrize(
    "texts",
    [
        "one text",
        ["a text", "another"],
        [["some", "words"], ["of", "two"]],
        np.array(["a", "b"]),
        np.array(["a", None], dtype=object),
        pd.Series(["a text", "another"]),
        pd.Series(["a text", None, np.nan], dtype="string"),
        pd.DataFrame({"text": ["a text", "another"]}),
        (text for text in ["a text", "another"]),
        map(str, [1, 2]),
    ],
    ids=lambda texts: type(texts).__name__,
)
def test_texts_in_place_of_counts_are_one_short_line(estimator, texts):
    with pytest.raises(
        ValueError, match=r"^.+ takes word counts, not texts: put CountVectorizer before it$"
    ):
        estimator().fit(texts)


def test_top_words_are_named_by_whoever_knows_them(estimator, capsys):
    words = [f"word{number}" for number in range(4)]
    X = np.array([[9, 1, 0, 0], [0, 0, 9, 1]] * 20)
    fitted = estimator(n_components=2, random_state=0, n_passes=3, verbose=1).fit(X)
    told = capsys.readouterr().out.splitlines()
    assert [line.partition(":")[0] for line in told] == [
        "pass 1 of 3",
        "pass 2 of 3",
        "pass 3 of 3",
    ]
    ids, _ = fitted.model_.top_words(3)
    assert fitted.top_words(3, words) == [[words[word] for word in topic] for topic in ids]
    assert [len(topic) for topic in fitted.top_words(feature_names=np.array(words))] == [4, 4]
    with pytest.raises(ValueError, match="top_words needs feature_names"):
        fitted.top_words()
    with pytest.raises(ValueError, match="3 feature_names for 4 columns"):
        fitted.top_words(feature_names=words[:3])
    of_table = estimator(n_components=2, random_state=0, n_passes=1).fit(
        pd.DataFrame(X, columns=words)
    )
    for (word,) in of_table.top_words(1):
        assert word in words
    assert capsys.readouterr().out == "", "nothing is told unless asked"


def test_a_class_of_the_users_keeps_its_init_and_an_older_pickle_has_no_options(estimator):
    class Ours(estimator):
        def __init__(self, n_components=4):
            super().__init__(n_components=n_components)

    assert Ours().n_components == 4
    older = pickle.loads(pickle.dumps(estimator(n_components=3)))
    for name in older.option_names:
        del older.__dict__[name]
    assert "alpha" not in repr(older)
    assert older.fit([[1, 2], [2, 1]]).get_params()["alpha"] is None
