"""What documents are about, by a column of the user's own: in each class, or in each period.

Importing this module loads pandas.
"""

import warnings
from collections.abc import Mapping, Sequence, Set
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api.types import is_bool_dtype, is_numeric_dtype, is_object_dtype, is_string_dtype

from wikitopics.crawler.page import sound_text
from wikitopics.model.online import IN_USE
from wikitopics.session.advance import Advance, unseen
from wikitopics.session.analysis.areas import areas
from wikitopics.session.analysis.frames import documents_of
from wikitopics.session.analysis.similar import TOPICS_READ
from wikitopics.session.errors import SessionError
from wikitopics.session.sources import noun
from wikitopics.session.storage.reader import SessionReader

Level = Literal["areas", "topics"]
PERIODS = ("min", "h", "D", "W", "M", "Q", "Y")
MOST_CHOSEN = 40
"""The shortest of `PERIODS` is chosen of which the dates have at most so many; otherwise years."""
MOST_PERIODS = 10_000
"""More periods are refused: seconds could make a table of any size."""
_CALL = 5
"""How far up the stack a warning says it comes from: from the user's call of a session's method."""


def by_group(
    reader: SessionReader, model: str, groups: object, level: Level, advance: Advance = unseen
) -> pd.DataFrame:
    """The mean proportions of each group of documents; see `StoredSession.by`."""
    column = column_of("groups", groups)
    try:
        codes, labels = column.values.factorize(sort=True)
    except TypeError as error:  # values that cannot be compared, such as lists
        raise TypeError(f"groups: {error}") from None
    with reader.one_moment():
        places = _placed(reader, "groups", column, advance)
        columns = _columns(reader, model, level)
        code_of = np.append(codes, -1)[places]  # the place -1 is that of the code -1
        has_documents = np.bincount(code_of + 1, minlength=len(labels) + 1)[1:] > 0
        code_of = np.append(np.cumsum(has_documents) - 1, -1)[code_of]
        used = pd.Index(labels)[has_documents]
        if isinstance(used, pd.CategoricalIndex):
            used = used.remove_unused_categories()
        _tell("groups", reader, code_of)
        return _means(reader, model, code_of, used.rename("group"), columns, level, advance)


def over_time(
    reader: SessionReader,
    model: str,
    dates: object,
    freq: str | None,
    level: Level,
    advance: Advance = unseen,
) -> pd.DataFrame:
    """The mean proportions in each period; see `StoredSession.over_time`."""
    column = column_of("dates", dates)
    with reader.one_moment():
        places = _placed(reader, "dates", column, advance)
        columns = _columns(reader, model, level)
        moments = _moments(column.values)
        used = moments.iloc[np.unique(places[places >= 0])].dropna()
        if used.empty:
            called = noun(reader.settings().source)
            raise ValueError(f"dates: none of the {len(places):,} {called} has a value")
        periods = _periods(moments, _freq_of(used, freq))
        periods_used = _periods(used, periods.dtype.freq)
        first = periods_used.min()
        n_periods = periods_used.max().ordinal - first.ordinal + 1
        if n_periods > MOST_PERIODS:
            raise ValueError(
                f"freq: {n_periods:,} periods from {first} to {periods_used.max()}, but at "
                f"most {MOST_PERIODS:,} are possible: choose longer ones"
            )
        codes = np.where(periods.isna(), -1, periods.astype("int64") - first.ordinal)
        code_of = np.append(codes, -1)[places]
        _tell("dates", reader, code_of)
        every = pd.period_range(first, periods=n_periods, name="period")
        return _means(reader, model, code_of, every, columns, level, advance)


class Column(NamedTuple):
    """Values given for documents."""

    values: pd.Series
    labels: pd.Index | None
    """The index of a Series; None if the values have only an order, as those of a list."""


def column_of(argument: str, values: object) -> Column:
    """The values as a column. Raises TypeError and ValueError if they are none."""
    if isinstance(values, pd.DataFrame):
        raise TypeError(f"{argument} must be a column, such as frame['label'], not a table")
    if isinstance(values, str | bytes | Mapping | Set) or not hasattr(values, "__len__"):
        raise TypeError(f"{argument} must be a column or a list with a value for each document")
    labels = _native(values.index) if isinstance(values, pd.Series) else None
    try:
        return Column(_series(values), labels)
    except ValueError as error:  # an array of several dimensions
        raise ValueError(f"{argument}: {error}") from None


