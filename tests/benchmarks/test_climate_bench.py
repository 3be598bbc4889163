"""The benchmark of transforms measures what it promises; peers and integers transform right."""

import json
import subprocess

import numpy as np
import pytest

import benchmarks as bench
from benchmarks import (
    climate,
    climate_dinosaur,
    climate_peers,
    climate_roofline,
    climate_steps,
)
from benchmarks.integer_sums import IntegerSums
from sciprec.climate.running import counted_stages
from sciprec.climate.running.request import check_request
from sciprec.climate.transform.grid import resolve_truncation
from sciprec.climate.transform.legendre_stage import legendre_synthesis
from sciprec.climate.transform.spectral import make_tables
from sciprec.precision import lift, resolve_backend
from tests.benchmarks.fits import fits, timed

MISSING = climate_dinosaur.MISSING

SMALL = resolve_truncation("T10")


@pytest.mark.slow
def test_sums_of_integers_are_those_of_binary64_to_their_bits():
    spectrum, work = climate._numbers(SMALL, 4), climate._legendre_work(SMALL, 4)
    IntegerSums(SMALL, spectrum, *work)()
    weights, sums, fourier = climate._legendre_work(SMALL, 4)
    functions = make_tables(SMALL)[0][0]
    lift(legendre_synthesis, "fp64")(spectrum, functions, weights, sums, fourier)
    terms = SMALL.number + 2
    sizes = np.abs(spectrum).max() * np.abs(functions[0]).max()
    error = np.abs(work[2] - fourier).max()
    assert 0 < error < terms * sizes * (2.0**-27 + 2.0**-26)


def test_names_and_goals_are_rows():
    of_steps = {backend for _, backends in climate_steps.STEPS for backend in backends}
    for name in (*climate.BACKENDS, *of_steps):
        assert resolve_backend(name).name == name
    known = {*climate.BACKENDS, "ducc0", "SHTns", climate.INTEGERS}
    assert set(climate.GOALS) <= known and set(climate.STEP_GOALS) <= of_steps
    assert set(climate_dinosaur.MODELS) <= {model.name for model, _ in climate_steps.STEPS}


def test_powers_are_fitted_and_years_counted():
    numbers = np.array([42, 63, 85, 127])
    assert climate_steps.fitted_power(numbers, 3e-9 * numbers**2.75) == pytest.approx(2.75)
    assert climate_steps.years_per_day(1800.0, 0.01) == pytest.approx(1800 / 0.01 / 365.25)


def test_dinosaur_is_left_out_with_a_sentence(monkeypatch):
    monkeypatch.setattr(climate_dinosaur.importlib.util, "find_spec", lambda name: None)
    (entry,) = climate_dinosaur.measure_dinosaur(lambda text: None)
    assert entry["skipped"] == MISSING == "dinosaur is not installed: pip install dinosaur"


def test_a_dinosaur_that_fails_says_why(monkeypatch):
    monkeypatch.setattr(climate_dinosaur.importlib.util, "find_spec", lambda name: True)
    failed = subprocess.CompletedProcess([], 1, "", "Traceback\nValueError: no such grid\n")
    monkeypatch.setattr(climate_dinosaur.subprocess, "run", lambda *args, **more: failed)
    (entry,) = climate_dinosaur.measure_dinosaur(lambda text: None)
    assert entry["skipped"] == "dinosaur failed: ValueError: no such grid"


GREETING = """
import os
os.write(1, b"a greeting")
sht_gauss = 0

class sht:
    nlm, m = 1, 0

    def __init__(self, lmax, mmax, nthreads):
        assert nthreads == 1

    def set_grid(self, nlat, nphi, kind, polar_opt): pass
    def spec_array(self): pass
    def spat_array(self): pass
"""


def test_a_peer_has_one_thread_and_its_greeting_is_no_part_of_the_output(
    tmp_path, monkeypatch, capfd
):
    (tmp_path / "shtns.py").write_text(GREETING)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(climate_peers.sys.modules, "shtns", raising=False)
    assert "SHTns" in climate_peers.round_trips(resolve_truncation("T42"), 1)
    assert capfd.readouterr() == ("", "a greeting")
    monkeypatch.delitem(climate_peers.sys.modules, "shtns")


