"""Processors whose rounding mode cannot be set: the engine's own tests pass there, too."""

import os
import subprocess
import sys

import pytest

from tests.precision.processes import ROOT, started

TESTS = (
    "test_lift_contract.py::test_compiler_neither_folds_nor_moves_signs",
    "test_quantize.py::test_quantize_equals_the_reference",
)


@pytest.mark.slow
def test_the_engine_without_the_processors_rounding_mode(tmp_path):
    """In a process of its own with an empty cache, whose entries would be of the other path."""
    environment = {**os.environ, "SCIPREC_CACHE_DIR": str(tmp_path / "cache")}
    command = [sys.executable, "-m", "pytest", "-q", "-n", "0", "-p", "tests.software_path"]
    command += ["-p", "no:cacheprovider", *(f"tests/precision/{name}" for name in TESTS)]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-3000:]
    assert " passed" in done.stdout and "only x86-64 has" not in done.stdout


@pytest.mark.slow
def test_the_plugin_switches_the_mode_off():
    """Neither a truncating arithmetic nor what counts elements touches the processor's mode."""
    code = """if True:
        import tests.software_path
        import numba, sciprec
        from sciprec.precision.library import places
        from tests.precision.arithmetic_kernels import arithmetic
        lifted = sciprec.lift(arithmetic, "mlu370")
        count = numba.njit(lambda start, stop, step: places.number_of_steps(start, stop, step))
        counted = count(0.0, 1.0, 0.25)
        (made,) = count.inspect_asm().values()
        print(lifted.uses_processor_mode, counted, "mxcsr" in made)
    """
    assert started(code).split() == ["False", "4", "False"]
