"""A dump in random order, as stochastic inference requires of its documents, read by nothing but byte ranges.

A dump is ordered by age. Its files are divided into *chunks*, which are shuffled; each chunk is divided into
parts. A round begins with the first parts of some chunks, and reads the second parts of those before, the
third parts of those before these, and so on; its articles are mixed. The last chunks end in the first rounds,
so all rounds are of the same size. What a round reads follows from numbers alone. Before all rounds come the
articles to hold out: a few from the beginning of each of several chunks, spread evenly over the dump.
"""

import asyncio
import re
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from hashlib import blake2b
from itertools import count
from pathlib import Path
from typing import Annotated, Any, ClassVar, NamedTuple, Protocol, TypeVar

import msgspec
from msgspec import Meta

from wikitopics.crawler.dumps import DUMP_FILES, SCHEDULE
from wikitopics.crawler.dumps.containers import (
    HEAD,
    LARGEST,
    HeldFile,
    LocalFile,
    blocks,
    can_be_parted,
    data_blocks,
    reading,
)
from wikitopics.crawler.dumps.xml import DumpFiles, DumpReader
from wikitopics.crawler.source import (
    Activity,
    Asked,
    BadPosition,
    BadSource,
    CutOff,
    Identity,
    Lack,
    Lacking,
    Page,
    Piece,
    Position,
    Skip,
    Skips,
    SourceInfo,
    default_held_out,
    with_spare,
)

# Parts of dump files that can be read independently, in any process and in any order.
#
# A part is a range of bytes of a file as stored on disk. Its pages are those whose first byte is in data
# whose unpacking begins there: a block, a frame, or for a plain file the byte itself. So each page is in
# exactly one part, wherever files are divided.

T = TypeVar("T")

BEYOND = 512 << 10
"""Bytes held behind the end of a part: the block of its last page hardly ever ends later."""
MOST_HELD = 64 << 20
"""The most bytes that one part is given."""
_MOST_UNPACKED = 256 << 20
"""The most bytes of a part's data; a dump unpacks to five or twenty times its size."""
_MOST_ARTICLES = 50_000
"""The most articles of a part; the shortest ones of a real dump, in large numbers, take a hundred bytes
each."""
_PAGE = re.compile(rb"<page[\s>]")


class DumpFile(Protocol):
    """One file of a dump, on this machine or on a server."""

    @property
    def name(self) -> str:
        """The name for people."""

    @property
    def size(self) -> int:
        """In bytes."""

    async def bytes_from(self, start: int, stop: int) -> bytes:
        """Bytes ``start`` to before ``stop``, fewer only at the file's end. Raises a `CrawlerError`."""

    async def fresh_bytes(self, start: int, stop: int) -> bytes | None:
        """The same, as the place where the file is stored now gives them; None if that would not differ."""


