"""Spec strings of number formats: 'float:p=11,emin=-14,emax=15', 'fixed:bits=24'."""

from __future__ import annotations

from collections.abc import Collection

from sciprec.foundation.errors import InputError, meant


class Spec:
    """The values of a spec string, by key.

    Args:
        text: the string.
        prefix: of its kind.
        keys: accepted ones.
        example: a string of its kind, for messages.

    Raises:
        InputError: a key is unknown, or given twice.
    """

    def __init__(self, text: str, prefix: str, keys: tuple[str, ...], example: str) -> None:
        self.text, self.keys, self.example = text, keys, example
        self.values: dict[str, str] = {}
        for part in filter(None, text.removeprefix(prefix).split(",")):
            key, equals, value = (piece.strip() for piece in part.partition("="))
            if not equals or key not in keys:
                raise self.refused(f"{part.strip()!r} is not key=value with a known key", key)
            if key in self.values:
                raise self.refused(f"{key!r} is given twice")
            self.values[key] = value

    def choice(self, key: str, usual: str, accepted: Collection[str]) -> str:
        """Return the value of a key, one of some words."""
        text = self.values.get(key, usual)
        if text not in accepted:
            raise self.refused(f"{key}={text!r} is not one of {', '.join(accepted)}")
        return text

    def integer(self, key: str, usual: str = "") -> int:
        """Return the value of a key, a whole number."""
        text = self.values.get(key, usual)
        try:
            return int(text)
        except ValueError:
            raise self.refused(f"{key}={text!r} is not a whole number") from None

    def refused(self, fault: str, key: str = "") -> InputError:
        """Return the error with the fault and the accepted keys."""
        return InputError(
            f"malformed number format '{self.text}': {fault}{meant(key, self.keys)}; "
            f"accepted keys: {', '.join(self.keys)}, as in '{self.example}'"
        )
