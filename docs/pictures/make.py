"""Draw README's picture: the screen, as it is, on a demo that is training.

`python docs/pictures/make.py` from the repository; takes about half a minute.
"""

import asyncio
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

from session import control
from session.launch import start_trainer
from session.reader import SessionReader
from tui.app import Controls, Wikitopics

ARTICLES = 15_000
SIZE = (120, 36)
PICTURE = Path(__file__).with_name("dashboard.svg")


async def draw(path: Path) -> str:
    """The dashboard as SVG, after a few seconds of watching."""
    controls = Controls(control.pause, control.resume, control.save, partial(control.stop, wait=False))
    app = Wikitopics(SessionReader, path, controls, started_trainer=False)
    async with app.run_test(size=SIZE) as pilot:
        await pilot.pause(4.0)
        return app.export_screenshot(title="wikitopics demo")


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "demo.db"
        trainer = start_trainer(path, ["demo", "--headless", "--session", str(path)])
        try:
            while not path.exists() or SessionReader(path).status().articles < ARTICLES:
                if trainer.poll() is not None:
                    sys.exit("the trainer ended: see `wikitopics demo --headless`")
                time.sleep(0.5)
            PICTURE.write_text(asyncio.run(draw(path)), encoding="utf-8")
        finally:
            trainer.terminate()
            trainer.wait()


if __name__ == "__main__":
    main()
