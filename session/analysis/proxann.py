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

import numpy as np

from wikitopics.model.online import IN_USE
from wikitopics.session.analysis.exports import ExportRequest, trained_model, underscored
from wikitopics.session.analysis.frames import as_csr
from wikitopics.session.errors import BadUsage, SessionError
from wikitopics.session.storage.counts import KeptCounts
from wikitopics.session.storage.files import replacing_folder
from wikitopics.session.storage.reader import SessionReader

STEM = "proxann"
DOCUMENTS_SHOWN = 7
"""The documents by which a topic is shown, and as many to be judged, as in the authors' study."""
WORDS_SHOWN = 100
_AT_ONCE = 4096


def write_proxann(request: ExportRequest, path: Path) -> None:
    """Write the folder. Raises `SessionError` for a session without snippets, and `BadUsage` for a
    name that the configuration cannot have."""
    reader = request.reader
    model = request.models[0]
    if not path.name.isprintable():
        raise BadUsage(f"{path}: choose a name without control characters")
    if not reader.has_snippets():
        raise SessionError(
            "ProxAnn shows texts, and this session keeps none: only sessions of your own texts "
            "keep their beginnings, unless they were begun with --no-snippets"
        )
    with replacing_folder(path, STEM) as folder:
        with reader.one_moment():
            beta = trained_model(request).topics().astype(np.float32)
            matrix, page_ids = as_csr(reader, model, held_out=request.everything)
            articles = reader.recorded_articles(held_out=request.everything)
            snippets = dict(reader.each_snippet())
            topics = reader.topics(model)
            words = underscored(reader.vocabulary())
        seqs = articles.seqs(np.arange(len(page_ids))).tolist()
        shown = [row for row, seq in enumerate(seqs) if seq in snippets]
        if len(shown) < 2 * DOCUMENTS_SHOWN:
            raise SessionError(
                f"only {len(shown):,} documents have topics and a text, and ProxAnn needs at least "
                f"{2 * DOCUMENTS_SHOWN}"
            )
        left_out = [row.topic for row in topics if row.hidden or row.share <= IN_USE]
        np.save(folder / f"{STEM}.beta.npy", beta)
        shape = (len(shown), len(beta))
        theta = np.lib.format.open_memmap(
            folder / f"{STEM}.theta.npy", mode="w+", dtype=np.float32, shape=shape
        )
        for start in range(0, len(shown), _AT_ONCE):
            part = matrix[shown[start : start + _AT_ONCE]].toarray()
            theta[start : start + len(part)] = part / part.sum(axis=1, keepdims=True)
        theta.flush()
        columns = {word: column for column, word in enumerate(words)}
        (folder / f"{STEM}.vocab.json").write_text(json.dumps(columns), encoding="utf-8")
        tokens_of = _tokens(reader, words)
        with (folder / f"{STEM}.corpus.jsonl").open("w", encoding="utf-8") as corpus:
            for row in shown:
                page_id = int(page_ids[row])
                text = snippets[seqs[row]]
                record = {
                    "id": page_id,
                    "text": text,
                    "tokenized_text": tokens_of.get(page_id, ""),
                }
                corpus.write(json.dumps(record) + "\n")
        with (folder / f"{STEM}.conf").open("w", encoding="utf-8") as file:
            _configuration(path.absolute(), len(beta), left_out).write(file)


def _tokens(reader: SessionReader, words: Sequence[str]) -> dict[int, str]:
    """The known words of each document, by page id; nothing if the session kept no counts."""
    if not reader.settings().keeps_counts:
        return {}
    return dict(_tokens_of_each(reader.path, words))


def _tokens_of_each(path: Path, words: Sequence[str]) -> Iterator[tuple[int, str]]:
    with KeptCounts(path) as kept:
        for start in range(0, len(kept), _AT_ONCE):
            block = kept.documents(start, start + _AT_ONCE)
            ids = block.word_ids.tolist()
            counts = block.counts.tolist()
            bounds = pairwise(block.indptr.tolist())
            for page_id, (low, high) in zip(block.page_ids.tolist(), bounds, strict=True):
                tokens: list[str] = []
                for id, count in zip(ids[low:high], counts[low:high], strict=True):
                    tokens += [words[id]] * min(count, _AT_ONCE)
                yield page_id, " ".join(tokens)


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
