"""`sciprec price`: published prices within the bound, exit codes, a sentence per wrong input."""

import json
import tomllib
from pathlib import Path

import pytest

from sciprec.cli.exit_codes import GOOD, NOT_MET, USAGE
from sciprec.cli.pricing.price_request import asked_grid, read_model
from sciprec.errors import InputError
from sciprec.heston.bounds.listing import within_bound
from sciprec.heston.semianalytic import analytic
from sciprec.scenario.asked_price import asked_payoffs
from sciprec.scenario.price_tolerance import price_tolerance

DATA = Path(__file__).parents[2] / "data" / "heston"
LEWIS = DATA / "lewis.toml"
CALL = ("price", "--model", LEWIS, "--payoff", "call", "--strike", "100", "--maturity", "1")
ASIAN = ("price", "--model", LEWIS, "--payoff", "asian-arithmetic", "--strike", "100")
INLINE = {
    "spot": 100, "v0": 0.04, "kappa": 4, "theta": 0.25, "sigma": 1, "rho": -0.5, "rate": 0.01,
    "dividend_yield": 0.02,
}  # fmt: skip


def instead(arguments, option, value):
    """Arguments with another value of an option."""
    at = arguments.index(option) + 1
    return (*arguments[:at], value, *arguments[at + 1 :])


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


def test_the_bound_holds_against_published_prices(call):
    """A. Lewis: 16.0701549170 at strike 100, 12.1322115167 at 110, one year."""
    published = {100.0: 16.070154917028834, 110.0: 12.132211516709845}
    content = priced(call, *CALL, "--strike", 110, "--backend", "mlu370", "--seed", 3)
    assert {row["strike"] for row in content["prices"]} == set(published)
    for row in content["prices"]:
        assert abs(row["price"] - published[row["strike"]]) <= row["bound"] <= row["tolerance"]
        parts = row["statistical"] + row["discretisation"] + row["rounding"]
        assert row["bound"] == pytest.approx(parts, rel=1e-12)
        assert row["tolerance"] == pytest.approx(0.001 * row["price"], rel=1e-12)
    assert [level["level"] for level in content["levels"]] == ["base", "rounding", "steps"]
    assert content["levels"][0]["backend"] == "mlu370"


def test_an_asian_takes_five_fixings_where_none_are_given(call):
    """Arithmetic Asian, 5 fixings, A. Lewis's parameters: 9.62001, standard error 0.00012."""
    content = priced(call, *ASIAN, "--maturity", 1, "--tolerance", "0.5%")
    (row,) = content["prices"]
    assert row["fixings"] == 5
    assert abs(row["price"] - 9.62001) <= row["bound"] + 3 * 0.00012
    assert row["analytic_price"] is None


def test_threads_change_no_bit_and_the_seed_does(call):
    rough = ("--tolerance", "0.05abs")
    one, two, other = (
        priced(call, *CALL, "--threads", threads, "--seed", seed, *rough)["prices"][0]
        for threads, seed in ((1, 0), (2, 0), (1, 1))
    )
    assert one == two
    assert one["price"] != other["price"]
    assert one["tolerance"] == other["tolerance"] == 0.05


def test_options_replace_parameters_of_the_file(call):
    given = [x for name, value in INLINE.items() for x in ("--" + name.replace("_", "-"), value)]
    strike = ("--payoff", "call", "--strike", 100, "--maturity", 1)
    inline = priced(call, "price", *given, *strike)
    assert inline["prices"] == priced(call, *CALL)["prices"]
    moved = priced(call, *CALL, "--spot", 120)
    assert moved["model"]["spot"] == 120
    assert moved["model"]["source"].endswith(", with spot = 120")
    assert moved["prices"][0]["price"] > inline["prices"][0]["price"] + 10