def test_the_table_has_steps_peers_truncations_and_members():
    step = {"model": "Held-Suarez T42L20", "truncation": "T42", "seconds": 0.01}
    result = {
        "transforms": [],
        "blocks": [
            {
                "truncation": "T170", "backend": "fp32", "left_out": [0.163, 0.187],
                "whole": {"least": 3.2e-3, "median": 4e-3}, "least": 0.81, "median": 0.84,
                "without": {"least": 2.6e-3, "median": 3e-3},
                "errors": {"whole": [1e-7, 3e-7], "without": [2e-7, 1e-7]},
            }
        ],
        "rooflines": [],
        "steps": [step | {"backend": "fp64", "years_per_day": 328.5}],
        "peers": [step | {"backend": "fp64", "seconds": 0.0172}, {"skipped": MISSING}],
        "scaling": {
            "model": "10 levels", "step_power": 2.5, "legendre_power": 2.9,
            "truncations": [{"truncation": "T63", "step": 0.02, "legendre": 2e-5}],
        },
        "members": {"model": "Held-Suarez T21L10", "members": 2, "efficiency": 0.955},
        "threads": [
            {
                "model": "Held-Suarez T42L20", "backend": "mlu370", "count": 2,
                "one": {"least": 0.007, "median": 0.008, "times_one": 1.0},
                "threads": {"least": 0.004, "median": 0.005, "times_one": 1.61},
                "side_by_side": {"least": 0.0035, "median": 0.004, "times_one": 1.95},
            }
        ],
    }  # fmt: skip
    tables = climate.tables(result)
    ours, peer = tables["A step"]
    assert (ours["ms"], ours["years a day"]) == ("10", "328") and ours["goal"].endswith("4.7")
    assert peer["arithmetic"] == "dinosaur, fp64" and peer["ms"] == "17.2"
    assert tables["Not measured here"] == [{"why": MISSING}]
    (row,) = tables["Legendre stage without blocks below the rounding: 8 fields, least times"]
    assert row["blocks"] == "16.3, 18.7 %" and row["goal"] == "<= 0.88"
    assert (row["stage"], row["all"], row["without"]) == ("T170 fp32", "3200 us", "2600 us")
    assert row["ratio (median)"] == "0.81 (0.84)" and row["errors"] == "3.0e-07, 2.0e-07"
    assert tables["Members at once"][0]["used"] == "0.95 of 2 cores"
    (row,) = tables["Threads in one run: times one (medians)"]
    assert row["step, ms"] == "7" and row["2 threads"] == "1.75 (1.61)"
    assert row["2 runs"] == "2.00 (1.95)" and row["goal"] == ">= 1.7"
    at, power = tables["Growth with the truncation"]
    assert at["Legendre sums of a field"] == "20 us" and at["step, 10 levels"] == "20 ms"
    assert power["Legendre sums of a field"] == "T^2.90" and fits(tables)


def test_peers_run_where_they_are_installed():
    found = climate_peers.round_trips(SMALL, 2)
    assert "ducc0" in found
    for run in found.values():
        run()


@pytest.mark.parametrize("rounds", [1, 3])
def test_a_step_takes_time_whatever_a_run_begins_with(rounds, monkeypatch):
    """Runs of small models whose beginnings take up to as long as many of their steps."""
    noise = np.random.default_rng(3)
    monkeypatch.setattr(
        climate_steps, "_run", lambda model, backend, n: 1e-5 * n + noise.exponential(2e-2)
    )
    for model in [climate_steps.mountain("T10", 1200.0)] * 50:
        assert climate_steps.step_seconds(model, "fp64", rounds, 0.01) > 0.0


def test_every_model_can_be_asked_for():
    of_steps = [model for model, _ in (*climate_steps.STEPS, *climate_steps.SMALL_STEPS)]
    threaded = [model for model, _ in (*climate_steps.THREADED, *climate_steps.SMALL_THREADED)]
    alone = *climate_steps.SCALING, *climate_steps.SMALL_SCALING, climate_steps.MEMBERS
    for model in (*of_steps, *threaded, *alone, climate_steps.SMALL_MEMBERS):
        found = check_request(
            model.case, model.truncation, 1.0, step_seconds=model.step_seconds,
            parameters=model.parameters, time_scheme="semi_implicit_leapfrog",
        )  # fmt: skip
        levels = model.name.partition("L")[2]
        assert str(found.parameters.equations.get("levels", "")) == levels, model.name


