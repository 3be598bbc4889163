"""The stages of a step of shallow water on the roofline, by operations and bytes that are counted.

Every load and store counts as traffic with memory, as everywhere in `machine.cost`: what caches
keep is not modelled, so that the arithmetic intensity is a lower bound of what a machine would see.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from sciprec.climate.running.lifted_model import Model, conversion_of
from sciprec.climate.running.request import check_request
from sciprec.climate.stepping.levels import apply_increment
from sciprec.climate.transform.grid import GaussianGrid
from sciprec.climate.transform.legendre_stage import legendre_analysis, legendre_synthesis
from sciprec.climate.transform.real_fourier import fft_analysis, fft_synthesis
from sciprec.machine import roofline
from sciprec.machine.work import Work
from sciprec.precision import lift

BACKEND = "fp16"
"""An arithmetic for which both machines have a rate."""
MACHINES = ("mlu370", "a100")


def measure_rooflines(small: bool, say: Callable[[str], None]) -> list[dict[str, Any]]:
    """Operations, bytes and operations per byte of each stage, with the ridge points of machines.

    Args:
        small: at T10 in place of T42.
        say: is told what is being counted.

    Returns:
        A dictionary per stage: stage, truncation, operations and bytes of one call, intensity, and
        for each machine its ridge (operations per byte at which arithmetic and memory take the same
        time) and what bounds the stage there, modelled.
    """
    truncation = "T10" if small else "T42"
    say(f"operations and bytes of the stages of a step at {truncation}")
    found = []
    for stage, (kernel, arguments) in _stages(truncation).items():
        work = Work.of_profile(lift(kernel, BACKEND).profile(*arguments), BACKEND)
        row: dict[str, Any] = {
            "stage": stage, "truncation": truncation, "operations": work.operations,
            "bytes": work.bytes_moved, "intensity": work.intensity,
        }  # fmt: skip
        for machine in MACHINES:
            modelled = roofline(work, machine, BACKEND)
            row[machine] = {"ridge": modelled.ridge, "bound": modelled.bound}
        found.append(row)
    return found


def _stages(truncation: str) -> dict[str, tuple[Callable, tuple]]:
    """Stage -> its kernel and what it is called with, of flow over a mountain."""
    request = check_request("williamson_5", truncation, 1.0, step_seconds=600.0)
    grid = GaussianGrid(request.truncation)
    places = grid.lon_radians[:, None], grid.lat_radians[None, :]
    initial = request.case.initial(*places, **request.parameters.case)
    convert = conversion_of(request, initial)
    model = Model(request, convert)
    spectra, fields, products, coefficients, transforms, own, *_ = model.work
    fourier, weights, sums, work = transforms
    (functions, waves), (weighted, back) = model.tables
    state = convert.to_state(initial)
    first, second, third = request.equations.kernels
    some = spectra[:, : 2 * fourier.shape[0]]
    less = coefficients[:, : 2 * fourier.shape[0]]
    count, made = fourier.shape[0], np.zeros_like(state)
    flat = state.ravel()
    constants = model.constants
    return {
        "spectra of the equations": (first, (state, constants, spectra)),
        "Legendre synthesis": (legendre_synthesis, (some, functions, weights, sums, fourier)),
        "Fourier synthesis": (fft_synthesis, (fourier, waves, work, fields[:count])),
        "products on the grid": (second, (fields, constants, own, products)),
        "Fourier analysis": (fft_analysis, (products[:count], back, work, fourier)),
        "Legendre analysis": (legendre_analysis, (fourier, weighted, weights, sums, less)),
        "tendency": (third, (state, coefficients, constants, made)),
        "state update": (apply_increment, (flat, flat, np.zeros_like(flat), made.ravel())),
    }


def roofline_rows(measured: list[dict[str, Any]]) -> list[dict[str, str]]:
    """The rows of a table."""
    rows = []
    for entry in measured:
        row = {
            "stage": entry["stage"], "operations": f"{entry['operations']:,.0f}",
            "bytes": f"{entry['bytes']:,.0f}", "operations a byte": f"{entry['intensity']:.3f}",
        }  # fmt: skip
        for machine in MACHINES:
            told = entry[machine]
            row[f"ridge, {machine}"] = f"{told['ridge']:.3g} ({told['bound']})"
        rows.append(row)
    return rows
