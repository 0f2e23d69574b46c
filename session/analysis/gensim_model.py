"""The model as gensim's own LdaModel, written by gensim.

- lambda (K, W) is `topics` times `topic_weights`, which are pseudo-counts: for SCVB0 the expected
  counts plus the prior.
- alpha (K,) is `document_prior`; for the HDP alpha times the expected sticks.
- eta is the smallest lambda: no model's prior is larger.
- num_updates is the number of articles trained, and numdocs that of the corpus that lambda stands
  for, which is larger than a small one (`WarmStart`), so that gensim's `update` continues in small
  steps and weighs new articles as we do.

Learning rates, snapshots and the HDP's two levels have no place in it.
"""

from pathlib import Path

import numpy as np

from wikitopics.extra import INTEROP
from wikitopics.session.analysis.exports import ExportRequest, trained_model, underscored
from wikitopics.session.errors import BadUsage
from wikitopics.session.storage.files import replacing_folder

STEM = "model"
_ITERATIONS = 8
"""Iterations of gensim's inference. More would fit seen words better, but not unseen ones."""


def write_gensim(request: ExportRequest, path: Path) -> None:
    """Write a folder with the files of ``LdaModel.save``, for ``LdaModel.load("FOLDER/model")``."""
    with replacing_folder(path, STEM) as folder:
        try:
            from gensim.corpora import Dictionary
            from gensim.models import LdaModel
        except ModuleNotFoundError:
            raise BadUsage(INTEROP.needed("--format gensim")) from None
        with request.reader.one_moment():
            model = trained_model(request)
            words = request.reader.vocabulary()
            progress = request.reader.progress()
        lambda_ = model.topics().astype(np.float64)
        lambda_ *= model.topic_weights()[:, None]
        eta = float(lambda_.min())
        dictionary = Dictionary()
        dictionary.token2id = {word: id for id, word in enumerate(underscored(words))}
        lda = LdaModel(
            id2word=dictionary,
            num_topics=model.n_topics,
            alpha=model.document_prior(),
            eta=eta,
            iterations=_ITERATIONS,
            dtype=np.float64,  # in float32, gensim's smallest word probability is 1e-7
            random_state=0,
        )
        lda.state.sstats = lambda_ - eta
        words_an_article = progress.tokens / progress.articles
        lda.state.numdocs = lambda_.sum() / words_an_article
        lda.num_updates = progress.articles
        lda.sync_state()
        lda.save(str(folder / STEM))
