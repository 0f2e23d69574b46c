"""`wikitopics.train` and `infer` of Parquet files, and of tables and datasets of Arrow."""

from contextlib import nullcontext
from pathlib import Path

import pytest

import wikitopics as wt
from tests.crawler.parquet import write
from tests.wikitopics.in_python.learning import (
    HELD_OUT,
    TEXTS,
    TRAINED,
    assert_nothing_is_left,
    learn,
    text,
)

pytestmark = [pytest.mark.interop, pytest.mark.filterwarnings("ignore:short texts")]
pa = pytest.importorskip("pyarrow", reason="pyarrow is an optional extra")
dataset = pytest.importorskip("pyarrow.dataset")
NUMBERS = range(len(TEXTS))
TABLE = pa.table(
    {
        "text": TEXTS,
        "title": [f"T{number}" for number in NUMBERS],
        "id": list(NUMBERS),
        "key": [f"k{number}" for number in NUMBERS],
        "body": TEXTS[::-1],
    }
)


@pytest.fixture
def file(tmp_path):
    folder = tmp_path / "tables"
    folder.mkdir()
    return write(folder / "a.parquet", TABLE, group=25)


def by_number(session):
    articles = session.articles(limit=1000)
    return {article.page_id: article for article in articles}


def test_a_path_is_read_by_the_trainer(path, file, monkeypatch):
    session = learn(file)
    status = session.status()
    assert (status.articles, status.held_out) == (2 * TRAINED, HELD_OUT)
    seventh = by_number(session)[7]
    assert (seventh.title, seventh.id, seventh.snippet) == ("T6", "6", text(6))
    assert_nothing_is_left(path)
    monkeypatch.setattr("wikitopics.session.control.start_trainer", pytest.fail)
    learn(Path(file))
    learn([Path(file)])
    learn(dataset.dataset(file))
    with pytest.raises(wt.SessionError, match="was made from other texts"):
        learn(TEXTS)
    with pytest.raises(wt.SessionError, match="was made from other texts"):
        learn(write(Path(file).with_name("b.parquet"), TABLE))
    write(file, TABLE.slice(1))
    with pytest.raises(wt.SessionError, match="was made from other texts"):
        learn(file)


def test_a_folder_and_more_texts(file):
    session = learn(Path(file).parent, passes=1)
    assert session.status().articles == TRAINED
    more = [text(number) for number in range(100, 160)]
    others = pa.table({"text": more, "id": list(range(100, 160))})
    path = write(Path(file).parent.parent / "b.parquet", others)
    with pytest.warns(UserWarning, match="20 of 60 texts are skipped"):
        session = wt.train(path, "notes", add=True)
    assert session.status().articles == TRAINED + 40


def test_rows_of_a_file_that_repeat_an_id_are_told(tmp_path):
    twice = pa.table({"text": [*TEXTS, *TEXTS[:5]], "id": [*NUMBERS, *range(5)]})
    with pytest.warns(UserWarning, match=f"5 of {len(TEXTS) + 5} texts are skipped, because texts"):
        learn(write(tmp_path / "twice.parquet", twice))


@pytest.mark.parametrize("made", [lambda file: TABLE, lambda file: filtered(file)])
def test_tables_and_datasets_are_texts(file, made):
    session = learn(made(file), ids="key")
    assert session.status().articles == 2 * TRAINED
    found = by_number(session)
    assert (found[7].title, found[7].id) == ("T6", "k6")
    assert found[7].snippet == text(6)


def filtered(file):
    return dataset.dataset(file).filter(dataset.field("id") >= 0)


def test_columns_are_named(file):
    for texts in (TABLE, file):
        session = learn(texts, session="body", text_column="body", titles="key", replace=True)
        found = by_number(session)[1]
        assert (found.title, found.id, found.snippet) == ("k0", "0", TEXTS[-1])
        assert session.infer(texts, text_column="key").shape == (len(TEXTS), 3)


def test_tokens_and_single_columns():
    tokens = pa.table({"text": [text.split() for text in TEXTS], "id": list(NUMBERS)})
    session = learn(tokens)
    assert session.vocabulary().rule.tokens
    assert learn(TABLE.column("text"), session="column").status().articles == 2 * TRAINED