@pytest.mark.slow
def test_small_benchmark_has_every_row(tmp_path, capsys, monkeypatch):
    """Of shallow water, whose kernels are compiled in half the time."""
    few, more = (climate_steps.mountain(name, 1200.0) for name in ("T5", "T10"))
    for table, models in {
        "SMALL_STEPS": ((more, climate_steps.FLOATS[:2]),), "SMALL_SCALING": (few, more),
        "SMALL_THREADED": ((few, ("fp64",)),), "SMALL_MEMBERS": few,
    }.items():  # fmt: skip
        monkeypatch.setattr(climate_steps, table, models)
    out = tmp_path / "bench.json"
    bench.run("climate", out=out, small=True)
    stored = json.loads(out.read_text())
    wanted = {*climate.BACKENDS[:2], climate.MATRIX, "ducc0"}
    of_pairs = {climate.LEGENDRE, climate.INTEGERS}
    for batch, rows in ((1, wanted), (2, wanted | of_pairs)):
        entries = [e for e in stored["transforms"] if e["batch"] == batch]
        assert rows <= {e["row"] for e in entries}
        assert all(e["seconds"] > 0 and e["times_fp64"] > 0 for e in entries)
    assert [(e["model"], e["backend"]) for e in stored["steps"]] == [
        (model.name, backend) for model, b in climate_steps.SMALL_STEPS for backend in b
    ]
    assert all(e["seconds"] > 0 and e["years_per_day"] > 0 for e in stored["steps"])
    assert [row["truncation"] for row in stored["scaling"]["truncations"]] == ["T5", "T10"]
    assert stored["members"]["efficiency"] > 0
    assert [(e["truncation"], e["backend"]) for e in stored["blocks"]] == [
        ("T10", "fp32"), ("T10", "fp64")
    ]  # fmt: skip
    for row in stored["blocks"]:
        assert row["left_out"] == [0.0, 0.0] and row["errors"]["whole"] == row["errors"]["without"]
        assert row["least"] > 0 and row["whole"]["least"] <= row["whole"]["median"]
    assert timed(climate, stored, 4 + len(stored["steps"]))
    (row,) = stored["threads"]
    assert all(row[name]["least"] > 0 for name in ("one", "threads", "side_by_side"))
    printed = capsys.readouterr().out
    assert "Round trip at T" in printed and all(row in printed for row in wanted | of_pairs)


@pytest.mark.slow
def test_stages_have_the_operations_that_their_loops_say(monkeypatch):
    """Products and sums of the Legendre stage by its table, of an update by its elements."""
    request = check_request("williamson_5", "T10", 1.0, step_seconds=600.0)
    calls = list(counted_stages.calls_of_stages(request))
    few = [call for call in calls if call[0] in ("Legendre synthesis", "state update")]
    monkeypatch.setattr(counted_stages, "calls_of_stages", lambda request: few)
    rows = {row["stage"]: row for row in climate_roofline.measure_rooflines(True, str)}
    (_, _, (spectrum, (table, *_), _, _, fourier)), (_, _, (state, *_)) = few
    fields, tiles, orders = spectrum.shape[1] // 2, fourier.shape[1] // 2, fourier.shape[2] - 1
    terms, joined = 4 * fields * table.size, orders * fields * tiles * 2 * 32
    assert rows["Legendre synthesis"]["operations"] == terms + joined
    elements = state.size
    assert rows["state update"]["operations"] == 4 * elements
    assert rows["state update"]["bytes"] == 2 * 6 * elements
    for row in rows.values():
        assert row["intensity"] == row["operations"] / row["bytes"]
        for machine, rate, bandwidth in (("mlu370", 96e12, 614.4e9), ("a100", 78e12, 2e12)):
            assert row[machine]["ridge"] == pytest.approx(rate / bandwidth)
            assert row[machine]["bound"] == "memory"
