"""The source of a kernel: found in its file or notebook cell, and held against what Python runs."""

from __future__ import annotations
import __future__

import ast
import dis
import functools
import inspect
import linecache
import textwrap
from collections.abc import Iterator
from types import CodeType
from typing import Any, cast
from weakref import WeakKeyDictionary

from sciprec.foundation.notebook import source_name
from sciprec.precision.rewriting.syntax import LiftError, parse

_carried: dict[CodeType, str] = {}  # of functions that came from other processes
_read: WeakKeyDictionary[CodeType, tuple[list[str], str]] = WeakKeyDictionary()
_SHAPE = ("co_names", "co_varnames", "co_freevars", "co_cellvars")
_GLUE = ("CACHE", "CALL", "EXTENDED_ARG", "KW_NAMES", "NOP", "PRECALL", "PUSH_NULL", "RESUME")
"""Instructions around calls, which depend on what the module imports, and such that do nothing."""


def carry_sources(sources: dict[CodeType, str]) -> None:
    """Sources of functions that were lifted in another process, where their files may not be."""
    _carried.update(sources)


def place_of(function) -> tuple[str, int]:
    """Name of the file or cell, and first line, of a kernel, for messages and sites."""
    code = function.__code__
    return source_name(code.co_filename), code.co_firstlineno


def source_tree(function) -> tuple[ast.FunctionDef, str]:
    """The syntax tree of a kernel's definition, and its text.

    Raises:
        LiftError: where Python cannot find the source, it is not a `def`, or Python runs other code
            than it says: the file was edited since, another cell has taken the name of the first.
    """
    try:
        if function.__name__ == "<lambda>":
            raise SyntaxError
        text = _source_text(function)
        tree = cast("ast.Module", parse(text)).body[0]
        code = function.__code__
        if code.co_filename == "<string>" and not _is_source_of(text, code):
            raise SyntaxError  # that of `python -c`, which Python has from 3.13 on
    except (OSError, TypeError, SyntaxError, IndexError):
        raise LiftError(
            f"the source of kernel '{getattr(function, '__name__', function)}' cannot be "
            "read; "
            "lifting takes functions defined with `def` in a file or a notebook cell (below "
            "%%time a cell has no source): save it in a .py file"
        ) from None
    if not isinstance(tree, ast.FunctionDef):
        raise LiftError(
            f"kernel '{function.__name__}' is not defined with `def`; lifting takes such "
            "functions: give it a name and a `def`"
        )
    if not _is_source_of(text, code):
        raise LiftError(
            "the source of kernel '{}' ({}, line {}) is no longer that of the function in memory; "
            "lifting reads the source: import the edited module, or run the cell, again".format(
                function.__name__, *place_of(function)
            )
        )
    return tree, text


def _source_text(function) -> str:
    """The source of a function, without its indentation.

    Raises:
        OSError, TypeError: Python cannot find it.
    """
    code = function.__code__
    if code in _carried:
        return textwrap.dedent(_carried[code])
    linecache.checkcache(code.co_filename)
    lines = linecache.getlines(code.co_filename, function.__globals__)
    if not lines[code.co_firstlineno - 1 :]:
        raise OSError
    read_lines, text = _read.get(code, (None, ""))
    if read_lines is not lines:  # a new list is a file that was read again
        text = textwrap.dedent("".join(inspect.getblock(lines[code.co_firstlineno - 1 :])))
        _read[code] = lines, text
    return text


@functools.lru_cache(4096)
def _is_source_of(text: str, code: CodeType) -> bool:
    """Whether a definition, compiled, is a function's code. With `assert` in it the names alone
    count: test runners rewrite these.
    """
    before = code.co_firstlineno - 1  # classes hold their line from Python 3.13 on
    if code.co_freevars:
        names = " = ".join(code.co_freevars)
        text = f"def sp_outer():\n    {names} = None\n{textwrap.indent(text, '    ')}"
        before -= 2
    flags = code.co_flags & __future__.annotations.compiler_flag
    compiled = compile("\n" * before + text, code.co_filename, "exec", flags, dont_inherit=True)
    around = _codes(compiled)[0] if code.co_freevars else compiled
    if any(item.co_name == code.co_name and _same(item, code) for item in _codes(around)):
        return True
    rewritten = any(isinstance(node, ast.Assert) for node in ast.walk(parse(text)))
    return rewritten and code.co_name in [item.co_name for item in _codes(around)]


def _same(first: CodeType, second: CodeType) -> bool:
    """Whether two codes compute the same, wherever they stand; texts differ by their indentation at
    most.
    """
    if any(getattr(first, part) != getattr(second, part) for part in _SHAPE):
        return False
    if first.co_code == second.co_code and len(first.co_consts) == len(second.co_consts):
        return all(map(_same_value, first.co_consts, second.co_consts))
    steps, second_steps = list(_steps(first)), list(_steps(second))
    return len(steps) == len(second_steps) and all(
        a[0] == b[0] and _same_value(a[1], b[1]) for a, b in zip(steps, second_steps, strict=True)
    )


def _same_value(first: Any, second: Any) -> bool:
    if isinstance(first, CodeType) and isinstance(second, CodeType):
        return _same(first, second)
    if isinstance(first, str) and isinstance(second, str):
        return first.split() == second.split()
    return repr(first) == repr(second)


def _steps(code: CodeType) -> Iterator[tuple[str, Any]]:
    """Yield Python's instructions for some code: the name of each, and its operand."""
    for step in dis.get_instructions(code):
        if not step.opname.startswith(_GLUE):
            jumps = step.opcode in dis.hasjrel or step.opcode in dis.hasjabs
            yield step.opname.replace("METHOD", "ATTR"), None if jumps else step.argval


def _codes(code: CodeType) -> list[CodeType]:
    """The codes of the functions that a code makes."""
    return [constant for constant in code.co_consts if isinstance(constant, CodeType)]
