"""Links instead of words: how fast they are extracted, and what the topics of each are like.

Topics are compared over some 480 real articles: models learn from three in five, and the others say
which words, or which links, occur together.
"""

import itertools
import tarfile
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from benchmarks import data
from benchmarks.harness import Experiment, Figures, compared
from benchmarks.measuring import in_turn, timed
from wikitopics.crawler import extract_html, extract_wikitext
from wikitopics.crawler.dumps.files import DumpFiles
from wikitopics.crawler.markup.disambiguation import is_disambiguation
from wikitopics.crawler.markup.texts import page_links
from wikitopics.crawler.page import Markup, Page, SourceInfo
from wikitopics.model import Minibatch, kinds
from wikitopics.model.coherence import Cooccurrences, npmi, npmi_of_words
from wikitopics.model.online import top_words
from wikitopics.vocab import Vocabulary
from wikitopics.vocab.building import VocabularyRecipe, build_vocabulary
from wikitopics.vocab.rules import LINKS, Rule

EXPERIMENT = Experiment(
    "links", "links instead of words: speed, and the topics of each", data="wikitext, html"
)
REPEATS = 7
K = 20
EPOCHS = 30
BATCH = 64
SEEDS = range(8)
TRAINED = 0.6
"""The share of the articles that models learn from."""
WORDS = 5
"""The words of a topic among which an intruder is sought."""
TOKENS = {"words": "words", "rare_words": "words as rare as links", "links": "links"}
KINDS = {"lda": "online LDA", "scvb0": "SCVB0"}
WIKI = SourceInfo("en.wikipedia.org", None, ("File", "Image"), ("Category",), "en")


def wikitexts() -> list[Page]:
    """The 400 articles of wikitext."""
    found = data.articles("wikitext/articles-400.jsonl.xz")
    return [
        Page(page_id, article["title"], 1, article["text"], "wikitext")
        for page_id, article in enumerate(found, start=1)
    ]


def html_pages() -> list[Page]:
    """The rendered pages of Wikipedia."""
    texts: list[str] = []
    with tarfile.open(data.shared("html/pages.tar.xz")) as archive:
        for member in archive:
            file = archive.extractfile(member)
            if file is not None:  # as for a folder
                texts.append(file.read().decode("utf-8", "replace"))
    return [Page(page_id, "", 1, text, "html") for page_id, text in enumerate(texts, start=1)]


def speed(markup: Markup) -> Figures:
    """Megabytes of UTF-8 in a CPU second, prose and links in turn, and how many times as fast links
    are."""
    pages = wikitexts() if markup == "wikitext" else html_pages()
    extract = extract_wikitext if markup == "wikitext" else extract_html
    megabytes = sum(len(page.text.encode()) for page in pages) / 1e6

    def seconds_of_prose() -> float:
        seconds, _ = timed(lambda: [extract(page.text) for page in pages])
        return seconds

    def seconds_of_links() -> float:
        seconds, _ = timed(lambda: [page_links(page, WIKI) for page in pages])
        return seconds

    prose, links = in_turn(REPEATS, seconds_of_prose, seconds_of_links)
    return {"prose": megabytes / prose, "links": megabytes / links, "times": prose / links}


for _markup in ("wikitext", "html"):
    EXPERIMENT.add(f"{_markup}_speed", partial(speed, _markup))


def articles() -> Iterator[Page]:
    """All real articles of wikitext, each once, without disambiguation pages."""
    by_title: dict[str, Page] = {}
    for page in wikitexts():
        if not is_disambiguation(page.text, "en"):
            by_title[page.title] = page
    dump = DumpFiles([str(data.shared("wikitext/enwiki-2016-sample.xml.bz2"))])
    for read, _ in dump.read():
        if isinstance(read, Page):
            by_title.setdefault(read.title, read)
    yield from by_title.values()


def intruders_found(topics: NDArray[Any], reference: Minibatch, seed: int) -> float:
    """How often the word that least occurs together with the others is the intruder.

    After Lau, Newman and Baldwin 2014, with mean NPMI in the place of a trained ranker: to a
    topic's leading words comes one that leads another topic and is improbable in this one.
    """
    rng = np.random.default_rng(seed)
    leading = top_words(topics, WORDS)
    W = topics.shape[1]
    found = 0.0
    for k, own_words in enumerate(leading):
        rank = np.argsort(np.argsort(topics[k]))
        improbable = rank < W / 2
        lead_elsewhere = np.delete(leading, k, axis=0).ravel()
        candidates = lead_elsewhere[improbable[lead_elsewhere]]
        if len(candidates) == 0:
            candidates = np.flatnonzero(improbable)
        intruder = rng.choice(candidates)
        shown = np.append(own_words, intruder)
        # Each word with each of the others.
        pairs = np.array(list(itertools.permutations(shown, 2)))
        by_word = npmi_of_words(pairs, Cooccurrences(reference)).reshape(WORDS + 1, WORDS)
        nearness = by_word.mean(axis=1)
        least_near = nearness <= nearness.min() + 1e-12
        if least_near[-1]:
            found += 1 / least_near.sum()  # a tie is a guess
    return found / len(leading)


