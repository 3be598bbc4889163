"""The doctor: what a report of a fault needs, and a test of the rounding."""

import json
import shutil

import numpy as np
import pytest

from sciprec.cli.behind import doctor
from sciprec.foundation.cache_files import cache_folder


def test_everything_is_there_and_good_here(call):
    code, out, _ = call("doctor", "--json")
    rows = {row["name"]: row for row in json.loads(out)}
    assert code == 0, out
    for name in ("numpy", "numba", "python", "processor", "simd", "threads", "batches", "cache"):
        assert rows[name]["value"], name
    assert str(cache_folder()) in rows["cache"]["value"]
    for backend in doctor.TESTED:
        assert rows[f"self-test {backend}"]["value"].startswith("both paths agree (0 of ")


def test_paths_that_disagree_are_found(call, monkeypatch):
    def one_wrong(kernel, backend, path="auto"):
        lifted = doctor_lift(kernel, backend, path=path)

        def call_lifted(x, y, out):
            lifted(x, y, out)
            if path == "auto":
                out[2, 5] = np.nextafter(out[2, 5], np.inf)

        call_lifted.backend = lifted.backend
        return call_lifted

    doctor_lift = doctor.lift
    monkeypatch.setattr(doctor, "lift", one_wrong)
    monkeypatch.setattr(doctor, "TESTED", ("mlu370",))
    code, out, _ = call("doctor", "--json")
    found = {row["name"]: row for row in json.loads(out)}["self-test mlu370"]
    assert code == 1 and not found["good"] and "DISAGREE (1 of" in found["value"]


@pytest.mark.parametrize("as_json", [True, False])
def test_clearing_the_cache_leaves_other_files(call, monkeypatch, tmp_path, as_json):
    folder = tmp_path / "cache"
    (folder / "__pycache__").mkdir(parents=True)
    stem = "probe_0123456789abcdef01234567"
    made = [folder / f"{stem}.py", folder / "__pycache__" / f"{stem}.sp_entry-3.py311.nbi"]
    others = [folder / "thesis.py", folder / "__pycache__" / "thesis.cpython-311.pyc"]
    for path in (*made, *others):
        path.write_text("x")
    monkeypatch.setenv("SCIPREC_CACHE_DIR", str(folder))
    code, out, _ = call("doctor", "--clear-cache", *(["--json"] if as_json else []))
    assert code == 0 and "2" in out
    assert not any(p.exists() for p in made) and all(p.exists() for p in others)
    shutil.rmtree(folder)
    assert call("doctor", "--clear-cache")[0] == 0
