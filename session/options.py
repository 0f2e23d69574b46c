"""The settings of a trainer, each declared once: name, type, range, default, help, and how long it
applies.

The command line, requests, stored settings, the resume check and the dialog for new sessions are
made from these, together with the options by which each kind of source describes itself
(`wikitopics.session.sources`).
"""

from functools import partial
from typing import Any, Final

from wikitopics.model.options import HALF_LIFE, KAPPA
from wikitopics.option import Option as Option

Options = tuple[Option[Any], ...]

SOURCE = Option(
    str,
    "source",
    "Where articles come from: a wiki's API, its rendered pages, a dump file, recent changes, your "
    "own documents, a file of word counts, or a source from another package.",
    metavar="KIND",
    default="api",
)
VOCAB = Option(
    str,
    "vocab",
    "The vocabulary: one that comes with the program, one that it has built, such as de, or a file "
    "with one word a line.",
    metavar="NAME|FILE",
    path=True,
    default="english",
    label="Vocabulary",
)

MODEL: Option[tuple[str, ...]] = Option(
    tuple,
    "model",
    "KIND[:key=value,…]; `--model help` lists the kinds (default: lda).",
    metavar="SPEC",
)
TOPICS = Option(
    str,
    "topics",
    "Topics of each model (default 100, hdp: at most 300; fewer for fewer than 10,000 documents). "
    "Several numbers, as in 10,20,40, at most 20, make a model of each.",
    metavar="K[,K…]",
)
SHARED = (
    TOPICS,
    Option(str, "alpha", "Prior on the proportions: a number, or 'learn'.", metavar="A"),
    Option(str, "eta", "Prior on the topics: a number, or 'learn'.", metavar="E"),
    Option(str, "batch_size", "Articles in a full minibatch.", metavar="S"),
    Option(
        str,
        KAPPA.name,
        f"How fast old minibatches are forgotten, {KAPPA.least:g} to {KAPPA.most:g}.",
        metavar="X",
    ),
    Option(
        str,
        "tau0",
        "Larger values damp the first updates. With --kappa, LDA learns as its paper printed it, "
        "which predicts worse.",
        metavar="X",
    ),
    Option(
        str,
        HALF_LIFE.name,
        "Halve the weight of what has been learnt every N articles, so that topics follow a stream "
        "whose subjects change (default for recent changes: 20000; otherwise nothing is "
        "forgotten).",
        metavar="N",
    ),
)
"""Options for all models whose kind has and shares such an option; the kind knows the accepted
values."""

