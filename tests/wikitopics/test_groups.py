"""What documents are about, by group and over time, as tables in Python."""

import shutil
import warnings

import numpy as np
import pandas as pd
import pytest

import wikitopics as wt
from tests.session.rows import alter
from tests.wikitopics.in_python.learning import TEXTS, learn
from wikitopics.extra import NOTEBOOK, REPORT
from wikitopics.session.analysis.groups import Moments

pytestmark = pytest.mark.usefixtures("trainers_run_here")

COLUMNS = ["area", "name", "share", "standard_error", "documents"]


@pytest.fixture
def copy_of(made_once, trainers_run_here, tmp_path):
    """Opens a copy of the session that ``train(path)`` has made once: ``copy_of(name, train)``."""

    def opened(name, train):
        folder = made_once(f"groups-{name}", lambda folder: train(folder / "s.db"))
        return wt.open(shutil.copy(folder / "s.db", tmp_path / f"{name}.db"))

    return opened


@pytest.fixture
def notes(copy_of):
    """A session of documents with ids; the one before the last has no words."""
    texts = pd.Series(TEXTS, index=[f"n{number}" for number in range(len(TEXTS))])
    texts.iloc[-2] = None
    return copy_of("notes", lambda path: learn(texts, session=path))


@pytest.fixture
def listed(copy_of):
    """A session of documents without ids."""
    return copy_of("listed", lambda path: learn(list(TEXTS), session=path))


@pytest.fixture
def repeated(copy_of):
    """A session of documents of which two have the same id each time."""
    texts = pd.Series(TEXTS, index=[f"n{number // 2}" for number in range(len(TEXTS))])

    def train(path):
        with pytest.warns(UserWarning, match="repeat"):
            learn(texts, session=path)

    return copy_of("repeated", train)


@pytest.fixture
def labels(notes):
    """What each document is called by."""
    index = notes.documents().index
    return pd.Series(np.array(["b", "a", "a", "c"])[np.arange(len(index)) % 4], index=index)


def by_hand(session, keys, level):
    """(mean, standard error, number of documents) of each group, by pandas alone; the keys are in
    the order of the documents."""
    proportions = session.proportions(frame=True)
    if level == "areas":
        of_areas = {
            area.number: proportions[list(area.topics)].sum(axis="columns", skipna=False)
            for area in session.areas()
        }
        proportions = pd.DataFrame(of_areas)
    else:
        topics = [topic.number for topic in session.topics() if topic.in_use]
        proportions = proportions[topics]
    keys = pd.Index(pd.Series(keys))
    grouped = proportions.reset_index(drop=True).astype("float64").groupby(keys, observed=True)
    return grouped.mean(), grouped.sem(), grouped.count().iloc[:, 0]


def assert_is_by_hand(frame, session, keys, level="areas"):
    column = "area" if level == "areas" else "topic"
    by = frame.columns[0]
    shares, errors, documents = by_hand(session, keys, level)
    frame = frame[frame["documents"] > 0]
    known = documents > 0
    shares = shares[known]
    errors = errors[known]
    documents = documents[known]
    for name, expected in (("share", shares), ("standard_error", errors)):
        table = frame.pivot(index=by, columns=column, values=name)[expected.columns]
        assert table.index.tolist() == expected.index.tolist()
        np.testing.assert_allclose(table, expected, atol=1e-6)
    told = frame.drop_duplicates(by).set_index(by)["documents"]
    assert told.to_dict() == documents.to_dict()


@pytest.mark.parametrize("level", ["areas", "topics"])
def test_groups_are_what_pandas_makes_of_the_proportions(notes, labels, level):
    frame = notes.by(labels, level=level)
    assert frame.columns.tolist() == ["group", level[:-1], *COLUMNS[1:]]
    assert_is_by_hand(frame, notes, labels, level)
    sums = frame.groupby("group")["share"].sum()
    assert sums.between(0.97, 1 + 1e-6).all()
    first = frame[frame["group"] == "a"]
    if level == "areas":
        assert first["name"].tolist() == [area.name for area in notes.areas()]
    else:
        used = [topic for topic in notes.topics() if topic.in_use]
        assert first["name"].tolist() == [topic.name for topic in used]
    assert frame["documents"].groupby(frame["group"]).first().sum() == len(labels) - 1


