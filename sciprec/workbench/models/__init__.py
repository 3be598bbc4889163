"""Models of a user's own: a decorated function becomes a kind of scenario."""

from typing import TYPE_CHECKING

from sciprec.foundation.later import names_of

if TYPE_CHECKING:
    from sciprec.workbench.models.arithmetic import ModelArithmetic as ModelArithmetic

__all__, __getattr__, __dir__ = names_of("sciprec.workbench.models")
