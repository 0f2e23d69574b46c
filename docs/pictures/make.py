"""Draw the pictures of the README and the documentation from a real run of the embedded sample.

    python docs/pictures/make.py [OUT_DIR]          (default: beside this file)

Starts `wikitopics demo --headless` in a folder of its own, opens the screen on it, and once enough
has been learnt saves each view as an SVG. The pictures ask for no font from the network.
"""

import asyncio
import contextlib
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from wikitopics.tui.app import Wikitopics  # noqa: E402
from wikitopics.tui.terminal import LIGHT  # noqa: E402

ENOUGH = 6_000
"""Articles after which the topics are worth a picture."""

VIEWS = {
    "dashboard": "1",
    "topics": "2",
    "articles": "3",
    "crawl": "4",
    "log": "5",
    "sessions": "6",
    "atlas": "7",
    "emergence": "E",
}


def opened(session: Path) -> Wikitopics:
    """The screen on a session."""
    return Wikitopics(session)


def picture(app: Wikitopics) -> str:
    """The screen as an SVG, without the blanks at the ends of its lines."""
    return "\n".join(line.rstrip() for line in app.export_screenshot().splitlines()) + "\n"


def save(app: Wikitopics, path: Path) -> None:
    path.write_text(picture(app), encoding="utf-8")


async def draw(session: Path, out: Path) -> None:
    """All pictures, one after the other, while the demo goes on and ends."""
    app = opened(session)
    async with app.run_test(size=(130, 38)) as pilot:
        while app.latest is None or app.latest.status.articles < ENOUGH:
            await pilot.pause(0.2)
        await pilot.press("left", "left", "left", "left")
        await pilot.pause(1.0)
        save(app, out / "dashboard.svg")
        app.theme = LIGHT.name
        await pilot.pause(1.0)
        save(app, out / "dashboard-light.svg")
        app.action_theme()
        await pilot.resize_terminal(120, 36)
        for name, key in VIEWS.items():
            if name != "dashboard":
                await pilot.press(key)
                await pilot.pause(1.2)
                save(app, out / f"{name}.svg")
        await pilot.press("1")
        await pilot.resize_terminal(80, 24)
        await pilot.pause(1.2)
        save(app, out / "small.svg")


@contextlib.contextmanager
def demo() -> Iterator[tuple[Path, subprocess.Popen[bytes]]]:
    """The session of a demo that has just begun, and its trainer. Both are gone afterwards."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= {"WIKITOPICS_HOME": folder, "COLORTERM": "truecolor"}
        trainer = subprocess.Popen(
            [sys.executable, "-m", "wikitopics", "demo", "--headless"],
            env=os.environ | {"PYTHONPATH": str(ROOT)},
            stderr=subprocess.DEVNULL,
        )
        try:
            session = Path(folder) / "demo.db"
            while not session.exists():
                if trainer.poll() is not None:
                    sys.exit(f"the trainer ended with code {trainer.returncode}")
                time.sleep(0.1)
            yield session, trainer
        finally:
            trainer.terminate()
            trainer.wait()


def main() -> None:
    out = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent
    out.mkdir(parents=True, exist_ok=True)
    with demo() as (session, _):
        asyncio.run(draw(session, out))


if __name__ == "__main__":
    main()
