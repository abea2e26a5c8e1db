"""What spanloom raises.

SpanloomError
├── CorpusError      a file or an annotation that cannot be read, aligned or written (names file and line)
├── EncodingError    a mention that a model or scheme cannot hold (names sentence, mention and the way out)
├── ParameterError   a bad setting (also a ValueError)
│   └── UntakenError a setting that the chosen model does not take
├── NotFittedError   a recogniser used before ``fit`` or ``load`` (also a ValueError)
└── ModelFileError   a model file that is damaged, foreign or newer than this version
"""

from __future__ import annotations


class SpanloomError(Exception):
    """Base of every error that spanloom raises on purpose."""


class CorpusError(SpanloomError):
    """A corpus could not be read, aligned, converted or written.

    Attributes
    ----------
    where, what
        The place (``file:line``; empty if there is none) and the complaint; the message is both.
    at_end
        Whether the documents were read to their end, the faulty ones too, without what is wrong in them.
    """

    def __init__(self, what: str, where: str = "", *, at_end: bool = False) -> None:
        self.at_end = at_end
        self.what = what
        self.where = where
        super().__init__(f"{where}: {what}" if where else what)


class EncodingError(SpanloomError):
    """A mention set exceeds what a model or scheme can hold."""


class ParameterError(SpanloomError, ValueError):
    """A setting has a value that is not allowed."""


class UntakenError(ParameterError):
    """A setting is given that the chosen model does not take.

    Attributes
    ----------
    parameter
        Its name in Python.
    """

    def __init__(self, parameter: str, value: object, model: str, takers: list[str], shown: str | None = None) -> None:
        self.parameter = parameter
        self._rest = (value, model, takers)
        super().__init__(
            f"the model {model} takes no {shown or parameter}, and would not heed {value!r}. Leave it out, or choose a "
            f"model that takes it: {', '.join(takers)}."
        )

    def named(self, shown: str) -> UntakenError:
        """Return the same error with another name for the setting, such as that of a command's option."""
        return UntakenError(self.parameter, *self._rest, shown=shown)


class NotFittedError(SpanloomError, ValueError):
    """A recogniser is used before it has learned anything."""


class ModelFileError(SpanloomError):
    """A model file is damaged, truncated, foreign, or written by a newer version."""
