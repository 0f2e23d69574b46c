"""What happened to topics, as the log tells it."""

import pytest

from wikitopics.session.records import TopicEvent
from wikitopics.session.training.story import line


def born(topic):
    return TopicEvent("lda", 4096, "born", topic, None, f"w{topic}")


@pytest.mark.parametrize(
    ("events", "told"),
    [
        ([born(84)], "lda at 4,096 articles, born: #84 w84"),
        (
            [TopicEvent("lda", 4096, "split", 13, 46, "slavic"), born(1)],
            "lda at 4,096 articles, born: #1 w1; split: #13 → #46 slavic",
        ),
        ([TopicEvent("lda", 4096, "merged", 1, 2, "x")], "lda at 4,096 articles, merged: #1 x → #2"),
        ([born(k) for k in range(12)], "lda at 4,096 articles, 12 topics are born: #0 w0 · #1 w1 · #2 w2 …"),
    ],
)  # fmt: skip
def test_a_line_a_snapshot(events, told):
    assert line(events) == told
