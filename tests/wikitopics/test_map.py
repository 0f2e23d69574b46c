"""The map of articles in Python: a table that a notebook shows as the map."""

import pickle
from dataclasses import replace
from html import unescape

import numpy as np
import pandas as pd
import pytest

import wikitopics as wt
from tests.browsers import wait
from tests.map_pages import head_and_rest
from tests.wikitopics.in_python.learning import learn
from wikitopics.session.analysis.report.map_page import SCALE

COLUMNS = ["page_id", "title", "x", "y", "topic", "area"]


@pytest.fixture
def notes(made_once, trainers_run_here):
    """A session of documents with an index, the one before the last without words; nobody may
    write to it."""
    from tests.wikitopics.in_python.learning import TEXTS

    def train(folder):
        texts = pd.Series(TEXTS, index=[f"n{number}" for number in range(len(TEXTS))])
        texts.iloc[-2] = None
        learn(texts, session=folder / "notes.db")

    return wt.open(made_once("mapped", train) / "notes.db")


def keys_of(page):
    """The names of the page's legend."""
    head, _ = head_and_rest(page)
    return [label["name"] for label in head["labels"]]


def test_it_has_what_the_export_has(trained, cli):
    places = wt.open(trained).map()
    assert list(places.columns) == COLUMNS
    on_map = places.dropna(subset=["x"])
    told = sorted(cli.rows("map"), key=lambda row: row["page_id"])
    assert len(told) > 100
    for column in COLUMNS:
        assert on_map[column].tolist() == [row[column] for row in told]


def test_articles_of_a_wiki_are_in_the_order_of_reading(trained, cli, monkeypatch):
    monkeypatch.setattr(
        "wikitopics.session.analysis.map_frame.documents_of", lambda reader, **_: None
    )
    session = wt.open(trained)
    places = session.map()
    told = cli.rows("map")
    assert places["page_id"].tolist() == [row["page_id"] for row in told]
    assert places["title"].tolist() == [row["title"] for row in told]
    assert places.index.tolist() == list(range(len(told)))
    numbers = pd.Series(range(len(told)), index=places["page_id"]).sample(frac=1, random_state=1)
    assert (
        session.map(color=numbers)._repr_html_()
        == session.map(color=range(len(told)))._repr_html_()
    )


def test_own_documents_have_the_rows_of_documents(notes):
    places = notes.map()
    documents = notes.documents()
    assert list(places.columns) == COLUMNS
    pd.testing.assert_index_equal(places.index, documents.index)
    pd.testing.assert_series_equal(places["topic"], documents["topic"], check_names=False)
    pd.testing.assert_series_equal(places["area"], documents["area"], check_names=False)
    has_place = places["x"].notna()
    assert has_place.sum() == len(places) - 1
    assert not has_place.iloc[-2]
    assert places.loc[has_place, ["x", "y"]].stack().between(0, 1).all()


def test_a_notebook_shows_the_map_itself_and_a_part_as_a_table(notes):
    places = notes.map()
    cell = places._repr_html_()
    assert cell.startswith('<iframe srcdoc="')
    assert cell.count("<") == 2  # of the frame itself
    assert "<canvas" in unescape(cell)
    assert len(cell) < 2_000_000
    for part in (places.head(), places[["x", "y"]], places.copy(), places[places["x"] > 0.5]):
        assert type(part) is pd.DataFrame
    kept = pickle.loads(pickle.dumps(places))
    assert kept.equals(places)
    assert kept._repr_html_() == cell


def test_of_too_many_documents_only_those_drawn_have_texts_and_all_are_coloured(notes, monkeypatch):
    n = len(notes.documents())
    rare_first = ["rare" if number % 3 == 0 else "often" for number in range(n)]
    whole = notes.map(color=rare_first)
    monkeypatch.setattr("wikitopics.session.analysis.report.map_page.MOST_DOTS", 40)
    places = notes.map(color=rare_first)
    pd.testing.assert_frame_equal(pd.DataFrame(places), pd.DataFrame(whole))
    drawn, colouring = places._drawn
    assert len(drawn.snippets) == len(drawn.titles) == 40
    assert len(colouring.of_article) == n - 1
    # Every third article is drawn, so "rare" would be the more frequent label of those.
    assert keys_of(unescape(places._repr_html_())) == ["often", "rare"]


@pytest.mark.interop
@pytest.mark.parametrize("color", [None, "numbers"])
def test_it_is_saved_as_a_picture(notes, tmp_path, color):
    if color is not None:
        color = np.arange(len(notes.documents())) / 7
    notes.map(color=color).save(str(tmp_path / "map.PNG"))
    assert (tmp_path / "map.PNG").read_bytes().startswith(b"\x89PNG")


