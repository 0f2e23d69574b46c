"""BigARTM's online learning, run by the Python that `peers.environment` makes for it.

    python bigartm.py FOLDER SETTINGS

FOLDER holds `train.vw` and `seen.vw`, documents in BigARTM's form. `found.npz` is added: CPU
seconds and topics after 2,000 documents, at each doubling and at the end, and the proportions of
`seen`. SETTINGS is JSON.
"""

import json
import resource
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import artm
import numpy as np
from numpy.typing import NDArray


def cpu_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def batches(texts: Path, size: int) -> list[Any]:
    """Minibatches of so many documents, in their order, on disk."""
    folder = texts.with_suffix("")
    artm.BatchVectorizer(
        data_path=str(texts),
        data_format="vowpal_wabbit",
        target_folder=str(folder),
        batch_size=size,
    )
    names = sorted(path.name for path in folder.glob("*.batch"))
    return [artm.BatchVectorizer(data_path=str(folder), batches=[name]) for name in names]


ALMOST_NOTHING = 1e-12
"""In the place of 0, since logarithms are taken later."""


def in_order(labels: Iterable[str], rows: Any, n: int) -> NDArray[np.float32]:
    """(n, K) each row at the place that its label names; almost nothing where there is none."""
    places = [int(label) for label in labels]
    found = np.full((n, rows.shape[1]), ALMOST_NOTHING, np.float32)
    found[places] = np.maximum(rows, ALMOST_NOTHING)
    return found


def main(
    folder: Path,
    topics: int,
    words: int,
    size: int,
    beta: float,
    decorrelation: float,
    **steps: float,
) -> None:
    model = artm.ARTM(
        num_topics=topics,
        num_processors=1,
        num_document_passes=10,
        theta_columns_naming="title",
        seed=1,
    )
    model.regularizers.add(artm.SmoothSparseThetaRegularizer(name="alpha", tau=0.01))
    model.regularizers.add(artm.SmoothSparsePhiRegularizer(name="beta", tau=beta))
    if decorrelation:
        model.regularizers.add(
            artm.DecorrelatorPhiRegularizer(name="decorrelation", tau=decorrelation)
        )
    learnt = batches(folder / "train.vw", size)
    dictionary = artm.Dictionary()
    dictionary.gather(data_path=str(folder / "train"))
    model.initialize(dictionary=dictionary)
    spent = 0.0
    due = 2_000
    seconds = []
    phis = []
    for number, batch in enumerate(learnt, start=1):
        begun = cpu_seconds()
        model.fit_online(batch, **steps)
        spent += cpu_seconds() - begun
        if number * size >= due or number == len(learnt):
            due *= 2
            seconds.append(spent)
            phi = model.get_phi()
            word_ids = [word for _, word in phi.index]
            phis.append(in_order(word_ids, phi, words).T)
    (seen,) = batches(folder / "seen.vw", 1_000_000)
    proportions = model.transform(seen).T
    theta = in_order(proportions.index, proportions, len(proportions))
    np.savez(folder / "found.npz", seconds=seconds, topics=phis, theta=theta)


if __name__ == "__main__":
    main(Path(sys.argv[1]), **json.loads(sys.argv[2]))