def _series(values: object) -> pd.Series:
    """The values with which pandas can compute: of text, without halves of characters. Raises
    ValueError."""
    try:
        series = pd.Series(values)
    except UnicodeEncodeError:
        series = pd.Series(values, dtype=object)
    if is_object_dtype(series) or isinstance(series.dtype, pd.StringDtype):
        sound = [sound_text(value) if isinstance(value, str) else value for value in series]
        return pd.Series(sound, series.index, dtype=series.dtype)
    return _native(series)


def _native(values: Any) -> Any:
    """A Series or an index in the byte order of this machine: pandas computes with no other."""
    if isinstance(values.dtype, np.dtype):
        return values.astype(values.dtype.newbyteorder("="))
    return values


def places_of_values(
    argument: str,
    column: Column,
    page_ids: NDArray[np.int64],
    documents: pd.DataFrame | None,
    noun: str,
) -> NDArray[np.int64]:
    """(n,) where among the values that of each article is; -1 for an article without one.

    Values belong to articles by their labels if these are the articles' ids, otherwise by their
    order.

    page_ids: (n,) of the articles
    documents: the result of `frames.documents_of`: all documents, also those that are not among the
    articles; None if articles are known by their page ids

    Raises ValueError if the values go by the order, but are too few or too many.
    """
    all_page_ids = page_ids if documents is None else documents["page_id"].to_numpy()
    places = None
    if column.labels is not None:
        places = _places_of_labels(column.labels, all_page_ids, documents)
    if places is None:
        n_values = len(column.values)
        if n_values != len(all_page_ids):
            refused = (
                f"{argument}: {n_values:,} values for {len(all_page_ids):,} {noun}; give a value "
                "for each, or a column with their ids as its index"
            )
            if column.labels is not None and _only_count(column.labels):
                refused += " (one that only counts 0, 1, 2 is taken for their order)"
            raise ValueError(refused)
        places = np.arange(n_values)
    if documents is not None:
        # The place -1 is that of a page id that is no document's, as a damaged file may have.
        places = np.append(places, -1)[pd.Index(all_page_ids).get_indexer(page_ids)]
    return places


def _places_of_labels(
    labels: pd.Index, page_ids: NDArray[np.int64], documents: pd.DataFrame | None
) -> NDArray[np.int64] | None:
    """(n,) where among the labels the id of each article is; -1 where it is not among them. None if
    the labels are not ids: those that only count (0, 1, 2 and so on) are ids only if they are so of
    all articles.

    page_ids: (n,) of the articles that ``documents`` has, if it is not None
    """
    ids: pd.Index | None = pd.Index(page_ids)
    if documents is not None and not isinstance(documents.index, pd.RangeIndex):
        ids = documents.index
    elif documents is not None and labels.name != "page_id":
        ids = None
    if ids is None or not ids.is_unique or not labels.is_unique:
        return None
    counts_only = _only_count(labels)
    if is_string_dtype(ids) and not is_string_dtype(labels):
        labels = labels.map(str)  # ids of files are text
    places: NDArray[np.int64] = labels.get_indexer(ids)
    are_ids = places.min(initial=0) >= 0 if counts_only else places.max(initial=-1) >= 0
    return places if are_ids else None


def _only_count(labels: pd.Index) -> bool:
    """Whether the labels are 0, 1, 2 and so on, as pandas numbers rows."""
    return isinstance(labels, pd.RangeIndex) and labels.start == 0 and labels.step == 1


def _placed(
    reader: SessionReader, argument: str, column: Column, advance: Advance
) -> NDArray[np.int64]:
    """(D,) the places of the values of the articles whose proportions are recorded."""
    reader.check_proportions()
    page_ids = reader.recorded_articles(held_out=True).page_ids
    documents = documents_of(reader, titles=False, advance=advance)
    called = noun(reader.settings().source)
    return places_of_values(argument, column, page_ids, documents, called)


