"""A dump that is read by a schedule, using only byte ranges."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import msgspec

from wikitopics.crawler.dumps import DUMP_FILES, SCHEDULE
from wikitopics.crawler.dumps.containers import LARGEST, LocalFile, can_be_parted
from wikitopics.crawler.dumps.files import DumpFiles
from wikitopics.crawler.dumps.parts import (
    MOST_ARTICLES,
    DumpFile,
    DumpPart,
    read_well,
    stated_facts,
)
from wikitopics.crawler.dumps.schedule import Chunk, Natural, Schedule
from wikitopics.crawler.errors import BadPosition, BadSource, CutOff, Lacking
from wikitopics.crawler.page import Page, SourceInfo
from wikitopics.crawler.rounds import Round, spread
from wikitopics.crawler.source import (
    Activity,
    Asked,
    Identity,
    Position,
    default_held_out,
    with_spare,
)

_SMALL = 4 << 20
"""The most bytes of a dump in which all places are examined to count articles."""
_SAMPLED = 8
"""The number of places examined first in a larger dump."""
_ENOUGH = 100
"""The articles that these must have; otherwise all places are examined."""
_SPARED = 3
"""The articles to hold out are drawn from the first third of each place. The places of a small dump
together are the whole of it: with articles from anywhere in them, it would be unpacked twice."""
_COUNTED_TOGETHER = 4
"""The number of places counted at a time: each may take up to 64 MB."""
_COUNTED = 256 << 10
"""The most bytes of a place in which articles are counted."""


class ShuffledDump(ABC):
    """The articles of dump files in which reading can begin anywhere.

    If the stored ``identity`` contains no schedule, one is made on opening.
    """

    name: str
    """The name for people."""
    identity: Mapping[str, Any] = {}
    """What a session stores of it besides the options given, the facts that it states, and the
    schedule."""

    def __init__(self, identity: Identity, asked: Asked) -> None:
        self.activity = Activity()
        stored = identity.get(SCHEDULE)
        self.schedule = None if stored is None else msgspec.convert(stored, Schedule)
        self.files: Sequence[DumpFile] = ()
        self._asked = asked

    @abstractmethod
    async def find(self) -> Sequence[DumpFile]:
        """The files, in their order, checked if there is no schedule yet. Raises a CrawlerError."""

    @abstractmethod
    async def part(self, schedule: Schedule, number: int, chunk: Chunk, part: int) -> DumpPart:
        """The part of a chunk that this round reads. Raises a CrawlerError."""

    @abstractmethod
    async def close(self) -> None:
        """Safe to call twice."""

    async def open(self) -> SourceInfo:
        """Read the beginning and, if there is no schedule yet, look at some places of the dump."""
        try:
            self.files = await self.find()
            sizes = [file.size for file in self.files]
            if self.schedule is not None and self.schedule.sizes != sizes:
                raise BadSource(
                    f"{self.name}: the dump has changed since this session began to read it"
                )
            info = await stated_facts(self.files[0], self.name)
            if self.schedule is None:
                self.activity.waiting_for = "reading parts of the dump, to choose what is held out"
                self.schedule = await survey(
                    self.files,
                    Schedule.of_sizes(self._asked.seed, sizes),
                    info,
                    self._asked.held_out,
                )
        finally:
            self.activity.waiting_for = None
        identity = {**info.identity, **self.identity, SCHEDULE: msgspec.to_builtins(self.schedule)}
        return replace(info, articles=self.schedule.articles or None, identity=identity)

    async def check(self, file: DumpFile) -> None:
        """Report at the start, not during training, a file that is not a dump or cannot be read in
        parts."""
        await stated_facts(file, file.name)
        if file.size > LARGEST:
            start = await DumpPart.read(file, 0, 0)
            if not await read_well(start, lambda part: can_be_parted(part.held, 1)):
                raise BadSource(f"{file.name} can only be read from its start: download it")

    async def batches(self, position: Position | None) -> AsyncGenerator[Round]:
        """All rounds after ``position``. Raises BadPosition."""
        schedule = self.schedule
        assert schedule is not None
        first = 0
        done = 0
        if position is not None:
            stored = (position.get("round"), position.get("done"))
            try:
                first, done = msgspec.convert(stored, tuple[Natural, Natural])
            except msgspec.ValidationError:
                raise BadPosition from None
        # One round of the articles to hold out, if there are any, comes before those of the
        # schedule.
        rounds_before = 1 if schedule.each else 0
        rounds = rounds_before + schedule.rounds
        for number in range(first, rounds):
            if number < rounds_before:
                seed = None
                jobs = [partial(self._place, schedule, chunk) for chunk in sorted(schedule.places)]
            else:
                seed = schedule.seed
                shuffled = number - rounds_before
                jobs = [
                    partial(self._part, schedule, shuffled, chunk, part)
                    for chunk, part in schedule.parts_of(shuffled)
                ]
            yield Round(
                jobs,
                here={"round": number},
                after={"round": number + 1},
                lap=(number / rounds, (number + 1) / rounds),
                done=done,
                seed=seed,
            )
            done = 0  # only the first round was begun before

    async def _place(self, schedule: Schedule, chunk: Chunk) -> DumpPart:
        start, stop = schedule.bounds(chunk, 0)
        part = await read_place(self.files[chunk.file], start, stop)
        return replace(part, held_out=schedule.held_out(chunk), is_place=True)

    async def _part(self, schedule: Schedule, number: int, chunk: Chunk, part: int) -> DumpPart:
        held_out = frozenset[int]()
        if part == 0 and chunk in schedule.places:
            held_out = schedule.held_out(chunk)
        read = await self.part(schedule, number, chunk, part)
        return replace(read, held_out=held_out)


class LocalDump(ShuffledDump):
    """The dump in files of this machine. Raises BadSource at once for missing ones."""

    def __init__(self, identity: Identity, asked: Asked) -> None:
        super().__init__(identity, asked)
        self._paths = identity[DUMP_FILES]
        self.name = DumpFiles(self._paths).name

    async def find(self) -> Sequence[DumpFile]:
        files = list(map(LocalFile, self._paths))
        if self.schedule is None:
            for file in files:
                await self.check(file)
        return files

    async def part(self, schedule: Schedule, number: int, chunk: Chunk, part: int) -> DumpPart:
        start, stop = schedule.bounds(chunk, part)
        self.activity.bytes_read += stop - start
        return await DumpPart.read(self.files[chunk.file], start, stop)

    async def close(self) -> None:
        """Do nothing: nothing is open."""


async def survey(
    files: Sequence[DumpFile],
    schedule: Schedule,
    info: SourceInfo,
    held_out: int | None,
) -> Schedule:
    """The schedule with the articles to hold out, and an estimate of all articles.

    ``held_out``: how many articles will be held out; None: the default. If the places give fewer,
    the next ones of the stream, which are in random order, are held out too. Raises BadSource.
    """
    places = sorted(schedule.places)
    size = sum(schedule.sizes)
    counts = await _enough_counts(files, schedule, info)
    tallies = [count.articles for count in counts]
    counted_bytes = sum(count.size for count in counts)
    articles = round(sum(tallies) * size / max(1, counted_bytes))

    wanted = default_held_out(articles or None) if held_out is None else held_out
    with_articles = sum(1 for tally in tallies if tally)
    share = with_articles / max(1, len(tallies))
    n_places = min(len(places), round(wanted / max(share, 0.01)))
    each = _needed_of_each(tallies, n_places, with_spare(wanted))
    most_have = sorted(tallies)[len(tallies) // 4] if tallies else 0  # three in four have as many
    if places and size > _SMALL:
        start, stop = schedule.bounds(places[0], 0)
        most_have = round(most_have * min(1, (stop - start) / (_SPARED * _COUNTED)))
    return msgspec.structs.replace(
        schedule,
        n_places=n_places,
        each=each,
        first=min(max(each, most_have), MOST_ARTICLES),
        articles=articles,
    )


class _Count(NamedTuple):
    """The articles counted at a place."""

    articles: int
    size: int
    """The bytes in which these begin."""


async def _enough_counts(
    files: Sequence[DumpFile],
    schedule: Schedule,
    info: SourceInfo,
) -> list[_Count]:
    """The articles at some places of a large dump, if these have enough; otherwise at all
    places."""
    if sum(schedule.sizes) > _SMALL:
        counts = await _counts(files, schedule, info, _SAMPLED)
        if sum(count.articles for count in counts) >= _ENOUGH:
            return counts
    return await _counts(files, schedule, info, len(schedule.places))


async def _counts(
    files: Sequence[DumpFile],
    schedule: Schedule,
    info: SourceInfo,
    number: int,
) -> list[_Count]:
    """The articles at ``number`` of the schedule's places."""
    places = sorted(schedule.places)
    together = asyncio.Semaphore(_COUNTED_TOGETHER)

    async def counted(chunk: Chunk) -> _Count:
        start, stop = schedule.bounds(chunk, 0)
        stop = min(stop, start + _COUNTED)
        part = await read_place(files[chunk.file], start, stop)
        articles = 0

        def count_pages(part: DumpPart) -> None:
            nonlocal articles
            articles = 0  # it is called again with more bytes if these are too few
            for page in part.pages(info):
                if isinstance(page, Page):
                    articles += 1

        async with together:
            with suppress(CutOff, Lacking):  # reported when it is read
                await read_well(part, count_pages)
        return _Count(articles, stop - start)

    examined = [places[index] for index in spread(len(places), number)]
    return await asyncio.gather(*map(counted, examined))


def _needed_of_each(tallies: Sequence[int], n_places: int, wanted: int) -> int:
    """How many articles to take from each place so that ``n_places`` give as many as are wanted, or
    all that they have.

    ``tallies``: the articles of the places that were examined; the others are taken to be alike.
    """
    each = 0
    while each < max(tallies, default=0):
        taken = sum(min(tally, each) for tally in tallies)
        if taken * n_places >= wanted * len(tallies):
            break
        each += 1
    return each


async def read_place(file: DumpFile, start: int, stop: int) -> DumpPart:
    """The part with these bytes, given only the first of them: more are hardly ever needed."""
    part = await DumpPart.read(file, start, min(stop, start + _COUNTED))
    return replace(part, stop=stop)
