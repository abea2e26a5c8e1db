"""The papers' tables, each re-run by one command: ``python -m experiments NAME --data FOLDER [--quick]``.

Every module of this package with an ``EXPERIMENT`` is one; ``experiments/runner.py`` says what it consists of.
"""