@pytest.mark.parametrize(
    "form", [lambda column: column.sample(frac=1, random_state=1), list, np.array, pd.Index]
)
def test_values_are_found_by_ids_or_taken_in_order(notes, labels, form):
    pd.testing.assert_frame_equal(notes.by(form(labels)), notes.by(labels))


def test_documents_without_ids_take_values_by_order_or_page_id(listed):
    labels = np.array(["x", "y", "z"])[np.arange(len(TEXTS)) % 3]
    frame = listed.by(labels)
    assert_is_by_hand(frame, listed, labels)
    by_page_id = pd.Series(labels, index=listed.documents().index)
    assert by_page_id.index.name == "page_id"
    for column in (pd.Series(labels), by_page_id, by_page_id.sample(frac=1, random_state=2)):
        pd.testing.assert_frame_equal(listed.by(column), frame)
    some = by_page_id[by_page_id != "z"]
    with pytest.warns(UserWarning, match="groups: 40 of 120 documents have no value"):
        assert listed.by(some)["group"].unique().tolist() == ["x", "y"]


def test_the_map_takes_a_column_of_documents_without_ids(listed):
    labels = listed.documents()["name"]
    by_order = listed.map(color=labels.tolist())._repr_html_()
    assert listed.map(color=labels)._repr_html_() == by_order
    assert listed.map(color=labels.sample(frac=1, random_state=2))._repr_html_() == by_order


def test_ids_that_are_text_are_also_found_by_numbers(tmp_path):
    numbers = np.random.default_rng(1).permutation(len(TEXTS)) + 1000
    ids = [str(number) for number in numbers]
    session = learn(list(TEXTS), ids=ids, session=tmp_path / "text.db")
    labels = pd.Series(np.arange(len(TEXTS)) % 3, index=numbers)
    assert_is_by_hand(session.by(labels.sort_index()), session, labels)


def test_repeated_ids_take_values_by_order(repeated):
    labels = repeated.documents().assign(label=["p", "q"] * 60)["label"]
    assert not labels.index.is_unique
    assert_is_by_hand(repeated.by(labels), repeated, labels)
    with pytest.raises(ValueError, match=r"groups: 118 values for 120 documents"):
        repeated.by(labels.iloc[:-2])


def test_documents_without_a_group_are_left_out_and_told(notes, labels):
    some = labels.where(labels != "c")
    with pytest.warns(UserWarning, match="groups: 30 of 119 documents have no value") as told:
        frame = notes.by(some)
    assert told[0].filename == __file__
    assert_is_by_hand(frame, notes, some)
    with pytest.warns(UserWarning, match="groups: 30 of 119"):
        pd.testing.assert_frame_equal(notes.by(labels[labels != "c"]), frame)
    with pytest.raises(ValueError, match="groups: none of the 119 documents has a value"):
        notes.by(pd.Series(None, index=labels.index, dtype="object"))


def test_categories_keep_their_order_and_unused_ones_are_left_out(notes, labels):
    categories = pd.Categorical(labels, categories=["unused", "c", "b", "a"], ordered=True)
    frame = notes.by(categories)
    assert frame["group"].cat.categories.tolist() == ["c", "b", "a"]
    assert frame["group"].unique().tolist() == ["c", "b", "a"]
    assert_is_by_hand(frame, notes, categories.remove_unused_categories())


