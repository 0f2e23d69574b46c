"""Links instead of words: how fast they are extracted, and what the topics of each are like.

Topics are compared over some 480 real articles: models learn from three in five, and the others say
which words, or which links, occur together.
"""

import itertools
import tarfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
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
from wikitopics.crawler.markup.texts import is_disambiguation, page_links
from wikitopics.crawler.page import Markup, Page, SourceInfo
from wikitopics.model import Minibatch, kinds
from wikitopics.model.coherence import npmi, npmi_of_words
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
WORDS = 5
"""The words of a topic among which an intruder is sought."""
TOKENS = {"words": "words", "rare_words": "words as rare as links", "links": "links"}
KINDS = {"lda": "online LDA", "scvb0": "SCVB0"}
WIKI = SourceInfo("en.wikipedia.org", None, ("File", "Image"), ("Category",), "en")


def wikitexts() -> list[Page]:
    """The 400 articles of wikitext."""
    found = data.articles("wikitext/articles-400.jsonl.xz")
    return [
        Page(n, one["title"], 1, one["text"], "wikitext") for n, one in enumerate(found, start=1)
    ]


def html_pages() -> list[Page]:
    """The rendered pages of Wikipedia."""
    with tarfile.open(data.shared("html/pages.tar.xz")) as archive:
        texts = []
        for member in archive:
            file = archive.extractfile(member)
            if file is not None:  # as it is for a folder
                texts.append(file.read().decode("utf-8", "replace"))
    return [Page(n, "", 1, text, "html") for n, text in enumerate(texts, start=1)]


def speed(markup: Markup) -> Figures:
    """Megabytes of UTF-8 in a CPU second, prose and links in turn, and how many times as fast links
    are."""
    pages = wikitexts() if markup == "wikitext" else html_pages()
    extract = extract_wikitext if markup == "wikitext" else extract_html
    size = sum(len(page.text.encode()) for page in pages) / 1e6

    def seconds(work: Callable[[Page], object]) -> float:
        spent, _ = timed(lambda: [work(page) for page in pages])
        return spent

    of_prose, of_links = in_turn(
        REPEATS,
        lambda: seconds(lambda page: extract(page.text)),
        lambda: seconds(lambda page: page_links(page, info=WIKI)),
    )
    return {"prose": size / of_prose, "links": size / of_links, "times": of_prose / of_links}


for _markup in ("wikitext", "html"):
    EXPERIMENT.add(f"{_markup}_speed", partial(speed, _markup))


def articles() -> Iterator[Page]:
    """All real articles of wikitext, each once, without disambiguation pages."""
    found = {page.title: page for page in wikitexts() if not is_disambiguation(page.text, "en")}
    for page, _ in DumpFiles([str(data.shared("wikitext/enwiki-2016-sample.xml.bz2"))]).read():
        if isinstance(page, Page):
            found.setdefault(page.title, page)
    yield from found.values()


def intruders_found(topics: NDArray[Any], reference: Minibatch, seed: int) -> float:
    """How often the word that least occurs together with the others is the intruder.

    After Lau, Newman and Baldwin 2014, with mean NPMI in the place of a trained ranker: to a
    topic's leading words comes one that leads another topic and is improbable in this one.
    """
    rng = np.random.default_rng(seed)
    leading = top_words(topics, WORDS)
    found = 0.0
    for k, own in enumerate(leading):
        improbable = np.argsort(np.argsort(topics[k])) < topics.shape[1] / 2
        others = [w for j, row in enumerate(leading) if j != k for w in row if improbable[w]]
        intruder = rng.choice(others or np.flatnonzero(improbable))
        shown = np.append(own, intruder)
        # Each word with each other one; the pairs of a word stand together.
        pairs = np.array(list(itertools.permutations(shown, 2)))
        near = npmi_of_words(pairs, reference).reshape(WORDS + 1, WORDS).mean(axis=1)
        is_farthest = near <= near.min() + 1e-12
        found += is_farthest[-1] / is_farthest.sum()  # a tie is a guess
    return found / len(leading)


def shared_words(one: NDArray[Any], other: NDArray[Any]) -> float:
    """The mean share of ten leading words of each topic of ``one`` in its nearest topic of
    ``other``."""
    shared = []
    for words in top_words(one):
        in_each = [len(np.intersect1d(words, others)) for others in top_words(other)]
        shared.append(max(in_each))
    return float(np.mean(shared) / 10)


