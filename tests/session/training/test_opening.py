"""A source opened: kernels compiled before the first article, and the cluster that may be sent
articles."""

import importlib

import pytest
from numba.core import event

from tests.commands import python
from tests.waiting import until
from wikitopics.compiled import compiling, is_compiling
from wikitopics.session.errors import BadUsage
from wikitopics.session.request import TrainRequest

NEW_KERNELS = """
import sys

from numba.core.dispatcher import Dispatcher

from wikitopics.model import Minibatch, kinds
from wikitopics.model.checking import planted_documents
from wikitopics.session.settings import new_model
from wikitopics.model.coherence import Cooccurrences
from wikitopics.model.relevance import RELEVANCE
from wikitopics.session.records import SNAPSHOT_WORDS
from wikitopics.session.request import TrainRequest
from wikitopics.session.training.held_out import HeldOut
from wikitopics.session.training.warming import warm_up

def compiled():
    loaded = sys.modules.items()
    modules = [module for name, module in loaded if name.startswith("wikitopics.model.")]
    members = [member for module in modules for member in vars(module).values()]
    kernels = {member for member in members if isinstance(member, Dispatcher)}
    return {(kernel.__name__, signature) for kernel in kernels for signature in kernel.signatures}

batch = planted_documents(30)
for spec in sys.argv[1:]:
    (parsed,) = TrainRequest(model=(spec,)).specs()
    warm_up([parsed])
    before = compiled()
    model = kinds.load(parsed.kind).from_state(new_model(parsed, 500, 1000, 0).state())
    model.learn(batch)
    model.top_words(SNAPSHOT_WORDS)
    model.relevant_words(SNAPSHOT_WORDS, RELEVANCE)
    HeldOut(batch, 0).measure(model, Cooccurrences(batch))
    model.infer(batch)
    later = kinds.load(parsed.kind).from_state(new_model(parsed, 500, 30, 0).state())
    later.learn(batch)
    later.learn(Minibatch(batch.indptr, batch.word_ids, batch.counts * 50))
    texts = planted_documents(1_200, length=100)
    starts = kinds.load(parsed.kind).create(4, 500, 2_000)
    for first in range(0, 1_200, 200):
        starts.learn(texts[first : first + 200])
    print(spec, len(before) > 0, sorted(map(str, compiled() - before)))
"""


def test_a_trainer_compiles_nothing_after_the_warm_up():
    """In a process of its own, where no other test has used a kernel: one that is cached counts
    too."""
    specs = ("lda", "lda:alpha=learn,eta=learn", "scvb0", "hdp")
    assert python(NEW_KERNELS, *specs).splitlines() == [f"{spec} True []" for spec in specs]


FIRST_START = """
from wikitopics.model.kernels import add_rows
from wikitopics.session.request import TrainRequest
from wikitopics.session.training.warming import warm_up

warm_up(TrainRequest(model=("scvb0",)).specs())
print(add_rows.stats.cache_misses.total(), add_rows.stats.cache_hits.total() > 0)
"""


def test_another_process_compiles_half_of_the_first_start(tmp_path):
    """What only learning needs is loaded, as the other process keeps it."""
    assert python(FIRST_START, NUMBA_CACHE_DIR=str(tmp_path)) == "0 True\n"


def test_a_compilation_is_told_as_long_as_it_lasts():
    importlib.import_module("wikitopics.model.kernels")  # what compiles them, and listens
    until(lambda: not is_compiling())  # in a thread that another test has left behind
    with event.trigger_event("numba:compile", data={}):
        assert is_compiling()
    assert not is_compiling()
    with compiling():
        assert is_compiling(), "as when another process compiles"
    assert not is_compiling()


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
def test_addresses_of_a_scheduler(text, address):
    assert TrainRequest(cluster=text).cluster_address() == address
    assert TrainRequest().cluster_address() is None


@pytest.mark.parametrize(
    "text",
    ["http://host:1", "tcp://", "inproc://x/1", "host:port", "a b", "tls://u@h", "tls://h/x"],
)
def test_what_is_no_address(text):
    with pytest.raises(BadUsage, match="not an address of a Dask scheduler"):
        TrainRequest(cluster=text).cluster_address()


@pytest.mark.parametrize(
    "text", ["10.0.0.5:8786", "tcp://head.example.org", "ws://localhost.example.org:80"]
)
def test_unencrypted_only_on_loopback_or_where_that_is_accepted(text):
    with pytest.raises(BadUsage, match="--cluster-unencrypted"):
        TrainRequest(cluster=text).cluster_address()
    assert TrainRequest(cluster=text, cluster_unencrypted=True).cluster_address()
    with pytest.raises(BadUsage, match="--cluster-unencrypted needs --cluster ADDRESS"):
        TrainRequest(cluster_unencrypted=True).cluster_address()
