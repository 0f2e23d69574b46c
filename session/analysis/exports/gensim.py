"""The model as gensim's own LdaModel, written by gensim.

| in gensim | is |
|---|---|
| lambda (K, W) | `topics` times `topic_weights`: pseudo-counts; for SCVB0 those expected, plus the prior |
| alpha (K,) | `document_prior`; for the HDP alpha times the expected sticks |
| eta | the smallest lambda: no model's prior is larger |
| num_updates, numdocs | articles trained, and in the corpus: gensim's `update` continues in small steps |

Learning rates, snapshots and the HDP's two levels have no place in it.
"""

from pathlib import Path
from typing import TYPE_CHECKING

from wikitopics.session.analysis.exports.tables import ExportRequest, Subject, underscored
from wikitopics.session.errors import BadUsage
from wikitopics.session.extras import INTEROP

if TYPE_CHECKING:
    from gensim.models import LdaModel

STEM = "model"
_ITERATIONS = 8
"""Iterations of gensim's inference. More would fit the words seen but not the unseen ones."""


def write_gensim(subject: Subject, asked: ExportRequest, path: Path) -> None:
    """Write a folder with the files of ``LdaModel.save``, for ``LdaModel.load("FOLDER/model")``."""
    from wikitopics.session.storage.files import replacing_folder

    with replacing_folder(path, STEM) as folder:
        _lda_model(subject, asked).save(str(folder / STEM))


def _lda_model(subject: Subject, asked: ExportRequest) -> "LdaModel":
    import numpy as np

    try:
        from gensim.corpora import Dictionary
        from gensim.models import LdaModel
    except ModuleNotFoundError:
        raise BadUsage(INTEROP.needed("--format gensim")) from None
    assert subject.model is not None
    with asked.reader.one_moment():
        learnt, words = subject.model(asked), asked.reader.vocabulary()
        trained = asked.reader.progress().articles
    lambda_ = learnt.topics().astype(np.float64)
    lambda_ *= learnt.topic_weights()[:, None]
    eta = float(lambda_.min())
    dictionary = Dictionary()
    dictionary.token2id = {word: number for number, word in enumerate(underscored(words))}
    found = LdaModel(
        id2word=dictionary,
        num_topics=learnt.n_topics,
        alpha=learnt.document_prior(),
        eta=eta,
        iterations=_ITERATIONS,
        dtype=np.float64,  # in float32, gensim's smallest word probability is 1e-7
        random_state=0,
    )
    found.state.sstats = lambda_ - eta
    found.state.numdocs = learnt.n_documents
    found.num_updates = trained
    found.sync_state()
    return found
