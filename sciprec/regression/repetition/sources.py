"""The source behind a kernel or a script: a user's own functions, and what names in them mean."""

from __future__ import annotations

import ast
import functools
import sys
import sysconfig
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

from sciprec.precision.rewriting.syntax import parse, plain_function

_MOST_FILES = 40


@dataclass(frozen=True)
class Scope:
    """A function, or a whole module, in its file.

    Args:
        file: its path.
        node: its tree.
        module: the tree of the file.
        lines: of the file.
        options: what Numba compiles the function with, however it is told.
        blocks: names of arguments that say how many at a time.
    """

    file: str
    node: ast.AST
    module: ast.Module
    lines: tuple[str, ...]
    options: Mapping[str, Any] = field(default_factory=dict)
    blocks: tuple[str, ...] = ()

    @functools.cached_property
    def imported(self) -> dict[str, str]:
        """Full names by imported names: "np" for "numpy", "prange" for "numba.prange"."""
        names: dict[str, str] = {}
        for node in ast.walk(self.module):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    name = alias.asname or alias.name.partition(".")[0]
                    names[name] = alias.name if alias.asname else name
            elif isinstance(node, ast.ImportFrom) and node.module:
                names |= {a.asname or a.name: f"{node.module}.{a.name}" for a in node.names}
        return names

    @functools.cached_property
    def _parents(self) -> dict[ast.AST, ast.AST]:
        return {n: node for node in ast.walk(self.node) for n in ast.iter_child_nodes(node)}

    def around(self, node: ast.AST | None) -> Iterator[ast.AST]:
        """The nodes that a node is in, the nearest one first."""
        while node := self._parents.get(node):
            yield node

    def qualified(self, node: ast.AST) -> str:
        """The full name that an expression of names and dots stands for; "" stands for others, and
        before a dot for what is no name.
        """
        if isinstance(node, ast.Name):
            return self.imported.get(node.id, node.id)
        if isinstance(node, ast.Attribute):
            return f"{self.qualified(node.value)}.{node.attr}"
        return ""

    def calls(self, node: ast.AST) -> str:
        """The full name of the function that a call calls; "" of a node that is no call."""
        return self.qualified(node.func) if isinstance(node, ast.Call) else ""

    def functions(self) -> Iterator[ast.FunctionDef]:
        """The function, or those of the module, and all within."""
        for node in ast.walk(self.node):
            if isinstance(node, ast.FunctionDef):
                yield node

    def text(self, line: int) -> str:
        """A line of the file."""
        return self.lines[line - 1].strip() if 0 < line <= len(self.lines) else ""


def behind_kernel(kernel: Any) -> list[Scope]:
    """A kernel, and functions of the user's own that it names."""
    scopes: list[Scope] = []
    waiting, visited = list(_functions_of(kernel, ())), set()
    while waiting and len(scopes) < _MOST_FILES:
        function, options = waiting.pop(0)
        if function.__code__ in visited or not _is_own_file(Path(function.__code__.co_filename)):
            continue
        visited.add(function.__code__)
        scopes += _scopes_of(function, options)
        names = tuple(_names(function.__code__))
        for name in names:
            waiting += _functions_of(function.__globals__.get(name), names)
    return scopes


def _functions_of(
    value: Any, names: tuple[str, ...]
) -> Iterator[tuple[FunctionType, Mapping[str, Any]]]:
    """The functions behind something that a function names, each with its options of Numba's: of a
    class all of its own, of a module those that are named, too.
    """
    while isinstance(value, functools.partial):
        value = value.func
    members = [value]
    if isinstance(value, ModuleType):
        is_own = _is_own_file(Path(getattr(value, "__file__", None) or ""))
        members = [vars(value).get(name) for name in names] if is_own else []
    elif isinstance(value, type):
        members = [getattr(member, "__func__", member) for member in vars(value).values()]
    for member in members:
        function = plain_function(member) if callable(member) else None
        if function is not None:
            yield function, getattr(member, "targetoptions", {})


def _names(code: Any) -> Iterator[str]:
    """Names of globals that code, and code within it, uses."""
    yield from code.co_names
    for constant in code.co_consts:
        if hasattr(constant, "co_names"):
            yield from _names(constant)


def _is_own_file(file: Path) -> bool:
    paths = sysconfig.get_paths()
    installed = any(file.is_relative_to(paths[key]) for key in ("stdlib", "purelib", "platlib"))
    return file.suffix == ".py" and file.is_file() and not installed


def _scopes_of(function: FunctionType, options: Mapping[str, Any]) -> list[Scope]:
    """The definition of a function, with its options of Numba's; none where it is not found."""
    module = module_scope(Path(function.__code__.co_filename))
    return [
        replace(module, node=node, options=options)
        for node in (module.functions() if module else ()) if node.name == function.__name__
        if function.__code__.co_firstlineno == min(n.lineno for n in (node, *node.decorator_list))
    ]  # fmt: skip


def module_scope(file: Path) -> Scope | None:
    """A whole file; None where it is no Python."""
    try:
        text = file.read_text(encoding="utf-8")
        tree = parse(text)
    except (OSError, SyntaxError, ValueError):
        return None
    return Scope(str(file), tree, tree, tuple(text.splitlines()))


def behind_command(words: list[str]) -> list[Scope]:
    """The Python scripts among the words of a command, and modules in their folders that they
    import.
    """
    scripts = [Path(word) for word in words if word.endswith(".py") and Path(word).is_file()]
    if "-m" in words[:-1]:
        module = Path(words[words.index("-m") + 1].replace(".", "/")).with_suffix(".py")
        scripts += [module] if module.is_file() else []
    scopes, waiting, visited = [], scripts, set()
    while waiting and len(scopes) < _MOST_FILES:
        file = waiting.pop(0).resolve()
        scope = None if file in visited else module_scope(file)
        visited.add(file)
        if scope is not None:
            scopes.append(scope)
            waiting += _beside(scope, file.parent)
    return scopes


def _beside(scope: Scope, folder: Path) -> list[Path]:
    """Files of a folder that a file imports."""
    names = {target.partition(".")[0] for target in scope.imported.values()}
    files = [folder / f"{name}.py" for name in sorted(names - set(sys.stdlib_module_names))]
    return [file for file in files if file.is_file()]
