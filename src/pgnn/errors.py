"""The one exception type that pgnn raises for a user's mistake."""

from __future__ import annotations

from collections.abc import Callable


class Parameter(str):
    """The name of a parameter inside an error's message; a command shows its own flag instead."""

    __slots__ = ()


class PGNNError(ValueError):
    """Input that pgnn cannot use; the message says what was wrong, what was got and what to do.

    It is made of the message in one piece or in several. Pieces that are a `Parameter` name what
    the user passed, so that a command can say it in its own words.

    Example:
        >>> error = PGNNError(Parameter("num_sets"), " must be a positive integer (got 0)")
        >>> str(error), error.worded({"num_sets": "--sets"}.get)
        ('num_sets must be a positive integer (got 0)', '--sets must be a positive integer (got 0)')
    """

    def __init__(self, *parts: str) -> None:
        super().__init__(*parts)

    def __str__(self) -> str:
        return "".join(str(part) for part in self.args)

    def worded(self, word_for: Callable[[str], str | None]) -> str:
        """Return the message with each parameter as `word_for` calls it; None keeps its name."""
        return "".join(
            (word_for(part) or part) if isinstance(part, Parameter) else str(part)
            for part in self.args
        )
