"""The pictures of a session, drawn on matplotlib's axes."""

import itertools
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import wikitopics as wt
from tests.wikitopics.in_python.learning import TEXTS, learn
from wikitopics.session.analysis.areas import Area, Branch
from wikitopics.session.analysis.cartography import COLOURS
from wikitopics.session.records import Curve

matplotlib = pytest.importorskip("matplotlib", reason="matplotlib is an optional extra")
matplotlib.use("agg")

from matplotlib import pyplot as plt  # noqa: E402
from matplotlib.colors import to_rgb  # noqa: E402
from matplotlib.figure import Figure  # noqa: E402

from wikitopics.session.analysis.report import plots  # noqa: E402
from wikitopics.session.analysis.report.fonts import lettered, told  # noqa: E402

pytestmark = pytest.mark.interop

DAYS = pd.date_range("2023-11-20", periods=len(TEXTS), freq="D")
LABELS = np.array(["b", "a", "a", "c"])[np.arange(len(TEXTS)) % 4]
DRAWN = {
    "topics": lambda session, ax=None: session.plot_topics(ax),
    "tree": lambda session, ax=None: session.plot_tree(ax),
    "heat": lambda session, ax=None: session.plot_heat(LABELS, ax),
    "over_time": lambda session, ax=None: session.plot_over_time(DAYS, ax),
    "curve": lambda session, ax=None: session.plot_curve(ax),
    "compare": lambda session, ax=None: session.plot_compare(ax),
}
HOSTILE = ("$\\frac$", "_$^", "two\nlines", "a\x1b[31m\u202eb", "<b>&amp;", "long " * 80, "", "\\")


@pytest.fixture
def notes(made_once, trainers_run_here):
    """A session of two models of 120 documents; nobody may write to it."""

    def train(folder):
        learn(list(TEXTS), session=folder / "notes.db", topics=[3, 5])

    return wt.open(made_once("plots", train) / "notes.db")


@pytest.fixture(autouse=True)
def no_figures():
    plt.close("all")
    yield
    plt.close("all")


def many_topics(n, n_areas, name=lambda number: f"first{number}, second{number}, third{number}"):
    """(topics, areas, tree) of so many: the topics of an area are a branch, and so are all."""
    topics = []
    for number in range(n):
        words = [(f"word{number}x{place}", 0.1 / (place + 1), 0.5) for place in range(10)]
        colour = COLOURS[number % n_areas]
        topics.append(plots.DrawnTopic(number, name(number), 2 / (number + 2) / n, colour, words))
    areas = []
    tree = []
    for area in range(n_areas):
        members = tuple(range(area, n, n_areas))
        areas.append(Area(area, f"area {name(area)}", 1 / n_areas, members))
        tree += [Branch(topic, n + area, 0.0, "", 0.01, (topic,)) for topic in members]
    tree.sort(key=lambda branch: branch.number)
    root = n + n_areas
    tree += [Branch(n + area.number, root, 0.5, "", 0.1, area.topics) for area in areas]
    all_topics = tuple(topic for area in areas for topic in area.topics)
    return topics, areas, [*tree, Branch(root, None, 1.0, "", 1.0, all_topics)]


def a_table(names, labels, by="group"):
    """What `by_group` returns of so many names and labels."""
    rows = [
        (label, place, name, (1 + place % 7 + order % 5) / 40, 0.01, 10 + order)
        for order, label in enumerate(labels)
        for place, name in enumerate(names)
    ]
    columns = [by, "topic", "name", "share", "standard_error", "documents"]
    return pd.DataFrame(rows, columns=columns)


def boxes_of(axes):
    """The boxes of all text that is drawn, within the figure's pixels."""
    figure = axes.figure
    figure.canvas.draw()
    texts = [*axes.texts, axes.xaxis.label]
    for axis in (axes.xaxis, axes.yaxis):
        low, high = sorted(axis.get_view_interval())
        for tick in axis.get_major_ticks():
            if low <= tick.get_loc() <= high:  # others are not drawn
                texts += [label for label in (tick.label1, tick.label2) if label.get_visible()]
    return [text.get_window_extent() for text in texts if text.get_text()]


def assert_apart_and_inside(axes):
    boxes = boxes_of(axes)
    assert len(boxes) > 3
    for box in boxes:
        assert box.x0 >= -1
        assert box.y0 >= -1
        assert box.x1 <= axes.figure.bbox.x1 + 1
        assert box.y1 <= axes.figure.bbox.y1 + 1
    for one, other in itertools.combinations(boxes, 2):
        assert not one.padded(-1).overlaps(other.padded(-1)), (one, other)


