"""The one exception type for bad input."""


class InputError(ValueError):
    """Input that cannot be used; its message says what was given, what is accepted, what to do."""
