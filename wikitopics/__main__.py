"""`python -m wikitopics`: the command line."""

from wikitopics.cli import main

if __name__ == "__main__":
    main()
