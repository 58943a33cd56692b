"""The one exception type that pgnn raises for a user's mistake."""


class PGNNError(ValueError):
    """Input that pgnn cannot use; the message says what was wrong, what was got and what to do."""
