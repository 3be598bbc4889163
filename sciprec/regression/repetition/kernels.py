"""A kernel of a user's file, called again and again in processes of its own."""

from __future__ import annotations

import itertools
import pickle
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from sciprec.foundation.arguments import at_least
from sciprec.foundation.errors import InputError, meant
from sciprec.foundation.whole import temporary_folder
from sciprec.precision.formats.backend import TRUTH, resolve_backend
from sciprec.precision.rewriting.syntax import LiftError, plain_function
from sciprec.regression.repetition.circumstances import (
    A_THIRD_ORDER,
    BEYOND,
    ELSEWHERE,
    FIRST,
    MEMORY,
    MOST_THREADS,
    OTHER_BLOCKS,
    STRICTLY,
    CallSettings,
    Circumstance,
    Process,
    filled,
    fills_memory,
    to_be_made,
)
from sciprec.regression.repetition.findings import Finding, Repetition, SourceLine
from sciprec.regression.repetition.judging import Ended, Told, judged, nobody
from sciprec.regression.repetition.kernel_process import Asked
from sciprec.regression.repetition.parallel_loops import option
from sciprec.regression.repetition.sources import behind_kernel
from sciprec.regression.repetition.suspects import explained
from sciprec.tools.calls.inputs import inputs_of
from sciprec.tools.calls.kernel_file import WHAT, kernel_named, names_function
from sciprec.tools.calls.outputs import given_arrays
from sciprec.tools.memory.memory import (
    OUT_OF_BOUNDS,
    UNINITIALISED,
    MemoryFinding,
    check_memory,
)

LEAST_RUNS = 2
UNFILLED = (
    "memory was not filled: the allocator of this platform cannot (that of glibc and macOS can)"
)
_OWN_FORM = "as it is"
_CHUNK = 3


def repeat_kernel(
    named: str, inputs: str, *, backend: str | None = None, runs: int | None = None,
    blocks: Mapping[str, Sequence[int]] = {}, plugins: Sequence[str] = (),
    tell: Told = nobody,
) -> Repetition:  # fmt: skip
    """Call a kernel again and again, and compare the bits of what it leaves.

    Args:
        named: FILE.py:FUNCTION.
        inputs: its arguments, as for `sciprec trace`.
        backend: the arithmetic that it is lifted into; None: the user's own form as it is.
        runs: calls; None: as many as there are circumstances.
        blocks: integer arguments that no result may depend on, each with other values for it.
        plugins: files that register formats.
        tell: of each run.

    Raises:
        InputError: the kernel, its arguments or the arithmetic cannot be used, or the first call
            fails.
    """
    if runs is not None:
        at_least("--runs", runs, LEAST_RUNS)
    function = kernel_named(named)
    name = function.__name__
    if backend is not None:
        resolve_backend(backend)
    values = inputs_of(plain_function(function), inputs).values
    _require_apart(name, values)
    _require_blocks(name, values, blocks)
    scopes = behind_kernel(function)
    every = _circumstances(function, backend, values, blocks)
    if backend is None and any(option(f, s, "fastmath") for s in scopes for f in s.functions()):
        every.insert(len(blocks), STRICTLY)
    chosen = to_be_made(every, len(every) + 2 if runs is None else runs)
    with temporary_folder("repeat") as place:
        processes = _Processes(named, inputs, backend, _pickled(name, values), plugins, place)
        made_runs, findings = judged(chosen, processes.run, tell)
    findings = [
        replace(finding, places=explained(finding.ways, scopes, blocks)) for finding in findings
    ]
    findings, note = _with_memory(findings, function, backend or TRUTH, dict(values))
    notes = [note, *([] if fills_memory() else [UNFILLED]), _not_asked(every, chosen)]
    target = f"kernel '{name}' {_OWN_FORM if backend is None else f'in {backend}'}"
    return Repetition(target, tuple(made_runs), tuple(findings), tuple(filter(None, notes)))


def _not_asked(every: Sequence[Circumstance], chosen: Sequence[Circumstance]) -> str:
    """A sentence on the circumstances that were left out for want of runs."""
    untried = [c.words for c in every if c not in chosen]
    return f"not tried with {len(chosen)} runs: {'; '.join(untried)}" if untried else ""


