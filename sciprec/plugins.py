"""Packages that extend sciprec: an entry point of the group `sciprec.plugins` names a module, and
what that module registers when it is imported is known from then on.
"""

from __future__ import annotations

import functools
from importlib.metadata import entry_points

from sciprec.errors import InputError

GROUP = "sciprec.plugins"


@functools.cache
def load_plugins() -> None:
    """Import the modules that installed packages name, once.

    Raises:
        InputError: one of them cannot be imported.
    """
    for point in entry_points(group=GROUP):
        try:
            point.load()
        except Exception as error:
            raise InputError(
                f"the plugin '{point.name}' ({point.value}) of another package cannot be loaded "
                f"({type(error).__name__}: {error}); mend or uninstall that package"
            ) from None
