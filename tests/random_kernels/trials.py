"""One trial in this process: the lifted kernel, compiled or not, against the exact oracle.

Compiled kernels of floats are compared with the twin, those with random bits or in fixed point with
their text, run by Python. Where a text rounds is tested uncompiled, beside the twin.
"""

from __future__ import annotations

import hashlib
import importlib.util
import math
import sys
import traceback
import warnings
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from sciprec.precision import lift
from sciprec.precision.fixed.units import FixedUnits
from sciprec.precision.rewriting.syntax import LiftError
from tests.oracles.fields import Fields
from tests.oracles.twin import run_twin
from tests.oracles.uncompiled import Uncompiled, run_fixed, run_random, without_keys
from tests.random_kernels.backends import resolved
from tests.random_kernels.cases import Case, Trial
from tests.random_kernels.values import values_of

SHARES = (1.0, 0.25)
"""Of the ranges that a profile finds: all of it, and so little that many places saturate."""


@dataclass(frozen=True)
class Outcome:
    """The outcome of a trial.

    Args:
        kind: "same" bits; "differs"; "refused" by a LiftError; "raised" anything else; "oracle",
            where the oracle itself failed; "aborted" and "hung", which the runner finds.
        detail: of what is not the same.
    """

    kind: str
    detail: str = ""


def kernel_of(case: Case, folder: Path):
    """The function `kernel` of the case."""
    return kernel_in(case.source, folder)


