"""Places of the operations of a program in the user's source."""

from __future__ import annotations

from sciprec.precision.rewriting.layout import Row
from sciprec.precision.rewriting.program import Program
from sciprec.precision.rewriting.syntax import Origin


def own_place(program: Program, row: Row) -> Origin:
    """The user's own place of a row: in a kernel of the engine, where it is called; of an argument
    the kernel's definition.
    """
    chain = chain_of(program, row)
    if not chain:
        kernel = program.kernel
        site = program.sites[row.site]
        code, text = kernel.__code__, f"argument {site.text}"
        text = "results returned" if site.operation == "returned" else text
        file, line = code.co_filename, code.co_firstlineno
        return Origin(kernel.__name__, file, line, text, "", False)
    return next((o for o in reversed(chain) if not o.of_engine), chain[-1])


def chain_of(program: Program, row: Row) -> list[Origin]:
    """The places of the calls that lead to a row, and its own."""
    return [program.origins[s] for s in (*row.calls, row.site) if s in program.origins]


def key_of(program: Program, row: Row, origin: Origin, by: str) -> tuple:
    """The key that rows of one line, operation, variable, function or call share; its last item
    is its name. Rows in the engine's own kernels have the key of the call of them.
    """
    if by == "line":
        return origin.file, origin.line, origin.function, f"line {origin.line}"
    if by == "variable":
        return origin.file, origin.function, origin.variable or "(no variable)"
    if by == "function":
        return origin.file, origin.function
    sites = [s for s in (*row.calls, row.site) if s in program.origins]
    sites = [s for s in sites if not program.origins[s].of_engine] or sites
    site, inside = program.sites[sites[-1]], sites[-1] != row.site
    text = site.text or site.operation
    if by == "operation":
        label = text if inside else f"{site.operation.partition('(')[0]}: {text}"
        return origin.file, origin.line, site.column, site.operation, label
    lines = sites if inside else sites[:-1]
    path = [f"line {program.origins[s].line}" for s in lines]
    return origin.file, " > ".join([*path, text if inside else origin.function])