@dataclass(frozen=True, slots=True)
class DumpPart:
    """The pages that begin in the bytes before ``stop`` of those that are ``held``.

    The articles of the numbers ``held_out`` are held out.
    """

    held: HeldFile
    stop: int
    held_out: frozenset[int] = frozenset()
    is_place: bool = False
    """Whether it gives the articles that are held out, and nothing else, or all the others."""
    file: DumpFile | None = field(default=None, compare=False)
    """Where more of it can be read; not in another process."""
    articles: ClassVar = 0
    """Unknown."""

    @classmethod
    async def read(
        cls,
        file: DumpFile,
        start: int,
        stop: int,
        bytes_from: Callable[[int, int], Awaitable[bytes]] | None = None,
    ) -> "DumpPart":
        """The part of ``file`` from ``start`` to ``stop``. Raises a `CrawlerError`.

        ``bytes_from``: what has its bytes already; by default the file is asked for them.
        """
        data = await (bytes_from or file.bytes_from)(start, min(stop + BEYOND, file.size))
        if len(data) < stop - start:
            raise BadSource(f"{file.name}: the file became smaller while it was read")
        head = data[:HEAD] if start == 0 else await file.bytes_from(0, HEAD)
        return cls(HeldFile(file.name, file.size, head, start, data), stop, file=file)

    def __reduce__(self) -> tuple[Any, ...]:
        return DumpPart, (self.held, self.stop, self.held_out, self.is_place)

    @property
    def size(self) -> int:
        return len(self.held.data)

    def __str__(self) -> str:
        return f"{Path(self.held.name).name}, bytes {self.held.start:,} to {self.stop:,}"

    async def renewed(self, lack: Lack) -> "DumpPart | None":
        """The part with three times as many bytes, or with fresh ones."""
        held, file = self.held, self.file
        assert file is not None
        if lack == "more":
            stop = min(held.start + 3 * len(held.data), held.start + MOST_HELD, held.size)
            if held.stop >= stop:
                return None
            data = await file.bytes_from(held.start, stop)
        else:
            fresh = await file.fresh_bytes(held.start, held.stop)
            if fresh is None or fresh == held.data:
                return None
            data = fresh
        return replace(self, held=replace(held, data=data))

    def pages(self, info: SourceInfo) -> Iterator[Page | Skip]:
        """Its articles in their order, and, unless it is a place, why others were skipped.

        Raises CutOff after the last page that can be read, Lacking, BadSource.
        """
        articles, last = 0, max(self.held_out, default=-1)
        for page in self._pages(info):
            if not isinstance(page, Page):
                if not self.is_place:
                    yield page
                continue
            if articles == _MOST_ARTICLES:
                raise CutOff(f"it holds over {_MOST_ARTICLES:,} articles")
            if (articles in self.held_out) == self.is_place:
                yield page
            articles += 1
            if self.is_place and articles > last:
                return

    def _pages(self, info: SourceInfo) -> Iterator[Page | Skip]:
        is_first = self.held.start == 0
        reader = DumpReader(self.held.name, info, continued=not is_first)
        has_begun, before, unpacked = is_first, b"", 0
        fed, inside = 0, 1  # bytes given to the reader, and how many of them are the part's own
        with reader:
            for start, pieces in blocks(self.held, self.held.start, self.stop):
                is_behind = start >= self.stop
                if is_behind and (not before if not has_begun else reader.between_pages or reader.has_ended):
                    return
                for data in pieces:
                    unpacked += len(data)
                    if unpacked > _MOST_UNPACKED:
                        raise CutOff(f"it unpacks to over {_MOST_UNPACKED >> 20} MB")
                    if not has_begun:
                        first = _PAGE.search(before + data)
                        if is_behind and (first is None or first.start() >= len(before)):
                            return
                        data = before + data
                        if first is None:
                            before = data[-5:]  # a tag may be divided
                            continue
                        has_begun, data = True, data[first.start() :]
                    fed += len(data)
                    if not is_behind:
                        inside = fed
                    for entry in reader.feed(data):
                        if entry.start >= inside:
                            return
                        if entry.page is not None:
                            yield entry.page
                        if entry.end > inside:
                            return
            if has_begun:
                reader.close()


# The random order: which parts are read in which round.

PLACES = 54
"""The number of places where articles are held out, if the dump has as many chunks: a few may have none."""
CHUNK = 16 << 20
"""The most bytes of a chunk. Wikimedia wants a second between two requests, so each brings many megabytes."""
SMALLEST = 1 << 10
PART = 1 << 20
"""The most bytes of a part. Its last page may end in a further block of 900 kB, which is unpacked only for
that."""
LANES = 16
"""About the number of parts of a round."""
BLOCK = 512
"""Articles handed out at a time."""
_MOST_CHUNKS = 1_000_000
_TRIES = 8
"""The most attempts to read one place better than before."""
_SMALL = 4 << 20
"""The most bytes of a dump of which all places are looked at to count articles."""
_SAMPLED, _ENOUGH = 8, 100
"""The places looked at in a larger dump, unless these have fewer articles than that."""
_SPARED = 3
"""The articles to hold out are drawn from a third of each place: the places of a small dump are all of it, so
it would be unpacked twice."""
_COUNTED_TOGETHER = 4
"""Places counted at a time: a place may be given up to 64 MB."""
_COUNTED = 256 << 10
"""The most bytes of a place in which articles are counted."""

_Count = Annotated[int, Meta(ge=0, le=(1 << 63) - 1)]
_Few = Annotated[int, Meta(ge=1, le=1000)]


class Chunk(NamedTuple):
    """Bytes ``start`` to before ``stop`` of a file, which is given by its number."""

    file: int
    start: int
    stop: int


