"""Other ways to simulate Heston's model, measured beside ours: plain NumPy, QuantLib, PyFENG.

QuantLib and PyFENG are measured when they are installed (`pip install --group peers`).
"""

from __future__ import annotations

import importlib
import importlib.util
import math
from collections.abc import Callable

import numpy as np
from scipy.special import ndtr

BLOCK_PATHS = 4096
"""paths that NumPy holds at a time, so that its arrays stay in the cache"""
RUNS = 16


def numpy_euler(model, maturity: float, n_steps: int, n_paths: int, seed: int) -> np.ndarray:
    """log(S_T / F_T) by full-truncation Euler, written straightforwardly in NumPy, binary64."""
    rng, dt = np.random.default_rng(seed), maturity / n_steps
    across = math.sqrt(1 - model.rho**2)
    found = []
    for first in range(0, n_paths, BLOCK_PATHS):
        size = min(BLOCK_PATHS, n_paths - first)
        v, x = np.full(size, model.v0), np.zeros(size)
        for _ in range(n_steps):
            z, w = rng.standard_normal((2, size))
            plus = np.maximum(v, 0.0)
            root = np.sqrt(plus * dt)
            x += root * (model.rho * z + across * w) - 0.5 * dt * plus
            v += model.kappa * (model.theta - plus) * dt + model.sigma * root * z
        found.append(x)
    return np.concatenate(found)


def numpy_qem(model, maturity: float, n_steps: int, n_paths: int, seed: int) -> np.ndarray:
    """log(S_T / F_T) by Andersen's martingale-corrected QE scheme in NumPy, binary64.

    Source: Andersen (2008), sec. 3.2.4 and eqs (33) to (38), as printed.
    """
    rng, dt = np.random.default_rng(seed), maturity / n_steps
    found = []
    for first in range(0, n_paths, BLOCK_PATHS):
        size = min(BLOCK_PATHS, n_paths - first)
        v, x = np.full(size, model.v0), np.zeros(size)
        for _ in range(n_steps):
            z, w = rng.standard_normal((2, size))
            v, gain = _qem_step(model, dt, v, z, w)
            x += gain
        found.append(x)
    return np.concatenate(found)


def _qem_step(model, dt, v, z, w):
    """Return v' and the step of log(S / F)."""
    kappa, theta, sigma, rho = model.kappa, model.theta, model.sigma, model.rho
    fade = math.exp(-kappa * dt)
    mean = theta + (v - theta) * fade
    spread = (
        v * sigma**2 * fade / kappa * (1 - fade) + theta * sigma**2 / (2 * kappa) * (1 - fade) ** 2
    )
    psi = spread / mean**2
    drift = kappa * rho / sigma - 0.5
    k1, k2 = 0.5 * dt * drift - rho / sigma, 0.5 * dt * drift + rho / sigma
    k3 = k4 = 0.5 * dt * (1 - rho**2)
    tilt = k2 + 0.5 * k4
    low = psi <= 1.5
    inverse = 2 / np.where(low, psi, 1.0)
    b2 = inverse - 1 + np.sqrt(inverse) * np.sqrt(inverse - 1)
    a = mean / (1 + b2)
    p = np.where(low, 0.0, (psi - 1) / (psi + 1))
    beta = (1 - p) / mean
    uniform = ndtr(z)
    jump = np.where(uniform > p, np.log((1 - p) / (1 - uniform)) / beta, 0.0)
    following = np.where(low, a * (np.sqrt(b2) + z) ** 2, jump)
    below = tilt * b2 * a / (1 - 2 * tilt * a) - 0.5 * np.log(1 - 2 * tilt * a)
    above = np.log(p + beta * (1 - p) / (beta - tilt))
    k0 = -np.where(low, below, above) - (k1 + 0.5 * k3) * v
    return following, k0 + k1 * v + k2 * following + np.sqrt(k3 * v + k4 * following) * w


