"""The verb `sciprec study`."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

from sciprec.results.output import files
from sciprec.tools.calls.kernel_file import kernel_named
from tests.studies import kernels

FILE = Path(kernels.__file__)


@pytest.fixture(scope="module")
def given(tmp_path_factory):
    """A folder with a kernel file and inputs."""
    tmp_path = tmp_path_factory.mktemp("kernel")
    own = tmp_path / "mykernel.py"
    own.write_text("from statistics import mean\n" + FILE.read_text())
    np.savez(tmp_path / "inputs.npz", **kernels.inputs())
    np.savez(tmp_path / "lacking.npz", u=np.zeros(3))
    np.savez(tmp_path / "odd.npz", **(kernels.inputs() | {"u": np.array(["a", "b"])}))
    (tmp_path / "broken.npz").write_bytes(b"PK")
    (tmp_path / "wrong.py").write_text("def f(:\n")
    return tmp_path


@pytest.mark.slow
def test_one_command_makes_the_page(given, call, blank_figures):
    words = (
        "study", f"{given}/mykernel.py:diffuse", "--inputs", f"{given}/inputs.npz", "--inputs",
        f"{given}/mykernel.py:inputs", "--backend", "bf16", "--backend", "fp32", "--tolerance",
        "0.1%", "--axes", "path=time,x", "--out", given / "out",
    )  # fmt: skip
    code, out, err = call(*words)
    assert code == 1 and "bf16 in diffuse" in out and "page: " in out, err
    page = (given / "out" / "index.html").read_text(encoding="utf-8")
    shown = re.search(r"<code>(sciprec study .*?)</code>", page)
    words_shown = re.sub("<[^>]*>", "", shown[1])
    assert "--axes path=time,x" in words_shown and "--tolerance 0.1%" in words_shown
    assert len(list((given / "out").glob("*.nc"))) == 6
    code, out, _ = call(*words[:-2], "--backend", "fp64", "--out", given / "out", "--json")
    rows = {row["backend"]: row for row in json.loads(out)["runs"]}
    assert code == 1 and rows["fp32"]["status"] == "good" and rows["bf16"]["status"] == "beyond"
    assert files.read(given / "out" / "diffuse__fp32.nc").attrs["sciprec_inputs"].endswith(".npz")


def test_an_edited_kernel_and_one_of_its_name_elsewhere_are_others(tmp_path):
    found = []
    for folder, factor in (("a", 2), ("a", 3), ("b", 5)):
        (tmp_path / folder).mkdir(exist_ok=True)
        file = tmp_path / folder / "same.py"
        file.write_text(f"def scaled(x):\n    return {factor}.0 * x\n")
        found.append(kernel_named(f"{file}:scaled")(1.0))
    assert found == [2.0, 3.0, 5.0]
