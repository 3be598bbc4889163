"""The benchmark of transforms measures what it promises; peers and integers transform right."""

import json

import numpy as np
import pytest

from sciprec import bench
from sciprec.bench import climate, climate_peers
from sciprec.bench.integer_sums import IntegerSums
from sciprec.climate.grid import resolve_truncation
from sciprec.climate.legendre_stage import legendre_synthesis
from sciprec.climate.transform import make_tables, make_work
from sciprec.precision import lift, resolve_backend

SMALL = resolve_truncation("T10")


def test_sums_of_integers_are_those_of_binary64_to_their_bits():
    spectrum, work = climate._numbers(SMALL, 2), make_work(SMALL, 2)
    IntegerSums(SMALL, spectrum, work)()
    fourier, weights, sums, _ = make_work(SMALL, 2)
    table = make_tables(SMALL)[0][0]
    lift(legendre_synthesis, "fp64")(spectrum, table, weights, sums, fourier)
    terms = SMALL.number + 2
    sizes = np.abs(spectrum).max() * np.abs(table).max()
    error = np.abs(work[0] - fourier).max()
    assert 0 < error < terms * sizes * (2.0**-27 + 2.0**-26)


def test_names_and_goals_are_rows():
    for name in (*climate.BACKENDS, *climate.STEP_BACKENDS):
        assert resolve_backend(name).name == name
    known = {*climate.BACKENDS, "ducc0", "SHTns", climate.INTEGERS}
    assert set(climate.GOALS) <= known and set(climate.STEP_GOALS) <= set(climate.STEP_BACKENDS)


def test_peers_run_where_they_are_installed():
    found = climate_peers.round_trips(SMALL, 2)
    assert "ducc0" in found
    for run in found.values():
        run()


@pytest.mark.slow
def test_small_benchmark_has_every_row(tmp_path, capsys):
    out = tmp_path / "bench.json"
    bench.run("climate", out=out, small=True)
    stored = json.loads(out.read_text())
    wanted = {*climate.BACKENDS[:2], climate.MATRIX, climate.LEGENDRE, climate.INTEGERS, "ducc0"}
    for batch in (1, 2):
        entries = [e for e in stored["transforms"] if e["batch"] == batch]
        assert wanted <= {e["row"] for e in entries}
        assert all(e["seconds"] > 0 and e["times_fp64"] > 0 for e in entries)
    assert [e["backend"] for e in stored["steps"]] == list(climate.STEP_BACKENDS[:2])
    printed = capsys.readouterr().out
    assert climate.TITLE in printed and all(row in printed for row in wanted)
