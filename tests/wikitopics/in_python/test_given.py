"""What `wikitopics.train` takes besides texts: lists of tokens, and counts of words."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer

import wikitopics as wt
from tests.session.rows import kept_snippets
from tests.wikitopics.in_python.learning import HELD_OUT, TEXTS, learn
from wikitopics.stored.columns import parts_of
from wikitopics.stored.given import Given

TOKENS = [text.split() for text in TEXTS]
QUICK = {"passes": 1, "replicas": 0}


@pytest.fixture(scope="module")
def vectorizer():
    return CountVectorizer().fit(TEXTS)


def counted(session):
    """(D, W) the word counts of the session's documents, in the order in which they were given."""
    batch, page_ids = session.counts()
    n_words = len(session.vocabulary())
    arrays = (batch.counts, batch.word_ids, batch.indptr)
    matrix = sparse.csr_array(arrays, shape=(len(page_ids), n_words)).toarray()
    return matrix[np.argsort(page_ids)]


def kept(values):
    """(the kind of documents, all of them)."""
    given = Given("texts", parts_of("texts", values).texts)
    documents = {"counts": lambda: given.counts(3), "texts": given.texts, "tokens": given.tokens}
    return given.kind, list(documents[given.kind]())


def test_tokens_are_words_as_they_are(path):
    tokens = [list(document) for document in TOKENS]
    for document in tokens[::10]:
        document += ["New York", "don't", "C++", "AI", "The", "the", " padded ", "", "a\tb", "\n"]
    with pytest.warns(UserWarning, match=r"cannot be shown in a line are left out \(12\)$"):
        session = learn(
            pd.Series(tokens, index=[f"n{n}" for n in range(120)]),
            seeds={"city": ["New York"]},
            **QUICK,
        )
    vocabulary = session.vocabulary()
    assert str(vocabulary.rule) == "tokens 2 en"
    assert next(topic.name for topic in session.topics() if topic.number == 0) == "city"
    assert {"New York", "don't", "C++", "AI", "padded"} < set(vocabulary.words)
    assert not {"The", "the", "a\tb", "new york"} & set(vocabulary.words), "stop words are left out"
    expected = [[document.count(word) for word in vocabulary.words] for document in tokens]
    expected = np.array(expected)
    expected[::10, vocabulary.words.index("padded")] = 1
    assert np.array_equal(counted(session), expected)
    assert session.documents().index.tolist() == [f"n{n}" for n in range(120)]
    assert vocabulary.why("C++").startswith("'C++' is in the vocabulary")
    # Tokens are looked up as they are; a text is split as usual.
    of_tokens = session.infer([["AI", "C++"], ["ai", "c++"], [], None])
    unread = session.infer([""])[0]
    assert not np.array_equal(of_tokens[0], unread)
    assert all(np.array_equal(row, unread) for row in of_tokens[1:])
    assert np.array_equal(session.infer(TEXTS[:3]), session.infer(TOKENS[:3]))
    alike = session.similar(text=["rivera", "New York"], limit=3)
    assert len(alike) == 3
    with pytest.raises(ValueError, match="text contains no word"):
        session.similar(text=["New", "York"])


def test_the_same_tokens_return_the_session_and_texts_are_added(path):
    session = learn(TOKENS, **QUICK)
    again = learn(map(tuple, TOKENS), **QUICK)
    assert again.status().committed_at == session.status().committed_at
    split = learn(TEXTS, **QUICK)  # texts whose words are the same tokens
    assert split.status().committed_at == session.status().committed_at
    with pytest.raises(wt.SessionError, match="was made from other texts"):
        learn(TOKENS[1:], **QUICK)
    more = ["River A: rivera, RIVERB!", "riverd " * 8]
    added = learn(pd.Series(more, index=["x", "y"]), add=True, **QUICK)
    words = added.vocabulary().words
    of_added = counted(added)[-2:]
    assert of_added[0, words.index("rivera")] == of_added[0, words.index("riverb")] == 1
    assert of_added[1, words.index("riverd")] == 8
    added = learn([["rivera"] * 3, ["Rivera"]], add=True, **QUICK)
    assert counted(added)[-1, words.index("rivera")] == 3, "Rivera is not a known token"


