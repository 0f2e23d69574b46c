"""The steps of an afternoon with a collection of texts, timed in one program, run by the Python
that `peers.environment` makes for it.

    python afternoon.py PROGRAM FOLDER

FOLDER holds `texts.json`: the texts, and of each its class and its year ("" if it has none). The
program adds `seconds.json`: the seconds that each step took. A step that a program lacks is
missing.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

TOPICS = 40
NUMBERS = (10, 20, 40, 80)
"""The numbers of topics that are compared."""
QUERY = "read a csv file with a header and parse the dates"
COMPILED_ON = 400
"""Our kernels are compiled on so many of the texts."""
NEW = 100
"""This many of the texts are also given as new ones."""


class Given(NamedTuple):
    texts: list[str]
    classes: list[str]
    years: list[str]


class Clock:
    """The seconds of each step."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        began = time.perf_counter()
        yield
        self.seconds[name] = time.perf_counter() - began


def ours(given: Given, clock: Clock) -> None:
    import pandas as pd

    import wikitopics as wt

    # Compiles what is compiled once for each installation.
    wt.train(given.texts[:COMPILED_ON], "compiled.db", topics=NUMBERS, passes=1, progress=False)
    texts = pd.Series(given.texts)
    years = pd.to_numeric(pd.Series(given.years)).astype("Int64")
    with clock.step("topics"):
        session = wt.train(texts, "afternoon.db", topics=TOPICS, progress=False)
        session.topics()
    with clock.step("how many"):
        wt.vary_topics(texts, NUMBERS, "varied.db", progress=False)
    with clock.step("by class"):
        session.by(pd.Series(given.classes))
    with clock.step("over time"):
        session.over_time(years)
    with clock.step("map"):
        session.map()._repr_html_()
    with clock.step("find"):
        session.find(QUERY)
    with clock.step("100 new texts"):
        session.infer(given.texts[:NEW])
    with clock.step("report"):
        session.report("report.html")


def bertopic(given: Given, clock: Clock) -> None:
    """With its defaults, but without stop words, as its documentation advises."""
    import pandas as pd
    from bertopic import BERTopic
    from sklearn.feature_extraction.text import CountVectorizer

    from benchmarks.today import sentence_model

    sentences = sentence_model()

    def model(**options: Any) -> Any:
        counter = CountVectorizer(stop_words="english")
        return BERTopic(embedding_model=sentences, vectorizer_model=counter, **options)

    with clock.step("topics"):
        vectors = sentences.encode(given.texts)
        fitted = model()
        topics, _ = fitted.fit_transform(given.texts, vectors)
        fitted.get_topic_info()
    with clock.step("how many"):
        for smallest in (5, 10, 20, 40):
            model(min_topic_size=smallest).fit_transform(given.texts, vectors)
    with clock.step("by class"):
        fitted.topics_per_class(given.texts, classes=given.classes)
    with clock.step("over time"):
        dated = [number for number, year in enumerate(given.years) if year]
        fitted.topics_over_time(
            [given.texts[number] for number in dated],
            pd.to_datetime([given.years[number] for number in dated]).tolist(),
            topics=[topics[number] for number in dated],
            nr_bins=20,
        )
    with clock.step("map"):
        fitted.visualize_documents(given.texts, embeddings=vectors)
    with clock.step("find"):
        fitted.find_topics(QUERY)
    with clock.step("100 new texts"):
        fitted.transform(given.texts[:NEW])


def sklearn(given: Given, clock: Clock) -> None:
    """LDA with its defaults, on all processors."""
    import pandas as pd
    from sklearn.decomposition import LatentDirichletAllocation
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.manifold import TSNE

    def model(topics: int) -> Any:
        return LatentDirichletAllocation(topics, n_jobs=-1, random_state=0)

    with clock.step("topics"):
        counter = CountVectorizer(stop_words="english", min_df=4, max_df=0.2)
        counts = counter.fit_transform(given.texts)
        fitted = model(TOPICS)
        theta = fitted.fit_transform(counts)
    with clock.step("how many"):
        learnt = counts[: -len(given.texts) // 10]
        held_out = counts[-len(given.texts) // 10 :]
        for topics in NUMBERS:
            model(topics).fit(learnt).perplexity(held_out)
    frame = pd.DataFrame(theta)
    with clock.step("by class"):
        frame.groupby(given.classes).mean()
    with clock.step("over time"):
        frame.groupby(given.years).mean()
    with clock.step("map"):
        TSNE(n_jobs=-1, random_state=0).fit_transform(theta)
    with clock.step("100 new texts"):
        fitted.transform(counter.transform(given.texts[:NEW]))


PROGRAMS: dict[str, Callable[[Given, Clock], None]] = {
    "ours": ours,
    "bertopic": bertopic,
    "sklearn": sklearn,
}


def main(program: str, folder: Path) -> None:
    given = Given(**json.loads((folder / "texts.json").read_text("utf-8")))
    clock = Clock()
    PROGRAMS[program](given, clock)
    (folder / "seconds.json").write_text(json.dumps(clock.seconds))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
