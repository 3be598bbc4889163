"""The stages of the climate's models, for policies of mixed precision."""

from __future__ import annotations

from sciprec.precision.assigning.policies import Stage

_EQUATIONS, _STEPPING = "sciprec/climate/equations", "sciprec/climate/stepping"
_TRANSFORM = "sciprec/climate/transform"
_SHALLOW = f"{_EQUATIONS}/shallow_water_kernels.py"
_LEGENDRE = ((f"{_TRANSFORM}/legendre_stage.py", ""),)

CLIMATE_STAGES = (
    Stage(
        "state update",
        ((f"{_STEPPING}/schemes.py", ""), (f"{_STEPPING}/levels.py", "")),
        denied=True,
        why="an increment is far smaller than the state: its rounding adds up from step to step",
    ),
    Stage(
        "products on the grid",
        ((_SHALLOW, "grid_fluxes"), (f"{_EQUATIONS}/primitive_grid.py", ""),
         (f"{_EQUATIONS}/barotropic_vorticity.py", "vorticity_fluxes"),
         (f"{_EQUATIONS}/advection.py", "tracer_fluxes")),
        why="local products, whose errors do not add up",
    ),
    Stage(
        "spectral terms",
        ((_SHALLOW, "grid_spectra"), (_SHALLOW, "spectral_tendency"),
         (f"{_EQUATIONS}/primitive_spectral.py", ""), (f"{_EQUATIONS}/spherical.py", ""),
         (f"{_EQUATIONS}/barotropic_vorticity.py", "rotation_spectra"),
         (f"{_EQUATIONS}/barotropic_vorticity.py", "turn_vorticity"),
         (f"{_EQUATIONS}/barotropic_vorticity.py", "flux_convergence")),
        why="winds, pressure gradient, gravity and divergence of fluxes, by coefficient",
    ),
    Stage(
        "Legendre products", _LEGENDRE, ("product",), allowed=True,
        why="most of the arithmetic, and what matrix units multiply in half precision",
    ),
    Stage(
        "Legendre sums", _LEGENDRE, ("accumulate", "add", "sub"),
        why="sums of many products; a matrix unit keeps them wide",
    ),
    Stage(
        "Fourier",
        ((f"{_TRANSFORM}/fft.py", ""), (f"{_TRANSFORM}/real_fourier.py", ""),
         (f"{_TRANSFORM}/fourier.py", "")),
        why="a few operations for each number",
    ),
    Stage(
        "implicit solve",
        ((_SHALLOW, "gravity_waves"), (_SHALLOW, "solve_gravity_waves"),
         (f"{_EQUATIONS}/primitive_implicit.py", "")),
        denied=True,
        why="it is part of the step, and cancels what the explicit part has",
    ),
    Stage(
        "columns", ((f"{_EQUATIONS}/vertical.py", ""), (f"{_EQUATIONS}/held_suarez.py", "")),
        why="hydrostatic balance, compression and forcing, column by column",
    ),
)  # fmt: skip
"""In the order of a step; diffusion is part of the state's update. What no stage has (the mass
fixer) is as most of the model is."""
