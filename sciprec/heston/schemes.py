"""All path schemes by name; a new one is a module with a decorated kernel, imported here."""

from sciprec.errors import InputError, meant
from sciprec.heston import euler, gamma_expansion, quadratic_exponential
from sciprec.heston.registry import PathScheme, registered_schemes

__all__ = [
    "PathScheme",
    "euler",
    "gamma_expansion",
    "quadratic_exponential",
    "scheme_named",
    "schemes",
]

schemes = registered_schemes


def scheme_named(name):
    """Return the PathScheme of a name.

    Raises:
        InputError: no scheme has this name.
    """
    known = registered_schemes()
    if name in known:
        return known[name]
    names = ", ".join(sorted(known))
    raise InputError(f"unknown scheme {name!r}; known: {names}{meant(name, known)}")