def kernel_in(source: str, folder: Path):
    """The function `kernel` of a module's text, imported from a file of its own."""
    stem = f"random_{hashlib.sha256(source.encode()).hexdigest()[:16]}"
    path = folder / f"{stem}.py"
    path.write_text(source)
    spec = importlib.util.spec_from_file_location(stem, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[stem] = module
    spec.loader.exec_module(module)
    return module.kernel


def flat(value) -> list[float]:
    """All numbers of a result, in order."""
    if value is None:
        return []
    if isinstance(value, tuple):
        return [x for v in value for x in flat(v)]
    value = np.asarray(value).ravel()
    return (value.astype(complex).view(float) if value.dtype.kind == "c" else value).tolist()


def difference(found, expected, what: str, signed: bool) -> str:
    """The first numbers that differ, any NaN equal to any other, and -0 to 0 unless `signed`; ''
    where none does.
    """
    found, expected = np.array(flat(found)), np.array(flat(expected))
    if found.shape != expected.shape:
        return f"{what}: {found.size} numbers, expected {expected.size}"
    same = (found == expected) & ((np.signbit(found) == np.signbit(expected)) | (not signed))
    wrong = np.flatnonzero(~(same | (np.isnan(found) & np.isnan(expected))))
    if not wrong.size:
        return ""
    shown = [(int(n), float(found[n]), float(expected[n])) for n in wrong[:3]]
    return f"{what}: {wrong.size} of {found.size} differ; (index, lifted, exact): {shown}"


def run_trial(trial: Trial, folder: Path) -> Outcome:
    """Lift, call and compare; the case's module is written into the folder."""
    backend = resolved(trial.backend)
    kernel = kernel_of(trial.case, folder)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            lifted = lift(kernel, backend, **_options(trial, backend))
        except Exception as error:
            return failed(error)
        run = _fixed_call if backend.compute.fixed else _float_call
        for call in range(trial.calls):
            args = arguments_of(trial, kernel, backend, call)
            outcome = run(trial, lifted, args)
            if outcome.kind != "same":
                return Outcome(outcome.kind, f"call {call}: {outcome.detail}")
    return Outcome("same")


def arguments_of(trial: Trial, kernel, backend, call: int) -> list:
    """The arguments of a call."""
    args = values_of(trial.case.arguments, backend, trial.seed, call, trial.trust)
    for fields in (a for a in args if isinstance(a, Fields)):
        fields._kind = kernel.__globals__["Tank"]
    return args


def run_uncompiled(trial: Trial, folder: Path) -> Outcome:
    """Where the text of the kernel's generated module rounds, beside the twin: in the backend, of
    one with random bits or in fixed point in floats of its precision.
    """
    backend, kernel = resolved(trial.backend), kernel_of(trial.case, folder)
    given, run = {"path": trial.path, "trust_inputs": trial.trust}, None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            if backend.random:
                run = Uncompiled(kernel, backend, seed=trial.seed, **given)
                or_singular(run, arguments_of(trial, kernel, backend, 0))
                run.require_draws_of_their_own()
            if backend.random or backend.fixed:
                backend, run = without_keys(kernel, backend, **given)
            else:
                run = Uncompiled(kernel, backend, **given)
        except AssertionError as error:
            return Outcome("differs", str(error))
        except Exception as error:
            return failed(error)
        for call in range(trial.calls):
            args = arguments_of(trial, kernel, backend, call)
            found, expected = deepcopy(args), deepcopy(args)
            try:
                result = or_singular(run, found)
            except Exception as error:
                return failed(error)
            try:
                exact = or_singular(lambda *x: run_twin(kernel, backend, x), expected)
            except Exception as error:
                return oracle_failed(error)
            outcome = compared(trial.case, (result, exact), found, expected)
            if outcome.kind != "same":
                return Outcome(outcome.kind, f"call {call}: {outcome.detail}")
    return Outcome("same")


def _options(trial: Trial, backend) -> dict:
    if backend.fixed:
        return {"adapt": None}
    return {"path": trial.path, "trust_inputs": trial.trust, "seed": trial.seed}


def _float_call(trial: Trial, lifted, args: list) -> Outcome:
    given, expected = deepcopy(args), deepcopy(args)
    try:
        found = or_singular(with_objects(lifted), given)
    except Exception as error:
        return failed(error)
    try:
        if lifted.backend.random:
            exact = or_singular(lambda *x: run_random(lifted, x), expected)
        else:
            exact = or_singular(lambda *x: run_twin(lifted.kernel, lifted.backend, x), expected)
    except AssertionError as error:
        return Outcome("differs", str(error))
    except Exception as error:
        return oracle_failed(error)
    return compared(trial.case, (found, exact), given, expected)


def with_objects(lifted):
    """A call of a lifted kernel with objects of the classes; what it leaves in them is kept."""

    def called(*args):
        made = [a.made() if isinstance(a, Fields) else a for a in args]
        result = lifted(*made)
        for before, after in zip(args, made, strict=True):
            if isinstance(before, Fields):
                before.taken_from(after)
        return result

    return called


def or_singular(function, args: list):
    """Result of a kernel: of a singular matrix, or a percentile of nothing, one NaN, and nothing
    that it has written.
    """
    try:
        return function(*args)
    except (np.linalg.LinAlgError, IndexError):
        for argument in args:
            if isinstance(argument, np.ndarray):
                argument[...] = 0
        return math.nan


def failed(error: Exception) -> Outcome:
    kind = "refused" if isinstance(error, LiftError) else "raised"
    return Outcome(kind, f"{type(error).__name__}: {str(error)[:600]}")


def oracle_failed(error: Exception) -> Outcome:
    last = traceback.extract_tb(error.__traceback__)[-1]
    return Outcome("oracle", f"{type(error).__name__}: {error} ({last.filename}:{last.lineno})")


def compared(
    case: Case, results: tuple, given: list, expected: list, signed: bool = True
) -> Outcome:
    found = [difference(*results, "returned", signed)]
    for argument, a, b in zip(case.arguments, given, expected, strict=True):
        if argument.kind == "object":
            a, b = a.held(), b.held()
        if argument.kind in ("array", "object"):
            found.append(difference(a, b, argument.name, signed))
    wrong = [f for f in found if f]
    return Outcome("differs", "; ".join(wrong)) if wrong else Outcome("same")


def _fixed_call(trial: Trial, lifted, args: list) -> Outcome:
    """In the units of a profile, and in those of a quarter of its ranges, where more saturates."""
    try:
        with_objects(lifted.profile)(*deepcopy(args))
    except Exception as error:
        return failed(error)
    units = lifted.units
    for share in SHARES:
        lifted.units = narrowed(units, share)
        outcome = _in_units(trial, lifted, args)
        if outcome.kind != "same":
            return Outcome(outcome.kind, f"{outcome.detail} (ranges times {share})")
    return Outcome("same")


def narrowed(units: FixedUnits, share: float) -> FixedUnits:
    """Units for a share of the ranges."""
    largest = np.where(units.used, units.largest, 0.0) * share
    return FixedUnits(units.backend, units.sites, units.rows, largest, units.spread, units.zero)


def _in_units(trial: Trial, lifted, args: list) -> Outcome:
    given, expected = deepcopy(args), deepcopy(args)
    before = lifted._saturated.copy(), lifted._invalid.copy()
    try:
        found = with_objects(lifted)(*given)
    except Exception as error:
        return failed(error)
    try:
        exact, places = run_fixed(lifted.kernel, lifted.units, tuple(expected))
    except Exception as error:
        return oracle_failed(error)
    outcome = compared(trial.case, (found, exact), given, expected, signed=False)
    counts = lifted._saturated - before[0], lifted._invalid - before[1]
    for row, place, *own in zip(lifted.units.rows, places, *counts, strict=True):
        if outcome.kind == "same" and tuple(own) != (place.saturated, place.invalid):
            site = lifted.units.sites[row.site]
            exactly = place.saturated, place.invalid
            said = f"{site}: {tuple(map(int, own))} saturated and invalid, exactly {exactly}"
            return Outcome("differs", said)
    return outcome