def test_the_table_shows_price_bound_parts_and_levels(call):
    code, out, _ = call(*CALL, "--backend", "mlu370")
    assert code == GOOD
    heads = out.splitlines()[4].split()
    assert heads[:5] == ["strike", "maturity", "price", "±", "bound"]
    row = dict(zip([*heads[:3], *heads[4:]], out.splitlines()[5].split(), strict=True))
    assert row["strike"] == "100"
    assert abs(float(row["price"]) - float(row["semi-analytic"])) <= float(row["bound"]) < 0.0161
    assert "the spot is integrated out given the variance" in out
    assert "rounding error" in out and "% of the price, removed" in out
    assert "fp64 - mlu370" in out


WORTHLESS = ("price", "--model", LEWIS, "--payoff", "asian-arithmetic", "--strike", 120,
             "--maturity", 0.01918)  # fmt: skip


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        (("--backend", "fp64"), NOT_MET, "misses the tolerance 0 after"),
        (("--backend", "mlu370"), NOT_MET, "– (no price is told from zero by its bound)"),
        (("--tolerance", "0.001abs"), GOOD, "– (no price is told from zero by its bound)"),
        (("--strike", 100), NOT_MET, "% of the prices that are told from zero, removed"),
    ],
)
def test_a_price_of_zero_has_no_share(call, options, code, words):
    """It ended in a division by zero, after the table."""
    given, out, err = call(*WORTHLESS, *options)
    assert (given, err) == (code, "") and words in out
    assert "0.000000000  0.000000100" in out


