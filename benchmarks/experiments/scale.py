"""How time, memory and disk grow: with documents, topics K, words W, minibatch size S, threads, and
machines.

`usual_*`: K = 100 (HDP: at most 100), W = 7,702, S = 1,024, one thread, 20,480 short articles.
`topics_*` and the like vary one of these. `million_*` learn 1,024,000 long articles. `dump` reads
and counts one on this machine; `disk` trains a session of real titles for each `--keep-articles`;
`elsewhere_*` and `remote` start a Dask scheduler and workers on loopback. docs/scaling.md and
decision 45 show the results.
"""

from functools import partial

from benchmarks.harness import Experiment
from benchmarks.scaling import cluster, disk, learning, tables

EXPERIMENT = Experiment(
    "scale",
    "time, memory and disk against documents, K, W, S, threads, machines",
    data="word counts; articles-60k for disk",
)

for _name, _model, _setting in learning.settings():
    EXPERIMENT.add(_name, partial(learning.learnt, _model, _setting))
EXPERIMENT.add("disk", disk.measured)
EXPERIMENT.add("dump", cluster.here)
for _batch in cluster.BATCHES:
    EXPERIMENT.add(f"elsewhere_{_batch}", partial(cluster.e_step, _batch), "distributed")
EXPERIMENT.add("remote", cluster.remote, "distributed")
EXPERIMENT.tables |= {
    "topics": partial(tables.grown, "topics"),
    "words": partial(tables.grown, "words"),
    "batch": partial(tables.grown, "batch"),
    "documents": partial(tables.grown, "documents"),
    "threads": tables.threads,
    "wikipedias": tables.wikipedias,
    "disk": tables.disk,
    "elsewhere": tables.elsewhere,
}