NUMPY = {"full_truncation_euler": numpy_euler, "quadratic_exponential_martingale": numpy_qem}
"""scheme -> its form in NumPy."""


def numpy_price(model, option, n_steps: int, n_paths: int, seed: int) -> tuple[float, float]:
    """Price and standard error of one payoff by plain Monte Carlo with QE-M in NumPy."""
    ratio = np.exp(numpy_qem(model, option.maturity, n_steps, n_paths, seed))
    payment = option.at_maturity(model.forward(option.maturity) * ratio)
    discount = model.discount(option.maturity)
    return discount * payment.mean(), discount * payment.std() / math.sqrt(n_paths)


def quantlib_price(model, option, n_steps: int, n_paths: int, seed: int) -> tuple[float, float]:
    """Price and standard error of a call by QuantLib's MCEuropeanHestonEngine with QE-M."""
    quantlib = importlib.import_module("QuantLib")
    today = quantlib.Date(1, 1, 2001)
    quantlib.Settings.instance().evaluationDate = today
    counter = quantlib.Actual365Fixed()
    spot = quantlib.QuoteHandle(quantlib.SimpleQuote(model.spot))
    curves = [
        quantlib.YieldTermStructureHandle(quantlib.FlatForward(today, rate, counter))
        for rate in (model.rate, model.dividend_yield)
    ]
    process = quantlib.HestonProcess(
        *curves, spot, model.v0, model.kappa, model.theta, model.sigma, model.rho,
        quantlib.HestonProcess.QuadraticExponentialMartingale,
    )  # fmt: skip
    exercise = quantlib.EuropeanExercise(today + round(365 * option.maturity))
    payment = quantlib.PlainVanillaPayoff(quantlib.Option.Call, option.strike)
    contract = quantlib.VanillaOption(payment, exercise)
    contract.setPricingEngine(
        quantlib.MCEuropeanHestonEngine(
            process, "PseudoRandom", timeSteps=n_steps, requiredSamples=n_paths, seed=seed + 1
        )
    )
    return contract.NPV(), contract.errorEstimate()


def pyfeng_price(model, option, n_steps: int, n_paths: int, seed: int) -> tuple[float, float]:
    """Price and standard error of a call by PyFENG's HestonMcAndersen2008.

    PyFENG prices by conditional Monte Carlo, a European on a given path of the variance being
    Black's. It states no error: it is taken from RUNS independent runs.
    """
    pyfeng = importlib.import_module("pyfeng")
    runs = []
    for run in range(RUNS):
        engine = pyfeng.HestonMcAndersen2008(
            model.v0, vov=model.sigma, mr=model.kappa, rho=model.rho, theta=model.theta,
            intr=model.rate, divr=model.dividend_yield, n_path=n_paths // RUNS,
            dt=option.maturity / n_steps, rn_seed=RUNS * seed + run,
        )  # fmt: skip
        runs.append(float(np.ravel(engine.price(option.strike, model.spot, option.maturity))[0]))
    return float(np.mean(runs)), float(np.std(runs, ddof=1) / math.sqrt(RUNS))


PRICES: dict[str, tuple[Callable, str]] = {
    "plain NumPy, fp64": (numpy_price, "numpy"),
    "QuantLib MCEuropeanHestonEngine, QE-M": (quantlib_price, "QuantLib"),
    "PyFENG HestonMcAndersen2008": (pyfeng_price, "pyfeng"),
}
"""row -> its price and standard error, and the module that it needs."""
PLAIN = ("plain NumPy, fp64", "QuantLib MCEuropeanHestonEngine, QE-M")
"""rows whose prices are means of payments, without a known expectation in them"""


def missing(module: str) -> str:
    """Why a peer cannot be measured here; empty where it can."""
    if not importlib.util.find_spec(module):
        return f"{module} is not installed"
    try:
        importlib.import_module(module)
    except ImportError as error:
        return f"{module} cannot be imported: {error}"
    return ""
