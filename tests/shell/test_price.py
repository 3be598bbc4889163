"""`sciprec price`: it passes its options on, shows prices with bounds, and ends as they are met.

Prices and bounds themselves are tested in tests/heston, wrong input in test_refusals.py.
"""

import json
from pathlib import Path

import pytest

from sciprec import heston
from sciprec.cli.console import GOOD, NOT_MET
from sciprec.cli.pricing.price_request import asked_grid, read_model
from sciprec.foundation.errors import InputError
from sciprec.heston import payoffs
from sciprec.heston.semianalytic import analytic
from sciprec.scenario.asked_price import asked_payoffs, price_tolerance

DATA = Path(__file__).parents[2] / "data" / "heston"
LEWIS = DATA / "lewis.toml"
CALL = ("price", "--model", LEWIS, "--payoff", "call", "--strike", "100", "--maturity", "1")
INLINE = {
    "spot": 100, "v0": 0.04, "kappa": 4, "theta": 0.25, "sigma": 1, "rho": -0.5, "rate": 0.01,
    "dividend_yield": 0.02,
}  # fmt: skip


@pytest.fixture
def asked(call, monkeypatch):
    """A function of a command line: what `heston.price` and `heston.greeks` are asked by it."""
    heard = []

    def price(model, options, **how):
        heard.append({"model": model, "payoffs": options, **how})
        raise InputError("it is not priced")

    monkeypatch.setattr(heston, "price", price)

    def ask(*arguments):
        heard.clear()
        assert "it is not priced" in call(*arguments)[2]
        return heard[0]

    return ask


def priced(call, *arguments):
    """The JSON that the verb prints, exit code 0."""
    code, out, err = call(*arguments, "--json")
    assert (code, err) == (GOOD, "")
    return json.loads(out)


@pytest.mark.parametrize("path", sorted(DATA.glob("*.toml")), ids=lambda path: path.stem)
def test_shipped_models_have_the_parameters_of_the_reference_prices(path):
    cases = json.loads((DATA / "europeans.json").read_text(encoding="utf-8"))["cases"]
    model, source = read_model(path, {})
    mine = [case for case in cases if case["name"].startswith(path.stem)]
    assert mine
    assert any(word in source for word in ("Lewis", "Fang", "Broadie", "Andersen"))
    for case in mine:
        assert {name: case[name] for name in INLINE} == {n: getattr(model, n) for n in INLINE}
        (option,) = asked_payoffs(asked_grid("call", [case["strike"]], [case["maturity_years"]]))
        assert analytic.price(model, option) == pytest.approx(float(case["call"]), rel=1e-10)


def test_every_option_is_passed_on(asked):
    """Shares and rates as numbers or in per cent; parameters from options or from a file."""
    named = {
        "--tolerance": "0.05abs", "--backend": "mlu370", "--confidence": "90%", "--seed": 7,
        "--max-paths": 2**17, "--max-seconds": 3, "--variance-reduction": "none", "--threads": 3,
        "--scheme": "full_truncation_euler", "--compensation": "carry", "--strike": 110,
    }  # fmt: skip
    heard = asked(*CALL, *(word for pair in named.items() for word in pair))
    assert heard == {
        "model": read_model(LEWIS, {})[0], "payoffs": [heston.Call(strike=k, maturity=1.0)
                                                       for k in (100.0, 110.0)],
        "tolerance": 0.05, "relative": False, "backend": "mlu370", "confidence": 0.9, "seed": 7,
        "max_paths": 2**17, "max_seconds": 3.0, "variance_reduction": "none", "threads": 3,
        "scheme": "full_truncation_euler", "compensation": "carry",
    }  # fmt: skip
    plain = asked(*CALL)
    assert (plain["tolerance"], plain["relative"], plain["backend"]) == (0.001, True, "fp32")
    given = [x for name, value in INLINE.items() for x in ("--" + name.replace("_", "-"), value)]
    assert asked("price", *given, *CALL[3:])["model"] == plain["model"]
    moved = asked(*CALL, "--spot", 120, "--rate", "5%", "--dividend-yield", "3 %")["model"]
    assert (moved.spot, moved.rate, moved.dividend_yield) == (120.0, 0.05, 0.03)
    assert (moved.v0, moved.kappa) == (plain["model"].v0, plain["model"].kappa)


