"""The whole tree over the topics of one model, in the order of its groups."""

from markupsafe import Markup

from wikitopics.session.analysis.report.drawings.plain import INKS, cut, figure, plain, series
from wikitopics.session.analysis.report.records import ToldModel

WIDTH, ROW, ABOVE, BELOW = 380, 17, 10, 36
TREE = 130
"""The part of the width for the tree; the names have the rest."""
LONGEST = 36


def topic_tree(model: ToldModel) -> Markup:
    """One row per topic; the farther left two branches meet, the less they have in common."""
    topics = [topic for group in model.groups for topic in group.topics]
    height = ROW * len(topics) + ABOVE + BELOW
    tallest = max((bracket.heights[1] for bracket in model.tree), default=1.0)
    with figure(WIDTH, height) as drawn:
        axes = drawn.add_axes((0.01, BELOW / height, TREE / WIDTH, 1 - (ABOVE + BELOW) / height))
        axes.set(xlim=(tallest * 1.02, 0), ylim=(len(topics) - 0.5, -0.5))
        axes.set_xlabel("distance", fontsize=11, labelpad=4)
        axes.tick_params(length=0, pad=5, labelsize=11)
        axes.locator_params(axis="x", nbins=3)
        axes.yaxis.set_visible(False)
        for side in ("left", "right", "top"):
            axes.spines[side].set_visible(False)
        xs: list[float] = []
        ys: list[float] = []
        for bracket in model.tree:
            (one, meet, other), (first, last) = bracket.heights, bracket.rows
            xs += [one, meet, meet, other, float("nan")]
            ys += [first, first, last, last, float("nan")]
        axes.plot(xs, ys, color=series(model.place), linewidth=1.4, clip_on=False, solid_joinstyle="round")
        for row, topic in enumerate(topics):
            axes.annotate(
                f"{cut(topic.name, LONGEST)}  {topic.share:.1%}",
                (0, row),
                xytext=(6, 0),
                textcoords="offset points",
                va="center_baseline",
                color=INKS["ink"],
                parse_math=False,
                annotation_clip=False,
                url=f"#{topic.anchor}",
            )
        return plain(drawn, f"The tree of {len(topics)} topics of {model.name}; its groups are listed too.")