def _circumstances(
    kernel: Any, backend: str | None, values: Mapping[str, Any], blocks: Mapping[str, Sequence[int]]
) -> list[Circumstance]:
    """The circumstances of further calls, the likeliest faults first."""
    options = getattr(kernel, "targetoptions", {})
    parallel = backend is not None or options.get("parallel")
    two = Process(threads=2)
    result = [
        Circumstance(("block size",), f"{name} = {number}", Process(),
                     CallSettings(arguments=((name, number),)), later=True)
        for name, numbers in blocks.items() for number in numbers
    ]  # fmt: skip
    result += [
        Circumstance(("threads",), "2 threads", two, CallSettings(2)),
        Circumstance(("a second call",), "a second call in a process", later=True),
    ]
    result += [ELSEWHERE, *filled()]
    if parallel:
        result.append(
            Circumstance(("chunks",), f"prange in chunks of {_CHUNK}", Process(),
                         CallSettings(chunk=_CHUNK), later=True)
        )  # fmt: skip
    if backend is None:
        result += [OTHER_BLOCKS, A_THIRD_ORDER]
    if parallel:
        result += [
            Circumstance(("threads",), f"{count} threads", two, CallSettings(count), later=True)
            for count in range(3, MOST_THREADS + 1)
        ]
    return result


def _require_apart(kernel: str, values: Mapping[str, Any]) -> None:
    """Refuse arrays that share memory, which they would not in another process."""
    arrays = [(n, a) for n, (_, a) in given_arrays(values).items()]
    for (first, a), (second, b) in itertools.combinations(arrays, 2):
        if np.shares_memory(a, b):
            raise InputError(
                f"the arguments '{first}' and '{second}' of kernel '{kernel}' share memory; "
                "each run is another process, where they would not; pass copies"
            )


def _pickled(kernel: str, values: Mapping[str, Any]) -> bytes:
    """Arguments as other processes get them."""
    try:
        return pickle.dumps(dict(values))
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise InputError(
            f"the arguments of kernel '{kernel}' cannot be given to other processes ({error}); "
            "functions among them are defined with `def` at the top of the file"
        ) from None


def _require_blocks(
    kernel: str, values: Mapping[str, Any], blocks: Mapping[str, Sequence[int]]
) -> None:
    for name in blocks:
        if name not in values:
            raise InputError(
                f"--block-size is given for '{name}', which is no argument of kernel '{kernel}'; "
                f"its arguments: {', '.join(values)}{meant(name, values)}"
            )
        if not isinstance(values[name], int) or isinstance(values[name], bool):
            raise InputError(
                f"--block-size is given for '{name}' of kernel '{kernel}', which is no integer; "
                "name an argument that says how many at a time"
            )


