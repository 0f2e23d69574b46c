"""Figures in README and docs are measured: those in sentences by the list here, those in tables by
marks.

    | a title searched for | 76<!--screen.search.few_milliseconds:.0f--> ms |

A mark names experiment, point and figure, and after further dots parts of a figure (those of a list
by number, from 0). `/1e3` divides the figure. What follows the colon is the format of the number
before the mark, as in Python. The keys of the list are alike, or `A - B` or `A / B` of two. A table
that an experiment writes stands between `<!--table EXPERIMENT.NAME-->` and `<!--/table-->`.
"""

import importlib.util
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.harness import ROOT, figures, load

SKLEARN_IN_ONE_PASS = "peers.full_sklearn.log_likelihood:.2f"
LDA_IN_ONE_PASS = "peers.full_seeds.our_lda.log_likelihood:.2f"
GIBBS_AND_SCVB0 = (
    "peers.long_gibbs_lda.log_likelihood:.2f",
    "peers.long_seeds.our_scvb0.log_likelihood:.2f",
)
THEIR_SECONDS = "peers.long_gibbs_lda.seconds:.0f", "peers.long_seeds.our_scvb0.seconds:.1f"
SENTENCES: Mapping[str, Sequence[tuple[str, ...]]] = {
    "README.md": (
        ("{} million texts in Parquet files,", "ready_texts.lda.documents/1e6:.1f"),
        (
            "in {} minutes on two cores, in {} GB of memory.",
            "ready_texts.lda.minutes:.0f",
            "ready_texts.lda.together_mb/1e3:.1f",
        ),
        (
            "takes online LDA {} CPU seconds and scikit-learn's {}; ours predicts held-out "
            "words better ({} against {} nats per word).",
            "peers.full_our_lda.seconds:.1f",
            "peers.full_sklearn.seconds:.0f",
            LDA_IN_ONE_PASS,
            SKLEARN_IN_ONE_PASS,
        ),
        (
            "on 5,565 long articles ({} against {}, in {} CPU seconds instead of {}), slightly "
            "behind on the 56,449 ({} against {}, in {} instead of {}), where the HDP is ahead "
            "({}, in {}).",
            "peers.long_our_lda_again.log_likelihood:.2f",
            "peers.long_gibbs_lda.log_likelihood:.2f",
            "peers.long_our_lda_again.seconds:.0f",
            "peers.long_gibbs_lda.seconds:.0f",
            "peers.full_our_lda_again.log_likelihood:.2f",
            "peers.full_gibbs_lda.log_likelihood:.2f",
            "peers.full_our_lda_again.seconds:.0f",
            "peers.full_gibbs_lda.seconds:.0f",
            "peers.full_our_hdp_again.log_likelihood:.2f",
            "peers.full_our_hdp_again.seconds:.0f",
        ),
        (
            "at an NMI of {}, Gibbs sampling's at {}, FASTopic's at {} in {} CPU seconds instead "
            "of {}.",
            "today.m10_our_lda.nmi:.2f",
            "today.m10_tomotopy.nmi:.2f",
            "today.m10_fastopic.nmi:.2f",
            "today.m10_fastopic.seconds:.0f",
            "today.m10_our_lda.seconds:.1f",
        ),
        (
            "{} or {} CPU seconds per thousand texts,",
            "today.articles_bertopic.seconds/10:.0f",
            "today.articles_fastopic.seconds/10:.0f",
        ),
        (
            "(NPMI {} against our {})",
            "today.bbc_nmf.npmi:.2f",
            "today.bbc_our_lda.npmi:.2f",
        ),
        (
            "{} % came back in another run, {} % of those that none had.",
            "replicas.full_lda.reliability.3.2/0.01:.0f",
            "replicas.full_lda.reliability.0.2/0.01:.0f",
        ),
    ),
    "docs/figures.md": (
        (
            "at {} to {} nats per word, one of scikit-learn's LDA at {} and one of gensim's at {}.",
            "peers.full_seeds.our_hdp.log_likelihood:.2f",
            LDA_IN_ONE_PASS,
            SKLEARN_IN_ONE_PASS,
            "peers.full_gensim.log_likelihood:.2f",
        ),
        (
            "the HDP predicts best of ours: {}, SCVB0 {}, LDA {}.",
            "peers.full_seeds.our_hdp.own:.2f",
            "peers.full_seeds.our_scvb0.own:.2f",
            "peers.full_seeds.our_lda.own:.2f",
        ),
        (
            "{} against {} for SCVB0, in {} CPU seconds instead of {}.",
            *GIBBS_AND_SCVB0,
            *THEIR_SECONDS,
        ),
        (
            "In {} passes, SCVB0 reaches {} in {} CPU seconds; in {}, the HDP {} in {}.",
            "peers.long_our_scvb0_again.passes:.0f",
            "peers.long_our_scvb0_again.log_likelihood:.2f",
            "peers.long_our_scvb0_again.seconds:.0f",
            "peers.long_our_hdp_again.passes:.0f",
            "peers.long_our_hdp_again.log_likelihood:.2f",
            "peers.long_our_hdp_again.seconds:.0f",
        ),
        (
            "online LDA learns {} times as many articles in a CPU second as scikit-learn's",
            "speed.lda_sklearn_full.times:.0f",
        ),
        (
            "Our models learn {} to {} times as many documents in a CPU second",
            "speed.lda_bigartm_short.times:.0f",
            "speed.scvb0_sklearn_full.times:.0f",
        ),
        ("Two threads make learning {} times as fast", "speed.two_threads.times:.1f"),
    ),
    "docs/decisions/0034-links.md": (
        ("eight divisions of {} articles", "links.lda_links.articles:.0f"),
    ),
    "docs/languages.md": (
        (
            "{} MB of wikitext or {} MB of pages a CPU second",
            "links.wikitext_speed.links:.0f",
            "links.html_speed.links:.0f",
        ),
    ),
    "docs/results.md": (
        (
            "online LDA ends {} nats behind",
            "paper_h10.batch_subset.log_likelihood - paper_h10.online_subset.log_likelihood:.1f",
        ),
        (
            "SCVB0 reaches a better score,** by {} nats",
            "paper_f13.scvb0.log_likelihood - paper_f13.svb_5.log_likelihood:.2f",
        ),
        (
            "the HDP is ahead of every LDA,** by {} instead of 0.34",
            "paper_svi13.our_hdp.log_likelihood - paper_svi13.our_lda_300.log_likelihood:.2f",
        ),
        (
            "from 500 to 1,000, S still gains {}.",
            "paper_svi13.size_lda_1000.log_likelihood - "
            "paper_svi13.size_lda_500.log_likelihood:.2f",
        ),
        ("it ends with {} topics, behind most LDAs", "paper_w11.short_hdp.topics_in_use:.0f"),
        (
            "the HDP is ahead of LDA by {} nats on short articles and {} on long ones, in 1/{} and "
            "1/{} of the time of the algorithm as printed.",
            "paper_w11.short_our_hdp.log_likelihood - paper_w11.short_our_lda.log_likelihood:.2f",
            "paper_w11.long_our_hdp.log_likelihood - paper_w11.long_our_lda.log_likelihood:.2f",
            "paper_w11.short_hdp.seconds / paper_w11.short_our_hdp.seconds:.0f",
            "paper_w11.long_hdp.seconds / paper_w11.long_our_hdp.seconds:.0f",
        ),
        (
            "scores {} after 20,000 short articles, and its {} topics repeat each other's leading "
            "words ({}",
            "peers.short_gensim_hdp.log_likelihood:.2f",
            "peers.short_gensim_hdp.topics:.0f",
            "peers.short_gensim_hdp.distinct:.2f",
        ),
    ),
    "docs/topics.md": (
        (
            "{} % came back in an independent run on the same articles of Wikipedia, and {} % on "
            "others; of those that none has, {} % and {} %",
            "replicas.full_lda.reliability.3.2/0.01:.0f",
            "replicas.full_lda.reliability.3.3/0.01:.0f",
            "replicas.full_lda.reliability.0.2/0.01:.0f",
            "replicas.full_lda.reliability.0.3/0.01:.0f",
        ),
    ),
    "docs/decisions/0048-words-shown.md": (
        (
            "for {} % of articles by relevance, for {} % by probability alone and for {} % by lift "
            "alone",
            "naming.weights.percent.report.w6:.0f",
            "naming.weights.percent.report.w10:.0f",
            "naming.weights.percent.report.w0:.0f",
        ),
        (
            "from {} to {}; with 16, to {}, but then three words lead to the right topic for {} % "
            "of them instead of {} %",
            "naming.associations.scores.full_report_0.npmi:.3f",
            "naming.associations.scores.full_report_4.npmi:.3f",
            "naming.associations.scores.full_report_16.npmi:.3f",
            "naming.associations.scores.full_report_16.percent:.1f",
            "naming.associations.scores.full_report_4.percent:.1f",
        ),
    ),
}
"""By page: its sentences, or parts of them, with {} in place of each figure, and the keys of these
figures."""
PICTURES = ROOT / "docs" / "pictures"
NUMBER = r"[-+]?\d[\d,]*(?:\.\d+)?"
MARK = re.compile(rf"({NUMBER})?<!--([a-z]\w*(?:\.[\w-]+)+(?:/[\d.e]+)?:[^ >]*)-->")
"""A number, if there is one yet, and the mark behind it, such as <!--screen.draw.ms:.1f-->."""
TABLE = re.compile(r"(<!--table (\w+)\.(\w+)-->\n).*?(<!--/table-->)", re.DOTALL)


