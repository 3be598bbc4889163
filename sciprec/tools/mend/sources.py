"""The source of a kernel: edited by characters and lines, made a function again, and as a patch."""

from __future__ import annotations

import ast
import difflib
import hashlib
import inspect
import linecache
import math
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from sciprec.foundation.notebook import source_name
from sciprec.precision.rewriting.sources import source_tree
from sciprec.precision.rewriting.syntax import LiftError, compiled_tree, parse, plain_function
from sciprec.tools.mend.expressions import called, names_in

_OF_NUMPY = {
    "acos": "arccos", "asin": "arcsin", "atan": "arctan", "atan2": "arctan2", "abs": "abs",
    "max": "maximum", "min": "minimum",
}  # fmt: skip
BUILTINS = ("abs", "max", "min")


@dataclass(frozen=True)
class Edit:
    """Lines of a function that others replace.

    Attributes:
        first, last: their numbers in the function, from 1; last = first - 1 inserts before.
        lines: what stands there then, with its indentation.
    """

    first: int
    last: int
    lines: tuple[str, ...]


@dataclass(frozen=True)
class KernelSource:
    """The text of a kernel, as it is or with edits.

    Attributes:
        function: the kernel that Python has.
        lines: of its definition, decorators included, indented as in the file.
        first: the number of its first line in the file.
        imports: modules that the file has to import for it.
        caller: the kernel that calls this function, where it is none itself.
    """

    function: FunctionType
    lines: tuple[str, ...]
    first: int
    imports: frozenset[str] = frozenset()
    caller: KernelSource | None = None

    @classmethod
    def of(cls, function: FunctionType) -> KernelSource:
        """The source of a kernel as it is.

        Raises:
            LiftError: Python cannot find it, or it was edited since.
        """
        source_tree(function)
        code = function.__code__
        lines = linecache.getlines(code.co_filename, function.__globals__)
        block = inspect.getblock(lines[code.co_firstlineno - 1 :])
        return cls(function, tuple(line.rstrip("\r\n") for line in block), code.co_firstlineno)

    def helper(self, name: str) -> KernelSource | None:
        """The source of a function that the kernel calls by its name, if it has no branches."""
        function = plain_function(self.namespace.get(name))
        if function is None or function.__name__ != name:
            return None
        try:
            source = replace(KernelSource.of(function), caller=self)
        except LiftError:
            return None
        decides = any(isinstance(n, (ast.If, ast.While, ast.IfExp)) for n in ast.walk(source.tree))
        return None if decides else source

    @property
    def definition(self) -> ast.FunctionDef:
        """The definition of the kernel, whose decisions count."""
        return self.tree if self.caller is None else self.caller.tree

    @cached_property
    def tree(self) -> ast.FunctionDef:
        """The definition as a tree; line numbers count from 1 at the first of `lines`."""
        text = "\n".join(self.lines)
        if not self.lines[0][:1].isspace():
            return parse(text).body[0]
        tree = parse(f"if True:\n{text}").body[0].body[0]
        ast.increment_lineno(tree, -1)
        return tree

    @property
    def text(self) -> str:
        """All lines, which tell candidates from each other."""
        return "\n".join(self.lines)

    def indentation(self, node: ast.stmt) -> str | None:
        """The blanks before a statement; None where something else stands before it, or behind."""
        line, end = self.lines[node.lineno - 1], self.lines[node.end_lineno - 1]
        before = line.encode()[: node.col_offset].decode()
        after = end.encode()[node.end_col_offset :].decode().strip()
        return None if before.strip() or (after and not after.startswith("#")) else before

    def with_expression(self, node: ast.expr, text: str) -> Edit:
        """The edit that replaces the characters of an expression, and no others."""
        head = self.lines[node.lineno - 1].encode()[: node.col_offset].decode()
        tail = self.lines[node.end_lineno - 1].encode()[node.end_col_offset :].decode()
        return Edit(node.lineno, node.end_lineno, (f"{head}{text}{tail}",))

    def edited(self, edits: Iterable[Edit], imports: Iterable[str] = ()) -> KernelSource:
        """The source with edits, and without the statements that nobody reads any more.

        Raises:
            SyntaxError: it is no definition then.
        """
        new = self._with(edits, imports)
        for _ in range(len(self.lines)):
            gone = new._unread(self)
            if not gone:
                return new
            new = new._with(gone, ())
        return new

    def _with(self, edits: Iterable[Edit], imports: Iterable[str]) -> KernelSource:
        lines = list(self.lines)
        for edit in sorted(edits, key=lambda e: (e.first, e.last), reverse=True):
            lines[edit.first - 1 : edit.last] = edit.lines
        return replace(self, lines=tuple(lines), imports=self.imports.union(imports))

    def _unread(self, before: KernelSource) -> list[Edit]:
        """Edits that take away assignments to variables that were read before and are not now."""
        unread = _unread_names(self.tree) - _unread_names(before.tree)
        gone = []
        for node in ast.walk(self.tree):
            for block in (getattr(node, part, None) for part in ("body", "orelse")):
                if not isinstance(block, list):
                    continue
                some = [s for s in block if _assigns_only(s, unread) and self.indentation(s)]
                if not some:
                    continue
                if len(some) == len(block):
                    loses_all = isinstance(node, (ast.For, ast.If)) and not node.orelse
                    if loses_all and self.indentation(node):
                        gone.append(Edit(node.lineno, node.end_lineno, ()))
                    continue
                gone += [Edit(s.lineno, s.end_lineno, ()) for s in some]
        expressions = [e for e in gone if not any(
            o is not e and o.first <= e.first and e.last <= o.last for o in gone)]  # fmt: skip
        return expressions

    # ---- names -----------------------------------------------------------------------------------

    @cached_property
    def namespace(self) -> dict[str, Any]:
        """The global names of the kernel and those of the functions around it."""
        inside = inspect.getclosurevars(self.function).nonlocals
        return {**self.function.__globals__, **inside}

    def spelled(self, name: str, near: ast.AST) -> tuple[str, tuple[str, ...]]:
        """The name of a function here, and the modules that have to be imported for it.

        Args:
            name: its name in `math`.
            near: the expression that it replaces: functions of the same module are taken.
        """
        if name in BUILTINS and not self._is_of_numpy(near):
            return name, ()
        if name == "fma":
            return self._of_module("sciprec", name)
        if self._is_of_numpy(near) or name in ("mean", "sum"):
            module = next((n for n, v in self.namespace.items() if v is np), None)
            if module is not None:
                return f"{module}.{_OF_NUMPY.get(name, name)}", ()
        return self._of_module("math", name)

    def _of_module(self, module: str, name: str) -> tuple[str, tuple[str, ...]]:
        modules = {n: v for n, v in self.namespace.items() if isinstance(v, ModuleType)}
        alias = next((n for n, v in modules.items() if v.__name__ == module), None)
        return f"{alias or module}.{name}", () if alias else (module,)

    def _is_of_numpy(self, near: ast.AST) -> bool:
        for tree in (near, self.tree):
            owners = [
                self.namespace.get(n.func.value.id)
                for n in ast.walk(tree)
                if isinstance(n, ast.Call) and called(n)
                and isinstance(n.func, ast.Attribute) and isinstance(n.func.value, ast.Name)
            ]  # fmt: skip
            if np in owners or math in owners:
                return np in owners
        return False

    def free_name(self, name: str) -> str:
        """A name that the kernel does not use: the given one, or with a number behind."""
        used = {n.id for n in ast.walk(self.tree) if isinstance(n, ast.Name)}
        used |= {a.arg for a in ast.walk(self.tree) if isinstance(a, ast.arg)} | {*self.namespace}
        names = (name + (str(n) if n else "") for n in range(1000))
        return next(n for n in names if n not in used)

    @property
    def is_fastmath(self) -> bool:
        """Whether a decorator lets the compiler reorder sums."""
        keywords = [k for d in self.tree.decorator_list if isinstance(d, ast.Call)
                    for k in d.keywords]  # fmt: skip
        return any(
            k.arg == "fastmath" and not (isinstance(k.value, ast.Constant) and not k.value.value)
            for k in keywords
        )

    # ---- the function and the patch --------------------------------------------------------------

    def defined(self, instrument: ast.NodeTransformer | None = None, **extra: Any) -> FunctionType:
        """The function that the source defines, without its decorators; its text can be read.

        Args:
            instrument: changes the tree first; the text is then made anew.
            extra: further global names.
        """
        if self.caller is not None:
            function = replace(self, caller=None).defined()
            return self.caller.defined(instrument, **{function.__name__: function}, **extra)
        namespace = {**self.namespace, **extra}
        namespace |= {name: sys.modules[name] for name in self.imports}
        if instrument is None:
            lines = [""] * (self.first - 1) + list(self.lines)
            if self.lines[0][:1].isspace():
                lines[self.first - 2 : self.first - 1] = ["if True:"]
        else:
            tree = parse(ast.unparse(self.tree)).body[0]
            tree.decorator_list = []
            lines = ast.unparse(ast.fix_missing_locations(instrument.visit(tree))).split("\n")
        text = "\n".join(lines) + "\n"
        digest = hashlib.sha256(text.encode()).hexdigest()[:12]
        file = f"<mended {self.function.__name__} {digest}>"
        linecache.cache[file] = len(text), None, text.splitlines(keepends=True), file
        module = parse(text)
        for node in ast.walk(module):
            if isinstance(node, ast.FunctionDef) and node.name == self.function.__name__:
                node.decorator_list = []
                break
        exec(compiled_tree(module, file), namespace)
        result = namespace[self.function.__name__]
        result.__defaults__ = self.function.__defaults__
        return result

    def patch(self) -> str:
        """The unified diff from the file as it is, which `git apply` takes at the top of the
        repository that the file is in; of a notebook's cell the diff of its text.
        """
        code = self.function.__code__
        before = linecache.getlines(code.co_filename, self.function.__globals__)
        count = len(KernelSource.of(self.function).lines)
        end = before[self.first - 1][len(before[self.first - 1].rstrip("\r\n")) :] or "\n"
        after = list(before)
        body = [line + end for line in self.lines]
        if self.first - 1 + count == len(before) and not before[-1].endswith("\n"):
            body[-1] = body[-1].rstrip("\r\n")
        after[self.first - 1 : self.first - 1 + count] = body
        for module in sorted(self.imports, reverse=True):
            after.insert(_place_of_import("".join(before)), f"import {module}{end}")
        return unified_diff(before, after, code.co_filename)


