"""A stream driven as a run would drive it, which may drop dead between any two actions."""

from dataclasses import replace

from tests.session.memory import account_holds
from tests.session.rows import recorded_proportions
from wikitopics.session.analysis.article_map import article_map
from wikitopics.session.options import KEEP_ARTICLES
from wikitopics.session.storage.reader import SessionReader
from wikitopics.session.storage.writer import SessionWriter
from wikitopics.session.training.counts_file import CountsFile
from wikitopics.session.training.stream import Stream

MODELS = {
    "lda": "lda:topics=4,batch_size=64",
    "scvb0": "scvb0:topics=5,batch_size=16",
    "hdp": "hdp:topics=8,batch_size=32",  # a step of which takes longest
}


def block(file, start, stop):
    position = {"document": min(stop, len(file))}
    return replace(
        file.documents(start, stop),
        position=position,
        lap=stop / len(file),
    )


class Driver:
    """Feeds a counts file to a trainer as a run would; may drop dead between any two actions."""

    def __init__(self, path, corpus, *, limit=None, threads=(1,), chance=None):
        self.path = path
        self.limit = limit
        self.threads = threads
        self.file = CountsFile(corpus.counts, len(corpus.words))
        self.chance = chance
        self.deaths = 0
        self.open()

    def open(self):
        self.store = SessionWriter(self.path)
        threads = self.threads[self.deaths % len(self.threads)]
        self.trainer = Stream(self.store, article_limit=self.limit, threads=threads)
        position = self.trainer.progress.position
        self.next = 0 if position is None else position["document"]

    def die(self):
        self.store.close()
        self.deaths += 1
        self.open()

    def act(self):
        trainer = self.trainer
        work = trainer.work()
        if work is not None:
            if work.on_committed:
                trainer.commit(0.0, 0)
            work.do(lambda: 0.0)
        elif self.next >= len(self.file):
            trainer.end_of_source()
        else:
            if self.chance is None:
                number = max(1, trainer.missing)
            else:
                number = self.chance.choice([1, 7, 50, 130])
            trainer.feed(block(self.file, self.next, self.next + number))
            self.next = min(self.next + number, len(self.file))
        assert account_holds(trainer.progress)

    def run(self):
        while not self.trainer.done():
            self.act()
            if self.chance is not None:
                choice = self.chance.random()
                if choice < 0.3:
                    self.trainer.commit(0.0, 0)
                if choice < 0.1 or choice > 0.85:
                    self.die()
        self.trainer.finish(0.0)
        self.trainer.commit(0.0, 0)
        self.close()
        return self

    def close(self):
        self.store.close()
        self.file.close()


def grouping(reader, model):
    """A model's areas, and how often its topics have met, to the last bit."""
    areas = reader.areas(model)
    meetings = reader.meetings(model)
    arrays = () if areas is None else (areas.of_topic, areas.distances, areas.places)
    return [array.tobytes() for array in (*arrays, meetings.sums)], areas and areas.names


def chart(reader, model):
    """A model's map of articles, to the last bit."""
    layouts = reader.layouts(model)
    if not layouts:
        return None
    (layout,) = layouts
    found = article_map(reader, model)
    return {
        "articles": layout.articles,
        "landmarks": layout.landmarks.to_bytes(),
        "topics": layout.topics.tobytes(),
        "landmark places": layout.places.tobytes(),
        "places": found.places.tobytes(),
        "unplaced": reader.unplaced(model, layout.articles, 1),
    }


def snippets_by_page(reader):
    """What is kept of each document, whatever its number in the session."""
    kept = []
    for columns in reader.all_articles(trained_only=False):
        seqs, page_ids, *_ = columns
        found = reader.snippets(seqs)
        kept += [(page, found.get(seq)) for seq, page in zip(seqs, page_ids, strict=True)]
    return sorted(kept)


def account(path):
    """All that must not depend on interruptions, beside the models."""
    with SessionReader(path) as reader:
        articles = []
        for columns in reader.all_articles(trained_only=False):
            _, page_ids, _, _, words, roles, topics, shares, _ = columns
            articles += zip(page_ids, words, roles, topics, shares, strict=True)
        status = reader.status()
        kept = reader.recorded_articles()
        counts = reader.word_counts()
        of_role = {"trained": [], "held_out": [], "skipped": []}
        for article in articles:
            _, _, role, *_ = article
            of_role[role].append(article)
        if reader.settings()[KEEP_ARTICLES] == "all":
            trained = [page_id for page_id, *_ in of_role["trained"]]
            assert kept.page_ids.tolist() == trained
        else:
            assert kept.page_ids.tolist() == []
        assert counts.counts.sum() == status.tokens or status.passes > 1
        return {
            "proportions": [
                recorded_proportions(reader, name, held_out=True).to_bytes()
                for name in reader.models()
            ],
            "word counts": counts.to_bytes(),
            "reference": reader.reference().to_bytes(),
            "snippets": snippets_by_page(reader),
            "trained": of_role["trained"],
            "held_out": of_role["held_out"],
            "skipped": sorted(of_role["skipped"]),
            "metrics": reader.all_metrics(),
            "topics": [reader.topics(name) for name in reader.models()],
            "maps": [chart(reader, name) for name in reader.models()],
            "areas": [grouping(reader, name) for name in reader.models()],
            "history": {name: reader.snapshots(name) for name in reader.models()},
            "events": reader.topic_events(),
            "log": [event.message for event in reader.events(10**6)],
            "counts": (
                status.articles,
                status.held_out,
                status.crawled,
                status.pending,
                status.skipped,
            ),
            "tokens": status.tokens,
            "state": status.state,
        }
