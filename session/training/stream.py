"""The stream's bookkeeping: what to train on next, when to measure, and what to save. The account
of its documents is in `account.py`.

It is synchronous and has no clock: its actions depend only on the articles fed, so that an
interrupted and resumed run does exactly what an uninterrupted one does. Times are passed in.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wikitopics.crawler.texts.kinds import BEFORE, Texts
from wikitopics.model import Minibatch, OnlineModel
from wikitopics.model.threads import Threads
from wikitopics.session import sources
from wikitopics.session.errors import Damaged
from wikitopics.session.options import KEEP_ARTICLES, PASSES, REPLICAS, SEED
from wikitopics.session.records import Progress
from wikitopics.session.settings import Settings, load_model
from wikitopics.session.storage.block import Block
from wikitopics.session.storage.models import model_row, own_part
from wikitopics.session.storage.writer import Changes, SessionWriter
from wikitopics.session.training import schedule
from wikitopics.session.training.account import Account
from wikitopics.session.training.charting import Charting
from wikitopics.session.training.curves import Curves
from wikitopics.session.training.held_out import Measured, checked_rows, newest_scores, scored
from wikitopics.session.training.passes import Passes
from wikitopics.session.training.renewal import Renewal, stored_topics

PLACING_SECONDS = 0.5
"""How long articles are placed between two commits once all is learnt."""


@dataclass(frozen=True, slots=True)
class Work:
    """The next task of a stream, before it takes more articles."""

    do: Callable[[Callable[[], float]], object]
    """Does the work, given a function that returns the total running time in seconds."""
    measures: bool = False
    """Whether the models are also evaluated, which may take as long as many steps."""
    on_committed: bool = False
    """Whether everything must be committed first."""
    waits_for: str = ""
    """What users wait for meanwhile, if it may take long: what is done, as in `DOING`."""


class Stream:
    """Feeds the session's models and keeps count; commits through the store when told to."""

    waits_for: str | None = None
    """What training waits for besides the source: nothing."""

    def __init__(
        self,
        store: SessionWriter,
        *,
        article_limit: int | None,
        threads: int,
    ) -> None:
        """``threads``: how many learn and infer, beside whatever reads the source, and place
        documents when all is learnt."""
        self._store = store
        self.settings: Settings = store.settings()
        self.progress: Progress = store.progress()
        self.article_limit = article_limit
        self._all_models = _stored_models(store, self.settings[REPLICAS])
        """The models, then their first replicas, then their second ones, and so on."""
        n_models = len(self.settings.models)
        self.models = self._all_models[:n_models]
        replicas = [self._all_models[n_models + place :: n_models] for place in range(n_models)]
        self._side_by_side = Threads(threads)
        """For models that learn at the same time, and for what is packed of documents."""
        self._started_over: set[int] = set()
        """The models whose topics have started over in the present step, by their number."""
        self._changes = Changes()
        self._word_counts = store.word_counts()
        self._curves = Curves(store, self.models, replicas)
        self._charting = Charting(store, self._curves.topic_places, threads)
        self.dirty = False
        """Whether a commit would write anything new."""
        if self._curves.reference.to_store is not None:
            self._changes.reference.append(self._curves.reference.to_store)
            self.dirty = True
        last_page_before = None
        if self.settings.source == Texts.name:  # other sources may have an option of that name
            last_page_before = self.settings.source_options.get(BEFORE)
        self.passes: int = self.settings[PASSES]
        """How often the source's documents are read: once if they were added to a session."""
        self._source_ended = self.progress.again > 0
        if last_page_before is not None:
            self.passes = 1
            self._source_ended = False
        self._account = Account(store, self.progress, last_page_before)
        self._passes: Passes | None = None
        self.renewal = Renewal(store, self.models, self.progress, self.passes, self._side_by_side)
        self._ended = self.progress.finished
        """Whether `finish` has been called since the last step."""
        self._learnt = False
        """Whether the models have changed since the last commit."""
        self._threads = threads
        self._set_threads(threads)
        self.next_measurement: int | None = None
        """Articles at the next measurement, unless the source ends earlier; None if it is expected
        to."""
        self._expect_measurement()
        self._fed: list[Block] = []
        """The blocks fed since the last commit."""
        self._committed_seconds = self.progress.elapsed_seconds
        """The running time at the last commit."""
        self._all_placed = self._charting.n_unplaced() == 0
        """Whether each article has its place among the newest landmarks."""

    def as_committed(self) -> "Stream":
        """The stream as of the last commit, plus the blocks fed since; an unfinished step is
        discarded.

        It shares only the store with this stream. A step only reads the store, and only before it
        learns; an abandoned step no longer reads it.
        """
        stream = Stream(
            self._store,
            article_limit=self.article_limit,
            threads=self._threads,
        )
        for block in self._fed:
            stream.feed(block)
        return stream

    def _set_threads(self, threads: int) -> None:
        """Let each model use so many threads, at least one: all, unless models learn side by
        side."""
        for model in self._all_models:
            model.threads = max(1, threads)

    @property
    def missing(self) -> int:
        """The number of articles that the held-out set and the next minibatch still lack."""
        return self._account.missing + max(0, self._next_size() - self.progress.pending)

    @property
    def starting_over(self) -> int:
        """From how many articles the topics of a model have started over in the last minibatch, or
        are doing so in the present one; 0 if they have not."""
        return max(model.started_over_from for model in self._all_models)

    @property
    def articles_taken(self) -> int:
        """The articles held out, trained on, or pending."""
        progress = self.progress
        return progress.held_out + progress.articles + progress.pending

    @property
    def articles_wanted(self) -> int | None:
        """How many will be taken by the time the limit is reached; None without a limit."""
        return None if self.article_limit is None else self._account.wanted + self.article_limit

    def feed(self, block: Block) -> None:
        """Take the next stretch of the stream: first into the held-out set, then for training."""
        self._fed.append(block)
        self._account.add(block, self._changes)
        progress = self.progress
        progress.position = block.position
        progress.lap = None if block.lap is None else block.lap / self.renewal.readings
        self.dirty = True

    def read_first_articles(self) -> None:
        """Record that the session's first articles, kept until it had a vocabulary, have been
        fed."""
        self._changes.reads_first_articles = True

    def lay_out(self) -> None:
        """Lay out the maps of articles anew, as soon as that is possible."""
        self._charting.ask()

    def end_of_source(self) -> None:
        """Record that the source has ended: later passes follow, and the last minibatch may be
        short."""
        self._source_ended = True
        self._expect_measurement()

    def work(self) -> Work | None:
        """The work to do before more articles are fed; None if there is none."""
        if self.progress.stale:
            return Work(
                lambda _: self._infer_all_again(),
                on_committed=True,
                waits_for="inferring the topics of the earlier articles again",
            )
        if self._trained_all():
            if self.renewal.is_left:
                return Work(lambda _: self._infer_again(), on_committed=self.renewal.needs_commit)
            return self._last_work_on_map()
        if not self.ready():
            return None
        # Only before more is learnt: at the end there is another layout, of more landmarks.
        if not self.renewal.renewing and self._charting.due(self.progress, all_learnt=False):
            return Work(lambda _: self._choose_landmarks(all_learnt=False), on_committed=True)
        # The articles to drop are chosen from those trained so far, independently of commits, and
        # those to infer or train on again are read from the file.
        begins_renewal = self.progress.renew_from == 0
        begins_rereading = self._passes is None and self._step_size() > self.progress.pending
        needs_commit = self._changes.drops_articles or begins_renewal or begins_rereading
        return Work(self.step, self.measures_next, on_committed=needs_commit)

    def _last_work_on_map(self) -> Work | None:
        """What is left to do on the map of articles when all is learnt."""
        charting = self._charting
        if self.progress.articles and self._curves.kept_at != self.progress.articles:
            return Work(lambda _: self._keep_last_topics())
        if self._curves.lacks_areas:
            return Work(lambda _: self._group_topics())
        if charting.due(self.progress, all_learnt=True):
            return Work(lambda _: self._choose_landmarks(all_learnt=True), on_committed=True)
        if charting.is_laying_out:
            return Work(
                lambda _: charting.collect(self._changes, wait=True),
                waits_for="laying out the map of articles",
            )
        if not self._all_placed:
            noun = sources.noun(self.settings.source)
            n = charting.n_unplaced()
            if n == 1:
                noun = sources.singular(noun)
            return Work(
                lambda _: self._place_articles(),
                on_committed=True,
                waits_for=f"placing {n:,} {noun} on the map",
            )
        return None

    def _keep_last_topics(self) -> None:
        """Keep the topics as they are at the end, where their places begin the last layout."""
        self._curves.keep_topics(self.progress.articles, self._changes)
        self.dirty = True

    def _group_topics(self) -> None:
        """Group the topics of a session that an earlier version has finished: their places begin
        the layout."""
        self._curves.group_topics(self._changes)
        self.dirty = True

    def _choose_landmarks(self, *, all_learnt: bool) -> None:
        self._charting.choose(self.progress, self._changes, all_learnt=all_learnt)
        self._all_placed = False
        self.dirty = True

    def _place_articles(self) -> None:
        self._all_placed = self._charting.place(PLACING_SECONDS, self._changes, all_learnt=True)
        self.dirty = True

    def ready(self) -> bool:
        """Whether `step` has a minibatch to train on."""
        size = self._next_size()
        untrained = self._untrained
        return min(size, untrained) > 0 and (self._source_ended or untrained >= size)

    def done(self) -> bool:
        """Whether the session has ended: nothing is left to train on, or the limit is reached."""
        if not self._trained_all() or self.progress.stale or self.renewal.is_left:
            return False
        return self._last_work_on_map() is None

    def _trained_all(self) -> bool:
        """Whether nothing is left to train on, or the limit is reached."""
        if self.article_limit is not None and self.progress.articles >= self.article_limit:
            return True
        return self._source_ended and self._untrained == 0

    @property
    def _untrained(self) -> int:
        """The number of articles that can be trained without the source: pending, or to be read
        again."""
        progress = self.progress
        if not self._source_ended or self.passes == 1:
            return progress.pending
        return self.passes * self._documents - progress.articles

    @property
    def _documents(self) -> int:
        """The number of documents in each pass, once the source has ended."""
        return self.progress.documents + self.progress.pending

    @property
    def measures_next(self) -> bool:
        """Whether the next `step` will measure the models too."""
        progress = self.progress
        after = progress.articles + self._step_size()
        if self._evaluations.due(progress.minibatches + 1, progress.articles, after):
            return True
        if not self._ends_pass(after):
            return False
        return schedule.pass_evaluation_due(self._curves.measured_at, after)

    @property
    def _evaluations(self) -> schedule.Evaluations:
        return schedule.Evaluations(
            self.progress.held_out, self._curves.half_life, self.settings.measured_every
        )

    def _expect_measurement(self) -> None:
        progress = self.progress
        due = self._evaluations.next(
            progress.minibatches, progress.articles, self.settings.batch_size
        )
        limit = self.article_limit
        if limit is not None and limit > progress.articles:
            due = min(due, limit)
        if self._source_ended:  # the models are measured at the end, too
            due = min(due, progress.articles + self._untrained)
        is_ahead = progress.articles < due <= self._expected_end()
        self.next_measurement = due if is_ahead else None

    def _expected_end(self) -> float:
        """About how many articles will have been trained on when the source ends; infinite if that
        is not known."""
        lap = self.progress.lap
        if self._source_ended or self.passes > 1 or not lap:
            return math.inf
        return self.articles_taken / lap - self._account.wanted

    def _ends_pass(self, after: int) -> bool:
        """Whether one of several passes ends with a minibatch that ends at ``after`` articles."""
        if not self._source_ended or self.passes == 1:
            return False
        passes_before = self.progress.articles // self._documents
        return after // self._documents != passes_before

    def step(self, elapsed_seconds: Callable[[], float]) -> int:
        """Train on one minibatch, and measure if that is due; returns the number of articles
        trained.

        ``elapsed_seconds`` is called once the minibatch is learnt, since curves can also be drawn
        over time.
        """
        measures = self.measures_next
        self._ended = False
        self._all_placed = False
        self.renewal.give_up_last_reading()
        size = self._step_size()
        ends_pass = self._ends_pass(self.progress.articles + size)
        # Read before anything slow: an abandoned step must not use the store during a commit.
        old = self.renewal.beside(size)
        fresh = self._account.take(min(size, self.progress.pending))
        seqs_again, again = self._reread(size - len(fresh), fresh)
        batch = Block.concatenate([part for part in (fresh, again) if len(part)])
        passes_left = None
        if not len(fresh):
            passes_left = self._untrained / self._documents
        for model in self._all_models:
            model.passes_left = passes_left
            model.rereads_later = self.passes > 1 and passes_left is None
        thetas = self._learn(batch)
        self._record_fresh(fresh, thetas)
        if len(again):
            self._record_again(seqs_again, again, [theta[len(fresh) :] for theta in thetas])
        before = self.progress.articles
        self._count(batch, len(again))
        if old is not None:
            self.renewal.replace_topics(old, self._changes)
        self._note_renewal_and_drops(before, ends_pass, rereads=len(again) > 0)
        self._keep_and_measure(before, measures, elapsed_seconds)
        return len(batch)

    def _record_fresh(self, fresh: Block, thetas: Sequence[NDArray[np.float32]]) -> None:
        """Keep what the models made of articles that were read for the first time: ``thetas``
        begin with their proportions."""
        if len(fresh):
            of_fresh = [theta[: len(fresh)] for theta in thetas]
            topics = stored_topics(self.settings, of_fresh, self._side_by_side)
            self._changes.articles.append((fresh, "trained", topics))
            self._word_counts.add(fresh)
        self._curves.reference.add(fresh, self._changes)

    def _record_again(
        self, seqs: NDArray[np.int64], again: Block, thetas: Sequence[NDArray[np.float32]]
    ) -> None:
        """Keep what the models made of articles that were read again, which have these numbers.

        A minibatch may read a small collection several times: the last result for each document
        counts.
        """
        _, last_places_from_end = np.unique(seqs[::-1], return_index=True)
        last = len(again) - 1 - last_places_from_end
        of_last = [theta[last] for theta in thetas]
        topics = stored_topics(self.settings, of_last, self._side_by_side)
        self._changes.again.append((seqs[last].tolist(), again.take(last), topics))

    def _count(self, batch: Block, n_again: int) -> None:
        """Count a minibatch that has been learnt, of whose articles some were read again."""
        progress = self.progress
        progress.articles += len(batch)
        progress.again += n_again
        progress.crawled += n_again
        progress.tokens += int(batch.counts.sum())
        progress.minibatches += 1
        self.dirty = True
        self._learnt = True

    def _note_renewal_and_drops(self, before: int, ends_pass: bool, *, rereads: bool) -> None:
        """Note which articles are to be inferred again or dropped from now on, after a minibatch
        that began after ``before`` articles."""
        progress = self.progress
        if rereads:
            progress.renew_from = None  # learning all of them again includes this
            progress.lap = progress.articles / progress.documents / self.renewal.readings
        elif schedule.renewal_due(before, progress.articles):
            progress.renew_from = 0
        if ends_pass and self.settings[KEEP_ARTICLES] == "top":
            self._changes.drops_articles = True
        if schedule.drop_due(before, progress.articles):
            self._changes.drops_articles = True

    def _keep_and_measure(
        self, before: int, measures: bool, elapsed_seconds: Callable[[], float]
    ) -> None:
        """Keep the topics and measure the models if that is due after a minibatch that began after
        ``before`` articles."""
        progress = self.progress
        is_due = schedule.snapshot_due(self._curves.kept_at, before, progress.articles)
        for number in self._started_over:
            self._charting.forget(number, progress.articles, self._changes)
        if self._started_over and not progress.again:  # a later pass replaces them all anyway
            progress.stale = True
        if measures or is_due or self._started_over:
            self._curves.keep_topics(progress.articles, self._changes, self._started_over)
        if measures:
            self._measure(elapsed_seconds())

    def _learn(self, batch: Block) -> list[NDArray[np.float32]]:
        """Teach each model these articles; returns their topic proportions in each, (n, K)."""
        if self._curves.half_life is not None:
            latest = scored(self.models, batch.minibatch(), self.settings[SEED])
            self.progress.prequential = newest_scores(self.progress.prequential, latest)
        minibatch = batch.minibatch()

        def learn(first: int, stop: int) -> list[NDArray[np.float32]]:
            return [self._learn_with(number, minibatch) for number in range(first, stop)]

        self._started_over = set()
        self._set_threads(self._threads // len(self._all_models))
        learnt = self._side_by_side.map(learn, len(self._all_models), 1)
        self._set_threads(self._threads)
        thetas = [theta for (theta,) in learnt[: len(self.models)]]
        for number in self._started_over:
            self._curves.forget_meetings(number)
        for meetings, theta in zip(self._curves.meetings, thetas, strict=True):
            if meetings is not None:
                meetings.add(theta)
        return thetas

    def _learn_with(self, number: int, batch: Minibatch) -> NDArray[np.float32]:
        """Teach these articles to the model of this number in `_all_models`."""
        size = self.settings.batch_sizes[number % len(self.models)]
        model = self._all_models[number]
        parts = []
        for start in range(0, batch.D, size):
            part = batch[start : start + size]
            parts.append(checked_rows(model, "learn", part))
            if model.started_over_from and number < len(self.models):
                self._started_over.add(number)
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def _infer_all_again(self) -> None:
        """Infer all articles so far again, since topics have started over."""
        self.renewal.renew_all(self._changes)
        self.dirty = True

    def _infer_again(self) -> None:
        """Infer the next articles again, now that all is learnt."""
        self.renewal.infer_next(self._changes)
        self._all_placed = False
        self.dirty = True

    def finish(self, elapsed_seconds: float) -> None:
        """Finish at the end: measure, unless that has just been done, and infer the topics of the
        user's own held-out documents."""
        articles = self.progress.articles
        self._ended = True
        if not articles:
            return
        if self._curves.measured_at != articles:
            self._measure(elapsed_seconds)
        held_out = self._account.held_out
        if sources.kind_named(self.settings.source).own and len(held_out):
            self._changes.held_out = (held_out, self.renewal.inferred(held_out))
        if self.progress.in_last_reading:
            self.progress.renew_from = None
        self.dirty = True
        self._learnt = True

    @property
    def measured(self) -> Measured:
        """The last measurement."""
        return self._curves.measured

    def commit(self, elapsed_seconds: float, bytes_read: int) -> None:
        """Save everything since the last commit, together."""
        progress = self.progress
        progress.elapsed_seconds = elapsed_seconds
        progress.bytes_read = bytes_read
        self._charting.collect(self._changes)
        since_last = elapsed_seconds - self._committed_seconds
        self._charting.place_beside(since_last, self._changes)
        was_finished = progress.finished
        progress.finished = self.done() and self._ended
        if was_finished:
            has_new_topics = self._changes.held_out is not None
            self._changes.drops_held_out |= has_new_topics or not progress.finished
        if self._learnt:
            for number, model in enumerate(self.models):
                self._changes.models.update(self._rows_of(number, model))
            self._changes.word_counts = self._word_counts
        # In a later pass, documents are learnt again anyway.
        waiting = self.passes == 1 and any(model.waits_to_start_over for model in self.models)
        self._changes.keeps_first = waiting or progress.stale
        first_pending = self._account.first_pending
        self._store.commit(progress, self._changes, first_pending, self._side_by_side)
        self._committed_seconds = elapsed_seconds
        self._changes = Changes()
        self._fed.clear()
        self.dirty = False
        self._learnt = False
        self._expect_measurement()  # only now: a screen shows the last measurement that is saved

    def _rows_of(self, number: int, model: OnlineModel) -> dict[int, dict[str, object]]:
        """The rows of a model and of its replicas, by their number in `_all_models`."""
        state = model.state()
        rows = {number: model_row(model, state, self._curves.meetings[number])}
        n_models = len(self.models)
        for place in range(number + n_models, len(self._all_models), n_models):
            replica = self._all_models[place]
            rows[place] = model_row(replica, own_part(replica.state(), state))
        return rows

    def _next_size(self) -> int:
        size = schedule.minibatch_size(self.progress.articles, self.settings.batch_size)
        if self.article_limit is not None:
            size = min(size, self.article_limit - self.progress.articles)
        return size

    def _step_size(self) -> int:
        return min(self._next_size(), self._untrained)

    def _reread(self, number: int, rest: Block) -> tuple[NDArray[np.int64], Block]:
        """The next ``number`` documents of a later pass, which may be 0, and their numbers.
        ``rest``: the last of the first pass."""
        if not number:
            return np.empty(0, np.int64), rest[:0]
        progress = self.progress
        if self._passes is None:
            words = int(self._word_counts.counts.sum() + rest.counts.sum())
            self._passes = Passes(self._store, self.settings[SEED], rest, words)
        if self._passes.documents != progress.documents + len(rest):
            raise Damaged("kept_counts holds another number of articles than progress.documents")
        return self._passes.take(progress.again, number)

    def _measure(self, elapsed_seconds: float) -> None:
        """Measure the models, whose topics are already stored."""
        held_out = self._account.measured_on()
        if held_out is not None:
            self._curves.measure(held_out, self.progress, elapsed_seconds, self._changes)


def _stored_models(store: SessionWriter, n_replicas: int) -> list[OnlineModel]:
    """The models of a session as of its last commit, then their first replicas, and so on."""
    n_words = len(store.vocabulary())
    models = []
    for replica in range(1 + n_replicas):
        for stored in store.model_statuses():
            state = store.model_state(stored.name, replica)
            models.append(load_model(state, stored, n_words))
    return models
