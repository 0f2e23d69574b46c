"""How every view of the screen is opened."""

from wikitopics.tui.main_screen import VIEWS

KEYS = {
    "Dashboard": ["escape", "1"],
    "Topics": "2",
    "Articles": "3",
    "Crawl": "4",
    "Log": "5",
    "Sessions": "6",
    "Atlas": "7",
    "Emergence": "7E",
    "Ask": "i",
}
"""The keys that open each of `VIEWS`, by its title."""


def is_open(app, title):
    """Whether this view is in sight and takes keys."""
    main = app.main
    return main.ready and isinstance(main.view, VIEWS[title]) and main.focused is main.view.home()
