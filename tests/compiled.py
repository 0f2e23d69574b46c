"""What is compiled once for all workers: kernels, by a small session of every kind of model, and the
files of tests. Each in a process of its own."""

import json
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

from wikitopics.compiled import nothing_kept

MODELS = ("lda", "lda:name=learns,alpha=learn,eta=learn", "scvb0", "hdp")


def compile_once() -> None:
    """Train such a session, and collect all tests, if no kernels are kept, as after an
    installation."""
    if not nothing_kept():
        return
    with tempfile.TemporaryDirectory() as folder:
        kernels = subprocess.Popen(
            [sys.executable, "-m", __name__, folder],
            env={**os.environ, "WIKITOPICS_HOME": folder},
            stdout=subprocess.DEVNULL,
        )
        # pytest rewrites the asserts of what it collects, and keeps the compiled file.
        collected = subprocess.run(
            [sys.executable, "-m", "pytest", "--collect-only", "-n", "0"],
            stdout=subprocess.DEVNULL,
            check=False,
        )
        compiled = kernels.wait()
    assert (collected.returncode, compiled) == (0, 0), "no kernels, or no tests: see above"


def main() -> None:
    """Train it in this folder."""
    # Here, so that pytest, which imports this file early, can still rewrite that one's asserts.
    from tests.corpora import letters
    from wikitopics.cli import run

    folder = Path(sys.argv[1])
    words = letters(60)
    (folder / "words.txt").write_text("\n".join(words))
    drawn = random.Random(0)
    with open(folder / "texts.jsonl", "w") as texts:
        for _ in range(600):
            some = drawn.sample(words, 12)
            texts.write(json.dumps({"text": " ".join(drawn.choices(some, k=40))}) + "\n")
    options = ["--texts", str(folder / "texts.jsonl"), "--vocab", str(folder / "words.txt")]
    for model in MODELS:
        options += ["--model", model]
    sys.exit(run(["train", *options, "--topics", "5", "--passes", "2"]))


if __name__ == "__main__":
    main()
