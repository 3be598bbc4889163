"""A kernel's own variables, set apart from the names that the rewriter adds to its source.

Names of the generated module begin with `sp_`; besides these its functions name `np`, `math` and
Python's builtins. A parameter or local variable of such a name gets a prefix.
"""

from __future__ import annotations

import ast
import re

from sciprec.precision.rewriting.symbols import MOVING, NATIVE
from sciprec.precision.rewriting.syntax import arguments_of, children, stored_names

_PREFIX = "sp_own_"
_TAKEN = {"np", "math"} | {f.__name__ for f in NATIVE | MOVING if f.__module__ == "builtins"}
_OWN = re.compile(rf"(?<![\w.]){_PREFIX}(?=\w)")


def own_name(identifier: str) -> str:
    """The name in the generated module of a kernel's variable or parameter; no two share one."""
    clashes = identifier in _TAKEN or identifier.startswith("sp_")
    return _PREFIX + identifier if clashes else identifier


def as_written(text: str) -> str:
    """Source text or a message with the kernel's own names again."""
    return _OWN.sub("", text)


def set_apart(tree: ast.FunctionDef, outer: frozenset[str] = frozenset()) -> None:
    """Rename the parameters and local variables of a function, and of those defined in it.

    Args:
        tree: the definition; changed in place.
        outer: the local names of the functions around it.
    """
    arguments = arguments_of(tree)
    local = outer | {a.arg for a in arguments} | stored_names(tree.body)
    for argument in arguments:
        argument.arg = own_name(argument.arg)
    todo: list[ast.AST] = list(tree.body)
    while todo:
        node = todo.pop()
        if isinstance(node, ast.FunctionDef):
            node.name = own_name(node.name)
            set_apart(node, frozenset(local))
            continue
        if isinstance(node, ast.Name) and node.id in local:
            node.id = own_name(node.id)
        todo += children(node)