def test_prices_are_shown_with_bound_parts_and_levels(call):
    """A. Lewis: 16.0701549170 at strike 100, 12.1322115167 at 110, one year."""
    published = {100.0: 16.070154917028834, 110.0: 12.132211516709845}
    given = (*CALL, "--strike", 110, "--backend", "mlu370", "--seed", 3)
    content = priced(call, *given)
    assert {row["strike"] for row in content["prices"]} == set(published)
    for row in content["prices"]:
        assert abs(row["price"] - published[row["strike"]]) <= row["bound"] <= row["tolerance"]
        parts = row["statistical"] + row["discretisation"] + row["rounding"]
        assert row["bound"] == pytest.approx(parts, rel=1e-12)
        assert row["tolerance"] == pytest.approx(0.001 * row["price"], rel=1e-12)
    assert [level["level"] for level in content["levels"]] == ["base", "rounding", "steps"]
    assert content["levels"][0]["backend"] == "mlu370"
    code, out, _ = call(*given)
    heads = out.splitlines()[4].split()
    assert code == GOOD and heads[:5] == ["strike", "maturity", "price", "±", "bound"]
    row = dict(zip([*heads[:3], *heads[4:]], out.splitlines()[5].split(), strict=True))
    assert row["strike"] == "100" and float(row["semi-analytic"]) == 16.07
    assert abs(float(row["price"]) - published[100.0]) <= float(row["bound"]) < 0.0161
    assert "the spot is integrated out given the variance" in out
    assert "rounding error" in out and "% of the price, removed" in out
    assert "fp64 - mlu370" in out and "note:" not in out


WORTHLESS = ("price", "--model", LEWIS, "--payoff", "asian-arithmetic", "--strike", 120,
             "--maturity", 0.01918)  # fmt: skip


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        ((), NOT_MET, "misses the tolerance 0 after"),
        (("--tolerance", "0.001abs"), GOOD, "– (no price is told from zero by its bound)"),
        (("--strike", 100), NOT_MET, "% of the prices that are told from zero, removed"),
    ],
)
def test_a_price_of_zero_has_no_share(call, options, code, words):
    """It ended in a division by zero, after the table."""
    given, out, err = call(*WORTHLESS, *options)
    assert (given, err) == (code, "") and words in out
    assert "0.000000000  0.000000100" in out


def test_a_tolerance_out_of_reach_is_1_with_the_bound_that_was_reached(call):
    arguments = (*CALL, "--tolerance", "0.01%", "--max-paths", 2**16)
    code, out, err = call(*arguments)
    assert (code, err) == (NOT_MET, "")
    (said,) = [line for line in out.splitlines() if "misses" in line]
    assert said.startswith("note: the bound 0.0")
    assert "misses the tolerance 0.0016" in said and "paths with" in said
    code, out, _ = call(*arguments, "--json")
    content = json.loads(out)
    assert (code, content["met"], content["prices"][0]["met"]) == (NOT_MET, False, False)
    assert content["prices"][0]["bound"] > content["prices"][0]["tolerance"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--tolerance", "1"), "tolerance 1 is 100 % of the price; 1 % of it is written 1% or"),
        (("--rate", 5, "--tolerance", "0.1abs"), "rate 5 is 500 % a year; 5 % is written 0.05"),
        (("--dividend-yield", -2), "dividend_yield -2 is -200 % a year; 5 % is"),
        (("--v0", 20, "--tolerance", "30%"), "v0 20 is a variance, of a volatility of 447.2 % to"),
        (("--theta", 9), "theta 9 is a variance, of a volatility of 300 % in the long run; a vol"),
    ],
)
def test_numbers_that_may_be_slips_are_said(call, options, words):
    """They were priced without a word."""
    rough = () if "--tolerance" in options else ("--tolerance", "20%")
    code, out, err = call(*CALL, *rough, "--max-paths", 2**16, *options)
    assert code in (GOOD, NOT_MET) and err == ""
    assert f"note: {words}" in out and out.count("is written") == 1


def test_fixings_that_nobody_gave_are_said(call):
    payoff = "asian-arithmetic"
    given = ("price", "--model", LEWIS, "--payoff", payoff, *CALL[5:], "--tolerance", "20%")
    said = f"{payoff} has 5 fixings, at maturity k / 5, since --fixings is not given"
    content = priced(call, *given)
    assert said in content["sentences"] and content["prices"][0]["fixings"] == 5
    assert content["prices"][0]["analytic_price"] is None
    assert not priced(call, *given, "--fixings", 5)["sentences"]


@pytest.mark.parametrize(
    ("written", "value", "relative"),
    [
        ("0.1%", 0.001, True),
        (" 5 % ", 0.05, True),
        (1e-4, 1e-4, True),
        ("0.01abs", 0.01, False),
    ],
)
def test_tolerances_as_users_write_them(written, value, relative):
    tolerance = price_tolerance(written)
    assert (tolerance.value, tolerance.relative) == (pytest.approx(value, rel=1e-15), relative)
    assert price_tolerance(str(tolerance)) == tolerance


def test_every_payoff_can_be_made_from_its_options():
    for name, entry in payoffs().items():
        others = {"barrier": 90.0, "start": 0.5, "fixings": None, "moneyness": None}
        belonging = {key: value for key, value in others.items() if key in entry.parameters}
        strikes = [95.0, 105.0] if "strike" in entry.parameters else []
        made = asked_payoffs(asked_grid(name, strikes, [1.0, 2.0], **belonging))
        assert len(made) == (4 if strikes else 2)
        assert {payoff.name for payoff in made} == {name}