def test_numbers_stay_numbers_and_a_group_of_one_has_no_error(notes, labels):
    numbers = pd.Series(range(len(labels)), index=labels.index).clip(upper=2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        frame = notes.by(numbers)
    assert frame["group"].dtype == "int64"
    alone = frame[frame["group"] == 0]
    assert alone["documents"].eq(1).all()
    assert alone["standard_error"].isna().all()
    assert_is_by_hand(frame, notes, numbers)


def test_articles_of_a_wiki_have_groups_by_page_id_or_order(trained):
    session = wt.open(trained)
    proportions = session.proportions(frame=True)
    labels = pd.Series(proportions.index % 3, index=proportions.index)
    assert_is_by_hand(session.by(labels), session, labels)
    pd.testing.assert_frame_equal(session.by(list(labels)), session.by(labels))


def test_hidden_topics_are_no_topics_of_a_table(notes, labels, cli):
    last = notes.topics()[-1].number
    assert cli("topics", "hide", last, "--session", notes.path).code == 0
    try:
        assert last not in notes.by(labels, level="topics")["topic"].unique()
        assert last in {topic for area in notes.areas() for topic in area.topics}
        assert_is_by_hand(notes.by(labels), notes, labels)
    finally:
        assert cli("topics", "unhide", last, "--session", notes.path).code == 0


def test_if_all_topics_are_hidden_the_table_of_topics_says_so(notes, labels):
    numbers = [topic.number for topic in notes.topics()]
    for number in numbers:
        notes.hide(number)
    with pytest.raises(wt.SessionError, match="all topics of scvb0 in use are hidden"):
        notes.by(labels, level="topics")
    assert_is_by_hand(notes.by(labels), notes, labels)


def test_numbers_in_another_byte_order_are_values_and_ids(listed):
    numbers = np.arange(len(listed.documents()))
    for of_others, own in ((">i4", "int32"), (">f8", "float64")):
        others = listed.by(numbers.astype(of_others))
        pd.testing.assert_frame_equal(others, listed.by(numbers.astype(own)))
    page_ids = listed.documents().index
    by_page_id = pd.Series(numbers, page_ids[::-1])
    turned = pd.Series(numbers, pd.Index(page_ids[::-1].astype(">i8"), name="page_id"))
    pd.testing.assert_frame_equal(listed.by(turned), listed.by(by_page_id))


def test_halves_of_characters_in_the_names_of_groups_are_replaced(notes, labels):
    names = ["a\ud800" if label == "a" else "b" for label in labels]
    halves = pd.Series(names, labels.index, dtype=object)
    for groups in (halves, halves.to_numpy(), halves.tolist()):
        assert notes.by(groups)["group"].unique().tolist() == ["a\ufffd", "b"]


@pytest.mark.parametrize(
    ("groups", "error", "message"),
    [
        (["one"], ValueError, "groups: 1 values for 120 documents; give a value for each"),
        (pd.Series(["one"], index=["unknown"]), ValueError, "groups: 1 values"),
        (pd.Series(["one"] * 100), ValueError, "groups: 100 values for 120 documents"),
        (pd.DataFrame({"a": [1]}), TypeError, "groups must be a column"),
        ({"n1": "one"}, TypeError, "groups must be a column"),
        ({"one", "two"}, TypeError, "groups must be a column"),
        ("label", TypeError, "groups must be a column"),
        (7, TypeError, "groups must be a column"),
        (np.zeros((120, 2)), ValueError, "groups: "),
        ([["a list"]] * 120, TypeError, "groups: "),
    ],
)
def test_groups_that_do_not_fit_are_refused(notes, groups, error, message):
    with pytest.raises(error, match=message):
        notes.by(groups)


def test_too_short_a_column_is_refused_though_its_labels_look_like_ids(tmp_path):
    session = learn(pd.Series(TEXTS), session=tmp_path / "numbered.db")
    labels = pd.Series(["a", "b"] * 60)
    assert_is_by_hand(session.by(labels), session, labels)
    with pytest.raises(ValueError, match="groups: 100 values for 120 documents"):
        session.by(labels.head(100))
    with pytest.raises(ValueError, match="color: 100 values for 120 documents"):
        session.map(color=labels.head(100))
    with pytest.warns(UserWarning, match="groups: 20 of 120 documents have no value"):
        session.by(labels.iloc[20:])


@pytest.mark.parametrize("form", [list, np.array, pd.Index, pd.Categorical])
def test_a_value_too_many_is_refused_though_as_many_labels_would_do(tmp_path, form):
    """Values without labels of their own go by their order, even if all documents have the numbers
    that pandas would give these values."""
    session = learn(pd.Series(TEXTS), session=tmp_path / "numbered.db")
    labels = ["a", "b"] * 60
    assert_is_by_hand(session.by(form(labels)), session, labels)
    with pytest.raises(ValueError, match="groups: 121 values for 120 documents"):
        session.by(form([*labels, "a"]))
    with pytest.raises(ValueError, match="color: 121 values for 120 documents"):
        session.map(color=form([*labels, "a"]))
    with pytest.raises(ValueError, match="dates: 121 values for 120 documents"):
        session.over_time(form([2024] * 121))


DAYS = pd.date_range("2023-11-20 12:00", periods=len(TEXTS), freq="D")


@pytest.mark.parametrize("level", ["areas", "topics"])
@pytest.mark.parametrize("freq", [None, "W", "M", "Q", "Y"])
def test_periods_are_what_pandas_makes_of_the_dates(notes, freq, level):
    frame = notes.over_time(DAYS, freq, level=level)
    assert frame.columns.tolist() == ["period", level[:-1], *COLUMNS[1:]]
    periods = DAYS.to_period(freq or "W")  # 120 days are 18 weeks
    assert frame["period"].dtype == periods.dtype
    assert_is_by_hand(frame, notes, periods, level)


@pytest.mark.parametrize(
    ("step", "length"),
    [("min", "h"), ("2h", "D"), ("8D", "M"), ("60D", "Y"), ("400D", "Y")],
)
def test_the_length_of_a_period_follows_the_range(notes, step, length):
    dates = pd.date_range("1900-01-01 00:07", periods=len(TEXTS), freq=step)
    frame = notes.over_time(dates)
    assert frame["period"].dt.freq.freqstr.startswith(length)
    assert_is_by_hand(frame, notes, dates.to_period(frame["period"].dt.freq))


def test_dates_without_times_are_never_cut_finer_than_days(notes):
    frame = notes.over_time(["2024-02-29"] * len(TEXTS))
    assert frame["period"].unique().tolist() == [pd.Period("2024-02-29", "D")]


def test_every_period_from_the_first_to_the_last_has_rows(notes):
    dates = pd.Series(DAYS).where(DAYS.month != 1, pd.NaT)
    with pytest.warns(UserWarning, match="dates: 31 of 119 documents have no value"):
        frame = notes.over_time(dates.array, "M")
    months = frame["period"].drop_duplicates().astype(str).tolist()
    assert months == ["2023-11", "2023-12", "2024-01", "2024-02", "2024-03"]
    january = frame[frame["period"] == "2024-01"]
    assert january["documents"].eq(0).all()
    assert january[["share", "standard_error"]].isna().all(axis=None)


@pytest.mark.parametrize(
    "dates",
    [
        DAYS.strftime("%Y-%m-%d"),
        DAYS.date,
        pd.Categorical(DAYS.strftime("%Y-%m-%d")),
        DAYS.tz_localize("Asia/Tokyo"),
        DAYS.tz_localize("America/New_York"),
        DAYS.to_period("D"),
    ],
    ids=["text", "date", "category", "east", "west", "period"],
)
def test_dates_of_all_kinds_are_the_same_months(notes, dates):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        frame = notes.over_time(dates, "M")
    assert_is_by_hand(frame, notes, DAYS.to_period("M"))


def test_a_date_is_that_of_its_own_clock(notes):
    evenings = pd.date_range("2024-01-31 23:00", periods=len(TEXTS), freq="min", tz="Asia/Tokyo")
    months = notes.over_time(evenings, "M")["period"].astype(str).unique().tolist()
    assert months == ["2024-01", "2024-02"]  # all are in January, in London


def test_periods_and_years_are_kept(notes):
    quarters = pd.PeriodIndex(DAYS, freq="Q")
    assert_is_by_hand(notes.over_time(quarters), notes, quarters)
    years = pd.Series(np.arange(len(TEXTS)) // 50 + 1999, dtype="float64")
    years.iloc[3] = np.nan
    with pytest.warns(UserWarning, match="dates: 1 of 119"):
        frame = notes.over_time(years)
    assert frame["period"].astype(str).unique().tolist() == ["1999", "2000", "2001"]
    expected = years.map(lambda year: pd.NaT if pd.isna(year) else pd.Period(str(int(year)), "Y"))
    assert_is_by_hand(frame, notes, expected)


@pytest.mark.parametrize(
    ("dates", "freq", "error", "message"),
    [
        (["battery"] * 120, None, ValueError, "dates: .*pd.to_datetime"),
        ([1700000000] * 120, None, ValueError, "dates: numbers must be years"),
        ([1999.5] * 120, None, ValueError, "dates: numbers must be years"),
        ([True] * 120, None, TypeError, "dates must be dates"),
        ([None] * 120, None, ValueError, "dates: none of the .* documents has a value"),
        (["2024-01-01"] * 7, None, ValueError, "dates: 7 values for 120 documents"),
        (DAYS, "fortnight", ValueError, "freq must be the length of a period"),
        (DAYS, "ME", ValueError, "such as .*'M'.*not 'ME'"),
        (DAYS, "2M", ValueError, "freq must be a single period, such as 'M', not '2M'"),
        (DAYS, "s", ValueError, "freq: 10,281,601 periods"),
    ],
)
def test_dates_that_do_not_fit_are_refused(notes, dates, freq, error, message):
    with pytest.raises(error, match=message):
        notes.over_time(dates, freq)


def test_only_one_message_tells_that_dates_cannot_be_guessed(notes):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ValueError, match=r"battery.*; convert them to dates first"):
            notes.over_time(["battery"] * len(TEXTS))
    each_by_itself = (
        r"dates: Could not infer format, .* individually.*; convert them to dates first"
    )
    with pytest.warns(UserWarning, match=each_by_itself) as told:
        notes.over_time([f"{1 + number % 9}/4/24" for number in range(len(TEXTS))])
    assert [warning.filename for warning in told] == [__file__]
    with pytest.warns(UserWarning, match=each_by_itself) as told:  # pandas also says to avoid them
        notes.over_time([f"200{number % 9}Q1" for number in range(len(TEXTS))])
    assert len(told) == 1


def test_the_end_of_a_sentence_of_pandas_is_not_beside_a_semicolon(notes):
    mixed = ["2001-01-01T00:00:00+02:00", "2001-01-01T00:00:00+01:00"] * len(TEXTS)
    with pytest.raises(ValueError, match=r"\w; convert them to dates first"):
        notes.over_time(mixed[: len(TEXTS)])


def test_a_level_that_there_is_not_is_refused(notes, labels):
    with pytest.raises(ValueError, match="level must be 'areas' or 'topics', not 'words'"):
        notes.by(labels, level="words")


@pytest.mark.interop
def test_axes_that_are_none_are_refused(notes, labels):
    pytest.importorskip("matplotlib")
    axes = [None, None]
    for draw in (notes.plot_topics, notes.plot_curve, lambda ax: notes.plot_heat(labels, ax)):
        with pytest.raises(TypeError, match=r"ax must be the Axes of matplotlib .* \(list\)"):
            draw(axes)


def test_without_the_extra_one_line_says_what_to_install(notes, labels, monkeypatch):
    monkeypatch.setattr(type(REPORT), "missing", lambda self: [self.package])
    calls = {
        NOTEBOOK: [lambda: notes.by(labels), lambda: notes.over_time(DAYS)],
        REPORT: [
            notes.plot_topics,
            notes.plot_tree,
            notes.plot_curve,
            notes.plot_compare,
            lambda: notes.plot_heat(labels),
            lambda: notes.plot_over_time(DAYS),
        ],
    }
    for extra, methods in calls.items():
        for method in methods:
            with pytest.raises(ValueError, match=rf"\(\) needs {extra.package}: .*{extra.name}"):
                method()


def test_a_file_that_has_a_document_twice_is_damaged(notes):
    alter(notes, "UPDATE blocks SET page_ids = zeroblob(length(page_ids))")
    for ask in (notes.documents, notes.map, lambda: notes.proportions(frame=True)):
        with pytest.raises(wt.SessionError, match=r"the session is damaged .*twice"):
            ask()


def test_means_of_rows_that_come_in_parts():
    random = np.random.default_rng(4)
    values = 1000 + random.random((90, 3))
    codes = random.integers(0, 4, 90)
    codes[codes == 2] = 3  # a group without rows
    moments = Moments(4, 3)
    for part in (slice(0, 1), slice(1, 40), slice(40, 40), slice(40, 90)):
        moments.add(values[part], codes[part])
    for group in (0, 1, 3):
        own = values[codes == group]
        assert moments.n[group] == len(own)
        np.testing.assert_allclose(moments.means[group], own.mean(axis=0), rtol=1e-12)
        squares = ((own - own.mean(axis=0)) ** 2).sum(axis=0)
        np.testing.assert_allclose(moments.squares[group], squares, rtol=1e-6)
    assert moments.n[2] == 0