def shared_words(topics: NDArray[Any], others: NDArray[Any]) -> float:
    """The mean share of ten leading words of each topic that its nearest topic of the others has,
    too."""
    others_words = top_words(others)
    most_shared = []
    for words in top_words(topics):
        shared = [len(np.intersect1d(words, other_words)) for other_words in others_words]
        most_shared.append(max(shared))
    return float(np.mean(most_shared) / 10)


def counted(vocabulary: Vocabulary, texts: Sequence[str]) -> csr_array:
    """(D, W) counts of the texts that have a known word."""
    rows = []
    for text in texts:
        ids, counts = vocabulary.count(text)
        if len(ids) > 0:
            rows.append((ids, counts))
    documents = data.batch_of(rows)
    shape = (len(rows), len(vocabulary))
    return csr_array((documents.counts, documents.word_ids, documents.indptr), shape=shape)


def trained(kind: str, documents: csr_array, seed: int) -> NDArray[Any]:
    """(K, W) the topics after so many readings of a small collection, each in another order."""
    D, W = documents.shape
    model = kinds.load(kind).create(K, W, D, seed=seed)
    rng = np.random.default_rng(seed)
    for _ in range(EPOCHS):
        order = rng.permutation(D)
        for start in range(0, D, BATCH):
            model.learn(Minibatch.from_csr(documents[order[start : start + BATCH]]))
    return np.asarray(model.topics())


def as_rare(
    prose: Sequence[str],
    titles: Vocabulary,
    linked: Sequence[str],
    seed: int,
) -> Vocabulary:
    """Words of the prose as rare as these titles: for each title that some number of texts link, a
    word that occurs in that number of texts.

    linked: the texts' links
    """
    words = build_vocabulary(prose, VocabularyRecipe.of_language("en"), size=100_000).vocabulary
    texts_with_word = texts_with(words, prose)
    texts_with_title = texts_with(titles, linked)
    rng = np.random.default_rng(seed)
    chosen: list[int] = []
    for number, titles_in_so_many in Counter(texts_with_title.tolist()).items():
        words_in_so_many = np.flatnonzero(texts_with_word == number)
        chosen += rng.permutation(words_in_so_many)[:titles_in_so_many].tolist()
    return Vocabulary.from_words([words.words[i] for i in sorted(chosen)], words.rule)


def texts_with(vocabulary: Vocabulary, texts: Sequence[str]) -> NDArray[np.int64]:
    """(W,) the number of texts that each word is in."""
    return np.bincount(counted(vocabulary, texts).indices, minlength=len(vocabulary))


def quality(kind: str, tokens: str) -> Figures:
    """The topics of a model over words or over links; each seed divides the articles anew."""
    found = list(articles())
    prose = [extract_wikitext(page.text) for page in found]
    links = ["\n".join(page_links(page, WIKI)) for page in found]
    texts = links if tokens == "links" else prose
    scores: list[dict[str, float]] = []
    for seed in SEEDS:
        order = np.random.default_rng(seed).permutation(len(texts)).tolist()
        n_trained = int(TRAINED * len(texts))
        chosen = [texts[i] for i in order[:n_trained]]
        others = [texts[i] for i in order[n_trained:]]
        if tokens == "words":
            vocabulary = build_vocabulary(chosen, VocabularyRecipe.of_language("en")).vocabulary
        else:
            linked = [links[i] for i in order[:n_trained]]
            vocabulary = build_vocabulary(linked, VocabularyRecipe(Rule(LINKS))).vocabulary
            if tokens == "rare_words":
                vocabulary = as_rare(chosen, vocabulary, linked, seed)
        documents = counted(vocabulary, chosen)
        reference = Minibatch.from_csr(counted(vocabulary, others))
        topics = trained(kind, documents, 2 * seed)
        topics_of_another_seed = trained(kind, documents, 2 * seed + 1)
        scores.append(
            {
                "npmi": float(np.nanmean(npmi(topics, reference))),
                "intruders": intruders_found(topics, reference, seed),
                "stability": shared_words(topics, topics_of_another_seed),
                "vocabulary": len(vocabulary),
                "tokens": float(documents.sum() / documents.shape[0]),
            }
        )
    names = list(scores[0])
    by_seed = np.array([list(score.values()) for score in scores])
    means = by_seed.mean(axis=0)
    errors = by_seed.std(axis=0, ddof=1) / len(SEEDS) ** 0.5
    return {
        "articles": len(found),
        **dict(zip(names, means.tolist(), strict=True)),
        "errors": dict(zip(names, errors.tolist(), strict=True)),
    }


for _kind, _tokens in itertools.product(KINDS, TOKENS):
    EXPERIMENT.add(f"{_kind}_{_tokens}", partial(quality, _kind, _tokens))


LABELS = {
    f"{kind}_{tokens}": f"{KINDS[kind]}, {TOKENS[tokens]}"
    for kind, tokens in itertools.product(KINDS, TOKENS)
}
COLUMNS = {
    "tokens an article": "{tokens:.0f}",
    "NPMI": "{npmi:.2f} ± {errors[npmi]:.2f}",
    "intruders found": "{intruders:.2f} ± {errors[intruders]:.2f}",
    "stability": "{stability:.2f} ± {errors[stability]:.2f}",
}
EXPERIMENT.tables["compared"] = partial(compared, LABELS, COLUMNS)
