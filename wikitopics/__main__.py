"""The entry point of the command `wikitopics` and of `python -m wikitopics`."""

import os
import signal


def main() -> None:
    """Load the command line and run it."""
    # BLAS, which reads this when NumPy is loaded, only gets small matrices here. On these its
    # threads mostly wait for one another: models that start over side by side took several times
    # as long.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # Nothing has begun until the command line is loaded, so Ctrl+C ends the program silently,
    # without a traceback. A background job, which ignores Ctrl+C, continues.
    listens = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if listens:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from wikitopics.cli import main as run

    if listens:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    run()


if __name__ == "__main__":
    main()