def counted(vocabulary: Vocabulary, texts: Sequence[str]) -> csr_array:
    """(D, W) counts of the texts that have a known word."""
    counted = [(ids, counts) for ids, counts in map(vocabulary.count, texts) if len(ids)]
    word_ids = np.concatenate([ids for ids, _ in counted])
    counts = np.concatenate([counts for _, counts in counted])
    indptr = np.cumsum([0, *(len(ids) for ids, _ in counted)])
    return csr_array((counts, word_ids, indptr), shape=(len(counted), len(vocabulary)))


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


def _texts_with_each(vocabulary: Vocabulary, texts: Sequence[str]) -> NDArray[np.int64]:
    """(W,) in how many texts each word is."""
    return np.bincount(counted(vocabulary, texts).indices, minlength=len(vocabulary))


def as_rare(
    prose: Sequence[str],
    titles: Vocabulary,
    linked: Sequence[str],
    seed: int,
) -> Vocabulary:
    """Words of these texts that occur in as many of them as the titles are linked in."""
    words = build_vocabulary(prose, VocabularyRecipe.of_language("en"), size=100_000).vocabulary
    of_words = _texts_with_each(words, prose)
    of_titles = _texts_with_each(titles, linked)
    rng = np.random.default_rng(seed)
    chosen: list[int] = []
    for n_texts, n_titles in Counter(of_titles.tolist()).items():
        as_rare = np.flatnonzero(of_words == n_texts)
        chosen += rng.permutation(as_rare)[:n_titles].tolist()
    return Vocabulary.from_words([words.words[i] for i in sorted(chosen)], words.rule)


def quality(kind: str, tokens: str) -> Figures:
    """The topics of a model over words or over links; each seed divides the articles anew."""
    found = list(articles())
    prose = [extract_wikitext(page.text) for page in found]
    links = ["\n".join(page_links(page, WIKI)) for page in found]
    texts = links if tokens == "links" else prose
    scores: list[tuple[float, ...]] = []
    for seed in SEEDS:
        order = np.random.default_rng(seed).permutation(len(texts)).tolist()
        some = int(TRAINED * len(texts))
        chosen = [texts[i] for i in order[:some]]
        others = [texts[i] for i in order[some:]]
        if tokens == "words":
            vocabulary = build_vocabulary(chosen, VocabularyRecipe.of_language("en")).vocabulary
        else:
            linked = [links[i] for i in order[:some]]
            vocabulary = build_vocabulary(linked, VocabularyRecipe(Rule(LINKS))).vocabulary
            if tokens == "rare_words":
                vocabulary = as_rare(chosen, vocabulary, linked, seed)
        documents = counted(vocabulary, chosen)
        reference = Minibatch.from_csr(counted(vocabulary, others))
        topics = trained(kind, documents, 2 * seed)
        again = trained(kind, documents, 2 * seed + 1)
        scores.append(
            (
                float(np.nanmean(npmi(topics, reference))),
                intruders_found(topics, reference, seed),
                shared_words(topics, again),
                len(vocabulary),
                float(documents.sum() / documents.shape[0]),
            )
        )
    names = ("npmi", "intruders", "stability", "vocabulary", "tokens")
    means = np.mean(scores, axis=0)
    errors = np.std(scores, axis=0, ddof=1) / len(SEEDS) ** 0.5
    return {
        "articles": len(found),
        **dict(zip(names, means.tolist(), strict=True)),
        "errors": dict(zip(names, errors.tolist(), strict=True)),
    }


for _kind, _tokens in itertools.product(KINDS, TOKENS):
    EXPERIMENT.add(f"{_kind}_{_tokens}", partial(quality, _kind, _tokens))


LABELS = {
    f"{kind}_{tokens}": f"{KINDS[kind]}, {TOKENS[tokens]}" for kind in KINDS for tokens in TOKENS
}
COLUMNS = {
    "tokens an article": "{tokens:.0f}",
    "NPMI": "{npmi:.2f} ± {errors[npmi]:.2f}",
    "intruders found": "{intruders:.2f} ± {errors[intruders]:.2f}",
    "stability": "{stability:.2f} ± {errors[stability]:.2f}",
}
EXPERIMENT.tables["compared"] = partial(compared, LABELS, COLUMNS)