def unified_diff(before: Sequence[str], after: Sequence[str], file: str) -> str:
    """The unified diff of a file's lines, by its path from the top of its git repository, which
    `git apply` takes; a last line without an end is said to have none.
    """
    name = _within_repository(file)
    lines = list(difflib.unified_diff(before, after, f"a/{name}", f"b/{name}"))
    return "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"
        for line in lines
    )


def diff_of_new(file: Path, text: str) -> str:
    """The unified diff that makes a file, in a folder that is there."""
    name = _within_repository(str(file), file.parent)
    return "".join(difflib.unified_diff([], text.splitlines(keepends=True), "/dev/null",
                                        f"b/{name}"))  # fmt: skip


def _place_of_import(text: str) -> int:
    """The number of lines before the first import, or up to the end of docstring and comments."""
    body = parse(text).body
    for node in body:
        if isinstance(node, (ast.Import, ast.ImportFrom)) and (
            getattr(node, "module", "") != "__future__"
        ):
            return node.lineno - 1
    head = [
        n for n in body
        if isinstance(n, ast.ImportFrom)
        or (isinstance(n, ast.Expr) and isinstance(n.value, ast.Constant) and n is body[0])
    ]  # fmt: skip
    return head[-1].end_lineno if head else 0


def _within_repository(file: str, root: Path | None = None) -> str:
    """A file's path from the top of its git repository, else from the working folder, or its
    name. `root` is what has to be on disk of it; None: itself.
    """
    path = Path(file)
    if not (path.is_file() if root is None else root.is_dir()):
        return source_name(file)
    path = path.resolve()
    top = next((p for p in path.parents if (p / ".git").exists()), Path.cwd().resolve())
    return path.relative_to(top).as_posix() if path.is_relative_to(top) else path.name


