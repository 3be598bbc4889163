"""A price by Monte Carlo whose stated bound holds, in any arithmetic."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, astuple, dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from sciprec.foundation.listing import Listing, Shown, Summary, counted
from sciprec.foundation.timing import timing_of
from sciprec.heston.bounds.estimators import choose_sampler, integrable
from sciprec.heston.bounds.interval import BoundedPrices
from sciprec.heston.bounds.levels import MultilevelTerm
from sciprec.heston.bounds.pilot import budget_of
from sciprec.heston.bounds.plan import run
from sciprec.heston.bounds.rare import LEAST_SIZE, Rare
from sciprec.heston.bounds.request import PricingRequest
from sciprec.heston.bounds.state import Pricing, PricingState, spent, useless
from sciprec.heston.parameters import Model
from sciprec.heston.payoff_registry import Payoff
from sciprec.heston.semianalytic.black import implied_volatilities
from sciprec.heston.simulation.fixed_point import added
from sciprec.instruments.assigning.assignment import every_place_met
from sciprec.instruments.assigning.policies import in_place_of
from sciprec.precision import Backend

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

PARTS = ("statistical", "discretisation", "rounding")
VOLATILITIES = ("implied_volatility", "implied_volatility_low", "implied_volatility_high")
_NUMBERS = ("price", "bound", *PARTS, "rounding_error", "tolerance", *VOLATILITIES)
_PARAMETERS = ("strike", "barrier", "moneyness", "start", "maturity", "fixings")


@dataclass(frozen=True)
class LevelRow:
    """A row of the levels' table.

    Attributes:
        level: "base", "rounding" or "steps".
        backend: arithmetics of its paths.
        n_steps: of its longest paths.
        n_paths: of the level; each is simulated once, twice and three times.
        mean: of the base price, rounding error or step difference of the first of the payoffs that
            share its paths.
        variance: of one path, likewise.
        cost: modelled, of one path in steps of binary64.
        seconds, seconds_low, seconds_high: processor time with its range, a Timing.
    """

    level: str
    backend: str
    n_steps: int
    n_paths: int
    mean: float
    variance: float
    cost: float
    seconds: float
    seconds_low: float
    seconds_high: float


@dataclass(frozen=True, repr=False)
class BoundedResult(Shown):
    """The making of a result with a bound.

    Attributes:
        payoffs: as given, a tuple.
        met: whether every bound is within its tolerance.
        n_paths: simulated paths of all levels and the pilot; of greeks, one for each model and
            step length.
        n_steps: of the finest paths.
        work: all that was simulated, in steps of paths (see sciprec.heston.bounds.budget); the
            same on any machine, unless max_seconds is given.
        seconds: wall-clock.
        levels: tuple of LevelRows; of greeks, mean and variance are the first payoff's price's.
        backend, scheme, confidence, seed: as asked for.
        variance_reduction: what was chosen, and why.
        sentences: what the reader has to know: a tolerance missed, a fall-back, a lost coupling.
        fixed_point: saturations and places short of bits in all levels, as plain data (see
            sciprec.precision.lifting.fixed_lifting.fixed_point_summary); None in floats.
    """

    payoffs: tuple[Payoff, ...]
    met: bool
    n_paths: int
    n_steps: int
    work: float
    seconds: float
    levels: tuple[LevelRow, ...]
    backend: str
    scheme: str
    confidence: float
    seed: int
    variance_reduction: str
    sentences: tuple[str, ...]
    fixed_point: dict | None

    def rows(self) -> list[dict[str, Any]]:
        """Rows of numbers with their bounds and names, as plain data."""
        raise NotImplementedError

    def to_dataframe(self) -> pd.DataFrame:
        """`rows` as a pandas DataFrame, a row each."""
        from sciprec.results.output.bounded_prices import frame

        return frame(self.rows())

    def _listed(self, sort: str, listing: Listing) -> Summary:
        """Prices or greeks at a prompt and in a notebook: whose, in what, whether they are good
        enough, and how they were made.
        """
        names = ", ".join(dict.fromkeys(payoff.name for payoff in self.payoffs))
        words = "within the tolerance" if self.met else "the tolerance is missed"
        phrase = (
            f"{counted(self.n_paths, 'path')}, {counted(self.n_steps, 'step')}, "
            f"{self.seconds:.3g} s; {self.scheme}; {self.variance_reduction}"
        )
        return Summary(
            f"{sort} of {names} in {self.backend}, bounds at {100 * self.confidence:g} %: {words}",
            listing,
            (phrase, *(f"note: {sentence}" for sentence in self.sentences)),
        )


@dataclass(frozen=True, repr=False)
class PriceResult(BoundedResult):
    """A price with its bound; numbers for one payoff, arrays (n_payoffs,) for several.

    Attributes:
        price: in units of currency.
        bound: |price - true price| exceeds it with probability 1 - confidence at most.
        statistical, discretisation, rounding: its parts, which add up to it.
        rounding_error: measured, of prices in binary64 less those in the backend; removed from
            the price with the correction.
        tolerance: the largest bound that was accepted, in units of currency.
        extrapolation: per payoff "order 2", "order 1" or "larger difference".
        implied_volatility: of calls and puts, at which Black and Scholes' formula gives the price
            under the model's rates; NaN of other payoffs, and of a price that has none.
        implied_volatility_low, implied_volatility_high: those of price - bound and price + bound,
            between which the true price's is where the bound holds; NaN where that end is open:
            price - bound is at most the intrinsic value, or price + bound at least the largest
            price. A sentence says so.

    The rest is as in BoundedResult.
    """

    price: float | np.ndarray
    bound: float | np.ndarray
    statistical: float | np.ndarray
    discretisation: float | np.ndarray
    rounding: float | np.ndarray
    rounding_error: float | np.ndarray
    tolerance: float | np.ndarray
    extrapolation: tuple[str, ...]
    implied_volatility: float | np.ndarray
    implied_volatility_low: float | np.ndarray
    implied_volatility_high: float | np.ndarray

    def to_dataset(self) -> xr.Dataset:
        """Return an xarray Dataset with dimensions payoff, maturity, strike and backend."""
        from sciprec.results.output.bounded_prices import price_dataset

        return price_dataset(self)

    def rows(self) -> list[dict[str, Any]]:
        """Rows of payoffs with their parameters, price, and parts of its bound, as plain data."""
        rows = []
        for k, payoff in enumerate(self.payoffs):
            row = {"payoff": payoff.name} | asdict(cast(Any, payoff))
            row |= {name: float(np.ravel(getattr(self, name))[k]) for name in _NUMBERS}
            row |= {"met": row["bound"] <= row["tolerance"]}
            rows.append(row | {"extrapolation": self.extrapolation[k]})
        return rows

    def _summary(self) -> Summary:
        return self._listed("price", price_listing(self.rows()))


def price_listing(rows: Sequence[Mapping[str, Any]]) -> Listing:
    """One line per payoff: its parameters, price, bound, and the bound's parts.

    Args:
        rows: of `PriceResult.rows`; with `analytic_price`, the true price or None, where that is
            known.
    """
    parameters = [name for name in _PARAMETERS if any(row.get(name) is not None for row in rows)]
    return bounded_listing(rows, "price", PARTS, parameters, "analytic_price")


def bounded_listing(
    rows: Sequence[Mapping[str, Any]], value: str, parts: Sequence[str], parameters: Sequence[str],
    analytic: str, names: tuple[str, ...] = (),
) -> Listing:  # fmt: skip
    """One line per row: its names, parameters, value, bound, and the bound's parts.

    Args:
        rows: plain data.
        value, analytic: keys of the value, and of the true one or None, where that is known.
        parts: of the bound.
        parameters: parameters.
        names: keys that name a row, beside the payoff where there are several.
    """
    names = ("payoff",) * (len({row["payoff"] for row in rows}) > 1) + names
    truth = any(row.get(analytic) is not None for row in rows)
    lines = []
    for row in rows:
        cells = [row[name] for name in names]
        cells += ["–" if row.get(name) is None else f"{row[name]:g}" for name in parameters]
        cells += within_bound(row[value], row["bound"])
        cells += [f"{row[name]:.2g}" for name in (*parts, "tolerance")]
        if truth:
            exact = row[analytic]
            cells.append("–" if exact is None else within_bound(exact, row["bound"])[0])
        lines.append(tuple(cells))
    return Listing(
        names,
        (*parameters, value, "± bound", *parts, "tolerance", *("semi-analytic",) * truth),
        lines,
        droppable=("tolerance", *parts, "semi-analytic"),
    )


def volatility_listing(rows: Sequence[Mapping[str, Any]]) -> Listing | None:
    """One line per call or put: its implied volatility and the interval within the bound.

    Args:
        rows: of `PriceResult.rows`.

    Returns:
        None where no payoff is one.
    """
    rows = [row for row in rows if row["payoff"] in ("call", "put")]
    several = len({row["payoff"] for row in rows}) > 1
    lines = []
    for row in rows:
        middle, low, high = (row[name] for name in VOLATILITIES)
        width = max((abs(x - middle) for x in (low, high) if x != middle and x == x), default=0.0)
        places = max(0, 1 - math.floor(math.log10(width))) if width > 0 else 6
        cells = ["–" if math.isnan(x) else f"{x:.{places}f}" for x in (middle, low, high)]
        names = [row["payoff"]] * several
        lines.append((*names, f"{row['strike']:g}", f"{row['maturity']:g}", *cells))
    heads = ("strike", "maturity", "implied volatility", "from", "to")
    return Listing(("payoff",) * several, heads, lines) if rows else None


def varying(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """The parameters of payoffs in which rows differ."""
    return [name for name in _PARAMETERS if len({row.get(name) for row in rows}) > 1]


def within_bound(price: float, bound: float) -> tuple[str, str]:
    """Price and bound as text: the bound's first two digits, the price to the same place.

    A price that is zero there has no sign, as those that rounding makes a little negative.

    Args:
        price, bound: in units of currency.
    """
    if not (math.isfinite(price) and math.isfinite(bound) and bound > 0):
        return f"{price:.10g}", f"{bound:.2g}"
    places = max(0, 1 - math.floor(math.log10(bound)))
    return f"{price:z.{places}f}", f"{bound:.{places}f}"


def price(
    model: Model,
    payoffs: Payoff | Sequence[Payoff],
    *,
    backend: str | Backend | None = None,
    tolerance: float | str = 0.001,
    relative: bool = True,
    confidence: float | str = 0.95,
    seed: int = 0,
    scheme: str = "quadratic_exponential_martingale",
    max_paths: int = 2**24,
    max_seconds: float | None = None,
    compensation: str = "correction",
    variance_reduction: str = "auto",
    threads: int = 1,
    policy: str | None = None,
    narrow: str | None = None,
    wide: str | None = None,
) -> PriceResult:
    """Price payoffs by Monte Carlo until the stated bound of the whole error meets a tolerance.

    price = mean of cheap paths + mean rounding error + mean step differences,
    bound = statistical + discretisation + rounding: sciprec.heston.bounds.interval derives it.

    Args:
        model: a Model.
        payoffs: one payoff or a sequence. Europeans are priced from the same paths, and so are all
            others that are watched at equally many dates.
        backend: arithmetic of the cheap paths, a name, a spec string or a Backend; left out,
            "fp32".
        tolerance: of the total bound: a share of the price, such as 0.001 or "0.1%", or an amount
            where relative is False.
        confidence: probability, between 0 and 1 or as "95%", with which the bound holds.
        seed: integer in [0, 2**64). The same seed gives the same bits on any number of threads,
            unless max_seconds limits the run.
        scheme: name of a path scheme.
        max_paths: simulated paths of all levels together, of payoffs that share them.
        max_seconds: None, or the time after which no more paths are started; how many that
            may be is found once, from the pace of the first.
        compensation: "none" (states forget the rounding errors of their additions), "carry" (they
            carry them along) or "correction" (they do, and the mean rounding error that is left,
            measured by few paths in fp64, is removed from the price).
        variance_reduction: "auto", "conditional", "antithetic", "control" or "none".
        threads: blocks of paths that are simulated at a time.
        policy: in place of a backend, which stages of the paths are narrow: "O0" none, "O1" the
            draws, "O2" all but the update of the state, "O3" all; see `sciprec list policies`.
        narrow, wide: the formats of a policy.

    Returns:
        A PriceResult.

    Raises:
        InputError: an argument outside its domain.

    Precision: every operation of the cheap paths is rounded in the backend; random numbers,
        payments, means and bounds are binary64, in a fixed order.
    """
    request = PricingRequest.of(
        model, payoffs, backend=in_place_of(backend, policy, narrow, wide, "fp32"),
        tolerance=tolerance, relative=relative, confidence=confidence, seed=seed, scheme=scheme,
        max_paths=max_paths, max_seconds=max_seconds, compensation=compensation,
        variance_reduction=variance_reduction, threads=threads,
    )  # fmt: skip
    sets = _sets(request.payoffs)
    states, bounds = [], []
    with every_place_met(request.backend):
        for number, members in enumerate(sets):
            state, bound = run(pricing_of(request, members, 1 / (len(sets) - number)))
            states.append(state)
            bounds.append(bound)
    accepted = [request.accepted(bound.price) for bound in bounds]
    missed = [
        _missed(bound, largest, state)
        for bound, largest, state in zip(bounds, accepted, states, strict=True)
        if not np.all(bound.total <= largest)
    ]
    order = np.argsort(np.concatenate(sets))

    def as_asked(values: np.ndarray) -> Any:
        return values if request.several else float(values[0])

    def shaped(parts: list[np.ndarray]) -> Any:
        return as_asked(np.concatenate(parts)[order])

    rules = [rule for bound in bounds for rule in bound.bias.rule]
    price, total = shaped([b.price for b in bounds]), shaped([b.total for b in bounds])
    low, middle, high = (
        _volatilities(request, np.ravel(price + side * total)) for side in (-1, 0, 1)
    )
    return PriceResult(
        price=price,
        bound=total,
        statistical=shaped([bound.statistical for bound in bounds]),
        discretisation=shaped([bound.discretisation for bound in bounds]),
        rounding=shaped([bound.rounding for bound in bounds]),
        rounding_error=shaped([bound.rounding_error for bound in bounds]),
        tolerance=shaped(accepted),
        extrapolation=tuple(rules[k] for k in order),
        implied_volatility=as_asked(middle),
        implied_volatility_low=as_asked(low),
        implied_volatility_high=as_asked(high),
        **how_made(request, states, missed, _open_ends(request.payoffs, low, high)),
    )


def _volatilities(request: PricingRequest, prices: np.ndarray) -> np.ndarray:
    """Return the implied volatilities of prices, shape (n_payoffs,); NaN where there are none."""
    volatilities = implied_volatilities(request.model, request.payoffs, prices)
    return np.where(volatilities > 0, volatilities, np.nan)


def _open_ends(payoffs: Sequence[Payoff], low: np.ndarray, high: np.ndarray) -> list[str]:
    """Say of which payoffs the interval of implied volatilities has no lower or no upper end."""
    of_vanilla = [payoff.name in ("call", "put") for payoff in payoffs]
    reasons = {
        "lower": "the price less its bound does not exceed the intrinsic value",
        "upper": "the price and its bound reach the largest price that there is",
    }
    sentences = []
    for (end, why), volatilities in zip(reasons.items(), (low, high), strict=True):
        names = [
            f"the {payoff.name} at strike {cast(Any, payoff).strike:g} and maturity "
            f"{payoff.maturity:g}"
            for payoff, vanilla, value in zip(payoffs, of_vanilla, volatilities, strict=True)
            if vanilla and np.isnan(value)
        ]
        if names:
            whose = names[0] if len(names) == 1 else f"{len(names)} of {len(payoffs)} payoffs"
            interval = f"the interval of implied volatilities of {whose}"
            sentences.append(f"{interval} has no {end} end: {why}")
    return sentences


def _sets(payoffs: Sequence[Payoff]) -> list[list[int]]:
    """Return the numbers of the payoffs that are priced from the same paths, set by set.

    Payoffs that are watched at few dates would have to pay for the steps of those that are watched
    at many, and Europeans, whose spot is integrated out, for the paths of all others.
    """
    kinds: dict[tuple[bool, int], list[int]] = {}
    for number, payoff in enumerate(payoffs):
        kind = not integrable([payoff]), len(payoff.observation.dates)
        kinds.setdefault(kind, []).append(number)
    return [kinds[kind] for kind in sorted(kinds)]


def pricing_of(request: PricingRequest, members: Sequence[int], share: float = 1.0) -> Pricing:
    """Return the Pricing of some of the payoffs, in a share of the time that is left."""
    payoffs = tuple(request.payoffs[k] for k in members)
    sampler = choose_sampler(request, payoffs)
    rare = Rare(request.model, payoffs, request.risk, request.scheme, request.seed)
    budget = budget_of(request, sampler, share)
    return Pricing(request, sampler, request.accepted, request.risk, budget, rare)


def how_made(
    request: PricingRequest, states: Sequence[PricingState], missed: Sequence[str],
    further: Sequence[str] = (),
) -> dict[str, Any]:  # fmt: skip
    """Return the fields of a BoundedResult.

    Args:
        states: of each set of payoffs that share their paths.
        missed: the sentences about missed tolerances, none where all are met.
        further: other sentences.
    """
    levels = [level for state in states for level in state.levels]
    choices = dict.fromkeys(state.pricing.sampler.sentence for state in states)
    notes = dict.fromkeys(note for state in states for note in state.notes)
    used = [spent(state) for state in states]
    return {
        "payoffs": request.payoffs,
        "met": not missed,
        "n_paths": sum(int(paths) for paths, _ in used),
        "n_steps": max(level.n_steps for level in levels),
        "work": float(sum(work for _, work in used)),
        "seconds": time.perf_counter() - request.start,
        "levels": level_rows(levels),
        "backend": request.backend.name,
        "scheme": request.scheme,
        "confidence": request.confidence,
        "seed": request.seed,
        "variance_reduction": "; ".join(choices),
        "sentences": (*notes, *missed, *further),
        "fixed_point": added(level.fixed_point for level in levels),
    }


def level_rows(levels: Sequence[MultilevelTerm]) -> tuple[LevelRow, ...]:
    """Return the levels' table."""
    return tuple(
        LevelRow(
            level.name, level.backend, level.n_steps, level.moments.paths,
            float(level.moments.mean[0, 0]), float(level.variance()[0]), level.cost,
            *astuple(timing_of(level.timed)),
        )
        for level in levels
    )  # fmt: skip


def _missed(bound: BoundedPrices, accepted: np.ndarray, state: PricingState) -> str:
    """Say that, and by how much, the tolerance was missed."""
    ratio = bound.total / np.maximum(accepted, LEAST_SIZE)
    worst = int(np.argmax(np.where(np.isfinite(bound.total), ratio, np.inf)))
    n_paths, n_steps = int(spent(state)[0]), max(level.n_steps for level in state.levels)
    text = (
        f"the bound {bound.total[worst]:.4g} misses the tolerance {accepted[worst]:.4g} after "
        f"{n_paths} paths with {n_steps} steps: statistical "
        f"{bound.statistical[worst]:.2g}, discretisation {bound.discretisation[worst]:.2g}, "
        f"rounding {bound.rounding[worst]:.2g}; "
    )
    if useless(state)[worst]:
        return text + "more paths would say no more of so small a price: give a larger amount"
    if state.rounding is not None and not state.pricing.request.correction:
        if bound.rounding[worst] > 0.5 * accepted[worst]:
            return text + "switch the correction on"
    return text + "allow more paths or a larger tolerance"
