"""Learned predictors of losses: their training, their accuracy, and that the carry is better."""

import numpy as np
import pytest

from sciprec.climate.running.integration import integrate
from sciprec.errors import InputError
from sciprec.precision import quantize, resolve_backend
from sciprec.precision.sums.predictor import (
    LinearPredictor,
    RecurrentPredictor,
    evaluate_predictor,
    residual_series,
    squared_error,
)

ELEMENTS = 16


def increments(kind, backend, steps, seed):
    """Uniform or oscillating increments of some units of a rounding."""
    u, rng = resolve_backend(backend).compute.rounding_error, np.random.default_rng(seed)
    drawn = {
        "random": lambda: rng.uniform(0, 10 * u, (steps, ELEMENTS)),
        "waves": lambda: 20 * u * np.cos(
            np.arange(steps)[:, None] * rng.uniform(0.005, 0.05, ELEMENTS)
        ),
    }[kind]()  # fmt: skip
    return quantize(drawn, backend)


def start(backend):
    return quantize(np.random.default_rng(9).uniform(1.0, 1.9, ELEMENTS), backend)


def fitted(kind, backend):
    series = residual_series(start(backend), increments(kind, backend, 300, 1), backend)
    return LinearPredictor.fit(series), RecurrentPredictor.fit(series, units=4, iterations=60)


def test_losses_have_the_range_of_the_rounding():
    truncated = residual_series(start("mlu370"), increments("random", "mlu370", 200, 1), "mlu370")
    assert 0.0 <= truncated.min() and truncated.max() < 1.0
    assert truncated.mean() == pytest.approx(0.5, abs=0.03)
    nearest = residual_series(start("fp32"), increments("random", "fp32", 200, 1), "fp32")
    assert np.abs(nearest).max() <= 1.0 and abs(nearest.mean()) < 0.05


def test_gradient_of_the_recurrent_cell_is_the_difference_quotient():
    rng, units = np.random.default_rng(3), 3
    series, at = rng.normal(size=(7, 5)), 0.5 * rng.normal(size=units * units + 3 * units + 1)
    _, gradient = squared_error(at, series, units)
    for i, slope in enumerate(gradient):
        step = np.zeros_like(at)
        step[i] = 1e-6
        rise = (
            squared_error(at + step, series, units)[0] - squared_error(at - step, series, units)[0]
        )
        assert slope == pytest.approx(rise / 2e-6, rel=1e-5, abs=1e-8)


def autoregressive(steps=800):
    rng = np.random.default_rng(5)
    series = np.zeros((steps, 8))
    for n in range(2, steps):
        series[n] = 0.3 + 0.5 * series[n - 1] - 0.4 * series[n - 2] + 0.1 * rng.normal(size=8)
    return series


def test_linear_predictor_finds_an_autoregression():
    found = LinearPredictor.fit(autoregressive(), order=3)
    np.testing.assert_allclose([found.constant, *found.weights], [0.3, 0.5, -0.4, 0.0], atol=0.04)


def test_recurrent_cell_predicts_an_autoregression():
    series = autoregressive(300)
    cell = RecurrentPredictor.fit(series, units=4, iterations=80)
    cell.begin(8)
    guesses = np.array([cell.next(row) for row in series[:-1]])
    missed = np.mean((series[1:] - guesses) ** 2)
    assert missed < 1.05 * 0.1**2 < 0.8 * series.var()  # the noise is all that is left
    parameters = np.concatenate(
        [cell.inward, cell.across.ravel(), cell.bias, cell.outward, [cell.level]]
    )
    assert squared_error(parameters, series, 4)[0] == pytest.approx(missed, rel=1e-12)


@pytest.mark.parametrize(
    ("backend", "kind"),
    [("mlu370", "random"), pytest.param("mlu370", "waves", marks=pytest.mark.slow),
     pytest.param("fp32", "waves", marks=pytest.mark.slow)],
)  # fmt: skip
def test_predicting_the_loss_does_not_help_beside_carrying_it(backend, kind):
    """The finding that the documentation states: the carry is better in every case."""
    for predictor in fitted(kind, backend):
        report = evaluate_predictor(
            predictor, start(backend), increments(kind, backend, 1500, 2), backend
        )
        assert not report.helps
        assert report.carried < report.none
        u = resolve_backend(backend).compute.rounding_error
        assert report.carried < 2 * u
        if kind == "random":
            assert report.explained < 0.02
        if backend == "mlu370":
            assert report.predicted < report.none / 10


def climate_heights():
    """1 + height / 16 km at 16 places of a Rossby-Haurwitz wave in binary64, (steps + 1, 16)."""
    run = integrate("williamson_6", "T21", 5, output_hours=1 / 3)
    places = run.fields["height"][:, 4::8, ::16][:, :, :4].reshape(len(run.time_days), -1)
    return 1.0 + places / 16000.0


@pytest.mark.slow
def test_predicting_the_loss_of_a_climate_model_does_not_help_either():
    """Trained on the first half of a run coupled with binary64, judged by the second."""
    heights, backend = climate_heights(), "mlu370"
    changes = quantize(np.diff(heights, axis=0), backend)
    half = len(changes) // 2
    first, middle = (quantize(heights[n], backend) for n in (0, half))
    series = residual_series(first, changes[:half], backend)
    predictors = LinearPredictor.fit(series), RecurrentPredictor.fit(series, 4, 60)
    for predictor in predictors:
        report = evaluate_predictor(predictor, middle, changes[half:], backend)
        assert not report.helps
        assert report.carried < 2 * resolve_backend(backend).compute.rounding_error
        assert report.explained < 0.3


def test_message_for_a_series_that_is_none():
    with pytest.raises(InputError, match=r"has shape \(3,\); accepted: finite numbers \(steps, el"):
        LinearPredictor.fit(np.zeros(3))
    with pytest.raises(InputError, match="with at least 3 steps"):
        RecurrentPredictor.fit(np.full((5, 2), np.nan))
