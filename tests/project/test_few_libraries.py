"""The engine, its arrays and its instruments in an environment of NumPy, Numba and SciPy alone."""

import json
import subprocess
import sys
from pathlib import Path

import numba
import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
LIBRARIES = ("numpy", "numba", "llvmlite", "scipy")

PROGRAM = '''
import json, sys
sys.path[:0] = json.loads(sys.argv.pop())
import numpy as np
import sciprec

def kernel(x, y, out):
    for i in range(x.size):
        out[i] = x[i] * y[i] + np.exp(x[i])

x = np.linspace(0.1, 0.9, 5)
bits = {}
for backend in ("fp64", "fp32", "bf16", "mlu370", "fixed32"):
    out = np.zeros(5)
    sciprec.lift(kernel, backend)(x, x[::-1].copy(), out)
    bits[backend] = out.tobytes().hex()
assignment = sciprec.Assignment({"kernel": "fp16"}, by="function", default="fp32", kernel=kernel)
out = np.zeros(5)
sciprec.lift(kernel, assignment)(x, x, out)
bits["by function"] = out.tobytes().hex()
bits["quantize"] = sciprec.quantize(x, "fp16").tobytes().hex()
bits["sum"] = sciprec.arrays.sums.compensated_sum(x, "bf16")
bits["matmul"] = sciprec.arrays.fixed_matmul(np.outer(x, x), np.eye(5)).tobytes().hex()
packages = {name.partition(".")[0] for name in sys.modules}
print(json.dumps([bits, sorted(packages & set(sys.argv[1:]))]))
'''
OTHERS = (
    "xarray", "dask", "netCDF4", "typer", "rich", "pydantic", "jinja2", "matplotlib", "pandas",
)  # fmt: skip


def said(*options, program, path):
    """The program's bits, and which of the other packages it has imported."""
    command = [sys.executable, *options, str(program), *OTHERS, json.dumps(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.slow
def test_kernels_are_lifted_where_nothing_else_is_installed(tmp_path):
    installed = Path(np.__file__).parents[1]
    assert Path(numba.__file__).parents[1] == installed
    for name in LIBRARIES:
        for folder in (installed / name, installed / f"{name}.libs"):
            if folder.exists():
                (tmp_path / folder.name).symlink_to(folder)
    program = tmp_path / "program.py"
    program.write_text(PROGRAM, encoding="utf-8")
    few, imported = said("-I", "-S", program=program, path=[str(ROOT), str(tmp_path)])
    assert imported == []
    all_of_them, _ = said(program=program, path=[str(ROOT)])
    assert few == all_of_them and len(few) == 9
