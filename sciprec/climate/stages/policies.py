"""The stages of the climate's models, for policies of mixed precision."""

from sciprec.instruments.assigning.stages import Stage

_EQUATIONS, _STEPPING = "sciprec/climate/equations", "sciprec/climate/stepping"
_TRANSFORM = "sciprec/climate/transform"
_SHALLOW, _GRID = f"{_EQUATIONS}/shallow_water_kernels.py", f"{_EQUATIONS}/primitive_grid.py"
_SPECTRAL, _COLUMN = f"{_EQUATIONS}/primitive_spectral.py", f"{_EQUATIONS}/vertical.py"
_VORTICITY, _LEVELS = f"{_EQUATIONS}/barotropic_vorticity.py", f"{_STEPPING}/levels.py"
_TRACERS = f"{_EQUATIONS}/tracers.py"
_FORCED = f"{_EQUATIONS}/forced.py"
_LEGENDRE = ((f"{_TRANSFORM}/legendre_stage.py", ""),)
_UPDATES = ("apply_increment", "carry_increment", "share_increment")

CLIMATE_STAGES = (
    Stage(
        "state update",
        (
            (f"{_STEPPING}/schemes.py", ""), (_LEVELS, "filter_levels"),
            (_LEVELS, "filter_carried_levels"),
            *((_LEVELS, function, "updated", "state") for function in _UPDATES),
        ),
        denied=True,
        why="an increment is far smaller than the state: its rounding adds up from step to step",
    ),
    Stage(
        "diffusion", tuple((_LEVELS, function, "lost") for function in _UPDATES), denied=True,
        why="part of the state's update, with damping of the whole state",
    ),
    Stage(
        "products on the grid",
        (
            (_SHALLOW, "grid_fluxes"), (_GRID, "mass_flux", "below", "sinking"),
            (_GRID, "momentum_products", "force", "eastward", "northward"),
            (_GRID, "thermal_products", "east", "north", "expanded", "rate", "gained", "heating",
             "zonal", "meridional", "energy", "pressure"),
            (_VORTICITY, "vorticity_fluxes"), (f"{_EQUATIONS}/advection.py", "tracer_fluxes"),
            (_TRACERS, "carried_flat"), (_TRACERS, "carried_row", "along", "out"),
        ),
        why="local products, whose errors do not add up",
    ),
    Stage(
        "pressure gradient and gravity",
        (
            (_SHALLOW, "spectral_tendency", "pressure_re", "pressure_im", "gravity_re",
             "gravity_im"),
            (_GRID, "momentum_products", "pressure"),
            (_SPECTRAL, "primitive_spectral_tendency", "level_re", "level_im", "work", "work_im"),
            (_COLUMN, "hydrostatic"),
        ),
        why="terms of fast waves, by coefficient and column",
    ),
    Stage(
        "advection",
        (
            (_SHALLOW, "spectral_tendency", "north_re", "north_im", "east_re", "east_im",
             "depth_re", "depth_im", "tendency"),
            (_GRID, "mass_flux", "along"),
            *((_GRID, f, "from_below", "moved") for f in ("momentum_products", "thermal_products")),
            (_SPECTRAL, "primitive_spectral_tendency", "curl", "curl_im", "spread", "spread_im",
             "flux", "flux_im", "tendency"),
            (_VORTICITY, "flux_convergence"), (_TRACERS, "carried_row", "moved"),
            (_TRACERS, "slopes_of_coefficient"), (_TRACERS, "tracer_tendency"),
        ),
        why="divergence and curl of fluxes, and what vertical winds carry",
    ),
    Stage(
        "winds and rotation",
        (
            (_SHALLOW, "grid_spectra"), (_SPECTRAL, "primitive_spectra"),
            (f"{_EQUATIONS}/spherical.py", "coriolis_terms"), (_VORTICITY, "rotation_spectra"),
            (_VORTICITY, "turn_vorticity"),
        ),
        why="winds from vorticity and divergence, and Coriolis terms, by coefficient",
    ),
    Stage(
        "Legendre products", _LEGENDRE, ("product",), allowed=True,
        why="most of the arithmetic, and what matrix units multiply in half precision",
    ),
    Stage(
        "Legendre sums", _LEGENDRE, ("accumulate", "add", "sub", "mul"),
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
        "columns", ((_COLUMN, "compression"), (f"{_EQUATIONS}/held_suarez.py", ""),
                    (_FORCED, "")),
        why="compression and forcing, column by column",
    ),
)  # fmt: skip
"""In the order of a step. What no stage has (the mass fixer) is as most of the model is."""