def test_greeks_of_a_price_of_zero(call):
    code, out, _ = call(*WORTHLESS, "--greeks", "--json")
    content = json.loads(out)
    assert code == NOT_MET and "tells asian-arithmetic" in content["greeks"]["sentences"][-1]
    assert all(row["bound"] < 0.1 for row in content["greeks"]["rows"])


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
    ("arguments", "words"),
    [
        ((*CALL, "--rho", "1.5"), "key 'model.rho' was given 1.5 (a number); accepted: a correla"),
        ((*CALL, "--rho", "-1.01"), "accepted: a correlation in [-1, 1]"),
        ((*CALL, "--rho", "-1.01"), "sciprec: --rho: key 'model.rho' was given -1.01"),
        ((*CALL, "--v0", "-0.1"), "key 'model.v0' was given -0.1 (a number); accepted: an initial"),
        ((*CALL, "--sigma", "0"), "accepted: a volatility of variance > 0"),
        ((*CALL, "--spot", "nan"), "key 'model.spot' was given nan"),
        ((*CALL, "--maturity", "0"), "maturity is 0.0; accepted: years > 0, at most 100"),
        ((*CALL, "--maturity", "-1"), "maturity is -1.0; accepted: years > 0"),
        ((*CALL, "--strike", "0"), "strike is 0.0; accepted: a price > 0, at most 1e12"),
        ((*CALL, "--strike", "nan"), "strike is nan; accepted: a price > 0"),
        ((*CALL, "--tolerance", "0"), "tolerance is '0'; accepted: a share of the price above 0"),
        ((*CALL, "--tolerance", "-1%"), "tolerance is '-1%'; accepted"),
        ((*CALL, "--tolerance", "nan"), "tolerance is 'nan'; accepted"),
        ((*CALL, "--greeks", "--greeks-tolerance", "1abs"), "tolerance is '1abs'; accepted: a sh"),
        (
            (*CALL, "--barrier", "90"),
            "payoff 'call' does not take --barrier; it takes --strike, --",
        ),
        ((*CALL, "--fixings", "5"), "payoff 'call' does not take --fixings"),
        ((*ASIAN, "--maturity", "1", "--fixings", "0"), "fixings is 0; accepted: an integer from"),
        (instead(CALL, "--payoff", "coll"), "unknown payoff 'coll'; known: asian-arithmetic, "),
        (instead(CALL, "--payoff", "coll"), "did you mean 'call'?"),
        (instead(CALL, "--payoff", "put-down-out"), "did you mean 'barrier-down-out-put'?"),
        (
            instead(CALL, "--payoff", "barrier-down-out"),
            "payoff 'barrier-down-out' needs --barrier; it",
        ),
        (
            (*instead(CALL, "--payoff", "barrier-down-out"), "--barrier", "100"),
            "barrier is 100.0 with spot 100.0, already hit; accepted: a barrier below the spot",
        ),
        ((*CALL, "--backend", "bf61"), "unknown backend 'bf61'"),
        ((*CALL, "--scheme", "milstein"), "unknown scheme 'milstein'; known: "),
        ((*CALL, "--confidence", "1"), "confidence is 1.0; accepted: a probability above 0"),
        ((*CALL, "--seed", "-1"), "seed"),
        ((*CALL, "--max-seconds", "0"), "max_seconds is 0.0; accepted: a number of seconds > 0"),
        (instead(CALL, "--payoff", "cal"), "did you mean 'call'?"),
        (instead(CALL, "--model", DATA / "europeans.json"), "holds JSON; a model is a TOML file"),
        ((*CALL, "--maturity", "101"), "maturity is 101.0; accepted: years > 0, at most 100"),
        (
            instead(CALL, "--model", "none.toml"),
            "model file 'none.toml' does not exist; give the path of",
        ),
        (
            ("price", "--payoff", "call", "--strike", "1", "--maturity", "1"),
            "no model was given; give --model with a TOML file or a name such as lewis",
        ),
        (
            ("price", "--payoff", "call", "--strike", "1", "--maturity", "1", "--spot", "100"),
            "options: the key 'model.v0' is missing; accepted: an initial variance",
        ),
        (("price", "--model", LEWIS, "--payoff", "call", "--maturity", "1"), "needs --strike; it"),
        (("price", "--model", LEWIS, "--payoff", "call", "--strike", "1"), "--maturity"),
        (
            (*CALL, "--strike", "dear"),
            "Invalid value for '--strike': ",  # and what typer says, which varies
        ),
    ],
)
def test_wrong_input_is_a_sentence_and_2(call, arguments, words):
    code, out, err = call(*arguments)
    assert (code, out) == (USAGE, "")
    assert words in err
    assert "Traceback" not in err


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("rho = -0.5", "rho = -1.5", "key 'model.rho' was given -1.5"),
        ("rho = -0.5", "roh = -0.5", "unknown key 'model.roh'; known: spot, "),
        ("rho = -0.5", "roh = -0.5", "did you mean 'rho'?"),
        ("rho = -0.5", "", "the key 'model.rho' is missing; accepted: a correlation in [-1, 1]"),
        ("kappa = 4.0", 'kappa = "4"', "key 'model.kappa' was given '4' (a string)"),
        ("kappa = 4.0", "kappa = nan", "key 'model.kappa' was given nan"),
        ("[model]", "[modle]", "unknown key 'modle'; known: source, model; did you mean 'model'?"),
        ("[model]", "[model", "is not valid TOML"),
        ("source = ", "author = ", "unknown key 'author'; known: source, model"),
        ("[model]", "model = 3\n[other]", "key 'model' was given 3 (a whole number); accepted: th"),
    ],
)
def test_wrong_files_are_a_sentence_and_2(call, tmp_path, old, new, words):
    text = LEWIS.read_text(encoding="utf-8")
    assert old in text
    path = tmp_path / "model.toml"
    path.write_text(text.replace(old, new), encoding="utf-8")
    arguments = list(CALL)
    arguments[2] = path
    code, out, err = call(*arguments)
    assert (code, out) == (USAGE, "")
    assert f"{path}: " in err and words in err


def test_a_calibration_of_ones_own_has_no_source(call, tmp_path):
    path = tmp_path / "mine.toml"
    lines = LEWIS.read_text(encoding="utf-8").splitlines()
    path.write_text("\n".join(line for line in lines if "source" not in line), encoding="utf-8")
    model, source = read_model(path, {})
    assert source == f"parameters of {path}" and model == read_model(LEWIS, {})[0]


def test_a_rate_that_is_not_given_is_zero():
    given = {name: value for name, value in INLINE.items() if "rate" not in name}
    model, _ = read_model(None, given)
    assert model.rate == 0.0
    with pytest.raises(InputError, match="all of --spot, --v0, --kappa, --theta, --sigma, --rho$"):
        read_model(None, {})


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


