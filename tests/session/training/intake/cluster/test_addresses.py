"""`--cluster ADDRESS`: where articles may be sent."""

import pytest

from wikitopics.session.errors import BadUsage
from wikitopics.session.request import TrainRequest
from wikitopics.session.training.intake.opening import cluster_address


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
