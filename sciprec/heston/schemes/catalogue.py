"""All path schemes by name; a new one is a module with a decorated kernel, imported here."""

from sciprec.foundation.arguments import word
from sciprec.heston.schemes import euler, gamma_expansion, quadratic_exponential  # noqa: F401
from sciprec.heston.schemes.registry import PathScheme
from sciprec.heston.schemes.registry import registered_schemes as schemes


def scheme_named(name: str) -> PathScheme:
    """Return the PathScheme of a name.

    Raises:
        InputError: no scheme has this name.
    """
    return schemes()[word("scheme", name, sorted(schemes()))]
