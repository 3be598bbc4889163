"""What editors and type checkers see of sciprec: every public function's types, and no error in the
modules that they live in.
"""

import importlib
import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

import sciprec
from sciprec import (
    arrays,
    climate,
    extend,
    heston,
    machine,
    precision,
    report,
    results,
    tools,
    workbench,
)  # fmt: skip

ROOT = Path(__file__).parents[2]
OWN = (
    sciprec, arrays, arrays.sums, climate, extend, heston, machine, precision, report,
    results, tools.bound, tools.digits, tools.memory, tools.mend, tools.monitor, tools.trace,
    tools.tune, workbench, workbench.models, workbench.study,
)  # fmt: skip
KERNELS = ("sciprec.machine.instructions",)
"""Modules of functions that kernels call: numbers and arrays of whatever type is right there."""
KERNELS_OF_EXTENSIONS = {extend.add_carried, extend.unchanged}

PROGRAM = '''
from typing import assert_type

import numpy as np

import sciprec
from sciprec import climate, heston


def kernel(x, out):
    out[0] = x[0] + x[1]


lifted = sciprec.lift(kernel, "mlu370", ranges={"*": 2.0})
assert_type(lifted, sciprec.precision.Lifted)
assert_type(sciprec.quantize(np.zeros(3), "bf16"), np.ndarray)
assert_type(sciprec.quantize(0.1, sciprec.lift(kernel).backend), np.floating)
assert_type(sciprec.arrays.sums.compensated_sum([0.1, 0.2], "fp16"), float)
integers = sciprec.arrays.adaptive_quantize(np.ones(4), bits=8)
assert_type(sciprec.arrays.dequantize(integers), np.ndarray)
assert_type(sciprec.arrays.fixed_matmul(np.eye(2), np.eye(2)), np.ndarray)
assert_type(sciprec.compare("a.nc", "b.nc").within, bool)
places = {"time": slice(0, 2), "lat": 2.5, "lon": [1, 2]}
sciprec.compare("a.nc", "b.nc", select=places, rename={"a": "b"}, ignore=["t"], coords_atol=1e-6)
sciprec.compare("a.nc", "b.nc", select={"time": "#-1"}, ignore="t")
option = heston.Call(strike=100.0, maturity=1.0)
model = heston.Model(spot=100.0, v0=0.04, kappa=1.0, theta=0.04, sigma=0.3, rho=-0.5)
assert_type(heston.price(model, option, tolerance=0.01), heston.PriceResult)
assert_type(heston.greeks(model, [option]), heston.GreeksResult)
sciprec.lift(3)  # type: ignore[arg-type]
sciprec.lift(kernel, bakend="fp32")  # type: ignore[call-arg]
sciprec.quantise(0.1, "fp32")  # type: ignore[attr-defined]
heston.price(model, "call")  # type: ignore[arg-type]
assert_type(climate.integrate("galewsky", 42, 1.0, backend="fp32"), climate.Trajectory)
climate.integrate("galewsky", 42, 1.0, bakend="fp32")  # type: ignore[call-arg]
climate.integrate("galewsky", 42, 1.0, threads="two")  # type: ignore[arg-type]
'''


def _public():
    """Every public name with its object, those of the public packages, too."""
    for package in OWN:
        for name in package.__all__:
            if not name.startswith("__") and not inspect.ismodule(getattr(package, name)):
                yield f"{package.__name__}.{name}", getattr(package, name)


def _functions():
    """Every public function but kernels, and every method and property of a public class, not the
    defaults of its fields.
    """
    for name, found in _public():
        if inspect.isfunction(found):
            if found.__module__ not in KERNELS and found not in KERNELS_OF_EXTENSIONS:
                yield name, found
        elif inspect.isclass(found):
            fields = vars(found).get("__annotations__", {})
            for own, member in vars(found).items():
                method = _behind(member)
                public = own not in fields and (own == "__call__" or not own.startswith("_"))
                if inspect.isfunction(method) and public:
                    yield f"{name}.{own}", method


def _behind(member):
    """The function of a method or a property, also of a class's or a cached one."""
    for attribute in ("fget", "func", "__func__"):
        member = getattr(member, attribute, member)
    return member


FUNCTIONS = dict(_functions())


def test_there_are_functions_to_look_at():
    assert len(FUNCTIONS) > 200 and "sciprec.lift" in FUNCTIONS
    assert {"sciprec.precision.Lifted.inner", "sciprec.machine.modelled"} < set(FUNCTIONS)
    packages = re.findall(r"^    from sciprec import (\w+) as", inspect.getsource(sciprec), re.M)
    assert {package.__name__.split(".")[1] for package in OWN[1:]} == set(packages)


def test_every_argument_and_result_of_a_public_function_has_a_type():
    bare = []
    for name, function in FUNCTIONS.items():
        signature = inspect.signature(function)
        bare += [(name, p.name) for p in signature.parameters.values()
                 if p.annotation is p.empty and p.name not in ("self", "cls")]  # fmt: skip
        bare += [(name, "result")] * (signature.return_annotation is signature.empty)
    assert not bare


@pytest.mark.slow
def test_a_checker_finds_nothing_in_a_program_and_behind_it(tmp_path):
    """A user's program, wrong lines among it, and all modules that public names come from."""
    program = tmp_path / "program.py"
    program.write_text(PROGRAM, encoding="utf-8")
    modules = {getattr(found, "__module__", None) for _, found in _public()} - {None}
    modules |= {package.__name__ for package in OWN}
    modules.discard("sciprec.precision.operations.operation")  # for a function's `py_func`
    modules = sorted(m for m in modules if m.startswith("sciprec") and importlib.import_module(m))
    files = [str(Path(sys.modules[m].__file__)) for m in modules]
    assert len(files) > 25
    command = [sys.executable, "-m", "mypy", "--config-file", str(ROOT / "pyproject.toml")]
    command += ["--warn-unused-ignores", str(program), *files]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