def _columns(
    reader: SessionReader, model: str, level: Level
) -> list[tuple[int, str, tuple[int, ...]]]:
    """(number, name, topics) of each area, or of each topic in use that is not hidden, the largest
    first."""
    if level == "areas":
        return [(area.number, area.name, area.topics) for area in areas(reader, model)]
    if level != "topics":
        raise ValueError(f"level must be 'areas' or 'topics', not {level!r:.60}")
    in_use = [row for row in reader.topics(model) if row.share > IN_USE]
    rows = [row for row in in_use if not row.hidden]
    if in_use and not rows:
        raise SessionError(f"all topics of {model} in use are hidden")
    rows.sort(key=lambda row: -row.share)
    return [(row.topic, row.name, (row.topic,)) for row in rows]


def _tell(argument: str, reader: SessionReader, code_of: NDArray[np.int64]) -> None:
    """Warn of articles without a value. Raises ValueError if none has one."""
    called = noun(reader.settings().source)
    n_without = int((code_of < 0).sum())
    tell_of_those_without(argument, n_without, len(code_of), called, "are left out")


def tell_of_those_without(
    argument: str, n_without: int, n: int, noun: str, what_they_are: str
) -> None:
    """Warn of articles without a value. Raises ValueError if none has one."""
    if n_without == n:
        raise ValueError(f"{argument}: none of the {n:,} {noun} has a value")
    if n_without:
        warnings.warn(
            f"{argument}: {n_without:,} of {n:,} {noun} have no value and {what_they_are}",
            stacklevel=_CALL,
        )


def _means(
    reader: SessionReader,
    model: str,
    code_of: NDArray[np.int64],
    labels: pd.Index,
    columns: Sequence[tuple[int, str, tuple[int, ...]]],
    level: Level,
    advance: Advance,
) -> pd.DataFrame:
    """A row for each label and each of the columns.

    code_of: (D,) the index of each article's label; -1 for none
    """
    if not columns:
        raise SessionError(f"there are no {level} in use yet")
    column_of_topic = np.full(reader.spec(model).topics, len(columns))
    for column, (_, _, topics) in enumerate(columns):
        column_of_topic[list(topics)] = column
    moments = Moments(len(labels), len(columns))
    read = 0
    for part in reader.each_part(model, held_out=True):
        codes = code_of[read : read + len(part)]
        read += len(part)
        cells = part.owners() * (len(columns) + 1) + column_of_topic[part.topics]
        size = len(part) * (len(columns) + 1)
        summed = np.asarray(np.bincount(cells, part.values(), size), np.float64)
        values = summed.reshape(len(part), -1)[:, :-1]
        moments.add(values[codes >= 0], codes[codes >= 0])
        advance(TOPICS_READ, read, len(code_of))
    n_documents = moments.n.astype(np.int64)
    shares = moments.means
    with np.errstate(invalid="ignore", divide="ignore"):  # NaN without documents, or with only one
        shares[n_documents == 0] = np.nan
        of_group = moments.n[:, None]
        errors = np.sqrt(moments.squares / (of_group - 1) / of_group)
    errors[n_documents < 2] = np.nan
    n = len(columns)
    numbers = [number for number, _, _ in columns]
    names = [name for _, name, _ in columns]
    numbered = "area" if level == "areas" else "topic"
    return pd.DataFrame(
        {
            labels.name: labels.repeat(n),
            numbered: np.tile(numbers, len(labels)),
            "name": names * len(labels),
            "share": shares.ravel(),
            "standard_error": errors.ravel(),
            "documents": n_documents.repeat(n),
        }
    )