def test_the_same_words_are_learnt_to_the_same_bits(path):
    of_texts = learn(**QUICK)
    words = of_texts.vocabulary().words
    lambda_ = of_texts.model().topics()
    of_tokens = learn(TOKENS, session="tokens", **QUICK)
    assert of_tokens.vocabulary().words == words
    assert np.array_equal(of_tokens.model().topics(), lambda_)
    matrix = CountVectorizer(vocabulary=words).transform(TEXTS)
    of_counts = learn(matrix, session="counts", vocabulary=words, **QUICK)
    assert np.array_equal(of_counts.model().topics(), lambda_)


def test_the_command_line_gives_no_tokens(path, cli, one_line, tmp_path):
    session = learn(TOKENS, **QUICK)
    file = tmp_path / "more.jsonl"
    file.write_text('{"text": "rivera riverb", "id": "a"}\n', encoding="utf-8")
    one_line(
        cli("train", "--session", "notes", "--texts", file),
        2,
        "this session counts tokens, of which only Python gives lists",
    )
    words = tmp_path / "words.txt"
    words.write_text("\n".join(session.vocabulary().lines), encoding="utf-8")
    for source in (["--texts", file], []):
        one_line(
            cli("train", "--session", "new", "--vocab", words, *source),
            2,
            "is a vocabulary of tokens, of which only Python (`wikitopics.train`) gives lists",
        )
    text = tmp_path / "text.txt"
    text.write_text("Rivera, riverb!", encoding="utf-8")
    assert cli("infer", text, "--session", "notes").code == 0


def test_a_session_of_texts_takes_no_tokens(path):
    learn(**QUICK)
    with pytest.raises(wt.SessionError, match="counts the words of texts, not tokens"):
        learn(TOKENS, add=True)


@pytest.mark.parametrize("dtype", ["int64", "float64", "uint8"])
def test_a_count_matrix_is_learnt_exactly(path, vectorizer, dtype):
    matrix = vectorizer.transform(TEXTS).astype(dtype)
    matrix[0, 0] = 0  # kept as an entry
    matrix[7, 3] = 200
    before = matrix.copy()
    ids = pd.Index([f"n{n}" for n in range(120)])
    session = learn(matrix, vocabulary=vectorizer, ids=ids, titles=ids + "!", **QUICK)
    assert session.vocabulary().words == tuple(vectorizer.get_feature_names_out())
    assert np.array_equal(counted(session), matrix.toarray())
    assert (matrix != before).nnz == 0
    assert session.documents().index.equals(ids)
    assert session.articles(limit=1)[0].title.endswith("!")
    assert np.array_equal(session.infer(matrix[:4]), session.infer(matrix[:4].toarray()))
    assert np.array_equal(session.infer(vectorizer.transform(TEXTS[:4])), session.infer(TOKENS[:4]))
    again = learn(
        matrix.toarray(), vocabulary=vectorizer.vocabulary_, ids=ids, titles=ids + "!", **QUICK
    )
    assert again.status().committed_at == session.status().committed_at
    with pytest.raises(ValueError, match="the matrix has 2 columns, but the vocabulary has 36"):
        session.infer(matrix[:, :2])


def test_counts_are_added_to_counts_and_to_tokens(path, vectorizer):
    matrix = vectorizer.transform(TEXTS)
    words = list(vectorizer.get_feature_names_out())
    for first in (matrix, TOKENS):
        learn(first, vocabulary=words, replace=True, **QUICK)
        more = {"vocabulary": words, "ids": list("abc"), "add": True, **QUICK}
        session = learn(matrix[:3] * 2, **more)
        assert np.array_equal(counted(session)[-3:], 2 * matrix[:3].toarray())
        assert session.status().documents + session.status().held_out == 123
        with pytest.raises(wt.SessionError, match="vocabulary: this session counts other words"):
            learn(matrix[:3] * 2, **{**more, "vocabulary": words[::-1]})


