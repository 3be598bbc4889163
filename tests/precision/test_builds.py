"""Builds of programs: pickled and rebuilt, whatever the technique; the classes have no heirs."""

from __future__ import annotations

import ast
import pickle
import subprocess
import sys
from pathlib import Path

import pytest
from numba.core.dispatcher import Dispatcher

import sciprec
from sciprec.extend import Rows, lift_with_rows
from sciprec.instruments.assigning.program import InRows, program_in_rows
from sciprec.instruments.assigning.scaled import NOTED, SCALED, _program
from sciprec.instruments.observing.losing import losing
from sciprec.instruments.observing.observed import lift_observed
from sciprec.instruments.tracing.operations import TECHNIQUES
from sciprec.precision.formats.backend import resolve_backend
from sciprec.precision.rewriting.program import Program
from sciprec.precision.rounding.around import Around
from sciprec.tools.trace.attribution import TracedKernel
from tests.precision.test_combinations import X, summed
from tests.same.texts import Stopped, _stop, techniques

PACKAGE = Path(__file__).parents[2] / "sciprec"
FINAL = {"Program", "Rewriter", "Operations"}
IN_ANOTHER_PROCESS = """
import pickle, sys
from sciprec.precision.rewriting.program import Program
from tests.precision.test_combinations import summed
from sciprec.precision.formats.backend import resolve_backend
build = pickle.loads(sys.stdin.buffer.read())
print(Program(summed, resolve_backend("bf16"), build).text(), end="")
"""


def _more():
    """By name, techniques that `tests.same` has no texts of."""
    fp16 = resolve_backend("fp16")
    return {
        "rows": lambda: lift_with_rows(summed, fp16, Rows(1, Around), Rows(2, Around)),
        "sums": lambda: lift_observed(summed, fp16, [losing(summed, {})])(X),
        "pairs": lambda: sciprec.lift(summed, "dd")(X),
        "counted": lambda: program_in_rows(summed, InRows("any", "line", counts=True)),
        "scaled": lambda: [_program(summed, layout) for layout in (SCALED, NOTED)],
        **{t: lambda t=t: TracedKernel(summed, fp16, t, 2) for t in TECHNIQUES},
    }


CALLS = techniques(summed, lambda: (X,)) | _more()


@pytest.mark.parametrize("technique", CALLS)
def test_the_build_of_every_technique_can_be_pickled(technique, monkeypatch):
    usual, made = Program.__init__, []

    def noted(program, kernel, backend, *build):
        usual(program, kernel, backend, *build)
        made.append((kernel, program))

    monkeypatch.setattr(Program, "__init__", noted)
    monkeypatch.setattr(Dispatcher, "compile", _stop)
    try:
        CALLS[technique]()
    except Stopped:
        pass
    monkeypatch.setattr(Program, "__init__", usual)
    assert made
    for kernel, program in made:
        rebuilt = pickle.loads(pickle.dumps(program.build))
        texts = [Program(kernel, program.backend, b).text() for b in (program.build, rebuilt)]
        assert texts[0] == texts[1]


def test_the_build_of_a_users_rows_has_its_roundings_in_another_process():
    build = lift_with_rows(summed, "bf16", Rows(1, Around))._program.build
    command = [sys.executable, "-c", IN_ANOTHER_PROCESS]
    result = subprocess.run(command, input=pickle.dumps(build), capture_output=True, check=True)
    assert b"sp_ops = operations(" in result.stdout and b"'rows " in result.stdout


def test_program_rewriter_and_operations_are_final():
    bases, final = set(), set()
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                bases |= {ast.unparse(b).rpartition(".")[2] for b in node.bases}
                if "final" in map(ast.unparse, node.decorator_list):
                    final.add(node.name)
    assert final >= FINAL and not final & bases