def test_lists_in_a_file_are_read_as_is_told(tmp_path):
    tokens = pa.table({"text": [text.split() for text in TEXTS]})
    file = write(tmp_path / "lists.parquet", tokens)
    with pytest.raises(ValueError, match="does not hold texts; for lists of tokens, pass") as told:
        learn(file)
    _, _, expression = str(told.value).partition("pass ")
    expression, _, _ = expression.partition(". Those")
    assert expression == f"pyarrow.parquet.read_table({file!r})['text']"
    column = eval(expression, {"pyarrow": pa})
    assert learn(column).vocabulary().rule.tokens


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_are_tables(library):
    module = pytest.importorskip(library)
    frame = module.DataFrame(TABLE.to_pydict())
    session = learn(frame, ids="key")
    found = by_number(session)
    assert (found[7].title, found[7].id, found[7].snippet) == ("T6", "k6", text(6))
    assert (session.infer(frame) == session.infer(TABLE)).all()
    assert session.infer(frame, text_column="body").shape == (len(TEXTS), 3)


def test_a_frame_without_ids_has_its_index():
    pandas = pytest.importorskip("pandas")
    index = [f"k{number}" for number in NUMBERS]
    session = learn(pandas.DataFrame({"text": TEXTS}, index))
    assert list(session.documents().index) == index


@pytest.mark.parametrize("made", ["pandas", "arrow", "file"])
def test_ids_that_are_floats_are_whole_numbers(tmp_path, made):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"text": TEXTS, "id": [None, *NUMBERS[1:]]})
    assert frame["id"].dtype == float
    if made != "pandas":
        frame = pa.Table.from_pandas(frame)
    texts = write(tmp_path / "a.parquet", frame) if made == "file" else frame
    told = pytest.warns(UserWarning, match="ids: some are missing")
    with told if made == "pandas" else nullcontext():
        session = learn(texts)
    found = by_number(session)
    assert (found[1].id, found[7].id) == ("", "6")


def test_infer_takes_what_train_takes(file):
    session = learn(file)
    theta = session.infer(TEXTS)
    assert (session.infer(file) == theta).all()
    assert (session.infer(TABLE) == theta).all()
    assert (session.infer(dataset.dataset(file)) == theta).all()
    with_gaps = pa.table({"text": [None, TEXTS[0], "", TEXTS[1], None]})
    gaps = write(Path(file).with_name("gaps.parquet"), with_gaps)
    assert session.infer(gaps).shape == (5, 3)
    assert (session.infer(gaps)[[1, 3]] == theta[:2]).all()


@pytest.mark.parametrize(
    ("options", "error", "says"),
    [
        ({"texts": TABLE, "text_column": "x"}, ValueError, "text_column: there is no column 'x'"),
        ({"texts": TABLE, "titles": "x"}, ValueError, "titles: there is no column 'x'"),
        ({"texts": TABLE.append_column("id", TABLE["key"])}, ValueError, "columns are called 'id'"),
        (
            {"texts": TABLE.drop_columns("text")},
            ValueError,
            r"texts: which column holds the text\? Name one with text_column: 'title', 'key', 'body'",
        ),
        (
            {"texts": TABLE, "text_column": "id"},
            ValueError,
            "texts: the column 'id' does not hold texts. Those that do: 'text', 'title', 'key'",
        ),
        ({"texts": TABLE, "text_column": "Body"}, ValueError, "Did you mean 'body'"),
        ({"texts": TEXTS, "text_column": "x"}, ValueError, "text_column is for tables and paths"),
        ({"texts": TABLE, "text_column": 1}, TypeError, "text_column must be the name of a column"),
        ({"texts": "absent.parquet"}, wt.SessionError, "absent.parquet: no such file"),
        ({"texts": "http://host.org/a.parquet"}, ValueError, "texts: an address"),
        ({"texts": "some text"}, TypeError, "texts must be a collection"),
        ({"texts": Path(__file__)}, ValueError, "texts: only .parquet files and folders of them"),
        (
            {"texts": "fake.csv"},
            ValueError,
            r"pass others as texts, such as pd.read_csv\(…\)\['text",
        ),
        ({"texts": __file__}, ValueError, "texts: only .parquet files and folders of them"),
    ],
)
def test_what_is_wrong_is_told(path, options, error, says):
    with pytest.raises(error, match=says):
        learn(**options)
    assert not path.exists()


@pytest.mark.parametrize(
    ("options", "error", "says"),
    [
        (
            {"text_column": "id"},
            ValueError,
            "'id' does not hold texts. Those that do: 'text', 'tit",
        ),
        ({"text_column": "x"}, ValueError, r"there is no column 'x'. Name one with text_column: "),
        ({"ids": "x"}, ValueError, r"there is no column 'x'. Name one with ids: "),
        ({"titles": ["a"]}, ValueError, "titles: name the column of the files"),
    ],
)
def test_what_is_wrong_with_a_file_is_told(path, file, options, error, says):
    with pytest.raises(error, match=says):
        learn(file, **options)
    assert not path.exists()
