"""The forcing of a run between its steps: its arrays, its clock, and tendencies that are held."""

from __future__ import annotations

import numpy as np

from sciprec.arrays.aligned import aligned_zeros
from sciprec.climate.equations.forced import EVALUATED, REFERENCE_HPA, ForcedField, offered, rows_of
from sciprec.climate.equations.registry import Conversion
from sciprec.climate.physics.forcings import named
from sciprec.climate.running.request import Request
from sciprec.climate.transform.spectral import rounded
from sciprec.precision import Backend


class HeldForcing:
    """The arrays of a forcing in one model, and which of them the next step uses.

    A step that begins from one level evaluates the forcing there and uses it; one of a leapfrog
    evaluates it at the newest level, for the next step, and uses that of the older level.

    Args:
        request: of the run, with a forcing.
        convert: of its equation set.
        backend: the arithmetic of the model.

    Attributes:
        arrays: as `equations.forced.forced_products` finds them, last in its work.
        held: (2, rows, nlon, nlat): tendencies of the levels, in the model's units.
    """

    def __init__(self, request: Request, convert: Conversion, backend: Backend) -> None:
        self._forcing, self._backend = request.forcing, backend
        assert self._forcing is not None
        self._clock = request.clock
        self._newest, self._is_known = 0, False
        self._grid = grid = convert.transform.grid
        kind = backend.carrier
        name, tracers = request.equations.name, request.tracers
        fields, out = offered(name, tracers)
        levels = convert.vertical["sigma"].size if convert.vertical else 1
        shape = levels, grid.nlat, grid.nlon
        inputs, outputs, pressure = rows_of(name, convert, tracers)
        inputs = self._used(0, inputs)
        outputs = self._used(-1, outputs) or outputs[:1]
        unused = np.zeros((1, 1, 1), kind)
        input_arrays = {row.name: aligned_zeros(shape, kind) for row in inputs}
        self._changed = {row.name: aligned_zeros(shape, kind) for row in outputs}
        of_grid = {
            "surface_pressure": aligned_zeros(shape[1:], kind),
            "latitude": rounded(np.radians(grid.lat), backend),
            "longitude": rounded(grid.lon_radians, backend),
            "sigma": rounded(convert.vertical.get("sigma", np.ones(1)), backend),
        }
        surface = [ForcedField("surface_pressure", 0, 0.0, shape)]
        is_seen = pressure is not None and self._used(0, surface)
        values = [*self._forcing.values(request.forcing_parameters).values()]
        p = [kind.type(x) for x in rounded(np.array([*values, 0.0]), backend)]
        table = named("Parameters", tuple(self._forcing.parameters) or ("none",))
        rows = levels * len(outputs)
        self.held = aligned_zeros((2, rows, grid.nlon, grid.nlat), kind)
        self._steer = np.array([0, 0, 0], np.int64)
        self._now = np.zeros(2, kind)
        self.arrays = (
            self._steer,
            (
                tuple(input_arrays.values()) or (unused,),
                np.array([row.first for row in inputs], np.int64),
                rounded(np.array([row.offset for row in inputs]), backend),
                rounded(np.array([row.factor for row in inputs]).reshape(-1, grid.nlat), backend),
                (
                    np.array([pressure] if is_seen else [], np.int64),
                    rounded(np.array([REFERENCE_HPA]), backend), of_grid["surface_pressure"],
                ),
                named("Fields", fields)(*((of_grid | input_arrays).get(n, unused) for n in fields)),
            ),
            (
                tuple(self._changed.values()),
                np.arange(len(outputs)) * levels,
                rounded(np.array([row.factor for row in outputs]), backend),
                named("Tendencies", out)(*(self._changed.get(n, unused) for n in out)),
                table(*p[: len(table._fields)]),
                np.array([row.first + k for row in outputs for k in range(levels)], np.int64),
            ),
            self.held,
            np.array(grid.south_to_north, np.int64),
            self._now,
        )  # fmt: skip

    def _used(self, place: int, rows: list[ForcedField]) -> list[ForcedField]:
        """The rows that the forcing's kernel names in an argument."""
        used = self._forcing.used(place, [row.name for row in rows])
        return [row for row in rows if row.name in used]

    def within(self, work: tuple) -> tuple:
        """The work of a tendency, with the arrays of the forcing in that of the equations."""
        return *work[:5], (*work[5], self.arrays), *work[6:]

    def begin(self, steps: int, levels: int) -> None:
        """A step begins.

        Args:
            steps: made before.
            levels: with which it begins.
        """
        self._now[:] = self._clock.time(steps, self._backend)
        added = written = self._newest
        if levels > 1 and self._is_known:
            written = 1 - added
        self._steer[:] = 1, written, added
        self._newest, self._is_known = written, True

    def evaluated(self) -> None:
        """The step's forcing is known; its other tendencies use it."""
        self._steer[EVALUATED] = 0

    def again(self) -> None:
        """The step that has begun is made once more."""
        self._steer[EVALUATED] = 1

    def state(self) -> np.ndarray | None:
        """The tendencies that the next step of a leapfrog uses (rows, nlon, nlat); None before the
        first.
        """
        return self.held[self._newest] if self._is_known else None

    def follow(self, other: HeldForcing) -> None:
        """Hold what the forcing of another model holds, whose step has begun or is about to."""
        self.held[...] = rounded(other.held.astype(np.float64), self._backend)
        self._now[:] = rounded(other._now.astype(np.float64), self._backend)
        self._steer[:] = other._steer
        self._newest, self._is_known = other._newest, other._is_known
        self.again()

    def restore(self, state: np.ndarray | None) -> None:
        """Go on from the `state` of another model; from None as at the start."""
        self._is_known = state is not None
        if state is not None:
            self.held[self._newest][...] = rounded(state.astype(np.float64), self._backend)

    def lost(self) -> str:
        """Name the tendencies that are not finite, and where they are; empty where all are."""
        for values in self.held:
            places = np.argwhere(~np.isfinite(values))
            if places.size:
                row, i, j = (int(n) for n in places[0])
                which, level = divmod(row, values.shape[0] // len(self._changed))
                return (
                    f"the forcing '{self._forcing.name}' sets the tendency of "
                    f"{list(self._changed)[which]} to {values[row, i, j]} at level {level + 1}, "
                    f"latitude {np.degrees(self._grid.lat_radians[j]):.1f}, longitude "
                    f"{self._grid.lon[i]:.1f}"
                )
        return ""
