"""A model for ProxAnn, with which people or a language model judge topics.

ProxAnn (https://github.com/ahoho/proxann) shows a topic's words and typical documents, asks what
these have in common, and then which other documents fit. For a model that was trained elsewhere, it
reads five files, which are written here:

    proxann.conf         which files and topics there are, for `generate_user_provided_json`
    proxann.theta.npy    (D, K) float32, the documents' topic proportions; rows sum to 1
    proxann.beta.npy     (K, W) float32, the topics' word probabilities
    proxann.vocab.json   an object: the column of each word
    proxann.corpus.jsonl D lines: `text`, shown to the judge, and `tokenized_text`, with blanks

The whole texts are not kept, so `text` is a snippet: the first 300 characters.
"""

import json
from collections.abc import Iterator, Sequence
from configparser import ConfigParser
from itertools import pairwise
from pathlib import Path
from typing import BinaryIO

import numpy as np

from wikitopics.model.online import IN_USE
from wikitopics.session.analysis.exports import (
    WRITTEN,
    ExportRequest,
    trained_model,
    underscored,
)
from wikitopics.session.errors import BadUsage, SessionError
from wikitopics.session.storage.block import Block
from wikitopics.session.storage.files import replacing_folder
from wikitopics.session.storage.reader import SessionReader

STEM = "proxann"
DOCUMENTS_SHOWN = 7
"""The documents by which a topic is shown, and as many to be judged, as in the authors' study."""
WORDS_SHOWN = 100
_MOST_REPEATED = 4096
"""A word that a document has more often is repeated so many times."""


def write_proxann(request: ExportRequest, path: Path) -> None:
    """Write the folder. Raises `SessionError` for a session without snippets, and `BadUsage` for a
    name that the configuration cannot have."""
    reader = request.reader
    model = request.models[0]
    if not path.name.isprintable():
        raise BadUsage(f"{path}: choose a name without control characters")
    if not reader.has_snippets():
        raise SessionError(
            "ProxAnn shows texts, and this session keeps none: sessions of your own texts keep "
            "their beginnings, unless they were begun without snippets"
        )
    with replacing_folder(path, STEM) as folder:
        with reader.one_moment():
            beta = trained_model(request).topics().astype(np.float32)
            topics = reader.topics(model)
            words = underscored(reader.vocabulary())
            np.save(folder / f"{STEM}.beta.npy", beta)
            n_shown = _write_documents(request, folder, _Tokens(reader, words))
        if n_shown < 2 * DOCUMENTS_SHOWN:
            raise SessionError(
                f"only {n_shown:,} documents have topics and a text, and ProxAnn needs at least "
                f"{2 * DOCUMENTS_SHOWN}"
            )
        left_out = [row.topic for row in topics if row.hidden or row.share <= IN_USE]
        columns = {word: column for column, word in enumerate(words)}
        (folder / f"{STEM}.vocab.json").write_text(json.dumps(columns), encoding="utf-8")
        with (folder / f"{STEM}.conf").open("w", encoding="utf-8") as file:
            _configuration(path.absolute(), len(beta), left_out).write(file)


def _write_documents(request: ExportRequest, folder: Path, tokens: "_Tokens") -> int:
    """Write the proportions and texts of the documents that have both, some at a time, and return
    how many these are."""
    reader = request.reader
    model = request.models[0]
    K = reader.spec(model).topics
    reader.check_proportions()
    articles = reader.recorded_articles(held_out=request.everything)
    n = len(articles.page_ids)
    read = 0
    n_shown = 0
    with (
        (folder / f"{STEM}.theta.npy").open("wb") as theta,
        (folder / f"{STEM}.corpus.jsonl").open("w", encoding="utf-8") as corpus,
    ):
        _write_header(theta, (0, K))
        for part in reader.each_part(model, held_out=request.everything):
            rows = np.arange(read, read + len(part))
            read += len(part)
            seqs = articles.seqs(rows).tolist()
            texts = reader.snippets_of(seqs)
            tokens_of = tokens.between(seqs[0], seqs[-1])
            shown = np.flatnonzero([bool(text) for text in texts])
            n_shown += len(shown)
            of_shown = part.dense(K)[shown]
            theta.write((of_shown / of_shown.sum(axis=1, keepdims=True)).tobytes())
            page_ids = articles.page_ids[rows[shown]].tolist()
            for row, page_id in zip(shown.tolist(), page_ids, strict=True):
                record = {
                    "id": page_id,
                    "text": texts[row],
                    "tokenized_text": tokens_of.get(seqs[row], ""),
                }
                corpus.write(json.dumps(record) + "\n")
            request.advance(WRITTEN, read, n)
        theta.seek(0)
        _write_header(theta, (n_shown, K))
    return n_shown


def _write_header(file: BinaryIO, shape: tuple[int, int]) -> None:
    """Write the header of an array of float32, which takes the same room for any number of rows."""
    np.lib.format.write_array_header_1_0(
        file, {"descr": "<f4", "fortran_order": False, "shape": shape}
    )


class _Tokens:
    """The known words of documents; none if the session kept no counts."""

    def __init__(self, reader: SessionReader, words: Sequence[str]) -> None:
        self._reader = reader
        self._words = words
        self._rows = reader.counted_rows() if reader.settings().keeps_counts else []

    def between(self, first: int, last: int) -> dict[int, str]:
        """Those of at least the documents from number ``first`` to ``last``, by the documents'
        numbers."""
        of_each: dict[int, str] = {}
        for begin, articles in self._rows:
            # A row of held-out documents may have some that are read with the next ones.
            if begin <= last and first < begin + articles:
                block = self._reader.counted_documents(begin, articles)
                of_each.update(enumerate(self._of_block(block), start=begin))
        return of_each

    def _of_block(self, block: Block) -> Iterator[str]:
        ids = block.word_ids.tolist()
        counts = block.counts.tolist()
        for low, high in pairwise(block.indptr.tolist()):
            tokens: list[str] = []
            for id, count in zip(ids[low:high], counts[low:high], strict=True):
                tokens += [self._words[id]] * min(count, _MOST_REPEATED)
            yield " ".join(tokens)


def _configuration(folder: Path, n_topics: int, left_out: Sequence[int]) -> ConfigParser:
    """What ProxAnn's `generate_user_provided_json` reads. Its names of files are absolute.

    The documents shown are those with the largest proportions: ProxAnn's own default, `elbow`,
    fails for fewer than 500 documents, and for a topic that few are about.
    """
    at = str(folder).replace("%", "%%")  # a % of its own would begin a variable
    configuration = ConfigParser()
    configuration["all"] = {
        "method": "thetas",
        "top_words_display": str(WORDS_SHOWN),
        "ntop": str(DOCUMENTS_SHOWN),
        "n_matches": str(n_topics - len(left_out)),
        "text_column": "tokenized_text",
        "text_column_disp": "text",
        "thr": "0.1,0.8",
        "path_json_save": at,
        "topic_selection_method": "wmd",
    }
    configuration["wikitopics"] = {
        "thetas_path": f"{at}/{STEM}.theta.npy",
        "betas_path": f"{at}/{STEM}.beta.npy",
        "vocab_path": f"{at}/{STEM}.vocab.json",
        "corpus_path": f"{at}/{STEM}.corpus.jsonl",
        "trained_with_thetas_eval": "false",
        "remove_topic_ids": ",".join(map(str, left_out)),
    }
    return configuration
