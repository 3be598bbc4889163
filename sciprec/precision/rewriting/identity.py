"""The identity of functions of generated modules: a hash of a definition's text and of all that
it mentions. Kernels that call the same kernels are compiled with one copy of these.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass


@dataclass(frozen=True)
class _Definition:
    decorator: str
    text: str
    mentions: set[str]
    is_part: bool


class Identities:
    """The definitions of one generated module.

    Args:
        known: whether they have identities at all.
        arithmetic: what every definition depends on without naming it.
        bindings: what the module's names stand for, as expressions, definitions left out.
    """

    def __init__(self, are_known: bool, arithmetic: str, bindings: dict[str, str]):
        self._are_known, self._arithmetic, self._bindings = are_known, arithmetic, bindings
        self._definitions: dict[str, _Definition] = {}
        self._known: dict[str, str] = {}

    def add(self, name: str, decorator: str, text: str, mentions: set[str], is_part: bool) -> None:
        """A definition; the decorator of a part takes its identity."""
        self._definitions[name] = _Definition(decorator, text, mentions, is_part)

    def of(self, name: str) -> str:
        """A definition's identity; "" where it is no part, or mentions one that is none."""
        if name not in self._known:
            self._known[name] = ""  # while it is looked for: one that mentions itself has none
            self._known[name] = self._made(name)
        return self._known[name]

    def _made(self, name: str) -> str:
        definition = self._definitions[name]
        if not (self._are_known and definition.is_part):
            return ""
        facts = [self._arithmetic, definition.decorator, definition.text]
        for mentioned in sorted(definition.mentions):
            if mentioned in self._bindings:
                facts.append(f"{mentioned} = {self._bindings[mentioned]}")
            elif mentioned in self._definitions:
                identity = self.of(mentioned)
                if not identity:
                    return ""
                facts.append(f"{mentioned}: {identity}")
        return hashlib.sha256("\n".join(facts).encode()).hexdigest()[:24]

    def texts(self) -> list[str]:
        """Every definition with its decorator, in order."""
        decorators = {
            name: f"{part.decorator}({self.of(name)!r})" if part.is_part else part.decorator
            for name, part in self._definitions.items()
        }
        return [f"{decorators[name]}\n{part.text}\n" for name, part in self._definitions.items()]
