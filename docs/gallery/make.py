"""Draw the pictures of docs/gallery.md by the Python that stands in it.

    python docs/gallery/make.py [OUT_DIR]          (default: beside this file)

Runs the page from top to bottom in a folder of its own, with the session of a demo and, as the
user's documents, articles of Wikipedia from `WIKITOPICS_SHARED` (default ../shared). Each picture
is what the block above it has drawn. It takes some minutes.
"""

import csv
import io
import json
import lzma
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import matplotlib
import numpy as np
from PIL import Image
from scipy.spatial.distance import cdist

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "gallery.md"
SHARED = Path(os.environ.get("WIKITOPICS_SHARED", ROOT.parent / "shared")).absolute()
COUNTRIES = (
    "Australia",
    "Canada",
    "China",
    "France",
    "Germany",
    "India",
    "Italy",
    "Japan",
    "Poland",
    "Russia",
    "Spain",
)
COUNTRY = re.compile(rf"\b({'|'.join(COUNTRIES)})\b")
YEAR = re.compile(r"\b(1[89]\d\d|20[01]\d)\b")
DOTS = 90
"""The pixels of an inch."""
PARTS = re.compile(r"^```python\n(.*?)^```$|\]\(gallery/(\S+\.png)\)", re.DOTALL | re.MULTILINE)
"""A block of Python, or the name of a picture."""


def articles() -> Iterator[tuple[str, str, int]]:
    """(text, country, decade) of each article that names one country more often than any other,
    and a year."""
    path = SHARED / "corpus" / "articles-60k.jsonl.xz"
    if not path.exists():
        sys.exit(f"no such file: {path}; set WIKITOPICS_SHARED to the folder that has it")
    with lzma.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            text = json.loads(line)["text"]
            named = Counter(COUNTRY.findall(text)).most_common(2)
            year = YEAR.search(text)
            is_clear = len(named) == 1 or (len(named) == 2 and named[0][1] > named[1][1])
            if is_clear and year:
                country, _ = named[0]
                yield text, country, int(year[0]) // 10 * 10


def prepare(folder: Path) -> None:
    """Put the table and the demo's session into the folder, and work there from now on."""
    os.chdir(folder)
    with open("articles.csv", "w", encoding="utf-8", newline="") as file:
        table = csv.writer(file)
        table.writerow(("text", "country", "decade"))
        table.writerows(articles())
    os.environ |= {"WIKITOPICS_HOME": str(folder / "sessions"), "PYTHONPATH": str(ROOT)}
    subprocess.run([sys.executable, "-m", "wikitopics", "demo", "--headless"], check=True)


def draw(out: Path) -> None:
    """Run the page, and save the current figure wherever it shows a picture."""
    names: dict[str, object] = {}
    for block, picture in PARTS.findall(PAGE.read_text(encoding="utf-8")):
        if block:
            exec(compile(block, PAGE.name, "exec"), names)
        else:
            save(out / picture)


def save(path: Path) -> None:
    """Save the current figure in its 256 most frequent colours, which makes the file a third as
    large, and leaves surfaces as they are."""
    from matplotlib import pyplot as plt

    drawn = io.BytesIO()
    plt.gcf().savefig(drawn, dpi=DOTS)
    plt.close("all")
    picture = Image.open(drawn).convert("RGB")
    pixels = np.asarray(picture).reshape(-1, 3)
    colours, places, counts = np.unique(pixels, axis=0, return_inverse=True, return_counts=True)
    kept = colours[np.argsort(-counts, kind="stable")[:256]]
    nearest = cdist(colours, kept).argmin(axis=1).astype(np.uint8)
    smaller = Image.fromarray(nearest[places].reshape(picture.height, picture.width))
    smaller.putpalette(kept.tobytes())
    smaller.save(path, optimize=True)


def main() -> None:
    out = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent).absolute()
    out.mkdir(parents=True, exist_ok=True)
    matplotlib.use("agg")
    sys.path.insert(0, str(ROOT))
    with tempfile.TemporaryDirectory() as folder:
        prepare(Path(folder))
        draw(out)
        os.chdir(ROOT)


if __name__ == "__main__":
    main()