def test_ordinary_numbers_are_not_remarked(call):
    _, out, _ = call(*CALL, "--tolerance", "30%", "--rate", "50%")
    assert "note:" not in out


@pytest.mark.parametrize("payoff", ["lookback-fixed", "asian-arithmetic"])
def test_fixings_that_nobody_gave_are_said(call, payoff):
    given = (*instead(ASIAN, "--payoff", payoff), "--maturity", 1, "--tolerance", "20%")
    said = f"{payoff} has 5 fixings, at maturity k / 5, since --fixings is not given"
    assert said in priced(call, *given)["sentences"]
    assert not priced(call, *given, "--fixings", 5)["sentences"]


def test_shares_and_rates_take_per_cent(call):
    plain = ("--rate", 0.05, "--dividend-yield", 0.02, "--confidence", 0.9, "--tolerance", 0.02)
    per_cent = ("--rate", "5%", "--dividend-yield", "2 %", "--confidence", "90%", "--tolerance",
                "2%")  # fmt: skip
    assert priced(call, *CALL, *plain)["prices"] == priced(call, *CALL, *per_cent)["prices"]
    code, out, err = call(*CALL, "--rate", "five")
    assert (code, out) == (USAGE, "") and "accepted: a number or a percentage, 0.05 or" in err


def test_files_with_replaced_parameters_are_checked_all_the_same(tmp_path):
    path = tmp_path / "model.toml"
    path.write_text('source = "x"\nmodel = 3\n', encoding="utf-8")
    with pytest.raises(InputError, match="key 'model' was given 3"):
        read_model(path, {"rho": 0.0})


@pytest.mark.parametrize(
    ("written", "value", "relative"),
    [
        ("0.1%", 0.001, True),
        ("0.001", 0.001, True),
        (" 5 % ", 0.05, True),
        (1e-4, 1e-4, True),
        ("0.01abs", 0.01, False),
        ("2 ABS", 2.0, False),
        ("100%", 1.0, True),
    ],
)
def test_tolerances_as_users_write_them(written, value, relative):
    tolerance = price_tolerance(written)
    assert (tolerance.value, tolerance.relative) == (pytest.approx(value, rel=1e-15), relative)
    assert price_tolerance(str(tolerance)) == tolerance


@pytest.mark.parametrize(
    "written", ["", "%", "abs", "x", "0", "-0.1%", "101%", "1.5", "nan", "inf"]
)
def test_tolerances_that_are_none(written):
    with pytest.raises(InputError, match="^tolerance is '.*'; accepted: a share of the price"):
        price_tolerance(written)


@pytest.mark.parametrize(
    ("price", "bound", "shown"),
    [
        (16.0701549, 0.00873, ("16.0702", "0.0087")),
        (1234.5678, 12.3, ("1235", "12")),
        (0.000123456, 1.96e-7, ("0.00012346", "0.00000020")),
        (5.0, 0.0, ("5", "0")),
        (float("nan"), 0.1, ("nan", "0.1")),
    ],
)
def test_prices_are_shown_to_the_digits_of_the_bound(price, bound, shown):
    assert within_bound(price, bound) == shown


def test_every_payoff_can_be_made_from_its_options():
    from sciprec.heston import payoffs

    for name, entry in payoffs().items():
        others = {"barrier": 90.0, "start": 0.5, "fixings": None, "moneyness": None}
        belonging = {key: value for key, value in others.items() if key in entry.parameters}
        strikes = [95.0, 105.0] if "strike" in entry.parameters else []
        made = asked_payoffs(asked_grid(name, strikes, [1.0, 2.0], **belonging))
        assert len(made) == (4 if strikes else 2)
        assert {payoff.name for payoff in made} == {name}


def test_model_files_are_plain_toml():
    assert tomllib.loads(LEWIS.read_text(encoding="utf-8"))["model"] == INLINE
