"""Groups of a traced program's rows: by line, operation, variable, function, call."""

from __future__ import annotations

from dataclasses import dataclass

from sciprec.instruments.assigning.origins import Origin, chain_of, key_of, own_place
from sciprec.instruments.tracing.operations import DECISIONS, LOOPS
from sciprec.instruments.tracing.technique import sees
from sciprec.precision.operations.operation import NOTHING, OPERATIONS
from sciprec.precision.rewriting.program import Program

BY = ("line", "operation", "variable", "function", "call", "step")
NEVER_ROUND = (*DECISIONS, *LOOPS, "prange", "call")


@dataclass(frozen=True)
class OriginGroup:
    """Rows whose roundings are one part of the error.

    Args:
        function, file, line, source: the first place in the source that belongs to it; of an
            argument the kernel's definition.
        name: what the group is called: a line, an operation, a variable, a function, a call.
        rows: numbers of the rows.
        argument: the parameter whose conversion it is, or "".
        carried: whether it feeds back into itself through a loop's passes.
        steps: the first step of a run and the one after the last whose roundings they are, of all
            rows; None where that does not matter.
    """

    function: str
    file: str
    line: int
    source: str
    name: str
    rows: tuple[int, ...]
    argument: str = ""
    carried: bool = False
    steps: tuple[int, int] | None = None


def groups_of(program: Program, by: str) -> list[OriginGroup]:
    """Groups for the arguments of a kernel, then for its places in the order of the source. Where
    roles have different formats, returned values make a group, too: they are rounded to storage.
    """
    names = list(program.signature.parameters)
    arguments: dict[str, list[int]] = {name: [] for name in names}
    returned: list[int] = []
    rows_of: dict[tuple, list[int]] = {}
    first: dict[tuple, Origin] = {}
    carried: set[tuple] = set()
    for number, row in enumerate(program.layout.rows):
        site = program.sites[row.site]
        if row.site not in program.origins:  # where the kernel is entered
            if site.text in arguments:
                arguments[site.text].append(number)
            elif site.operation == "returned":
                returned.append(number)
            continue
        if site.operation.partition("(")[0] in NEVER_ROUND:
            continue
        origin = own_place(program, row)
        key = key_of(program, row, origin, by)
        rows_of.setdefault(key, []).append(number)
        first.setdefault(key, origin)
        if any(o.carried and not o.of_engine for o in chain_of(program, row)):
            carried.add(key)
    kernel = program.kernel
    file, line = kernel.__code__.co_filename, kernel.__code__.co_firstlineno
    groups = [
        OriginGroup(
            kernel.__name__, file, line, f"argument {name}", f"argument {name}", tuple(rows), name
        )
        for name, rows in arguments.items()
    ]
    ordered = sorted(rows_of, key=lambda k: (first[k].file, first[k].line, str(k)))
    for key in ordered:
        at = first[key]
        groups.append(
            OriginGroup(at.function, at.file, at.line, at.source, str(key[-1]), tuple(rows_of[key]),
                  carried=key in carried)
        )  # fmt: skip
    if returned:
        rows = tuple(returned)
        groups.append(OriginGroup(kernel.__name__, file, line, "results returned", "results", rows))
    return groups


def is_unseen(program: Program, group: OriginGroup, bits: int) -> bool:
    """Whether a group has functions whose own rounding to a format of so many bits is not seen."""
    for number in group.rows:
        operation = program.sites[program.layout.rows[number].site].operation
        row = OPERATIONS.get(operation, NOTHING)
        if row.evaluate is not None and not sees(row, bits):
            return True
    return False
