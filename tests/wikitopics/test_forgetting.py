"""A session with a half-life, from the command line to what it says of itself."""

import json

METRIC = "prequential_log_likelihood"


def test_what_comes_is_scored_before_it_is_trained(cli, corpus):
    small = ("--topics", 5, "--batch-size", 64, "--held-out", 40, "--seed", 3)
    assert cli("train", *corpus.options(), *small, "--half-life", 200, "--model", "lda").code == 0
    rows = json.loads(cli("export", "metrics", "--format", "json").out)
    scored = {row["articles"]: row["value"] for row in rows if row["metric"] == METRIC}
    assert scored.keys() == {row["articles"] for row in rows if row["metric"] == "log_likelihood"}
    (model,) = json.loads(cli("status", "--json").out)["models"]
    assert model[METRIC] == scored[657]
    assert "on new articles, before training)" in cli("status").out
