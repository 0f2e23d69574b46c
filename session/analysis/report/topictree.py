"""The whole tree over the topics of one model, in the order of its groups."""

from markupsafe import Markup

from wikitopics.session.analysis.report.contents import ReportModel
from wikitopics.session.analysis.report.svg import INKS, cut, figure, plain, series

WIDTH, ROW, ABOVE, BELOW = 380, 17, 10, 36
TREE = 130
"""The part of the width for the tree; the names have the rest."""
LONGEST = 36


def topic_tree(model: ReportModel) -> Markup:
    """One row per topic; the farther left two branches meet, the less they have in common."""
    topics = [topic for _, _, members in model.groups for topic in members]
    height = ROW * len(topics) + ABOVE + BELOW
    xs, ys = _brackets(model)
    with figure(WIDTH, height) as drawn:
        axes = drawn.add_axes((0.01, BELOW / height, TREE / WIDTH, 1 - (ABOVE + BELOW) / height))
        axes.set(xlim=(max(branch.height for branch in model.tree) * 1.02, 0), ylim=(len(topics) - 0.5, -0.5))
        axes.set_xlabel("distance")
        axes.locator_params(axis="x", nbins=3)
        axes.yaxis.set_visible(False)
        axes.plot(xs, ys, color=series(model.place), linewidth=1.4, clip_on=False, solid_joinstyle="round")
        for row, topic in enumerate(topics):
            axes.annotate(
                f"{cut(topic.name, LONGEST)}  {topic.share:.1%}",
                (0, row),
                xytext=(6, 0),
                textcoords="offset points",
                va="center_baseline",
                color=INKS["ink"],
                annotation_clip=False,
                url=f"#{topic.anchor}",
            )
        return plain(
            drawn, f"The tree of {len(topics)} topics of {model.status.name}; its groups are listed too."
        )


def _brackets(model: ReportModel) -> tuple[list[float], list[float]]:
    """The line that joins the branches: the heights of two branches and of their join, and their rows."""
    order = (topic.number for _, _, members in model.groups for topic in members)
    rows = {topic: float(row) for row, topic in enumerate(order)}
    heights = dict.fromkeys(rows, 0.0)
    parts: dict[int | None, list[int]] = {}
    xs: list[float] = []
    ys: list[float] = []
    for branch in model.tree:  # children come before their parents
        if below := parts.get(branch.number):
            one, other = below
            xs += [heights[one], branch.height, branch.height, heights[other], float("nan")]
            ys += [rows[one], rows[one], rows[other], rows[other], float("nan")]
            rows[branch.number], heights[branch.number] = (rows[one] + rows[other]) / 2, branch.height
        parts.setdefault(branch.parent, []).append(branch.number)
    return xs, ys
