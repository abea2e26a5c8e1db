"""``python -m spanloom``: the command line."""

from spanloom.cli import main

if __name__ == "__main__":
    main()
