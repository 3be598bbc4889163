"""All path schemes by name; a new one is a module with a decorated kernel, imported here."""

from sciprec.foundation.arguments import word
from sciprec.heston.schemes import euler, gamma_expansion, quadratic_exponential
from sciprec.heston.schemes.registry import PathScheme, registered_schemes

__all__ = [
    "PathScheme",
    "euler",
    "gamma_expansion",
    "quadratic_exponential",
    "scheme_named",
    "schemes",
]

schemes = registered_schemes


def scheme_named(name: str) -> PathScheme:
    """Return the PathScheme of a name.

    Raises:
        InputError: no scheme has this name.
    """
    registered = registered_schemes()
    return registered[word("scheme", name, sorted(registered))]