@pytest.mark.parametrize("name", DRAWN)
def test_a_picture_is_drawn_on_the_axes_given_and_nothing_else_changes(notes, name):
    settings = dict(matplotlib.rcParams)
    current = plt.figure().add_subplot()
    axes = Figure(figsize=(8, 6), layout="constrained").add_subplot()
    assert DRAWN[name](notes, axes) is axes
    axes.figure.canvas.draw()
    assert plt.get_fignums() == [1]
    assert plt.gca() is current
    assert not current.has_data()
    assert settings == dict(matplotlib.rcParams)


@pytest.mark.parametrize("name", DRAWN)
def test_without_axes_a_figure_is_made(notes, name):
    axes = DRAWN[name](notes)
    assert plt.gca() is axes
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # such as of letters that the font lacks
        axes.figure.canvas.draw()


@pytest.mark.parametrize("style", ["default", "dark_background"])
@pytest.mark.parametrize("name", DRAWN)
def test_text_stands_out_from_its_ground_in_light_and_dark_styles(notes, name, style):
    with plt.style.context(style):
        axes = DRAWN[name](notes)
        axes.figure.canvas.draw()
    ground = np.mean(to_rgb(axes.figure.get_facecolor()))
    for part in (axes, *axes.child_axes):
        ticks = [*part.get_xticklabels(), *part.get_yticklabels()]
        texts = [*part.texts, part.xaxis.label, *ticks]
        on_image = part.texts if part.images else []
        for text in texts:
            if text not in on_image:
                assert abs(np.mean(to_rgb(text.get_color())) - ground) > 0.7


def test_bars_have_the_words_that_are_shown_by_probability(notes):
    topics = notes.topics()
    for topic in topics:
        axes = notes.plot_topics(topics=[topic.number])
        texts = [text.get_text() for text in axes.texts]
        shown = [word for word in topic.words if word in topic.shown[: plots.WORDS]]
        assert [text for text in texts if text in shown] == shown
        assert topic.name in texts
        assert "largest" not in axes.get_xlabel()
    axes = notes.plot_topics(n=2)
    texts = [text.get_text() for text in axes.texts]
    assert [topic.name in texts for topic in topics] == [True, True, False]
    assert "the 2 largest of 3 topics" in axes.get_xlabel()


def test_the_tree_names_every_topic_and_area(notes):
    for model in names_of(notes):
        axes = notes.plot_tree(model=model)
        texts = " ".join(text.get_text() for text in axes.texts)
        used = [topic for topic in notes.topics(model) if topic.in_use]
        assert len(used) > 2
        for named in (*notes.areas(model=model), *used):
            assert named.name[:20] in texts


def names_of(session):
    return [model.name for model in session.status().models]


def test_a_heat_map_shows_the_table(notes):
    axes = notes.plot_heat(LABELS)
    frame = notes.by(LABELS).set_index(["name", "group"])
    rows = [label.get_text() for label in axes.get_yticklabels()]
    groups = [label.get_text().split()[0] for label in axes.get_xticklabels()]
    assert sorted(rows) == sorted(area.name for area in notes.areas())
    assert groups == ["a", "b", "c"]
    (image,) = axes.images
    cells = image.get_array()
    largest = frame["share"].idxmax()
    row = rows.index(largest[0])
    column = groups.index(largest[1])
    colour = to_rgb(COLOURS[frame["area"][largest]])
    np.testing.assert_allclose(cells[row, column], colour, atol=0.01)
    told_of = {(text.get_position()[1], text.get_position()[0]): text for text in axes.texts}
    for (row, name), (column, group) in itertools.product(enumerate(rows), enumerate(groups)):
        share = frame["share"][name, group]
        assert told_of[row, column].get_text() in (f"{share:.0%}", f"{share:.1%}", "0")


@pytest.mark.parametrize(
    "groups",
    [
        np.arange(len(TEXTS)) % 2 == 0,
        pd.cut(np.arange(len(TEXTS)), 3),
        pd.Categorical(LABELS, ["c", "unused", "a", "b"]),
        np.arange(len(TEXTS)),
    ],
    ids=["booleans", "intervals", "categories", "too many"],
)
def test_groups_of_all_kinds_are_columns(notes, groups):
    axes = notes.plot_heat(groups)
    found = notes.by(groups)["group"].drop_duplicates()
    told_of = [label.get_text().split("\n")[0].split("  ")[0] for label in axes.get_xticklabels()]
    assert told_of == [str(group) for group in found[: plots.GROUPS]]
    axes.figure.canvas.draw()


def test_long_names_of_groups_have_room_above_few_rows(notes):
    names = [f"a group with a long name {number}" for number in range(60)]
    groups = np.array(names)[np.arange(len(TEXTS)) % len(names)]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        axes = notes.plot_heat(groups)
        axes.figure.canvas.draw()
    assert axes.get_window_extent().height > 30
    top = axes.figure.bbox.y1
    assert all(label.get_window_extent().y1 <= top for label in axes.get_xticklabels())


