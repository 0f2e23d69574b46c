"""The program's beginning: the command `wikitopics`, and `python -m wikitopics`."""

import signal


def main() -> None:
    """Load the command line and run it."""
    # Until it is loaded nothing has begun: Ctrl+C ends the program without a word, not with a traceback. A
    # background job, which does not listen to it, goes on.
    listens = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if listens:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from wikitopics.cli import main as run

    if listens:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    run()


if __name__ == "__main__":
    main()
