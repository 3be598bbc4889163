"""The shallow-water equations on the sphere, written differently from the package's model.

Plain NumPy in SI units: derivatives of Legendre functions in the quadrature instead of recurrences
between coefficients, Legendre functions from SciPy, one matrix product per zonal wavenumber, and
FFTs. It shares no code with `sciprec.climate`. Where a flow repeats itself around the sphere only
every `stride`-th zonal wavenumber is kept, which makes a high resolution cheap.

Source: Williamson et al. (1992), eqs 3 to 7; Hack and Jakob (1992), NCAR/TN-343.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import fft, special

RADIUS, ROTATION, GRAVITY = 6.37122e6, 7.292e-5, 9.80616
FILTER_PER_SECOND, FILTER_SHARE = 0.05 / 1200.0, 0.53


@dataclass(frozen=True)
class Flow:
    """Fields (nlon, nlat) at one time: height of the surface (m), vorticity, divergence (1/s)."""

    height: np.ndarray
    vorticity: np.ndarray
    divergence: np.ndarray


class ShallowWater:
    """A spectral shallow-water model.

    Args:
        number: triangular truncation T.
        nlat: Gaussian latitudes, even.
        nlon: longitudes of the whole circle, a multiple of the stride.
        stride: zonal wavenumbers kept are its multiples.
    """

    def __init__(self, number: int, nlat: int, nlon: int, stride: int = 1) -> None:
        self.number, self.nlat, self.nlon, self.stride = number, nlat, nlon, stride
        self.orders = np.arange(0, number + 1, stride)
        self.degrees = np.arange(number + 1)
        nodes, weights = np.polynomial.legendre.leggauss(nlat)
        self.north, self.weights = nodes[::-1][: nlat // 2], 0.5 * weights[::-1][: nlat // 2]
        self.sine = np.concatenate([self.north, -self.north])
        self.cos2 = (1.0 - self.sine) * (1.0 + self.sine)
        self.lon = 2 * np.pi * np.arange(nlon // stride) / nlon
        self.parts = [self._functions(m) for m in self.orders]
        wave = self.degrees * (self.degrees + 1.0)
        self.inverse = np.where(wave > 0, 1.0 / np.maximum(wave, 1.0), 0.0)
        self.wave = wave / RADIUS**2
        self.zonal = 1j * self.orders[:, None]

    def _functions(self, m: int):
        """P and H = (1 - x**2) dP/dx of order m: first of even, then of odd l - m, (north, l)."""
        angle = np.arccos(self.north)
        value, slope = special.sph_legendre_p(
            self.degrees[m:, None], int(m), angle[None, :], diff_n=1
        )
        scale = (-1.0) ** m * np.sqrt(4 * np.pi)
        p, h = scale * value.T, -scale * np.sin(angle)[:, None] * slope.T
        return [np.ascontiguousarray(t[:, odd::2]) for odd in (0, 1) for t in (p, h)]

    def synthesis(self, plain: np.ndarray, sloped: np.ndarray) -> np.ndarray:
        """Fields of coefficients times P plus, for the last ones, coefficients times H.

        Args:
            plain: (orders, degrees, fields) complex.
            sloped: (orders, degrees, at most fields) complex, added to the last fields.

        Returns:
            (fields, nlon / stride, nlat), northern latitudes first, both halves from the pole.
        """
        fields, last = plain.shape[2], -2 * sloped.shape[2]
        waves = np.zeros((fields, self.orders.size, self.nlat), complex)
        half = self.nlat // 2
        for k, (m, (p_even, h_even, p_odd, h_odd)) in enumerate(
            zip(self.orders, self.parts, strict=True)
        ):
            same, other = p_even @ _real(plain[k, m::2]), p_odd @ _real(plain[k, m + 1 :: 2])
            if last:
                same[:, last:] += h_odd @ _real(sloped[k, m + 1 :: 2])
                other[:, last:] += h_even @ _real(sloped[k, m::2])
            waves[:, k, :half] = (same + other).view(complex).T
            waves[:, k, half:] = (same - other).view(complex).T
        return fft.irfft(waves, self.lon.size, axis=1, norm="forward")

    def analysis(self, plain: np.ndarray, sloped: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Means over the sphere of fields times P, and of fields times H.

        Args:
            plain, sloped: (fields, nlon / stride, nlat).

        Returns:
            Both as (orders, degrees, fields), complex.
        """
        out = [np.zeros((self.orders.size, self.degrees.size, x.shape[0]), complex)
               for x in (plain, sloped)]  # fmt: skip
        weights, half = np.tile(self.weights, 2), self.nlat // 2
        plain, sloped = (
            fft.rfft(x, axis=1, norm="forward")[:, : self.orders.size] * weights
            for x in (plain, sloped)
        )
        for k, (m, (p_even, h_even, p_odd, h_odd)) in enumerate(
            zip(self.orders, self.parts, strict=True)
        ):
            for x, to, even, odd in (
                (plain, out[0], p_even, p_odd), (sloped, out[1], h_odd, h_even)
            ):  # fmt: skip
                turned = x is sloped
                same = _real((x[:, k, :half] + x[:, k, half:]).T)
                other = _real((x[:, k, :half] - x[:, k, half:]).T)
                to[k, m + turned :: 2] = (even.T @ same).view(complex)
                to[k, m + 1 - turned :: 2] = (odd.T @ other).view(complex)
        return out[0], out[1]

    def coefficients(self, fields: np.ndarray) -> np.ndarray:
        """Coefficients (orders, degrees, fields) of fields (fields, nlon / stride, nlat)."""
        return self.analysis(fields, fields[:0])[0]

    def winds(self, vorticity: np.ndarray, divergence: np.ndarray):
        """Coefficients of u cos(lat) and v cos(lat): those of P and those of H, in m/s."""
        vorticity, divergence = (RADIUS * self.inverse * x for x in (vorticity, divergence))
        return (
            np.stack([-self.zonal * divergence, -self.zonal * vorticity], -1),
            np.stack([vorticity, -divergence], -1),
        )

    def fields(self, state: np.ndarray) -> np.ndarray:
        """Vorticity, geopotential anomaly, u cos(lat), v cos(lat) of a state, on the grid."""
        plain, sloped = self.winds(state[..., 0], state[..., 1])
        scalars = np.stack([state[..., 0], state[..., 2]], -1)
        return self.synthesis(np.concatenate([scalars, plain], -1), sloped)


