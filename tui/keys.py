"""The keys: how one is declared, those that work in every view, and those that the bottom line shows.

The name of a key is its name in the config file's table `[keys]`.
"""

from dataclasses import replace

from textual.binding import Binding


def binding(name: str, keys: str, action: str, label: str, does: str = "", shown: str = "") -> Binding:
    """A key with a name. ``label``: for the bottom line; ``does``: for the help and the palette, where a key
    without it is left out; ``shown``: how the key is written, if not by its name."""
    return Binding(keys, action, label, id=name, tooltip=does, key_display=shown or None)


def at_once(binding: Binding) -> Binding:
    """The same key, handled before whatever has the focus."""
    return replace(binding, priority=True)


SUSPEND = at_once(
    binding("app.suspend", "ctrl+z", "suspend_process", "Suspend", "suspend the screen; `fg` brings it back")
)
STEP = "to the previous or next snapshot"

EVERYWHERE = [
    binding("app.freeze", "space", "freeze", "Freeze", "freeze the view; training continues"),
    binding("app.replay", "r", "replay", "Replay", "replay from the first snapshot"),
    at_once(binding("replay.play", "space", "replaying('play')", "Pause", "pause or continue")),
    at_once(binding("replay.before", "left", "replaying('step', -1)", "Step", STEP, "←→")),
    at_once(binding("replay.after", "right", "replaying('step', 1)", "Step")),
    at_once(binding("replay.end", "escape", "replaying('end')", "End", "back to now")),
    binding("app.pause", "P", "pause", "Pause", "pause or resume training", "P"),
    binding("app.restart", "R", "restart", "Start again", "restart the trainer", "R"),
    binding("app.save", "S", "save", "Save", "save the session now", "S"),
    binding("app.models", "m", "in_view('models')", "Model", "all models, or one at a time"),
    binding("app.maximise", "z", "in_view('maximise')", "Max", "maximise the selected panel"),
    binding("app.find", "slash", "find", "Find", "find in this view", "/"),
    binding(
        "app.order", "o", "in_view('order_topics')", "Order", "sort topics by share, change, number or name"
    ),
    binding(
        "app.words", "W", "in_view('order_words')", "Words", "order words by relevance or probability", "W"
    ),
    binding("app.pin", "asterisk", "in_view('pin')", "Pin", "pin the topic to the top of lists", "*"),
    binding("app.rename", "N", "in_view('rename')", "Name", "give the topic a name", "N"),
    binding("app.browse", "w", "in_view('browse')", "Browser", "open what is selected in the browser"),
    binding("app.export", "e", "export", "Export", "write topics, metrics … to a file"),
    binding("app.copy", "c", "in_view('copy')", "Copy", "copy the selection to the clipboard"),
    binding("app.theme", "t", "theme", "Theme", "dark or light"),
    binding("app.help", "question_mark", "help", "Help", "all keys", "?"),
    SUSPEND,
    binding("app.quit", "q", "leave", "Quit", "close this screen"),
    Binding("ctrl+c", "leave", "Quit", priority=True, system=True),
    Binding("ctrl+q", "leave", "Quit", priority=True, system=True),
]

IN_BAR = (
    "replay.play", "replay.before", "replay.end", "app.freeze", "sessions.new", "sessions.compare",
    "sessions.all", "topics.back", "topics.fold", "articles.all", "topics.before", "app.browse", "app.find",
    "app.help", "app.quit", "chart.left", "crawl.left", "map.left", "chart.log_x", "app.maximise",
    "chart.axis", "app.models", "chart.zoom_in", "crawl.zoom_in", "chart.reset", "crawl.reset",
    "chart.metric", "chart.log_y", "chart.fit_y", "crawl.log_y", "topics.detail", "dashboard.detail",
    "map.detail", "app.rename", "app.order", "sessions.order", "sessions.delete", "app.pin", "app.pause",
    "app.export", "app.replay", "app.copy",
)  # fmt: skip
"""The keys in the bottom line, the most useful first; the rest are in the help and the palette."""
STAY = ("app.help", "app.quit")
"""Those of them that are shown before all others."""