def test_a_corpus_of_gensim_is_learnt(path):
    corpora = pytest.importorskip("gensim.corpora")
    dictionary = corpora.Dictionary(TOKENS)
    corpus = [dictionary.doc2bow(document) for document in TOKENS]
    session = learn(iter(corpus), vocabulary=dictionary, **QUICK)
    assert session.vocabulary().words == tuple(dictionary[n] for n in range(len(dictionary)))
    expected = np.zeros((120, len(dictionary)), int)
    for row, document in enumerate(corpus):
        for word, count in document:
            expected[row, word] = count
    assert np.array_equal(counted(session), expected)
    assert np.array_equal(session.infer(corpus[:3]), session.infer(TOKENS[:3]))


@pytest.mark.parametrize(
    ("values", "kind", "documents"),
    [
        (np.array(["a b", "c"]), "texts", ["a b", "c"]),
        (np.array(["a", None, "c"], dtype=object), "texts", ["a", None, "c"]),
        (pd.Series(["a", None], dtype="category"), "texts", ["a", None]),
        ((text for text in (None, "a")), "texts", [None, "a"]),
        ([None, float("nan")], "texts", [None, None]),
        (np.array([["a", "b"], ["c", "d"]]), "tokens", [["a", "b"], ["c", "d"]]),
        ([None, (), ("a",)], "tokens", [None, [], ["a"]]),
        (pd.Series([np.array(["a"]), None]), "tokens", [["a"], None]),
    ],
)
def test_columns_of_any_kind_are_taken_as_they_come(values, kind, documents):
    assert kept(values) == (kind, documents)


def test_columns_of_arrow_are_taken_too():
    pa = pytest.importorskip("pyarrow")
    assert kept(pa.chunked_array([["a"], [None, "c"]])) == ("texts", ["a", None, "c"])
    assert kept(pa.array(["a", "a"]).dictionary_encode()) == ("texts", ["a", "a"])
    assert kept(pa.array([["a", None, "b"], None])) == ("tokens", [["a", "b"], None])
    assert kept(pa.table({"Text": ["a", None], "n": [1, 2]})) == ("texts", ["a", None])


def test_columns_of_polars_are_taken_too():
    polars = pytest.importorskip("polars")
    assert kept(polars.Series(["a", None])) == ("texts", ["a", None])
    assert kept(polars.Series([["a", "b"], None])) == ("tokens", [["a", "b"], None])
    assert kept(polars.DataFrame({"n": [1, 2], "Text": ["a", None]})) == ("texts", ["a", None])


def test_pairs_are_counts_each_word_once():
    kind, (first, second) = kept([[(2, 1), (0, 2.0), (2, 3), (1, 0)], []])
    assert kind == "counts"
    assert [array.tolist() for array in first] == [[0, 2], [2, 4]]
    assert len(second[0]) == 0


MATRIX = sparse.csr_array(np.ones((40, 3), int))


