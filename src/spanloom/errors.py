"""What spanloom raises.

SpanloomError
├── CorpusError      a file or an annotation that cannot be read, aligned or written (names file and line)
├── EncodingError    a mention that a model or scheme cannot hold (names sentence, mention and the way out)
├── ParameterError   a bad setting (also a ValueError)
├── NotFittedError   a recogniser used before ``fit`` or ``load`` (also a ValueError)
└── ModelFileError   a model file that is damaged, foreign or newer than this version
"""


class SpanloomError(Exception):
    """Base of every error that spanloom raises on purpose."""


class CorpusError(SpanloomError):
    """A corpus could not be read, aligned, converted or written."""


class EncodingError(SpanloomError):
    """A mention set exceeds what a model or scheme can hold."""


class ParameterError(SpanloomError, ValueError):
    """A setting has a value that is not allowed."""


class NotFittedError(SpanloomError, ValueError):
    """A recogniser is used before it has learned anything."""


class ModelFileError(SpanloomError):
    """A model file is damaged, truncated, foreign, or written by a newer version."""