class Schedule(msgspec.Struct, frozen=True, forbid_unknown_fields=True, dict=True):
    """What is read in which round of one dump; a session stores its fields."""

    seed: _Count
    sizes: list[_Count]
    """The bytes of each file."""
    chunk: Annotated[int, Meta(ge=SMALLEST, lt=1 << 40)]
    """The most bytes of a chunk."""
    parts: _Few
    """The parts of a chunk."""
    together: _Few
    """The chunks that begin in one round; a few rounds may have one more."""
    n_places: Annotated[int, Meta(ge=0, le=1000)]
    """Places where articles are held out."""
    each: _Count
    """Articles held out from each place, if it has that many."""
    first: Annotated[int, Meta(ge=0, le=_MOST_ARTICLES)]
    """How many of its first articles these are drawn from: neighbours in a dump are alike."""
    articles: _Count
    """The approximate number of articles in the whole dump."""

    def __post_init__(self) -> None:
        if sum(self.sizes) // self.chunk + len(self.sizes) > _MOST_CHUNKS or self.parts > self.rounds:
            raise ValueError("numbers that do not fit each other")

    @classmethod
    def of_sizes(cls, seed: int, sizes: list[int]) -> "Schedule":
        """The schedule of a dump of which nothing but the sizes of its files is known."""
        size = sum(sizes)
        chunk = max(min(CHUNK, max(SMALLEST, -(-size // PLACES))), 2 * size // _MOST_CHUNKS)
        parts = -(-chunk // PART)
        return cls(seed, sizes, chunk, parts, max(1, round(LANES / parts)), PLACES, 0, 0, 0)

    @staticmethod
    def fault(stored: object, files: int) -> str:
        """Why JSON values cannot be the schedule of a dump in this many files; "" if they can."""
        try:
            schedule = msgspec.convert(stored, Schedule)
        except msgspec.ValidationError as error:
            return f"{SCHEDULE}: {error}"
        return "" if len(schedule.sizes) == files else f"{SCHEDULE}.sizes is not a list of the files' sizes"

    @cached_property
    def chunks(self) -> list[Chunk]:
        """All chunks, in the order of the files; those of one file are of the same size."""
        return [
            Chunk(file, size * i // n, size * (i + 1) // n)
            for file, size in enumerate(self.sizes)
            for n in [-(-size // self.chunk)]
            for i in range(n)
        ]

    @cached_property
    def _shuffled(self) -> list[Chunk]:
        order = sorted(range(len(self.chunks)), key=lambda number: _dice(self.seed, number))
        return [self.chunks[number] for number in order]

    @cached_property
    def rounds(self) -> int:
        """The rounds that follow after the articles to hold out."""
        chunks = sum(-(-size // self.chunk) for size in self.sizes)
        return max(1, chunks // self.together)

    @cached_property
    def places(self) -> frozenset[Chunk]:
        """The chunks at whose beginning articles are held out."""
        return frozenset(self.chunks[number] for number in spread(len(self.chunks), self.n_places))

    def held_out(self, place: Chunk) -> frozenset[int]:
        """The numbers of a place's articles that are held out, drawn at random."""
        drawn = sorted(
            range(self.first), key=lambda number: _dice(self.seed, place.file, place.start, number)
        )
        return frozenset(drawn[: self.each])

    def begins(self, number: int) -> list[Chunk]:
        """The chunks of which this round reads the first part."""
        chunks, rounds = len(self._shuffled), self.rounds
        return self._shuffled[chunks * number // rounds : chunks * (number + 1) // rounds]

    def parts_of(self, number: int) -> Iterator[tuple[Chunk, int]]:
        """The chunks of which this round reads a part, and the number of that part."""
        for part in range(self.parts):
            for chunk in self.begins((number - part) % self.rounds):
                yield chunk, part

    def last_part(self, number: int, part: int) -> int:
        """The last part that is read of a chunk in the rounds from this one on, which reads ``part``: the
        chunks that begin in the last rounds end in the first ones."""
        begun = number - part
        return self.parts - 1 if begun < 0 else min(self.parts, self.rounds - begun) - 1

    def bounds(self, chunk: Chunk, part: int) -> tuple[int, int]:
        """The bytes of this part of a chunk."""
        size = chunk.stop - chunk.start
        return chunk.start + size * part // self.parts, chunk.start + size * (part + 1) // self.parts


def spread(n: int, places: int) -> list[int]:
    """``places`` of ``n`` numbers, evenly spread (all, if there are fewer)."""
    return [(2 * i + 1) * n // (2 * places) for i in range(places)] if n > places else list(range(n))


def _dice(*values: int) -> bytes:
    """Sort keys of a pseudo-random permutation, the same on every machine."""
    return blake2b(repr(values).encode(), digest_size=8).digest()


@dataclass(frozen=True, slots=True)
class Round:
    """Parts that are read together: the stretch that `ShuffledDump` yields."""

    number: int
    rounds: int
    jobs: Sequence[Callable[[], Awaitable[DumpPart]]]
    done: int
    """Articles that were handed out before a stop."""
    seed: int | None
    """How its articles are mixed; None: one of each part in turn."""
    skips: Skips = field(default_factory=dict)
    rereadable: ClassVar = True

    def order(self, page_ids: Sequence[Sequence[int]]) -> Sequence[int]:
        """See `Stretch`."""
        if self.seed is None:
            keys: list[Any] = [place for ids in page_ids for place in range(len(ids))]
        else:
            keys = [_dice(self.seed, page_id) for ids in page_ids for page_id in ids]
        return sorted(range(len(keys)), key=keys.__getitem__)

    def pieces(self, articles: int) -> Iterator[Piece]:
        """See `Stretch`."""
        start = min(self.done, articles)
        while True:
            stop = min(start + BLOCK, articles)
            is_last = stop == articles
            position = {"round": self.number + is_last, "done": 0 if is_last else stop}
            yield Piece(start, stop, position, (self.number + stop / max(1, articles)) / self.rounds)
            if is_last:
                return
            start = stop


class ShuffledDump(ABC):
    """The articles of dump files in which reading can begin anywhere.

    If the ``identity`` that a session stores contains no schedule, one is made on opening.
    """

    name: str
    """The name for people."""
    identity: Mapping[str, Any] = {}
    """What a session stores of it besides the options given, the facts that it states, and the schedule."""

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
                raise BadSource(f"{self.name}: the dump has changed since this session began to read it")
            info = await look(self.files[0], self.name)
            if self.schedule is None:
                self.activity.waiting_for = "sampling the dump, to choose the held-out articles"
                self.schedule = await survey(
                    self.files, Schedule.of_sizes(self._asked.seed, sizes), info, self._asked.held_out
                )
        finally:
            self.activity.waiting_for = None
        identity = {**info.identity, **self.identity, SCHEDULE: msgspec.to_builtins(self.schedule)}
        return replace(info, articles=self.schedule.articles or None, identity=identity)

    async def check(self, file: DumpFile) -> None:
        """Report now, not in the middle of training, that a file is not a dump or cannot be read in parts."""
        await look(file, file.name)
        if file.size > LARGEST:
            start = await DumpPart.read(file, 0, 0)
            if not await read_well(start, lambda part: can_be_parted(part.held, 1)):
                raise BadSource(f"{file.name} can only be read from its start: download it")

    async def batches(self, position: Position | None) -> AsyncIterator[Round]:
        """All rounds after ``position``. Raises BadPosition."""
        schedule = self.schedule
        assert schedule is not None
        first = done = 0
        if position is not None:
            stored = position.get("round"), position.get("done")
            try:
                first, done = msgspec.convert(stored, tuple[_Count, _Count])
            except msgspec.ValidationError:
                raise BadPosition from None
        before = bool(schedule.each)
        rounds = before + schedule.rounds
        for number in range(first, rounds):
            if number < before:
                jobs = [partial(self._place, schedule, chunk) for chunk in sorted(schedule.places)]
            else:
                shuffled = number - before
                parts = schedule.parts_of(shuffled)
                jobs = [partial(self._part, schedule, shuffled, *which) for which in parts]
            seed = None if number < before else schedule.seed
            yield Round(number, rounds, jobs, done if number == first else 0, seed)

    async def _place(self, schedule: Schedule, chunk: Chunk) -> DumpPart:
        part = await read_place(self.files[chunk.file], *schedule.bounds(chunk, 0))
        return replace(part, held_out=schedule.held_out(chunk), is_place=True)

    async def _part(self, schedule: Schedule, number: int, chunk: Chunk, part: int) -> DumpPart:
        held_out = schedule.held_out(chunk) if not part and chunk in schedule.places else frozenset[int]()
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
        for file in files if self.schedule is None else ():
            await self.check(file)
        return files

    async def part(self, schedule: Schedule, number: int, chunk: Chunk, part: int) -> DumpPart:
        start, stop = schedule.bounds(chunk, part)
        self.activity.bytes_read += stop - start
        return await DumpPart.read(self.files[chunk.file], start, stop)

    async def close(self) -> None:
        """Do nothing: nothing is open."""


async def look(file: DumpFile, name: str) -> SourceInfo:
    """The facts that a dump beginning with ``file`` states before its first page; ``name`` is for people.

    Raises BadSource if it is not a dump.
    """

    def facts(part: DumpPart) -> SourceInfo:
        reader = DumpReader(file.name, SourceInfo(name, None))
        try:
            with reader:
                for block in data_blocks(reading(part.held, 0), file.name):
                    for _ in reader.feed(block.data):
                        pass
                    if reader.seen_pages:
                        break
                else:
                    reader.close()
        except CutOff:
            if not reader.seen_pages:
                raise
        return reader.info

    try:
        return await read_well(await DumpPart.read(file, 0, 0), facts)
    except (CutOff, Lacking) as error:
        raise BadSource(f"{file.name}: {error} before its first page; download it again") from None


async def survey(
    files: Sequence[DumpFile], schedule: Schedule, info: SourceInfo, held_out: int | None
) -> Schedule:
    """The schedule with the articles to hold out, and an estimate of all articles.

    ``held_out``: how many articles will be held out; None: the default. If the places give fewer, the next
    ones of the stream, which are in random order, are held out too. Raises BadSource.
    """
    places = sorted(schedule.places)
    together = asyncio.Semaphore(_COUNTED_TOGETHER)

    async def counted(chunk: Chunk) -> tuple[int, int]:
        """(articles, bytes) at the beginning of a chunk."""
        start, stop = schedule.bounds(chunk, 0)
        stop = min(stop, start + _COUNTED)
        part = await read_place(files[chunk.file], start, stop)
        articles = 0

        def pages(part: DumpPart) -> None:
            nonlocal articles
            articles = 0
            for page in part.pages(info):
                articles += isinstance(page, Page)

        async with together:
            with suppress(CutOff, Lacking):  # reported when it is read
                await read_well(part, pages)
        return articles, stop - start

    for number in (_SAMPLED if sum(schedule.sizes) > _SMALL else len(places), len(places)):
        counts = await asyncio.gather(*(counted(places[i]) for i in spread(len(places), number)))
        if sum(articles for articles, _ in counts) >= _ENOUGH:
            break
    total, size = (sum(column) for column in zip(*counts, strict=True)) if counts else (0, 0)
    articles = round(total * sum(schedule.sizes) / max(1, size))
    wanted = default_held_out(articles or None) if held_out is None else held_out
    tallies = [articles for articles, _ in counts]
    share = sum(map(bool, tallies)) / max(1, len(tallies))
    n_places = min(len(places), round(wanted / max(share, 0.01)))
    each = next(
        each
        for each in count()
        if each >= max(tallies, default=0)
        or sum(min(articles, each) for articles in tallies) * n_places >= with_spare(wanted) * len(tallies)
    )
    few = sorted(tallies)[len(tallies) // 4] if tallies else 0  # most places have more
    if places and sum(schedule.sizes) > _SMALL:
        start, stop = schedule.bounds(places[0], 0)
        few = round(few * min(1, (stop - start) / (_SPARED * _COUNTED)))
    first = min(max(each, few), _MOST_ARTICLES)
    return msgspec.structs.replace(schedule, n_places=n_places, each=each, first=first, articles=articles)


async def read_place(file: DumpFile, start: int, stop: int) -> DumpPart:
    """The part that has these bytes, with the first of them only: hardly ever more are needed."""
    return replace(await DumpPart.read(file, start, min(stop, start + _COUNTED)), stop=stop)


async def read_well(part: DumpPart, work: Callable[[DumpPart], T]) -> T:
    """What ``work`` finds in a part, which is given more or fresh bytes as long as these help.

    Raises what ``work`` raises.
    """
    for _ in range(_TRIES):
        try:
            return await asyncio.to_thread(work, part)
        except (CutOff, Lacking) as error:
            renewed = await part.renewed("more" if isinstance(error, Lacking) else "again")
            if renewed is None:
                raise
            part = renewed
    return await asyncio.to_thread(work, part)