@pytest.mark.parametrize(
    ("arguments", "error", "says"),
    [
        ({"texts": MATRIX}, ValueError, "vocabulary: counts need the words that they are of"),
        ({"texts": MATRIX, "vocabulary": ["a", "b"]}, ValueError, "has 3 columns, .* has 2 words"),
        ({"texts": -MATRIX}, ValueError, "whole numbers from 0 on.*row 0, column 0 has -1"),
        ({"texts": 0.5 * MATRIX}, ValueError, "row 0, column 0 has 0.5"),
        ({"texts": MATRIX * np.nan}, ValueError, "row 0, column 0 has nan"),
        ({"texts": TfidfVectorizer().fit_transform(TEXTS)}, ValueError, "as CountVectorizer makes"),
        (
            {"texts": MATRIX, "vocabulary": ["a", "b", "c"], "min_df": 2},
            ValueError,
            "vocabulary: its words are already chosen",
        ),
        ({"vocabulary": CountVectorizer().fit(TEXTS)}, ValueError, "splits texts in its own way"),
        ({"texts": [[(5, 1)]], "vocabulary": ["a", "b"]}, ValueError, "has word 5, but .* 2 words"),
        ({"texts": [[(0, 1.5)]], "vocabulary": ["a", "b"]}, ValueError, r"has \(0, 1.5\), not a"),
        ({"texts": MATRIX, "vocabulary": {"a": 1, "b": 2, "c": 3}}, ValueError, "from 0 on"),
        ({"texts": [["a"], "b"]}, TypeError, "number 1 is of type str, not a list of tokens"),
        ({"texts": ["a", ["b"]]}, TypeError, "number 1 is of type list, not a string"),
        ({"texts": [["a", 3]]}, TypeError, "number 0 has a token of type int"),
        (
            {"vocabulary": wt.Vocabulary(["a", "b"], "tokens 2 en")},
            ValueError,
            "vocabulary: its words are tokens, which texts need not have",
        ),
        ({"texts": TOKENS, "phrases": True}, ValueError, "phrases: tokens are words as they are"),
        ({"texts": TOKENS, "markup": "html"}, ValueError, "markup: tokens and counts have none"),
        ({"held_out": 1.0}, ValueError, "held_out must be a whole number, or a share between"),
        ({"held_out": True}, TypeError, "held_out must be a whole number"),
        ({"held_out": -1}, ValueError, "held_out must be"),
        ({"held_out": 120, "replace": True}, ValueError, "120 are held out, and at least two"),
        ({"snippets": "no"}, TypeError, "snippets must be True or False"),
    ],
)
def test_what_cannot_be_learnt_is_one_line(path, arguments, error, says):
    with pytest.raises(error, match=says) as caught:
        learn(**arguments)
    assert "\n" not in str(caught.value)
    assert not path.exists()


@pytest.mark.parametrize("part", ["indices", "indptr"])
@pytest.mark.parametrize("compressed", [sparse.csr_array, sparse.csc_array, sparse.csr_matrix])
@pytest.mark.parametrize("wrong", [10**6, -7])
def test_a_matrix_from_a_damaged_file_is_refused(compressed, part, wrong):
    matrix = compressed(np.ones((3, 3), int))
    getattr(matrix, part)[1] = wrong
    with pytest.raises(ValueError, match="texts: the matrix is damaged: ind"):
        kept(matrix)


@pytest.mark.parametrize("dtype", ["uint8", "int8", "int32"])
def test_counts_in_one_place_are_added_up_whatever_their_type(dtype):
    most = np.iinfo(dtype).max // 2 + 1
    places = ([0, 0, 1], [1, 1, 2])
    matrix = sparse.coo_array((np.array([most, most - 1, 1], dtype), places), shape=(2, 3))
    _, ((ids, counts), _) = kept(matrix)
    assert (ids.tolist(), counts.tolist()) == ([1], [2 * most - 1])
    assert matrix.nnz == 3
    assert matrix.dtype == dtype


def test_as_many_texts_are_held_out_as_asked(path):
    assert learn(held_out=0.25, **QUICK).status().held_out == 30
    assert learn(held_out=0.25, **QUICK).status().held_out == 30
    assert learn(held_out=30, **QUICK).status().held_out == 30
    with pytest.raises(wt.SessionError, match="held_out 5: this session was made with 30"):
        learn(held_out=5, **QUICK)
    more = pd.Series(TEXTS[:4], index=list("abcd"))
    assert learn(more, held_out=0.25, add=True, **QUICK).status().held_out == 30
    assert learn(held_out=7, replace=True, **QUICK).status().held_out == 7
    assert learn(replace=True, **QUICK).status().held_out == HELD_OUT


def test_snippets_are_kept_unless_asked_not_to_and_never_of_counts(path, vectorizer):
    def kept(session):
        with session._open() as reader:
            return list(kept_snippets(reader).values())

    assert sorted(kept(learn(**QUICK))) == sorted(TEXTS)
    assert sorted(kept(learn(TOKENS, replace=True, **QUICK))) == sorted(TEXTS)
    assert not kept(learn(snippets=False, replace=True, **QUICK))
    matrix = vectorizer.transform(TEXTS)
    assert not kept(learn(matrix, vocabulary=vectorizer, replace=True, **QUICK))