def _moments(dates: pd.Series) -> pd.Series:
    """Dates as moments without a time zone, each in its own; whole numbers as years; periods as
    they are. Raises ValueError for what are no dates."""
    dates = dates.reset_index(drop=True)
    if isinstance(dates.dtype, pd.CategoricalDtype):
        dates = dates.astype(dates.cat.categories.dtype)
    if isinstance(dates.dtype, pd.PeriodDtype):
        return dates
    if is_bool_dtype(dates):
        raise TypeError("dates must be dates, not booleans")
    if is_numeric_dtype(dates):
        known = dates.dropna()
        if not (known.between(1, 9999) & (known == known.round())).all():
            raise ValueError(
                "dates: numbers must be years; convert others to dates first, such as seconds "
                "since 1970 with pd.to_datetime(dates, unit='s')"
            )
        january = np.ones(len(known), np.int64)
        years = pd.PeriodIndex.from_fields(year=known.astype("int64"), month=january, freq="Y")
        return pd.Series(years, index=known.index).reindex(dates.index)
    advice = (
        "convert them to dates first, such as with pd.to_datetime(dates, format=…, errors='coerce')"
    )
    try:
        with warnings.catch_warnings(record=True) as told_by_pandas:
            warnings.simplefilter("always", UserWarning)
            moments = pd.to_datetime(dates).dt.tz_localize(None)
    except (AttributeError, TypeError, ValueError, OverflowError) as error:
        line = " ".join(str(error).split())
        reason, _, _ = line.removesuffix(".").partition(". You might want to try")
        raise ValueError(f"dates: {reason:.200}; {advice}") from None
    # Whatever else pandas has to say of these dates, such as of quarters, the advice is the same.
    for told in told_by_pandas[:1]:
        reason, _, _ = str(told.message).partition(". ")
        warnings.warn(f"dates: {reason:.200}; {advice}", stacklevel=_CALL - 1)
    return moments


def periods_of(dates: pd.Series) -> pd.Series:
    """The period of each date, of the length that the range of the dates decides."""
    moments = _moments(dates)
    return _periods(moments, _freq_of(moments.dropna(), None))


def _freq_of(moments: pd.Series, freq: str | None) -> object:
    """The length of periods, given or chosen from the range of the dates."""
    if freq is not None:
        try:
            offset = pd.Period("2000-01-01", freq=freq).freq
        except (TypeError, ValueError):
            raise ValueError(
                "freq must be the length of a period, such as 'D', 'W', 'M', 'Q' or 'Y', not "
                f"{freq!r:.40}"
            ) from None
        if offset.n != 1:
            raise ValueError(f"freq must be a single period, such as 'M', not {freq!r:.40}")
        return offset
    if isinstance(moments.dtype, pd.PeriodDtype):
        return moments.dtype.freq
    are_days = (moments == moments.dt.normalize()).all()
    ends = pd.Series([moments.min(), moments.max()])
    for length in PERIODS[PERIODS.index("D") :] if are_days else PERIODS:
        first, last = ends.dt.to_period(length)
        if last.ordinal - first.ordinal < MOST_CHOSEN:
            return length
    return PERIODS[-1]


def _periods(moments: pd.Series, freq: object) -> pd.Series:
    if isinstance(moments.dtype, pd.PeriodDtype):
        return moments.dt.asfreq(freq)
    return moments.dt.to_period(freq)


class Moments:
    """The means and the variances of groups of rows, which are added some at a time."""

    def __init__(self, groups: int, columns: int) -> None:
        self.n = np.zeros(groups)
        """(groups,) the rows of each group"""
        self.means = np.zeros((groups, columns))
        self.squares = np.zeros((groups, columns))
        """(groups, columns) the sums of the squared differences from the means"""

    def add(self, values: NDArray[np.float64], codes: NDArray[np.int64]) -> None:
        """Add rows, (n, columns), of the groups ``codes``, (n,)."""
        groups = len(self.n)
        n = np.bincount(codes, minlength=groups).astype(np.float64)
        total = self.n + n
        weight = np.divide(n, total, out=np.zeros(groups), where=total > 0)
        for column in range(values.shape[1]):
            of_column = values[:, column]
            sums = np.bincount(codes, of_column, groups)
            means = np.divide(sums, n, out=np.zeros(groups), where=n > 0)
            squares = np.bincount(codes, (of_column - means[codes]) ** 2, groups)
            # Two sets of values together: each has its mean, and the means differ.
            difference = means - self.means[:, column]
            self.means[:, column] += difference * weight
            self.squares[:, column] += squares + difference**2 * self.n * weight
        self.n = total
