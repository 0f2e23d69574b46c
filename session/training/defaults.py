"""What a new session has if nothing else was asked for, by the number of its documents and topics:
passes, replicas and the sizes of minibatches (decisions 0050 and 0051); and what is told of
that."""

from collections.abc import Sequence

from wikitopics.model.schedules import REREAD_DOCUMENTS
from wikitopics.session import sources
from wikitopics.session.options import DOCUMENTS, PASSES
from wikitopics.session.settings import ModelSpec, Settings, load_kind

LEAST = 2
"""The fewest documents to train on: the topics of a single one are nothing but its words."""
MOST_PASSES = 10
"""Further passes improve the models of a small collection very little."""
MOST_PASSES_OF_FEW = 5
"""The same with fewer than `REREAD_DOCUMENTS` documents: with more passes, models become worse on
held-out documents as often as they become better."""
ENOUGH_READINGS = 50_000
"""About how many times the documents of a small collection are read, in all passes together."""
WHOLE_MINIBATCHES = 8192
"""The documents from which minibatches have their full size in several passes. Below, they shrink
by halves, down to an eighth, so that steps remain small."""
REPLICATED_TOPICS = 500
"""The most topics of all replicas together, by default."""
MOST_REPLICATED = 1_000_000
"""The most documents that replicas read, by default: each takes as long as the model itself."""


def default_passes(documents: int) -> int:
    """The number of passes over this many documents, for about 50,000 readings; at most ten, or
    five if there are very few."""
    most = MOST_PASSES if documents >= REREAD_DOCUMENTS else MOST_PASSES_OF_FEW
    passes = ENOUGH_READINGS // max(1, documents)
    return max(1, min(most, passes))


def default_replicas(models: Sequence[ModelSpec], documents: int | None) -> int:
    """The replicas of each of these models, as many as their kinds have by default, unless there
    are too many topics or documents; ``documents``: their number, if it is known."""
    if documents is not None and documents > MOST_REPLICATED:
        return 0
    topics = sum(spec.topics for spec in models)
    return min(_usual_replicas(models), REPLICATED_TOPICS // topics)


def _usual_replicas(models: Sequence[ModelSpec]) -> int:
    """The replicas of each of these models, however many topics and documents there are."""
    return min(load_kind(spec.kind).default_replicas for spec in models)


def why_no_replicas(models: Sequence[ModelSpec], documents: int | None) -> str:
    """Why `default_replicas` gives these models none; "" if it gives them some, or if there usually
    are none."""
    if default_replicas(models, documents) or not _usual_replicas(models):
        return ""
    if documents is not None and documents > MOST_REPLICATED:
        return f"there are over {MOST_REPLICATED:,} documents"
    return f"there are over {REPLICATED_TOPICS:,} topics in all"


def default_batch_size(usual: int, documents: int) -> int:
    """The largest minibatch in several passes over this many documents; ``usual``: that of the kind
    of model."""
    if documents < REREAD_DOCUMENTS:
        return usual
    smaller = 1
    while smaller < 8 and documents * smaller < WHOLE_MINIBATCHES:
        smaller *= 2
    return max(1, usual // smaller)


def default_batch_sizes(
    specs: Sequence[ModelSpec], sizes: tuple[int, ...], documents: int
) -> tuple[int, ...]:
    """The models' ``sizes`` for several passes over this many documents. Those that were asked for
    stay, and all do if they would no longer divide the largest."""
    smaller = []
    for spec, size in zip(specs, sizes, strict=True):
        smaller.append(spec.batch_size or default_batch_size(size, documents))
    if any(max(smaller) % size for size in smaller):
        return sizes
    return tuple(smaller)


def chosen_by_size(before: Settings, after: Settings) -> str:
    """What the size of a new session's source has determined; "" if nothing.

    ``before``: its settings as requested, ``after``: as they are stored.
    """
    chosen: list[str] = []
    flags: list[str] = []
    if before.models != after.models:
        # The models for which no number of topics was requested.
        specs = [
            spec
            for requested, spec in zip(before.models, after.models, strict=True)
            if requested.usual_topics
        ]
        numbers = [f"{spec.topics:,} topics" for spec in specs]
        if len(specs) > 1:
            numbers = [f"{spec.topics:,} topics for {spec.name}" for spec in specs]
        # There are about as many topics as the square root; for an HDP, three times as many. Below
        # sqrt(2) times the root, a number is of the first sort, however it was rounded.
        are_roots = all(spec.topics**2 < 2 * after[DOCUMENTS] for spec in specs)
        relation = "about" if are_roots else "from"
        rule = f"{relation} the square root of its {sources.noun(after.source)}"
        chosen.append(f"{' and '.join(numbers)} ({rule})")
        flags.append("--topics")
    if before[PASSES] != after[PASSES]:
        chosen.append(f"{after[PASSES]} passes")
        flags.append(PASSES.flag)
    if not chosen:
        return ""
    verb = "change" if len(flags) > 1 else "changes"
    return f"Small collection: {', '.join(chosen)}; {' and '.join(flags)} {verb} that"
