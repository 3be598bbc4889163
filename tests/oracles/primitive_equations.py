"""The primitive equations in SI units, written apart from the model: pressure form of Simmons and
Burridge (1981) on the grid, advective temperature equation, projections by dense matrices.
"""

import numpy as np
from scipy.special import factorial, lpmv


class Sphere:
    """Spherical harmonics up to a truncation as dense matrices on a Gaussian grid.

    Points are (latitude, longitude) flattened; harmonics (l, m) with 0 <= m <= l <= truncation.
    """

    def __init__(self, truncation, nlat, nlon, radius):
        sine, weights = np.polynomial.legendre.leggauss(nlat)
        lon = 2 * np.pi * np.arange(nlon) / nlon
        x, angle = (a.ravel() for a in np.meshgrid(sine, lon, indexing="ij"))
        self.weights = np.repeat(weights / 2, nlon) / nlon
        self.cosine, self.sine, self.radius = np.sqrt(1 - x * x), x, radius
        self.pairs = [(n, m) for m in range(truncation + 1) for n in range(m, truncation + 1)]
        values, slopes = zip(*(self._function(n, m, x) for n, m in self.pairs), strict=True)
        waves = np.array([np.exp(1j * m * angle) for _, m in self.pairs])
        self.order = np.array([m for _, m in self.pairs])
        self.degree = np.array([n for n, _ in self.pairs])
        self.values = (np.array(values) * waves).T
        self.northward = (np.array(slopes) * waves).T / (radius * self.cosine[:, None])
        self.eastward = 1j * self.order * self.values / (radius * self.cosine[:, None])
        self.share = np.where(self.order == 0, 1.0, 2.0)

    @staticmethod
    def _function(n, m, x):
        """P and (1 - x**2) dP/dx, of mean square 1, without the sign of Condon and Shortley."""
        scale = (-1) ** m * np.sqrt((2 * n + 1) * factorial(n - m) / factorial(n + m))
        before = lpmv(m, n - 1, x) if n > m else 0.0
        return scale * lpmv(m, n, x), scale * ((n + m) * before - n * x * lpmv(m, n, x))

    def field(self, coefficients, functions=None):
        """The real field of complex coefficients."""
        functions = self.values if functions is None else functions
        return (functions @ (self.share * coefficients)).real

    def project(self, field, functions=None):
        """Coefficients: the integral of the field with the conjugate functions."""
        functions = self.values if functions is None else functions
        return functions.conj().T @ (self.weights * field)

    def wind(self, vorticity, divergence):
        """(u, v) of coefficients of vorticity and divergence."""
        inverse = -(self.radius**2) / np.maximum(self.degree * (self.degree + 1), 1)
        psi, chi = inverse * vorticity, inverse * divergence
        u = self.field(chi, self.eastward) - self.field(psi, self.northward)
        return u, self.field(psi, self.eastward) + self.field(chi, self.northward)

    def curl(self, u, v):
        """Coefficients of the curl of a vector field, by parts."""
        return self.project(u, self.northward) - self.project(v, self.eastward)

    def div(self, u, v):
        """Coefficients of the divergence of a vector field, by parts."""
        return -self.project(u, self.eastward) - self.project(v, self.northward)

    def laplacian(self, field):
        """Coefficients of the Laplacian of a field."""
        return -self.degree * (self.degree + 1) / self.radius**2 * self.project(field)


def tendencies(sphere, half, rotation, gas, kappa, ground, vorticity, divergence, temperature, q):
    """d/dt of the coefficients of vorticity, divergence, temperature (levels, n) and ln(ps) (n,).

    Args:
        half: sigma of the half levels.
        ground: coefficients of the surface geopotential, m2/s2.
        vorticity, divergence, temperature: coefficients (levels, n), 1/s and K.
        q: coefficients of ln(surface pressure / Pa).
    """
    count = len(half) - 1
    surface = np.exp(sphere.field(q))
    slope = [surface * sphere.field(q, way) for way in (sphere.eastward, sphere.northward)]
    pressure = [s * surface for s in half]
    depth = [pressure[k + 1] - pressure[k] for k in range(count)]
    log = [np.log(half[k + 1] / half[k]) if k else 0.0 for k in range(count)]
    alpha = [1.0 - half[k] * log[k] / (half[k + 1] - half[k]) for k in range(count)]
    warm = [sphere.field(t) for t in temperature]
    u, v = zip(*(sphere.wind(*x) for x in zip(vorticity, divergence, strict=True)), strict=True)

    outflow = []
    for k in range(count):
        share = half[k + 1] - half[k]
        along = share * (u[k] * slope[0] + v[k] * slope[1])
        outflow.append(depth[k] * sphere.field(divergence[k]) + along)
    falling = -sum(outflow)
    through = [-half[k] * falling - sum(outflow[:k], 0 * surface) for k in range(count + 1)]

    phi = [None] * count
    level = sphere.field(ground)
    for k in reversed(range(count)):
        phi[k] = level + alpha[k] * gas * warm[k]
        level = level + gas * warm[k] * log[k]

    def lifted(x, k):
        total = 0 * surface
        if k < count - 1:
            total = total + through[k + 1] * (x[k + 1] - x[k])
        if k:
            total = total + through[k] * (x[k] - x[k - 1])
        return total / (2 * depth[k])

    out = [], [], []
    for k in range(count):
        share = half[k + 1] - half[k]
        push = [gas * warm[k] / depth[k] * (log[k] * half[k] + alpha[k] * share) * s for s in slope]
        spin = sphere.field(vorticity[k]) + 2 * rotation * sphere.sine
        force = spin * v[k] - lifted(u, k) - push[0], -spin * u[k] - lifted(v, k) - push[1]
        energy = 0.5 * (u[k] ** 2 + v[k] ** 2) + phi[k]
        out[0].append(sphere.curl(*force))
        out[1].append(sphere.div(*force) - sphere.laplacian(energy))
        work = -log[k] * sum(outflow[:k], 0 * surface) - alpha[k] * outflow[k]
        work = kappa * warm[k] / depth[k] * work
        work = work + kappa / gas * (u[k] * push[0] + v[k] * push[1])
        ways = sphere.eastward, sphere.northward
        east, north = (sphere.field(temperature[k], way) for way in ways)
        out[2].append(sphere.project(work - u[k] * east - v[k] * north - lifted(warm, k)))
    return *(np.array(x) for x in out), sphere.project(falling / surface)
