"""`python -m session.cli`: how the screen starts a trainer with the same interpreter."""

from session.cli import main

if __name__ == "__main__":
    main()
