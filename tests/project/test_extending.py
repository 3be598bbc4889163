"""What a module outside the package adds to the engine, one row each."""

import numpy as np
import pytest

import sciprec
from sciprec.precision.bits import inlined
from sciprec.precision.compiling import module_of
from sciprec.precision.exponential import exp
from sciprec.precision.operation import OPERATIONS, Operation
from sciprec.precision.program import Program


@pytest.fixture(autouse=True)
def tables_restored():
    tables = (OPERATIONS,)
    before = [dict(table) for table in tables]
    yield
    for table, rows in zip(tables, before, strict=True):
        table.clear()
        table.update(rows)


# ---- an elementary function: one row and its evaluation ----------------------------------------


@inlined
def logistic(x):
    return 1.0 / (1.0 + exp(-x))


def populations(x, out):
    for i in range(x.size):
        out[i] = logistic(x[i]) * 100.0


@pytest.mark.parametrize("backend", ["fp16", "mlu370", "float:p=30"])
def test_an_elementary_function_is_a_row_and_its_evaluation(backend):
    OPERATIONS.add(Operation("logistic", 1, evaluate=logistic))
    x = np.linspace(-20.0, 20.0, 41)
    found, expected = np.zeros(41), np.zeros(41)
    lifted = sciprec.lift(populations, backend)
    lifted(x, found)
    rounded = sciprec.quantize(1.0 / (1.0 + np.exp(-x)), backend)
    sciprec.lift(times, backend)(rounded, 100.0, expected)
    np.testing.assert_array_equal(found, expected)
    assert "logistic" in {site.operation for site in lifted.sites}


def times(x, factor, out):
    for i in range(x.size):
        out[i] = x[i] * factor


PLUGIN = """
from sciprec.precision.bits import inlined

FACTOR = 2.0

@inlined
def scaled(x):
    return FACTOR * x

def kernel(x):
    return scaled(x)
"""


def test_the_compiled_code_of_another_evaluation_is_not_taken(tmp_path):
    """Its file is no source of the engine's, and yet part of the generated module's name."""
    names = set()
    for text in (PLUGIN, PLUGIN.replace("2.0", "3.0"), PLUGIN):
        path, plugin = tmp_path / "plugin.py", {"__name__": "plugin"}
        path.write_text(text)
        exec(compile(text, path, "exec"), plugin)
        OPERATIONS.pop("scaled", None)
        OPERATIONS.add(Operation("scaled", 1, evaluate=plugin["scaled"]))
        program = Program(plugin["kernel"], sciprec.backends()["fp16"], "auto", False)
        names.add(module_of(program).__name__)
    assert len(names) == 2


def test_a_row_without_its_arity_is_refused():
    with pytest.raises(sciprec.InputError, match=r"'logistic' is given the arity 0; accepted: 1"):
        Operation("logistic", evaluate=logistic)
    with pytest.raises(sciprec.InputError, match=r"the arity 2 where its evaluation takes 1"):
        Operation("logistic", 2, evaluate=logistic)
    with pytest.raises(sciprec.InputError, match=r"a plain function; accepted: .* @inlined"):
        Operation("logistic", 1, evaluate=logistic.py_func)
    with pytest.raises(sciprec.InputError, match="operation 'exp' is there already"):
        OPERATIONS.add(Operation("exp", 1, evaluate=logistic))