@dataclass
class _Processes:
    """Processes that call one kernel.

    Args:
        named, inputs: as on the command line.
        backend: the arithmetic; None: the kernel as it is.
        arguments: by parameter, pickled.
        plugins: files that register formats.
        place: an empty folder.
        patience: how long a process may take, in seconds; None while that is not known.
    """

    named: str
    inputs: str
    backend: str | None
    arguments: bytes
    plugins: Sequence[str]
    place: Path
    patience: float | None = None
    started: int = 0

    def run(self, requested: Sequence[Circumstance]) -> Iterator[tuple[int, Ended]]:
        """Yield the number and the answer of each call, process by process."""
        groups: list[list[int]] = []
        for n, circumstance in enumerate(requested):
            joined = [
                g
                for g in groups
                if circumstance.later and requested[g[0]].process == circumstance.process
            ]
            if joined:
                joined[0].append(n)
            else:
                groups.append([n])
        for group in groups:
            circumstances = [requested[n] for n in group]
            ended = self._process(circumstances)
            if FIRST in circumstances and isinstance(ended[0], str):
                kernel = self.named.rpartition(":")[2]
                raise InputError(
                    f"kernel '{kernel}' on {self.inputs} ends with {ended[0]}; give inputs that it "
                    "takes"
                )
            yield from zip(group, ended, strict=True)

    def _process(self, calls: Sequence[Circumstance]) -> list[Ended]:
        """Run one process; return each call's arrays, or how it ended."""
        self.started += 1
        request, answer = (self.place / f"{self.started}.{suffix}" for suffix in ("asked", "left"))
        process = calls[0].process
        file, _, function = self.named.rpartition(":")
        sources = [self.inputs.rpartition(":")[0]] if names_function(self.inputs) else []
        request.write_bytes(pickle.dumps(Asked(
            file, function, WHAT, tuple(sources), tuple(self.plugins),
            self.arguments, self.backend, others_first=process.hash_seed != 0,
            filling=process.filling, strict=process.strict, calls=tuple(c.call for c in calls),
        )))  # fmt: skip
        words = [sys.executable, "-P", "-m", "sciprec.regression.repetition.kernel_process"]
        begun = time.perf_counter()
        try:
            completed = subprocess.run(
                [*words, str(request), str(answer)], env=self._environment(process),
                capture_output=True, text=True, errors="replace", timeout=self.patience,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return [f"no end within {self.patience:.0f} s"] * len(calls)
        self.patience = self.patience or patience(time.perf_counter() - begun)
        if not answer.exists():
            return [_died(completed.returncode, completed.stderr)] * len(calls)
        answers = pickle.loads(answer.read_bytes())
        if isinstance(answers, str):
            raise InputError(answers)
        return answers

    def _environment(self, process: Process) -> dict[str, str]:
        """The environment of a process, which finds this package and keeps its compiled code."""
        cold = {"NUMBA_CACHE_DIR": str(self.place / f"cold{self.started}")}
        if self.backend is not None:
            cold["SCIPREC_CACHE_DIR"] = str(self.place / f"cold{self.started}")
        warm = {"NUMBA_CACHE_DIR": str(self.place / "compiled")}
        variables = process.environment(warm, cold, of_numba=MOST_THREADS)
        root = str(Path(__file__).parents[3])
        path = variables.get("PYTHONPATH")
        return variables | {"PYTHONPATH": f"{root}:{path}" if path else root}


def patience(seconds: float) -> float:
    """The seconds after which a run counts as hanging, from those of the first one: numbers that
    were never written may be the bounds of a loop.
    """
    return 120.0 + 20.0 * seconds


def _died(code: int, output: str) -> str:
    """Words for the end of a process that left no answer."""
    if code < 0:
        return f"the end of its process by {signal.Signals(-code).name}"
    last = output.strip().splitlines()[-1:] or ["nothing said"]
    return f"the end of its process with code {code}: {last[0]:.200}"


def _with_memory(
    findings: Sequence[Finding], kernel: Any, backend: str, values: Mapping[str, Any]
) -> tuple[list[Finding], str]:
    """The findings with those of `check_memory`, and a sentence where it does not take the kernel.

    Every number that it puts into arrays without values is in the engine's own run; a filled
    process sees what the kernel as it is makes of it.
    """
    try:
        report = check_memory(kernel, backend, values)
    except (LiftError, InputError, MemoryError) as error:
        return list(findings), f"check_memory does not take the kernel: {error}"
    if report.clean:
        return list(findings), ""
    of_memory = next((finding for finding in findings if finding.aspect == MEMORY), None)
    words = of_memory.words if of_memory else "as check_memory finds"
    added = []
    for aspect, way, kind in ((BEYOND, "index", OUT_OF_BOUNDS), (MEMORY, "memory", UNINITIALISED)):
        places = tuple(_place(finding) for finding in report.findings if finding.kind == kind)
        if places:  # what lies beyond an array is memory, too: the first of both has the runs
            difference = of_memory.difference if of_memory else None
            added.append(Finding(aspect, (way,), words, difference, places))
            of_memory, words = None, "as check_memory finds"
    return [*added, *(finding for finding in findings if finding.aspect != MEMORY)], ""


def _place(finding: MemoryFinding) -> SourceLine:
    """The line that reads an element that was never written, or one that is none of the array's;
    where the former is not known the line that made the array.
    """
    if finding.kind == OUT_OF_BOUNDS or not finding.read_line:
        return SourceLine(finding.file, finding.line, finding.text, finding.message)
    maker = f"line {finding.line} makes it: {finding.text}"
    return SourceLine(
        finding.file, finding.read_line, finding.read_text, f"{finding.message}; {maker}"
    )