_count = partial(Option, int, metavar="N")
"""Declares a setting that is a whole number."""
SEED = _count("seed", "Random seed.", least=0, most=2**32 - 1, default=0)
HELD_OUT = _count(
    "held_out",
    "Articles set aside for evaluation, never trained on (default: 1000, or a tenth of a small "
    "source).",
    least=0,
    most=1_000_000,
    derived=True,
    label="Held out",
)
DOCUMENTS = _count(
    "documents",
    "The corpus size the models assume (default: the source's, or --articles of the first run if "
    "fewer).",
    metavar="D",
    least=1,
    most=10**12,
    derived=True,
)
KEEP_ARTICLES = Option(
    str,
    "keep_articles",
    "Which articles to keep, with their topics.",
    choices=("all", "top", "none"),
    default="all",
)
KEEP_COUNTS = Option(
    bool,
    "keep_counts",
    "Keep word counts, so that another session can train on them (--counts THIS.db). Those of your "
    "own documents are always kept, except with --keep-articles none.",
    default=False,
)
NO_SNIPPETS = Option(
    bool,
    "no_snippets",
    "Keep no snippets of your own documents. Otherwise, the session keeps the first 300 characters "
    "of each, to show what it is about; none with --keep-articles top or none, and never those of "
    "a wiki's articles. Titles stay, also those made of a text's first words.",
    default=False,
)
PASSES = _count(
    "passes",
    "Read all documents N times, each time in a different order; for texts, word counts and dump "
    "files. With more than one pass, the session keeps the word counts. Up to 25,000 texts or word "
    "counts are read 2 to 10 times unless this is given.",
    least=1,
    most=10_000,
    default=1,
)
LINKS: Final = "links"
"""Also the name of a rule in `wikitopics.vocab`, which is not imported here, since it loads
NumPy."""
REPLICAS = _count(
    "replicas",
    "Beside each model, R more of its kind with other seeds, at most 11, learn the same articles, "
    "which takes longer; a sign before each topic says how many of them have it, too (default: 3 "
    "for your own documents and the demo, fewer for more than 166 topics, none for the HDP; "
    "otherwise 0).",
    metavar="R",
    least=0,
    most=11,
    default=0,
)
TOKENS = Option(
    str,
    "tokens",
    "What to count in articles: words, or the links in their prose, each as the title of the "
    "article that it leads to. Links work in every language; they need a wiki's API, its pages or "
    "a dump.",
    choices=("words", LINKS),
    default="words",
    label="Tokens",
)
VOCAB_ARTICLES = _count(
    "vocab_articles",
    "If a vocabulary must be built: how many of the first articles to build it from, held-out ones "
    "included.",
    least=2,
    most=1_000_000,
    default=10_000,
)
SEEDS = Option(
    str,
    "seeds",
    "Words that topics should be about: a file with a line NAME: WORD WORD … for each topic "
    "(separated by commas, they may include phrases), or a JSON object of lists of words. Topics "
    "0, 1, … have these names; the others are free.",
    metavar="FILE",
    path=True,
    label="Seeds",
)
"""A session keeps the content of the file, as JSON."""
KEPT: Options = (
    SEED,
    HELD_OUT,
    DOCUMENTS,
    KEEP_ARTICLES,
    KEEP_COUNTS,
    NO_SNIPPETS,
    PASSES,
    REPLICAS,
    TOKENS,
    VOCAB_ARTICLES,
    SEEDS,
)
"""Settings fixed for the session when it is created."""

ARTICLES = _count(
    "articles",
    "Stop when the session has trained on N articles. With --passes, each reading counts.",
    least=1,
    most=10**12,
    scope="run",
)
HOURS = Option(float, "hours", "Stop after H hours.", metavar="H", above=0, scope="run")
MAX_MB = Option(
    float,
    "max_mb",
    "Stop this run after downloading MB megabytes.",
    metavar="MB",
    above=0,
    scope="run",
)
THREADS = _count(
    "threads",
    "Threads for the models; their number does not change the result (default: one for each "
    "processor).",
    least=1,
    most=256,
    scope="run",
)
RUN: Options = (ARTICLES, HOURS, MAX_MB, THREADS)
"""Settings that may change with every run."""

ON_END = Option(
    str,
    "on_end",
    "Run COMMAND when the trainer ends, unless it is killed or Ctrl+C is pressed twice; "
    "$WIKITOPICS_SESSION, $WIKITOPICS_REASON and $WIKITOPICS_EXIT_CODE say how it ended. "
    "COMMAND may take up to 20 s.",
    metavar="COMMAND",
    scope="outside",
)
NOTIFY = Option(
    str,
    "notify",
    "When the trainer ends, ring the terminal's bell, or send a desktop notification through it "
    "(OSC 9).",
    choices=("bell", "osc9"),
    scope="outside",
)
CLUSTER = Option(
    str,
    "cluster",
    "Unpack, parse and count on the workers of a Dask cluster whose scheduler is at ADDRESS, such "
    "as tls://host:8786 (docs/scaling.md).",
    metavar="ADDRESS",
    scope="outside",
)
CLUSTER_UNENCRYPTED = Option(
    bool,
    "cluster_unencrypted",
    "Accept an unencrypted scheduler on another machine: anybody on the network in between can "
    "read the articles and run programs on these machines.",
    scope="outside",
)
ENCRYPTED = ("tls", "wss")
UNENCRYPTED = ("tcp", "ws")
"""The protocols of a scheduler's address, encrypted or not."""
OUTSIDE: Options = (ON_END, NOTIFY, CLUSTER, CLUSTER_UNENCRYPTED)
"""Settings that act outside the program; no session keeps them."""

OWN: Options = (SOURCE, VOCAB, MODEL, *SHARED, *KEPT, *RUN, *OUTSIDE)
"""All settings except those of the sources."""