def _unread_names(function: ast.FunctionDef) -> set[str]:
    """Variables that nothing but their own updates reads."""
    arguments = {a.arg for a in ast.walk(function) if isinstance(a, ast.arg)}
    stored = {
        n.id for n in ast.walk(function)
        if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
    } - arguments  # fmt: skip
    read: set[str] = set()
    for node in ast.walk(function):
        if isinstance(node, (ast.Assign, ast.AugAssign)):
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            bound_name = {target.id} if isinstance(target, ast.Name) else set()
            read |= names_in(node.value) - bound_name
            if not bound_name:
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                read |= {n.id for t in targets for n in ast.walk(t)
                         if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Store)}
        elif isinstance(node, ast.stmt):
            for part in ast.iter_child_nodes(node):
                if isinstance(part, ast.expr):
                    read |= {n.id for n in ast.walk(part)
                             if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
    return stored - read


def _assigns_only(statement: ast.stmt, unread: set[str]) -> bool:
    """Whether a statement only gives a value to a variable that nobody reads."""
    if isinstance(statement, ast.Assign):
        only = len(statement.targets) == 1 and isinstance(statement.targets[0], ast.Name)
        return only and statement.targets[0].id in unread
    if isinstance(statement, ast.AugAssign):
        return isinstance(statement.target, ast.Name) and statement.target.id in unread
    return False