def measured(figure: str) -> str:
    """The figure of a mark or of the list, in its format. Raises KeyError."""
    key, _, form = figure.partition(":")
    if " - " in key:
        first, second = map(_found, key.split(" - "))
        return format(first - second, form)
    if " / " in key:
        first, second = map(_found, key.split(" / "))
        return format(first / second, form)
    return format(_found(key), form)


def _found(key: str) -> float:
    """The figure with this key. Raises KeyError."""
    path, _, unit = key.partition("/")
    experiment, point, *names = path.split(".")
    found: Any = figures(experiment)[point]
    for name in names:
        if isinstance(found, list):
            found = {str(number): part for number, part in enumerate(found)}
        if not isinstance(found, dict):
            raise KeyError(key)
        found = found[name]
    if not isinstance(found, int | float):
        raise KeyError(key)
    value: float = found / float(unit) if unit else found
    return value


def filled(page: str, name: str = "") -> str:
    """The page of this name with the figures and tables of today's results. Raises KeyError for a
    mark that names none, ValueError if the page does not say something listed."""

    def with_number(match: re.Match[str]) -> str:
        figure = match[2]
        return f"{measured(figure)}<!--{figure}-->"

    def with_rows(match: re.Match[str]) -> str:
        begin, experiment, table, end = match.groups()
        write = load(experiment).tables[table]
        return f"{begin}{write(figures(experiment))}\n{end}"

    page = MARK.sub(with_number, page)
    page = TABLE.sub(with_rows, page)
    for phrase, *keys in SENTENCES.get(name, ()):
        # A line of the page may end at any space, and each {} is a number there.
        pattern = re.escape(phrase).replace(r"\ ", r"\s+").replace(r"\{\}", f"({NUMBER})")
        found = re.search(pattern, page)
        if found is None:
            raise ValueError(f"{name} does not say: {phrase}")
        # The last number first, so that the places of those before it stay true.
        for group, key in reversed(list(enumerate(keys, start=1))):
            page = page[: found.start(group)] + measured(key) + page[found.end(group) :]
    return page


def stale() -> Iterator[tuple[Path, str]]:
    """(page, what it should be) of pages that differ from what was measured."""
    for path in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))):
        page = path.read_text(encoding="utf-8")
        new = filled(page, path.relative_to(ROOT).as_posix())
        if new != page:
            yield path, new


def drawn(name: str) -> Iterator[Path]:
    """Draw an experiment's pictures if it has results and matplotlib is installed."""
    found = figures(name)
    if not found or importlib.util.find_spec("matplotlib") is None:
        return
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot

    for picture, draw in load(name).pictures.items():
        path = PICTURES / f"{name}-{picture}.svg"
        # So that the same figures give the same file.
        with pyplot.rc_context({"svg.hashsalt": path.name}):
            draw(found).savefig(path, metadata={"Date": None})
        pyplot.close()
        yield path