def _real(x: np.ndarray) -> np.ndarray:
    """A complex matrix as one of real columns in turn."""
    return np.ascontiguousarray(x).view(np.float64)


class Integration:
    """A flow on its way: semi-implicit leapfrog with filter, or Runge and Kutta's scheme.

    Args:
        model: the transforms.
        flow: the initial fields on the model's grid, `ground` (m) and `coriolis` (1/s) beside it.
        mean_height: the height in m that the state is an anomaly from.
        step: s.
        diffusion: nu of (-1)**(order/2 + 1) nu laplacian**(order/2), implicit, on everything.
        order: 2 or 4.
    """

    def __init__(
        self, model: ShallowWater, flow: Flow, ground, coriolis, mean_height: float, step: float,
        diffusion: float = 0.0, order: int = 4,
    ) -> None:  # fmt: skip
        self.model, self.step, self.coriolis = model, step, coriolis
        self.mean = GRAVITY * mean_height
        self.relief = model.coefficients(ground[None])
        self.ground = GRAVITY * model.synthesis(self.relief, self.relief[..., :0])[0]
        given = np.stack([flow.vorticity, flow.divergence, GRAVITY * flow.height - self.mean])
        self.state = model.coefficients(given)
        self.previous = None
        self.rate = diffusion * (model.wave ** (order // 2))[:, None]

    def tendency(self, state: np.ndarray) -> np.ndarray:
        """d/dt of the coefficients (orders, degrees, 3)."""
        model = self.model
        vorticity, surface, u_cos, v_cos = model.fields(state)
        along, across = u_cos / model.cos2, v_cos / model.cos2
        absolute, depth = vorticity + self.coriolis, surface - self.ground
        a, b, c, d = (q * w / RADIUS for q in (absolute, depth) for w in (along, across))
        energy = 0.5 * (u_cos * along + v_cos * across)
        plain, sloped = model.analysis(np.stack([a, b, c, energy]), np.stack([b, a, d]))
        zonal, wave = model.zonal, model.wave
        out = np.empty_like(state)
        out[..., 0] = sloped[..., 0] - zonal * plain[..., 0]
        out[..., 1] = sloped[..., 1] + zonal * plain[..., 1]
        out[..., 1] += wave * (plain[..., 3] + state[..., 2])
        out[..., 2] = sloped[..., 2] - zonal * plain[..., 2] - self.mean * state[..., 1]
        return out

    def runge_kutta(self) -> None:
        """One step of the classical scheme, diffusion implicit after it."""
        x, dt = self.state, self.step
        first = self.tendency(x)
        second = self.tendency(x + 0.5 * dt * first)
        third = self.tendency(x + 0.5 * dt * second)
        fourth = self.tendency(x + dt * third)
        moved = x + dt / 6 * (first + 2 * second + 2 * third + fourth)
        self.state = moved / (1.0 + dt * self.rate)

    def leapfrog(self) -> None:
        """One step of the semi-implicit leapfrog; the first is one of `runge_kutta`."""
        if self.previous is None:
            self.previous = self.state
            self.runge_kutta()
            return
        before, now, dt = self.previous, self.state, self.step
        wave, slope = self.model.wave, self.tendency(now)
        known = 2 * dt * (slope[..., 1] + wave * (before - now)[..., 2])
        rising = 2 * dt * (slope[..., 2] - self.mean * (before - now)[..., 1])
        change = 2 * dt * slope
        change[..., 1] = (known + dt * wave * rising) / (1.0 + dt * dt * wave * self.mean)
        change[..., 2] = rising - dt * self.mean * change[..., 1]
        after = (before + change) / (1.0 + 2 * dt * self.rate)
        moved = min(FILTER_PER_SECOND * dt, 0.5) * ((before - now) + (after - now))
        self.previous = now + FILTER_SHARE * moved
        self.state = after - (1.0 - FILTER_SHARE) * moved
