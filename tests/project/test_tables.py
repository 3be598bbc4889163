"""Tables of docs/ hold what is stored in data/, or what the code gives at once, to the last digit.

Single numbers are in claims.toml. Neither holds timings and memory (of one machine), counts over
hundreds of prices, errors of runs of many days, and what other programs gave: these take minutes to
hours, or cannot be had here. What has to hold of them stands in the tests of the models.
"""

import json
import re
import tomllib
from pathlib import Path

import pytest

from sciprec.arrays.matrix_unit.unit import resolve_matrix_unit
from sciprec.arrays.sums import Compensation
from sciprec.cost.matrix_rates import MATRIX_MACHINES, LegendreWork, speed_modelled
from sciprec.machine import MACHINES, roofline, update_work
from sciprec.results.comparison.evidence.price_errors import price_errors
from sciprec.workbench.batch import modes
from tests.project.test_claims import quickstart, reports_of_units, small_increments

ROOT = Path(__file__).parents[2]
NUMBER = re.compile(r"(?<![\w.^])[+-]?\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?")


def table(page, header):
    """The cells of the first table of a page in whose header something stands, by their first."""
    lines = iter((ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8").splitlines())
    next(line for line in lines if line.startswith("|") and header in line)
    next(lines)
    found = {}
    for line in lines:
        if not line.startswith("|"):
            break
        first, *cells = line.strip("| ").split(" | ")
        found[first] = cells
    return found


def wrong(cells, values):
    """Cells whose numbers are not these, each to its last printed digit."""
    assert len(cells) == len(values), f"{cells} for {values}"
    return [
        f"{cell!r} should be {value}"
        for cell, value in zip(cells, values, strict=True)
        if not all(_stands(NUMBER.findall(cell), value if isinstance(value, list) else [value]))
    ]


def _stands(printed, values):
    yield len(printed) == len(values)
    for text, value in zip(printed, values, strict=False):
        mantissa, _, exponent = text.replace(",", "").partition("e")
        last = 10.0 ** (int(exponent or 0) - len(mantissa.partition(".")[2]))
        yield abs(float(text.replace(",", "")) - value) <= 0.5001 * last


def stored(name):
    return json.loads((ROOT / "data" / "climate" / name).read_text())


ARITHMETICS = {row["name"]: row for row in stored("held_suarez_arithmetics.json")["arithmetics"]}
WAVES = {row["name"]: row for row in stored("baroclinic_wave_arithmetics.json")["arithmetics"]}


def departures(name, what):
    """Mean, rms and largest of the temperature; rms and largest of the wind."""
    temperature, u = (ARITHMETICS[name][field][what] for field in ("temperature", "u"))
    return [temperature["mean"], temperature["rms"], temperature["largest"], u["rms"], u["largest"]]


def test_climates_in_few_bits():
    shown = table("lab/climate_precision", "T: mean, K")
    for name, row in ARITHMETICS.items():
        label = f"`{name}`" + ("" if row["days"] == 1000 else f" ({row['days']} days)")
        *cells, beyond = shown.pop(label)
        assert not wrong(cells, departures(name, "departure")), name
        missed = [n for n, field in (("T", "temperature"), ("u", "u")) if not row[field]["within"]]
        assert beyond.split(",")[0] == (" and ".join(missed) or "no"), name
    typical, limits, shorter = shown.values()
    assert not wrong(typical[:5], departures("fp32", "own"))
    assert not wrong(limits[:5], departures("fp32", "limits"))
    assert not wrong(shorter[:5], departures("fp16, stochastic", "limits"))


def test_baroclinic_waves_in_few_bits():
    shown = table("lab/climate_precision", "place at day 9")
    for name, row in WAVES.items():
        place = [row["lon"]["9"], row["lat"]["9"]]
        *cells, where, rms, steady = shown.pop(f"`{name}`")
        where = where.replace("E", "").replace("N", "")
        values = [*row["lowest"].values(), place, row["rms"]["9"], row["steady"]]
        assert not wrong([*cells, where, rms, steady], values), name
    assert not shown


def test_the_baroclinic_wave_beside_other_models():
    shown = table("lab/climate_primitive", "| day | here |")
    for day, lowest in WAVES["fp64"]["lowest"].items():
        assert not wrong([shown.pop(day)[0].split(" at ")[0]], [lowest])
    assert not shown


GATES = {
    "jet, m/s, latitude, sigma": ("jet", "jet_lat", "jet_sigma"),
    "lowest westerly, easterly, m/s": ("lowest_westerly", "lowest_easterly"),
    "coldest, K": ("coldest",),
    "lowest level, equator, pole, K": ("lowest_equator", "lowest_pole"),
    "variance of temperature, K^2, latitude, sigma": (
        "temperature_variance", "temperature_variance_lat", "temperature_variance_sigma",
    ),
    "v'T', K m/s; u'v', m^2/s^2": ("eddy_heat_flux", "eddy_momentum_flux"),
}  # fmt: skip


def test_the_usual_climate():
    """Means, and the standard deviation of means over 100 days where one is given."""
    found = stored("held_suarez_t42l20.json")
    shown = table("lab/climate_primitive", "| quantity |")
    assert shown.keys() == GATES.keys()
    for row, names in GATES.items():
        values = []
        for name, text in zip(names, re.split("[,;] ", shown[row][0]), strict=True):
            both = [found["gates"][name], found["gates_block_std"][name]]
            values += both if "+-" in text else both[:1]
        assert not wrong([shown[row][0].replace("+- ", "")], [values]), row


FILES = {
    "Lewis": "lewis", "Broadie-Kaya 2": "broadie_kaya_2", "Andersen I": "andersen_1",
    "Andersen II": "andersen_2", "Andersen III": "andersen_3",
}  # fmt: skip


def test_ratios_of_feller():
    shown = table("lab/heston", "2 kappa theta / sigma²")
    for case, file in FILES.items():
        path = ROOT / "data" / "heston" / f"{file}.toml"
        model = tomllib.loads(path.read_text(encoding="utf-8"))["model"]
        ratio = 2 * model["kappa"] * model["theta"] / model["sigma"] ** 2
        assert not wrong(shown[case][:1], [ratio]), case


WAYS = ("none", "carry", (0.1, 0.9), (0.15, 0.85), (0.0, 1.0), (1.0, 0.0, 100))


@pytest.mark.parametrize("backend", ["mlu370", "fp32", "fp16"])
def test_sums_of_small_increments(backend):
    cells = table("reference/compensation", "0.1, 0.9 |")[f"`{backend}`"]
    given = [way if isinstance(way, str) else Compensation(*way) for way in WAYS]
    found = [[small_increments(way, low, backend) for low in (0, -1)] for way in given]
    assert not wrong(cells, found)


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["fp32", "mlu370", "fp16"])
def test_the_quickstarts_prices(backend):
    found = price_errors(quickstart("fp64"), quickstart(backend))
    cells = table("reference/verdicts", "bp of implied volatility")[f"`{backend}`"]
    values = [
        found.in_standard_errors, found.basis_points_of_spot, found.basis_points_of_volatility,
        found.parity_basis_points,
    ]  # fmt: skip
    assert not wrong(cells[:4], values)


def test_bytes_products_and_speeds_of_matrix_units():
    """The columns of docs/reference/matrix_unit.md that need no run, in the order of the table."""
    names = (
        "fp16-fp16 bf16-bf16 e4m3-e4m3 int8-fp16 int8-fp16-sums int8-tensor int8-prune int8-clip "
        "int8-int8 int4-fp16 int4-groups two-of-four two-of-four-m0 slices-2 slices-3 slices-4 "
        "slices-7"
    ).split()
    rows = table("reference/matrix_unit", "table x field")
    assert len(rows) == len(reports_of_units()) == len(names)
    for name, cells in zip(names, rows.values(), strict=True):
        (said,) = reports_of_units()[name]
        unit = resolve_matrix_unit(said["unit"])
        keys = ("numbers", "bytes", "multiplications", "field_numbers")
        work = LegendreWork(*(said[key] for key in keys), 9)
        a100 = MATRIX_MACHINES["a100"]
        speeds = [speed_modelled(unit, work, a100, on_chip) for on_chip in (False, True)]
        *_, size, products, speed = cells
        assert not wrong([size, products], [said["bytes"] / 1000, unit.products]), name
        assert name == "two-of-four-m0" or not wrong([speed], [speeds]), (name, speeds)


def test_what_machines_do_in_a_second():
    machines = MACHINES["mlu370"], MACHINES["a100"]
    assert {n: c[0].split()[0] for n, c in table("reference/machine", "MLU_PRECISION").items()} == {
        f"`{mode}`": f"`{backend}`" for mode, backend in modes.MODES.items()
    }
    shown = table("reference/machine", "| MLU370 | A100 |")
    for name in ("fp16", "bf16", "int16", "int32"):
        rates = [machine.rates[name].per_second / 1e12 for machine in machines]
        found = [re.search(r"[\d.]+", cell)[0] for cell in shown.pop(name)[:2]]
        assert not wrong(found, rates), name
    floats = [machines[0].rates["mlu370"], machines[1].rates["fp32"]]
    for cells, rates in zip(shown.values(), ([m.bandwidth for m in machines], floats), strict=True):
        found = [cell.split()[0] for cell in cells[:2]]
        assert not wrong(found, [rate.per_second / 1e12 for rate in rates])


def test_modelled_times_of_an_update():
    n = 10**7
    rows = table("reference/machine", "memory-bound on both").values()
    for cells, residuals in zip(rows, (0, n), strict=True):
        work = update_work("mlu370", n, residuals)
        here, there = roofline(work), roofline(update_work("fp32", n, residuals), "a100", "fp32")
        own = [here.seconds_modelled * 1e6, here.seconds_described_modelled * 1e6]
        values = [work.flops // n, work.bytes_moved // n, own, there.seconds_modelled * 1e6]
        assert not wrong(cells, values)
