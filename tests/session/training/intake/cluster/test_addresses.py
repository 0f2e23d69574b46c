"""`--cluster ADDRESS`: where articles may be sent, and which versions may count them."""

import pytest

from wikitopics.session.errors import BadUsage
from wikitopics.session.request import TrainRequest
from wikitopics.session.training.intake.cluster.address import cluster_address
from wikitopics.session.training.intake.cluster.fitness import difference, in_use, reported


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("127.0.0.1:9000", "tcp://127.0.0.1:9000"),
        ("localhost", "tcp://localhost:8786"),
        ("tcp://[::1]:8786", "tcp://[::1]:8786"),
        ("tls://head.example.org", "tls://head.example.org:8786"),
        ("wss://10.0.0.5:443/", "wss://10.0.0.5:443"),
    ],
)
def test_addresses(text, address):
    assert cluster_address(TrainRequest(cluster=text)) == address
    assert cluster_address(TrainRequest()) is None


@pytest.mark.parametrize(
    "text", ["http://host:1", "tcp://", "inproc://x/1", "host:port", "a b", "tls://u@h", "tls://h/x"]
)
def test_what_is_no_address(text):
    with pytest.raises(BadUsage, match="not an address of a Dask scheduler"):
        cluster_address(TrainRequest(cluster=text))


@pytest.mark.parametrize("text", ["10.0.0.5:8786", "tcp://head.example.org", "ws://localhost.example.org:80"])
def test_unencrypted_only_on_loopback_or_where_that_is_accepted(text):
    with pytest.raises(BadUsage, match="--cluster-unencrypted"):
        cluster_address(TrainRequest(cluster=text))
    assert cluster_address(TrainRequest(cluster=text, cluster_unencrypted=True))
    with pytest.raises(BadUsage, match="--cluster-unencrypted needs --cluster ADDRESS"):
        cluster_address(TrainRequest(cluster_unencrypted=True))


def told(python="3.11.7.final.0", **packages):
    return {"host": {"python": python}, "packages": {"wikitopics": "1.0", "distributed": "2026.1"} | packages}


def test_what_a_worker_needs_to_be_of_use():
    here = {"python": "3.11", "wikitopics": "1.0", "distributed": "2026.1"}
    assert difference(reported(told()), here) == ""
    assert difference(reported(told("3.11.2.final.0")), here) == ""
    assert difference(reported(told("3.12.7.final.0")), here) == "python 3.12 (the trainer: 3.11)"
    assert difference(reported(told(wikitopics="0.9")), here) == "wikitopics 0.9 (the trainer: 1.0)"
    assert difference(reported(told(wikitopics=None)), here) == "no wikitopics (the trainer: 1.0)"
    assert "python ?" in difference(reported(None), here)


def test_an_answer_tells_what_it_was_counted_with():
    mine = in_use("abc")
    assert difference(mine | {"more": 1}, mine) == ""
    assert difference(in_use("abd"), mine) == "vocabulary abd (the trainer: abc)"
    assert difference({}, mine).startswith("no wikitopics (the trainer: ")
