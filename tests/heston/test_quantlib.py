"""Semi-analytic prices and greeks against QuantLib, where it is installed."""

import pytest

from sciprec import heston
from sciprec.heston.parameters import Model
from sciprec.heston.semianalytic import analytic
from tests.heston.examples import ANDERSEN_1, LEWIS

ql = pytest.importorskip("QuantLib", reason="QuantLib is not installed: pip install QuantLib")

BAKSHI = Model(spot=100, v0=0.0348, kappa=1.15, theta=0.0348, sigma=0.39, rho=-0.64, rate=0.05)
EACH = pytest.mark.parametrize(
    "model", [LEWIS, ANDERSEN_1, BAKSHI], ids=["lewis", "andersen", "bakshi"]
)


def quantlib_model(model):
    """Return the valuation date and QuantLib's model of the same parameters."""
    today = ql.Date(2, 1, 2025)
    ql.Settings.instance().evaluationDate = today
    curves = [
        ql.YieldTermStructureHandle(ql.FlatForward(today, rate, ql.Actual365Fixed()))
        for rate in (model.rate, model.dividend_yield)
    ]
    spot = ql.QuoteHandle(ql.SimpleQuote(model.spot))
    process = ql.HestonProcess(
        *curves, spot, model.v0, model.kappa, model.theta, model.sigma, model.rho
    )
    return today, process


@EACH
@pytest.mark.parametrize("days", [73, 365, 1825])
def test_calls_and_puts(model, days):
    today, process = quantlib_model(model)
    engine = ql.AnalyticHestonEngine(ql.HestonModel(process), 1e-12, 100_000)
    for kind, ours in (
        (ql.Option.Call, analytic.call_prices),
        (ql.Option.Put, analytic.put_prices),
    ):
        for strike in (60.0, 100.0, 140.0):
            option = ql.VanillaOption(
                ql.PlainVanillaPayoff(kind, strike), ql.EuropeanExercise(today + days)
            )
            option.setPricingEngine(engine)
            assert float(ours(model, strike, days / 365)) == pytest.approx(option.NPV(), abs=1e-8)


@EACH
def test_geometric_asians(model):
    today, process = quantlib_model(model)
    dates = [today + 73 * k for k in range(1, 6)]
    engine = ql.AnalyticDiscreteGeometricAveragePriceAsianHestonEngine(process, 400.0)
    for strike in (80.0, 100.0, 120.0):
        option = ql.DiscreteAveragingAsianOption(
            ql.Average().Geometric, 1.0, 0, dates,
            ql.PlainVanillaPayoff(ql.Option.Call, strike), ql.EuropeanExercise(dates[-1]),
        )  # fmt: skip
        option.setPricingEngine(engine)
        ours = analytic.price(model, heston.AsianGeometric(strike=strike, maturity=1, fixings=5))
        assert ours == pytest.approx(option.NPV(), abs=3e-5)
