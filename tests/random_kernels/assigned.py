"""Random kernels whose lines have formats of their own, in both forms, against the exact oracle."""

from __future__ import annotations

import random
import re
import warnings
import zlib
from copy import deepcopy
from functools import partial
from pathlib import Path

import numpy as np

from sciprec.foundation.errors import InputError
from sciprec.instruments.assigning.assignment import Assignment
from sciprec.instruments.assigning.configured import Configured
from sciprec.instruments.assigning.matching import Matching, program_of
from sciprec.instruments.assigning.origins import own_place
from sciprec.instruments.assigning.rows import VERSION, layout_of
from sciprec.precision import lift, resolve_backend
from tests.oracles.by_line import run_by_line
from tests.oracles.twin import run_twin
from tests.random_kernels.cases import Case, Trial
from tests.random_kernels.trials import (
    Outcome,
    arguments_of,
    compared,
    failed,
    kernel_of,
    or_singular,
    oracle_failed,
    with_objects,
)

KIND, WHOLE = "lines:", "everything:"
NEAREST = (
    "fp32", "tf32", "fp16", "bf16", "e5m2", "e4m3fn", "float:p=13",
    "float:p=5,emin=-10,emax=10,subnormals=flush,overflow=saturate",
)  # fmt: skip
ANY = (
    "mlu370", "float:p=13,round=rz", "float:p=9,round=rd", "float:p=24,round=ru",
    "float:p=21,round=ro",
    "float:p=11,emin=-14,emax=15,round=rz,subnormals=flush,overflow=saturate", *NEAREST[:4],
)  # fmt: skip
WIDE = ("fp64", "float:p=30", "float:p=40,round=rz", "float:p=52,round=ru")
"""Not for elementary functions, which are within an ulp in them."""


_NO_ORACLE = re.compile("linalg|vectorize")
"""In what the oracle has one arithmetic, or none: there the forms are compared with each other."""


def assigned_trials(case: Case, count: int) -> list[Trial]:
    """Trials of a case, by turns with roundings to nearest alone and with all; none of what an
    assignment does not take.
    """
    if case.is_complex:
        return []
    rng, made = random.Random(f"{case.seed} lines"), []
    for number in range(count):
        nearest = (case.seed + number) % 2 == 0
        known = NEAREST if nearest else ANY
        wide = () if case.is_elementary else WIDE[:1] if nearest else WIDE
        names = rng.sample([*known, *wide], 3)
        if wide and "fp64" not in names:
            names[0] = "fp64"
        made.append(Trial(case, f"{KIND} {'; '.join(names)}", seed=case.seed, calls=2))
    return made


def run_assigned(trial: Trial, folder: Path) -> Outcome:
    """Both forms of a kernel whose lines have formats drawn from those of the trial."""
    names = trial.backend.removeprefix(KIND).strip().split("; ")
    kernel = kernel_of(trial.case, folder)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            program = program_of(kernel)
            lines = {own_place(program, row).line for row in program.layout.rows}
            drawn = {
                n: names[zlib.crc32(f"{n} {trial.seed}".encode()) % len(names)] for n in lines
            }
            assignment = Assignment(drawn, default=names[0])
            lifted = lift(kernel, assignment)
            rows = Matching(assignment, kernel).arithmetics
            layout, formats = layout_of(assignment.arithmetics), assignment.arithmetics
            configured = Configured(kernel, layout, formats=formats, after=0.0)
            table = configured.table(rows)
            uniform = uniform_tables(configured, kernel, names, trial.seed)
        except InputError as error:
            return failed(error)
        known = {name: resolve_backend(name).compute for name in names}
        for call in range(trial.calls):
            args = arguments_of(trial, kernel, resolve_backend(names[call % 3]), call)
            expected, no_oracle = deepcopy(args), _NO_ORACLE.search(trial.case.source)
            try:
                if no_oracle:
                    exact = with_objects(partial(configured, table))(*expected)
                else:
                    exact = run_by_line(
                        kernel, lambda _, line: known[drawn.get(line, names[0])], expected
                    )
            except Exception as error:
                return oracle_failed(error)
            for form, run in (("specialised", lifted), ("configured", partial(configured, table))):
                what = f"{form}, call {call}"
                if wrong := _wrong(trial.case, run, args, exact, expected, what):
                    return wrong
            for number, (chosen, read, by_line) in enumerate(uniform):
                expected, what = deepcopy(args), f"version {number}, call {call}"
                try:
                    if number == call and not no_oracle:
                        exact = run_by_line(
                            kernel, lambda _, line, by=by_line: known[by.get(line, names[0])],
                            expected,
                        )
                    else:
                        exact = with_objects(partial(configured, read))(*expected)
                except Exception as error:
                    return failed(error)
                run = partial(configured, chosen)
                if wrong := _wrong(trial.case, run, args, exact, expected, what):
                    return wrong
    return Outcome("same")


def _wrong(case: Case, run, args: list, exact, expected: list, what: str) -> Outcome | None:
    """How a form's call differs from what it should give and write; None where it does not."""
    given = deepcopy(args)
    try:
        found = or_singular(with_objects(run), given)
    except Exception as error:
        return failed(error)
    outcome = compared(case, (found, exact), given, expected)
    return None if outcome.kind == "same" else Outcome(outcome.kind, f"{what}: {outcome.detail}")


def whole_trials(case: Case) -> list[Trial]:
    """A trial of a case in one format for everything; none of what an assignment does not take."""
    if case.is_complex:
        return []
    known = [*NEAREST, *ANY]
    return [Trial(case, f"{WHOLE} {known[case.seed % len(known)]}", seed=case.seed)]


def run_whole(trial: Trial, folder: Path) -> Outcome:
    """Both forms of an assignment of one format to everything, beside the exact oracle of that
    format: it is given numbers of binary64.
    """
    backend = resolve_backend(trial.backend.removeprefix(WHOLE).strip())
    kernel = kernel_of(trial.case, folder)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            assignment = Assignment({}, default=backend.name, rounds="everything")
            configured = Configured(
                kernel, layout_of(assignment.arithmetics), formats=assignment.arithmetics,
                after=0.0, everything=True,
            )  # fmt: skip
            table = configured.table(Matching(assignment, kernel).arithmetics)
            forms = {"specialised": lift(kernel, assignment), "rows": partial(configured, table)}
        except InputError as error:
            return failed(error)
        args = arguments_of(trial, kernel, resolve_backend("fp64"), 0)
        expected = deepcopy(args)
        try:
            exact = or_singular(lambda *x: run_twin(kernel, backend, x), expected)
        except Exception as error:
            return oracle_failed(error)
        for form, run in forms.items():
            if wrong := _wrong(trial.case, run, args, exact, expected, form):
                return wrong
    return Outcome("same")


def uniform_tables(configured, kernel, names: list[str], seed: int) -> list[tuple]:
    """Tables whose functions are in one format each, with versions of these chosen, the same where
    every operation reads its row, and the format of every line.
    """
    program, found = configured.program, []
    for number in range(len(names)):
        def drawn(origin, number=number):
            place = zlib.crc32(f"{origin.function} {seed}".encode()) + number
            return names[place % len(names)]

        origins = [own_place(program, row) for row in program.layout.rows]
        chosen = configured.table([resolve_backend(drawn(o)).compute for o in origins])
        read = chosen.copy()
        read.view(np.int64)[:, VERSION] = 0
        found.append((chosen, read, {o.line: drawn(o) for o in origins}))
    return found
