"""Every article of a real MediaWiki exactly once, also through a kill; needs
WIKITOPICS_TEST_API."""

import json
import os
import signal
import time

import pytest

URL = os.environ.get("WIKITOPICS_TEST_API")
pytestmark = [
    pytest.mark.skipif(not URL, reason="WIKITOPICS_TEST_API: none"),
    pytest.mark.timeout(300),
]


@pytest.mark.parametrize("killed", [False, True])
def test_every_article_once(cli, spawn, killed):
    arguments = [
        "train",
        "--api-url",
        URL,
        "--rpm",
        0,
        "--topics",
        5,
        "--batch-size",
        32,
        "--held-out",
        10,
    ]
    if killed:
        for _ in range(3):
            process = spawn(*arguments)
            begun = time.monotonic()
            while time.monotonic() - begun < 30 and process.poll() is None:
                outcome = cli("status", "--json")
                if outcome.code == 0 and json.loads(outcome.out)["pid"] == process.pid:
                    break
                time.sleep(0.05)
            time.sleep(0.4)
            process.send_signal(signal.SIGKILL)
            process.communicate()
    outcome = cli.ok(*arguments)
    status = cli.json("status")
    rows = cli.rows("articles", "--all")
    ids = [row["page_id"] for row in rows]
    assert len(ids) == len(set(ids))
    assert len([row for row in rows if row["role"] == "trained"]) == status["articles"]
    assert (status["held_out"], status["pending"]) == (10, 0)
    assert status["crawled"] == status["articles"] + status["held_out"] + status["skipped"]
    # Pages that give no article (redirects, disambiguation) are listed by the wiki but not kept
    # with a title.
    assert status["crawled"] >= len(ids)
    again = cli.json("status")
    assert cli(*arguments).code == 0
    assert cli.json("status")["crawled"] == again["crawled"]
