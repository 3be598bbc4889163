"""Learned predictors of the next rounding's loss, and what they gain beside carrying it.

The published description of the MLU370 has an "error predictor". Here are two, a linear
autoregression and a small recurrent cell, trained on the losses of updates in a short run coupled
with binary64. A predictor is judged by the losses that it has not seen, and by the state that it
compensates.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy import optimize

from sciprec.errors import InputError
from sciprec.precision.formats.backend import Backend, resolve_backend
from sciprec.precision.lifting.lifting import lift
from sciprec.precision.quantization import quantize
from sciprec.precision.sums.compensation import CarriedUpdate, plain_update


class Predictor(Protocol):
    """Predicts the next loss of every element from those before."""

    def begin(self, elements: int) -> None:
        """Forget everything; the next series has so many elements."""

    def next(self, losses: np.ndarray | None) -> np.ndarray:
        """The expected next losses (elements,), after the latest ones (None: there are none)."""


@dataclass
class LinearPredictor:
    """e[n] = constant + sum over k of weights[k] e[n - 1 - k], by least squares.

    Args:
        constant, weights: as fitted; weights is (order,).

    Source: Yule (1927), autoregression.
    """

    constant: float
    weights: np.ndarray

    @classmethod
    def fit(cls, series: np.ndarray, order: int = 4) -> LinearPredictor:
        """The best weights for a series of losses (steps, elements)."""
        steps = series.shape[0] - order
        _check_series(series, order + 2)
        past = [series[order - 1 - k : order - 1 - k + steps].ravel() for k in range(order)]
        design = np.column_stack([np.ones(past[0].size), *past])
        solution, *_ = np.linalg.lstsq(design, series[order:].ravel(), rcond=None)
        return cls(float(solution[0]), solution[1:])

    def begin(self, elements: int) -> None:
        """See `Predictor`."""
        self._past = np.zeros((self.weights.size, elements))

    def next(self, losses: np.ndarray | None) -> np.ndarray:
        """See `Predictor`."""
        if losses is not None:
            self._past = np.vstack([losses[None], self._past[:-1]])
        return self.constant + self.weights @ self._past


@dataclass
class RecurrentPredictor:
    """An Elman cell.

    h[n] = tanh(inward e[n] + across h[n-1] + bias),  e[n+1] = outward h[n] + level

    Args:
        inward, bias, outward: (units,).
        across: (units, units).
        level: a number.

    Source: Elman (1990), Finding structure in time; trained through time by L-BFGS (scipy).
    """

    inward: np.ndarray
    across: np.ndarray
    bias: np.ndarray
    outward: np.ndarray
    level: float

    @classmethod
    def fit(
        cls, series: np.ndarray, units: int = 6, iterations: int = 150, seed: int = 0
    ) -> RecurrentPredictor:
        """Least squared error over a series of losses (steps, elements), from random weights."""
        _check_series(series, 3)
        start = 0.3 * np.random.default_rng(seed).normal(size=units * units + 3 * units + 1)
        start[-1] = series.mean()
        found = optimize.minimize(
            squared_error, start, args=(series, units), jac=True, method="L-BFGS-B",
            options={"maxiter": iterations},
        )  # fmt: skip
        return cls(*_unpacked(found.x, units))

    def begin(self, elements: int) -> None:
        """See `Predictor`."""
        self._hidden = np.zeros((elements, self.bias.size))

    def next(self, losses: np.ndarray | None) -> np.ndarray:
        """See `Predictor`."""
        if losses is not None:
            drive = losses[:, None] * self.inward + self._hidden @ self.across.T + self.bias
            self._hidden = np.tanh(drive)
        return self._hidden @ self.outward + self.level


def _unpacked(parameters: np.ndarray, units: int) -> tuple:
    """(inward, across, bias, outward, level) of a flat array."""
    inward, rest = parameters[:units], parameters[units:]
    across, rest = rest[: units**2].reshape(units, units), rest[units**2 :]
    return inward, across, rest[:units], rest[units : 2 * units], float(rest[-1])


def squared_error(parameters, series, units):
    """Mean squared error of a recurrent cell's predictions, and its gradient.

    Args:
        parameters: flat, as `RecurrentPredictor` unpacks it.
        series: losses (steps, elements).
        units: of the cell.

    Returns:
        The error, and its gradient by backpropagation through time (Werbos 1990).
    """
    inward, across, bias, outward, level = _unpacked(parameters, units)
    steps, elements = series.shape[0] - 1, series.shape[1]
    hidden = np.zeros((steps + 1, elements, units))
    for n in range(steps):
        hidden[n + 1] = np.tanh(series[n][:, None] * inward + hidden[n] @ across.T + bias)
    miss = hidden[1:] @ outward + level - series[1:]
    scale = 2.0 / miss.size
    grad_across, grad_inward, grad_bias = np.zeros((units, units)), np.zeros(units), np.zeros(units)
    later = np.zeros((elements, units))
    for n in range(steps - 1, -1, -1):
        back = (scale * miss[n][:, None] * outward + later) * (1.0 - hidden[n + 1] ** 2)
        grad_inward += series[n] @ back
        grad_across += back.T @ hidden[n]
        grad_bias += back.sum(axis=0)
        later = back @ across
    grad_outward = scale * np.einsum("nk,nku->u", miss, hidden[1:])
    parts = grad_inward, grad_across.ravel(), grad_bias, grad_outward, [scale * miss.sum()]
    return float(np.mean(miss**2)), np.concatenate(parts)


def residual_series(start, increments, backend: str | Backend) -> np.ndarray:
    """What the rounding of every uncompensated update loses, in a run coupled with binary64.

    Args:
        start: first state (elements,), in the storage format.
        increments: (steps, elements), in the storage format.
        backend: the arithmetic.

    Returns:
        x + dx - fl(x + dx), (steps, elements), in units of the largest relative error of a rounding
        times the power of two below |x|: for truncation from 0 to 1, to nearest from -1 to 1.
    """
    return _run(start, increments, backend, None)[1]


@dataclass(frozen=True)
class PredictorReport:
    """How good a predictor is, on increments that it has not seen.

    Args:
        explained: share of the losses' variance about their mean that it predicts (1: all; 0 or
            less: none).
        none, predicted, carried: root mean square error of the last state against binary64:
            uncompensated, with the predicted loss added to each increment, and with the plain
            carry.
    """

    explained: float
    none: float
    predicted: float
    carried: float

    @property
    def helps(self) -> bool:
        """Whether the predictor is better than the carry."""
        return self.predicted < self.carried


def evaluate_predictor(
    predictor: Predictor, start, increments, backend: str | Backend
) -> PredictorReport:
    """Compensate a state with a predictor and with the plain carry.

    Args:
        predictor: fitted.
        start, increments, backend: as in `residual_series`.
    """
    truth = np.asarray(start, np.float64) + np.asarray(increments, np.float64).sum(axis=0)

    def error(state) -> float:
        return float(np.sqrt(np.mean((state - truth) ** 2)))

    plain, losses = _run(start, increments, backend, None)
    predicted, _ = _run(start, increments, backend, predictor)
    carried = CarriedUpdate(backend)
    state = _prepared(start, carried.backend).copy()
    for increment in _prepared(increments, carried.backend):
        carried(state, increment)
    predictor.begin(losses.shape[1])
    guesses = [predictor.next(None), *(predictor.next(row) for row in losses[:-1])]
    missed = np.mean((losses - np.array(guesses)) ** 2)
    explained = 1.0 - missed / np.mean((losses - losses.mean()) ** 2)
    return PredictorReport(float(explained), error(plain), error(predicted), error(state))


def _run(start, increments, backend, predictor: Predictor | None):
    """The last state (float64) and the losses of all updates, in units of a rounding."""
    backend = resolve_backend(backend)
    update = lift(plain_update, backend, trust_inputs=True)
    state, increments = _prepared(start, backend).copy(), _prepared(increments, backend)
    losses = np.empty(increments.shape)
    latest = None
    if predictor is not None:
        predictor.begin(state.size)
    for n, increment in enumerate(increments):
        unit = backend.compute.rounding_error * _power_below(state)
        whole = increment
        if predictor is not None:
            wanted = increment.astype(np.float64) + unit * predictor.next(latest)
            whole = _prepared(wanted, backend)
        before = state.astype(np.float64)
        update(state, whole)
        latest = (before + whole.astype(np.float64) - state.astype(np.float64)) / unit
        losses[n] = latest
    return state.astype(np.float64), losses


def _power_below(state: np.ndarray) -> np.ndarray:
    """The power of two below |x|; 1 for 0."""
    fraction, exponent = np.frexp(np.where(state == 0.0, 1.0, state).astype(np.float64))
    return np.ldexp(np.ones_like(fraction), exponent - 1)


def _prepared(values, backend: Backend) -> np.ndarray:
    return np.ascontiguousarray(quantize(np.asarray(values), backend).astype(backend.carrier))


def _check_series(series: np.ndarray, least: int) -> None:
    if np.ndim(series) != 2 or series.shape[0] < least or not np.isfinite(series).all():
        raise InputError(
            f"a series of losses has shape {np.shape(series)}; accepted: finite numbers (steps, "
            f"elements) with at least {least} steps"
        )
