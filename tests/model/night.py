"""Make `night.npz`: how topics lay at the last 60 snapshots of several passes over the articles that
come with the program.

    python -m tests.model.night

distances: (60, U (U - 1) / 2) uint8, of pairs of topics, in 20ths. areas: (60, U) int8, of topics,
as in `Areas.of_topic`.
"""

from pathlib import Path

import numpy as np

from benchmarks.data import sample
from benchmarks.measuring import growing
from wikitopics.model import OnlineLDA
from wikitopics.model.areas import Areas
from wikitopics.model.meetings import Meetings
from wikitopics.session.training.schedule import snapshot_due

FILE = Path(__file__).with_suffix(".npz")
TOPICS = 50
PASSES = 10
"""Chosen after seeing results: decision 53 has those of fewer passes."""
SNAPSHOTS = 60
PARTS = 20


def main() -> None:
    words, documents = sample()
    model = OnlineLDA(TOPICS, len(words), documents.D)
    meetings = Meetings.none(TOPICS)
    areas: Areas | None = None
    distances = []
    of_topic = []
    seen = 0
    last = 0
    for _ in range(PASSES):
        for batch in growing(documents, model.default_batch_size):
            meetings.add(model.learn(batch))
            before = seen
            seen += batch.D
            if not snapshot_due(last, before, seen):
                continue
            last = seen
            areas = Areas.of(model, meetings, areas)
            assert len(areas.topics) == TOPICS
            distances.append(np.minimum(PARTS * areas.distances, 255).round())
            of_topic.append(areas.of_topic)
    np.savez_compressed(
        FILE,
        distances=np.array(distances[-SNAPSHOTS:], np.uint8),
        areas=np.array(of_topic[-SNAPSHOTS:], np.int8),
    )


if __name__ == "__main__":
    main()