def test_it_is_saved_as_a_page(notes, tmp_path):
    places = notes.map()
    places.save(tmp_path / "map.html")
    assert (tmp_path / "map.html").read_text().startswith("<!doctype html>")
    with pytest.raises(ValueError, match=r"end the name of the map in \.html or \.png"):
        places.save(tmp_path / "map.pdf")
    with pytest.raises(ValueError, match=r"path: .* holds a session"):
        places.save(notes.path)


def test_a_column_colours_documents_by_their_ids_or_by_their_order(notes, tmp_path):
    index = notes.documents().index
    labels = pd.Series(np.where(np.arange(len(index)) % 3, "often", "seldom"), index=index)
    pages = []
    for color in (labels, labels.sample(frac=1, random_state=3), labels.tolist(), labels.array):
        notes.map(color=color).save(tmp_path / "map.html")
        pages.append((tmp_path / "map.html").read_text())
    assert keys_of(pages[0]) == ["often", "seldom"]
    assert len(set(pages)) == 1


def test_documents_without_a_value_are_grey_and_told(notes, tmp_path):
    index = notes.documents().index
    labels = pd.Series(np.where(np.arange(len(index)) % 3, "often", "seldom"), index=index)
    pages = []
    for color in (labels.where(labels == "often"), labels[labels == "often"]):
        with pytest.warns(UserWarning, match="color: 40 of 119 documents .* grey") as told:
            places = notes.map(color=color)
        assert told[0].filename == __file__
        places.save(tmp_path / "map.html")
        pages.append((tmp_path / "map.html").read_text())
    assert keys_of(pages[0]) == ["often", "none"]
    assert pages[0] == pages[1]
    with pytest.raises(ValueError, match="color: none of the 119 documents has a value"):
        notes.map(color=labels.where(labels == "never"))
    with pytest.raises(ValueError, match=r"color: 50 values for 120 documents.*0, 1, 2 is"):
        notes.map(color=labels.reset_index(drop=True).head(50))


def test_numbers_become_a_scale(notes, tmp_path):
    n = len(notes.documents())
    for numbers, most in (
        (np.arange(n), len(SCALE)),
        (np.arange(n) / 7, len(SCALE)),
        (np.maximum(np.arange(n) - 100, 0), len(SCALE)),  # most are 0
        (np.arange(n) % 3, 3),
    ):
        notes.map(color=numbers).save(tmp_path / "map.html")
        keys = keys_of((tmp_path / "map.html").read_text())
        assert len(keys) == most
        starts = [key.split()[0] for key in keys]
        assert starts == sorted(starts, key=float)
        assert starts[0] == "0", "as the smallest number is"


def test_numbers_in_another_byte_order_and_halves_of_characters_are_colours(notes, tmp_path):
    n = np.arange(len(notes.documents()))
    for color, keys in (
        ((n % 2).astype(">i4"), ["0", "1"]),
        (["often\ud800" if number % 3 else "seldom" for number in n], ["often\ufffd", "seldom"]),
    ):
        notes.map(color=color).save(tmp_path / "map.html")
        assert keys_of((tmp_path / "map.html").read_text()) == keys


def test_few_numbers_have_colours_from_both_ends_of_the_scale(notes, tmp_path):
    notes.map(color=np.arange(len(notes.documents())) % 2).save(tmp_path / "map.html")
    head, _ = head_and_rest((tmp_path / "map.html").read_text())
    assert [label["colour"] for label in head["labels"]] == [SCALE[0], SCALE[-1]]


def test_dates_become_a_scale(notes, tmp_path):
    days = pd.Series(pd.date_range("2022-01-31", periods=len(notes.documents()), freq="7D"))
    missing = days.where(days.index != 5)
    quarters = ["2022Q1", "2022Q2", "2022Q3", "2022Q4"]
    for dates, names in (
        (days, ["2022-01 to 2022-05", "2024-01 to 2024-05"]),
        (days.dt.tz_localize("Europe/Berlin"), ["2022-01 to 2022-05", "2024-01 to 2024-05"]),
        (days.dt.to_period("M"), ["2022-01 to 2022-05", "2024-01 to 2024-05"]),
        (days.where(days < "2023", days[0]).dt.to_period("Q"), quarters),
    ):
        notes.map(color=dates.array).save(tmp_path / "map.html")
        keys = keys_of((tmp_path / "map.html").read_text())
        assert keys == sorted(keys)
        assert set(names) <= set(keys), keys
    with pytest.warns(UserWarning, match="color: 1 of"):
        places = notes.map(color=missing.array)
    places.save(tmp_path / "map.html")
    assert keys_of((tmp_path / "map.html").read_text())[-1] == "none"


