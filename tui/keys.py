"""The keys that work in every view. Each binding's id is its name in the config file's table `[keys]`."""

from textual.binding import Binding, BindingType

from wikitopics.tui.screens import VIEWS

EVERYWHERE: list[BindingType] = [
    *[
        Binding(
            str(i + 1),
            f"view({i})",
            kind.TITLE,
            show=False,
            id=f"view.{kind.TITLE.lower()}",
            tooltip=f"open {kind.TITLE}",
        )
        for i, kind in enumerate(VIEWS)
    ],
    Binding("space", "freeze", "Freeze", id="app.freeze", tooltip="freeze the view; training continues"),
    Binding("r", "replay", "Replay", id="app.replay", tooltip="replay from the first snapshot"),
    Binding("space", "replay_play", "Pause", id="replay.play", tooltip="pause or continue", priority=True),
    Binding(
        "left",
        "replay_step(-1)",
        "Step",
        key_display="←→",
        id="replay.before",
        tooltip="to the previous or next snapshot",
        priority=True,
    ),
    Binding("right", "replay_step(1)", "Step", show=False, id="replay.after", priority=True),
    Binding("escape", "replay_end", "End", id="replay.end", tooltip="back to now", priority=True),
    Binding("P", "pause", "Pause", key_display="P", id="app.pause", tooltip="pause or resume training"),
    Binding("R", "restart", "Start again", key_display="R", id="app.restart", tooltip="restart the trainer"),
    Binding("S", "save", "Save", show=False, key_display="S", id="app.save", tooltip="save the session now"),
    Binding("m", "models", "Model", id="app.models", tooltip="all models, or one at a time"),
    Binding("z", "maximise", "Max", id="app.maximise", tooltip="maximise the selected panel"),
    Binding("slash", "find", "Find", key_display="/", id="app.find", tooltip="find in this view"),
    Binding("o", "order", "Order", id="app.order", tooltip="sort topics by share, change, number or name"),
    Binding(
        "asterisk", "pin", "Pin", key_display="*", id="app.pin", tooltip="pin the topic to the top of lists"
    ),
    Binding("N", "rename", "Name", key_display="N", id="app.rename", tooltip="give the topic a name"),
    Binding("w", "browse", "Browser", id="app.browse", tooltip="open the article in the browser"),
    Binding("e", "export", "Export", id="app.export", tooltip="write topics, metrics … to a file"),
    Binding("c", "copy", "Copy", id="app.copy", tooltip="copy the selection to the clipboard"),
    Binding("t", "theme", "Theme", show=False, id="app.theme", tooltip="dark or light"),
    Binding("question_mark", "help", "Help", key_display="?", id="app.help", tooltip="all keys"),
    Binding("q", "leave", "Quit", id="app.quit", tooltip="close this screen"),
    Binding("ctrl+c", "leave", "Quit", show=False, priority=True, system=True),
    Binding("ctrl+q", "leave", "Quit", show=False, priority=True, system=True),
]


def names() -> frozenset[str]:
    """The ids of all bindings, here and in the views."""
    every = [*EVERYWHERE, *(binding for kind in VIEWS for binding in kind.BINDINGS)]
    return frozenset(binding.id for binding in every if isinstance(binding, Binding) and binding.id)
