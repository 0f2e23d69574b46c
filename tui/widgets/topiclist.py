"""Topics by share: how large, which way they go, what they are about."""

from rich.cells import cell_len

from session.records import TopicRow
from tui.chart.spark import spark
from tui.inks import Part
from tui.look import Choice, Look
from tui.rowlist import RowList
from tui.words import APART, nearness, share

NO_TOPICS = " no topics yet: they come with the first minibatch"
TREND = 8
NOISE = 0.25
"""A share that has moved by less than a quarter of itself is drawn as steady."""
CHANGE_SHOWN = 0.0005
"""A change of share below this (0.05 points) is noise and shown as none."""


class TopicList(RowList[TopicRow]):
    """One line a topic; its number stays the same for ever, only the order follows the shares."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.ascii_only = False
        self.empty = NO_TOPICS
        self._of: tuple[str, str | None] | None = None
        self._sought = ""

    def show_topics(self, look: Look, choice: Choice, sought: str) -> None:
        """Draw the topics of the model in use, most prevalent first; with ``sought`` those it finds."""
        model = choice.model_of(look)
        of = (look.status.session, model)
        if of != self._of or (sought and sought != self._sought):
            self.release()
        elif sought != self._sought:
            self.hold()  # what was found stays under the cursor when all are listed again
        self._of, self._sought, self.ascii_only = of, sought, choice.ascii_only
        rows = look.topics.get(model or "", ())
        self.empty = f" no topic has “{sought}” among its top words" if rows and sought else NO_TOPICS
        self.show(found(rows, sought))

    def key(self, row: TopicRow) -> object:
        return row.topic

    def header(self, width: int) -> list[Part]:
        trend = "trend".ljust(TREND + 2) if width >= 60 else ""
        return [
            (
                f"   #  share   Δ     {trend}top words"
                if not self.ascii_only
                else f"   #  share   +/-   {trend}top words",
                "header",
            )
        ]

    def parts(self, row: TopicRow, width: int) -> list[Part]:
        out: list[Part] = [
            (f"{row.topic:>4}", "muted"),
            (f" {share(row.share):>6}  ", "strong"),
            self._change(row),
        ]
        if width >= 60:
            bars = spark(row.trend[-TREND:], TREND, ascii_only=self.ascii_only, least=NOISE)
            out.append((f"{bars:<{TREND}}  ", "spark"))
        return out + words_of(row, width - sum(len(text) for text, _ in out))

    def _change(self, row: TopicRow) -> Part:
        if row.share_before is None:
            return "      ", "muted"
        change = row.share - row.share_before
        if abs(change) < CHANGE_SHOWN:
            return ("   ·  " if not self.ascii_only else "   .  "), "faint"
        up = change > 0
        sign = ("+" if up else "-") if self.ascii_only else ("▲" if up else "▼")
        points = f"{abs(100 * change):.1f}"
        points = points.removeprefix("0") if points.startswith("0.") else points
        return f"{sign}{points:<4} ", "good" if up else "muted"


def words_of(row: TopicRow, room: int) -> list[Part]:
    """As many top words as fit ``room`` whole; a newcomer is marked with + (and in colour)."""
    out: list[Part] = []
    for i, (word, _) in enumerate(row.words):
        new = word in row.newcomers
        text = ("+" if new else "") + word
        room -= cell_len(text) + 1
        if room < -1 and i:
            break
        out.append((text + " ", "new" if new else ("" if i < 3 else "muted")))
    return out


def by_share(rows: tuple[TopicRow, ...]) -> list[TopicRow]:
    """Most prevalent first; equal shares keep their order."""
    return sorted(rows, key=lambda row: (-row.share, row.topic))


def found(rows: tuple[TopicRow, ...], text: str) -> list[TopicRow]:
    """The topics with ``text`` among their words, or of that number ("#12"), whole words first, else by
    share; "" finds all."""
    sought = text.strip().removeprefix("#")
    near = {row.topic: _nearness(sought, row) for row in rows}
    return sorted((r for r in by_share(rows) if near[r.topic] < APART), key=lambda r: near[r.topic])


def _nearness(sought: str, row: TopicRow) -> int:
    if sought in ("", str(row.topic)):
        return 0
    return nearness(sought, " ".join(word for word, _ in row.words))