def test_numbers_that_are_nearly_the_same_are_told_apart(notes, tmp_path):
    n = np.arange(len(notes.documents()))
    for numbers, names in (
        (20_240_101 + n % 2, ["20240101", "20240102"]),
        (1 + n % 2 / 1e6, ["1", "1.000001"]),
        (n % 2 - 0.25, ["-0.25", "0.75"]),
    ):
        notes.map(color=numbers).save(tmp_path / "map.html")
        assert keys_of((tmp_path / "map.html").read_text()) == names
    notes.map(color=1_704_067_200.5 + n).save(tmp_path / "map.html")
    keys = keys_of((tmp_path / "map.html").read_text())
    assert len(set(keys)) == len(SCALE)
    assert keys[0].startswith("1704067200 to 17040672")


@pytest.mark.interop
def test_names_in_the_picture_are_whole_apart_and_no_formulas(notes):
    from wikitopics.session.analysis.report.map_page import coloured
    from wikitopics.session.analysis.report.map_picture import drawn

    labels = ["$\\frac$", "_$", "<b>"]
    places = notes.map()
    of_model, *_ = places._drawn
    colouring = coloured(labels, np.arange(len(of_model)) % len(labels))
    named = [replace(row, name=f"{'very ' * 9}$long_ {row.name}") for row in of_model.topics]
    figure = drawn(replace(of_model, topics=named), colouring)
    (axes,) = figure.axes
    renderer = figure.canvas.get_renderer()
    legend = axes.get_legend()
    assert {text.get_text() for text in legend.get_texts()} == set(labels)
    boxes = [text.get_window_extent(renderer) for text in axes.texts]
    boxes.append(legend.get_window_extent(renderer))
    assert len(boxes) > 2
    for box in boxes:
        assert box.x0 >= 0
        assert box.x1 <= figure.bbox.x1
        assert sum(box.overlaps(other) for other in boxes) == 1  # with itself


@pytest.mark.interop
def test_letters_that_no_font_has_are_told_in_the_picture_too(notes, recwarn):
    from wikitopics.session.analysis.report.map_page import coloured
    from wikitopics.session.analysis.report.map_picture import drawn

    places = notes.map()
    of_model, *_ = places._drawn
    colouring = coloured(["clay 𒀀"], np.zeros(len(of_model), np.int64))
    named = [replace(row, name=f"𒀁 {row.name}") for row in of_model.topics]
    figure = drawn(replace(of_model, topics=named), colouring)
    figure.canvas.draw()
    (axes,) = figure.axes
    bottom, top = axes.get_ylim()
    assert bottom < top
    assert [land.origin for land in axes.images] == ["lower"]
    assert axes.get_legend().get_texts()[0].get_text() == "clay ?"
    assert any(text.get_text().startswith("? ") for text in axes.texts)
    (told,) = recwarn
    assert str(told.message).startswith("no installed font has '𒀀𒀁'")
    assert told.filename == __file__


@pytest.mark.parametrize(
    ("color", "error", "message"),
    [
        (["one"], ValueError, "color: 1 values for .* documents"),
        (pd.Series(["one"], index=["unknown"]), ValueError, "color: 1 values"),
        (pd.DataFrame({"a": [1]}), TypeError, "color must be a column"),
        ("label", TypeError, "color must be a column"),
        (7, TypeError, "color must be a column"),
    ],
)
def test_colours_that_do_not_fit_are_refused(notes, color, error, message):
    with pytest.raises(error, match=message):
        notes.map(color=color)


def test_an_unknown_model_and_a_session_without_a_map_are_refused(notes, corpus, cli, home):
    with pytest.raises(ValueError, match="no model 'nope'"):
        notes.map("nope")
    options = [*corpus.options(), "--topics", 3, "--held-out", 10, "--articles", 64]
    assert cli("train", *options, "--keep-articles", "none").code == 0
    with pytest.raises(wt.SessionError, match=r"no map of documents: .*--keep-articles all"):
        wt.open().map()


@pytest.mark.interop
def test_a_browser_shows_the_map_within_another_page(browser, tmp_path, notes):
    page = f"<!doctype html><h1>A notebook</h1>{notes.map()._repr_html_()}"
    (tmp_path / "notebook.html").write_text(page, encoding="utf-8")
    browser.get((tmp_path / "notebook.html").as_uri())
    browser.switch_to.frame(browser.find_element("tag name", "iframe"))
    drawn = "return performance.getEntriesByName('drawn').length"
    wait(browser, lambda: browser.execute_script(drawn))
    wheel = """
    const how = { deltaY: -240, cancelable: true };
    document.querySelector("canvas").dispatchEvent(new WheelEvent("wheel", how));
    return document.querySelector(".hint").hidden;
    """
    assert browser.execute_script(wheel) is False
    browser.switch_to.default_content()
    assert browser.get_log("browser") == []
