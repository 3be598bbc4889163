"""Stores that Numba takes for dead stay.

Where a kernel has an inner function or a list comprehension, Numba removes stores into arrays that
nobody reads afterwards. It knows few of the ways by which a name becomes another one for an
argument's memory: rows of `for row in a`, elements of tuples and what functions give are new arrays
to it, and so is `a` behind `a += 1.0` where that is a call, as in lifted kernels. What was written
there was lost without a word.
"""

from numba.core import ir
from numba.core.ir_utils import remove_dead_extensions


def _unchanged(store, lives, lives_and_aliases, *args):
    """The store, into an array that counts as read afterwards."""
    lives_and_aliases.add(store.target.name)
    return store


remove_dead_extensions[ir.SetItem] = _unchanged