@pytest.mark.parametrize(
    "dates",
    [
        pd.PeriodIndex(["0001", "9999"], freq="Y"),
        pd.PeriodIndex(["9999", "9999"], freq="Y"),
        pd.PeriodIndex(["0001-01-01", "0001-01-03"], freq="D"),
        pd.PeriodIndex(["9999-12-30", "9999-12-31"], freq="D"),
    ],
    ids=str,
)
def test_lines_may_reach_to_the_first_and_the_last_date_of_all(notes, dates):
    axes = notes.plot_over_time(dates.repeat(len(TEXTS) // len(dates)))
    axes.figure.canvas.draw()


def test_lines_over_time_are_the_table_with_bands(notes):
    decades = np.arange(len(TEXTS)) // 30 * 10 + 1980
    frame = notes.over_time(decades)
    axes = notes.plot_over_time(decades)
    areas = notes.areas()
    assert len(axes.lines) == len(areas)
    for line, area in zip(axes.lines, areas, strict=True):
        shares = frame.loc[frame["area"] == area.number, "share"].dropna()
        assert len(shares) == 4
        np.testing.assert_array_equal(line.get_ydata(), shares)
        assert line.get_color() == COLOURS[area.number]
    assert len(axes.collections) == len(areas)
    assert {text.get_text() for text in axes.texts} == {area.name for area in areas}


def test_bands_end_at_nothing_and_at_all():
    table = a_table(["one"], pd.period_range("2020-01", periods=3, freq="M"), "period")
    table["standard_error"] = 0.6
    axes = plots.draw_over_time(None, table, {0: COLOURS[0]}, 1, "topics")
    (band,) = axes.collections
    (path,) = band.get_paths()
    heights = path.vertices[:, 1]
    assert heights.min() == 0
    assert heights.max() == 1


def test_curves_are_the_perplexities_of_all_models(notes):
    axes = notes.plot_curve()
    names = names_of(notes)
    assert sorted(text.get_text() for text in axes.texts) == sorted(names)
    for line, name in zip(axes.lines, names, strict=True):
        measured = [one for one in notes.metrics(name) if one.metric == "perplexity"]
        assert line.get_xdata().tolist() == [one.articles for one in measured]
        assert line.get_ydata().tolist() == pytest.approx([one.value for one in measured])


@pytest.mark.parametrize("counted", ["documents", "document reads"])
def test_a_curve_says_what_it_goes_over(counted):
    articles = np.array([60.0, 120.0])
    curve = Curve(articles, tokens=articles, seconds=articles, values=np.array([300.0, 200.0]))
    axes = plots.draw_curves(None, {"lda": curve}, "documents", counted)
    assert axes.get_ylabel() == "perplexity of held-out documents"
    assert axes.get_xlabel().startswith(counted)


def test_every_score_is_drawn_over_the_number_of_topics(notes):
    table = notes.compare()
    axes = notes.plot_compare()
    assert len(axes.child_axes) == len(plots.SCORES)
    for panel, (score, _) in zip(axes.child_axes, plots.SCORES, strict=True):
        known = table[table[score].notna()]
        if len(known):
            line = panel.lines[0]
            assert line.get_xdata().tolist() == known["topics"].tolist()
            assert line.get_ydata().tolist() == pytest.approx(known[score].tolist())


def test_kinds_of_models_are_told_apart(trainers_run_here, tmp_path):
    session = learn(list(TEXTS), session=tmp_path / "kinds.db", model=["lda", "hdp"], topics=None)
    axes = session.plot_compare()
    legend = axes.child_axes[0].get_legend()
    assert {text.get_text() for text in legend.get_texts()} == {"lda", "hdp"}
    assert [text.get_text() for text in axes.child_axes[3].texts] == ["not measured"]


@pytest.mark.parametrize(("n", "n_areas"), [(1, 1), (20, 6), (200, 18)])
def test_names_are_apart_and_inside_however_many_there_are(n, n_areas):
    topics, areas, tree = many_topics(n, n_areas)
    if n > 1:
        drawn = plots.draw_tree(None, tree, areas, topics, plots.LEAVES)
        assert_apart_and_inside(drawn)
        more = [text.get_text().split(", ")[-1] for text in drawn.texts]
        n_more = sum(int(part.removesuffix(" more")) for part in more if part.endswith(" more"))
        assert n_more == max(n - plots.LEAVES, 0)
    names = [topic.name for topic in topics]
    colours = {topic.number: topic.colour for topic in topics}
    groups = a_table(names, [f"the group number {number}" for number in range(n_areas)])
    heat = plots.draw_heat(None, groups, colours, plots.ROWS, "topics")
    # Slanting labels are apart if their boxes overlap.
    slanted = {label for label in heat.get_xticklabels() if label.get_rotation()}
    if not slanted:
        assert_apart_and_inside(heat)
    periods = pd.period_range("2020-01", periods=30, freq="M")
    dates = a_table(names, periods, "period")
    assert_apart_and_inside(plots.draw_over_time(None, dates, colours, plots.LINES, "topics"))
    if n > plots.TOPICS:
        for axes in (heat, plots.draw_topics(None, topics[: plots.TOPICS], len(topics))):
            assert f"largest of {n} topics" in axes.get_xlabel().replace("\n", " ")


@pytest.mark.parametrize("size", [(1.5, 1.2), (4, 3), (12, 8)])
def test_bars_of_words_do_not_cover_each_other_in_axes_of_any_size(size):
    topics, *_ = many_topics(20, 6)
    axes = Figure(figsize=size).add_subplot()
    plots.draw_topics(axes, topics[:4], 20)
    axes.xaxis.label.set_visible(False)
    axes.figure.canvas.draw()
    boxes = [text.get_window_extent() for text in axes.texts]
    for one, other in itertools.combinations(boxes, 2):
        assert not one.padded(-2).overlaps(other.padded(-2))


def test_foreign_names_are_written_as_they_are():
    topics, areas, tree = many_topics(40, 8, lambda number: HOSTILE[number % len(HOSTILE)])
    colours = {topic.number: topic.colour for topic in topics}
    topics = [
        replace(topic, words=[(HOSTILE[place % 8], 0.1, 0.5) for place in range(10)])
        for topic in topics
    ]
    names = [topic.name for topic in topics[:9]]
    table = a_table(names, HOSTILE)
    over_time = a_table(names, pd.period_range("2020-01", periods=3, freq="M"), "period")
    with plt.rc_context({"text.parse_math": True}):
        for axes in (
            plots.draw_topics(None, topics, len(topics)),
            plots.draw_tree(None, tree, areas, topics, 40),
            plots.draw_heat(None, table, colours, 20, "topics"),
            plots.draw_over_time(None, over_time, colours, 20, "topics"),
        ):
            assert_no_formulas(axes)
            texts = [*axes.texts, *axes.get_xticklabels(), *axes.get_yticklabels()]
            assert any("$\\frac$" in text.get_text() for text in texts)
            assert not any("\x1b" in text.get_text() for text in texts)


def assert_no_formulas(axes):
    axes.figure.canvas.draw()
    labels = [*axes.get_xticklabels(), *axes.get_yticklabels()]
    for text in (*axes.texts, *labels):
        if any(name in text.get_text() for name in ("$", "_")):
            assert not text.get_parse_math()
            assert not text.get_usetex()


def test_letters_that_no_font_has_are_told_once_and_never_drawn_as_boxes():
    with pytest.warns(UserWarning, match="no installed font has") as warned:
        written = lettered("clay 𒀀𒀁 tablet")
    assert len(warned) == 1
    assert written["text"] == "clay ?? tablet"
    assert lettered("Žižek, naïve")["text"] == "Žižek, naïve"
    assert told("a\n b\x07" + "c" * 50, 10) == "a b\\x07ccc…"[:9] + "…"


def test_letters_that_no_font_has_are_told_once_a_picture_in_the_users_line(notes):
    kinds = ["𒀀", "𒀁", "𒀂"] * 40
    with pytest.warns(UserWarning, match="no installed font has '𒀀𒀁𒀂'") as warned:
        notes.plot_heat(kinds)
    assert [told.filename for told in warned] == [__file__]
    with pytest.warns(UserWarning, match="no installed font has"):
        exec("notes.plot_heat(kinds)", {"notes": notes, "kinds": kinds})  # a module without a name


def test_a_number_of_topics_that_there_is_not_is_refused(notes):
    with pytest.raises(ValueError, match="topics: 99 is not in use, or hidden"):
        notes.plot_topics(topics=[99])
    with pytest.raises(TypeError, match="topics must be"):
        notes.plot_topics(topics=7)
    with pytest.raises(ValueError, match="n must be from 1"):
        notes.plot_tree(n=0)
    with pytest.raises(ValueError, match="no model 'nope'"):
        notes.plot_heat(LABELS, model="nope")


def test_before_anything_is_learnt_one_line_says_so(corpus, cli, home):
    options = [*corpus.options(), "--topics", 3, "--held-out", 0, "--articles", 64]
    assert cli("train", *options).code == 0
    with pytest.raises(wt.SessionError, match="perplexity has not been measured"):
        wt.open().plot_curve()
