"""The unstable jet of Polvani, Scott and Thomas (2004), as an initial state of one's own.

Run it as a script, or from Python `climate.run("jablonowski_williamson", initial=jet(), ...)`.
"""

import numpy as np
import xarray as xr

from sciprec import climate

RADIUS, ROTATION, GAS, SURFACE, DEEP = 6.371e6, 7.292e-5, 287.0, 1e5, 7340.0
STANDARD_KM = [0.0, 11.0, 20.0, 32.0, 47.0, 51.0, 71.0]
STANDARD_K = [288.15, 216.65, 216.65, 228.65, 270.65, 270.65, 214.65]


def wind(lat, z):
    """U = 50 m/s sin(pi sin(lat)^2)^3 F(z) in the northern half (their eqs 2 and 3)."""
    shape = 0.5 * (1.0 - np.tanh((z - 22e3) / 5e3) ** 3) * np.sin(np.pi * z / 30e3)
    return np.where(lat > 0, 50.0 * np.sin(np.pi * np.sin(lat) ** 2) ** 3, 0.0) * shape


def jet(levels=20, nlat=361, nlon=256, bump=1.0):
    """u, v, temperature and surface pressure; `bump` is the height of the perturbation in K."""
    lat, lon = np.radians(np.linspace(-90.0, 90.0, nlat)), 2 * np.pi * np.arange(nlon) / nlon
    sigma = (np.arange(levels) + 0.5) / levels
    z = -DEEP * np.log(sigma)[:, None]
    u = wind(lat, z)
    shear = (wind(lat, z + 1.0) - wind(lat, z - 1.0)) / 2.0
    coriolis = RADIUS * 2 * ROTATION * np.sin(lat) + 2.0 * u * np.tan(lat)
    slope = -DEEP / GAS * coriolis * shear  # dT/dlat in balance with the wind (eq 4)
    steps = 0.5 * (slope[:, 1:] + slope[:, :-1]) * np.diff(lat)
    warmth = np.concatenate([0 * z, np.cumsum(steps, axis=1)], axis=1)
    area = np.cos(lat) / np.cos(lat).sum()
    standard = np.interp(z / 1e3, STANDARD_KM, STANDARD_K)
    warmth += standard - (warmth * area).sum(axis=1, keepdims=True)
    east = np.where(lon > np.pi, lon - 2 * np.pi, lon)
    hill = bump / np.cosh(3 * east) ** 2 / np.cosh(6 * (lat[:, None] - np.pi / 4)) ** 2
    flat, axes = np.zeros((nlat, nlon)), ("sigma", "lat", "lon")
    air = {"u": u[..., None] + flat, "v": 0 * u[..., None] + flat, "temperature":
           warmth[..., None] + hill}  # fmt: skip
    units = {"u": "m s-1", "v": "m s-1", "temperature": "K"}
    fields = {name: (axes, x, {"units": units[name]}) for name, x in air.items()}
    ground = {"surface_pressure": (flat + SURFACE, "Pa"), "orography": (flat, "m")}
    fields |= {name: (axes[1:], x, {"units": unit}) for name, (x, unit) in ground.items()}
    places = {"sigma": sigma, "lat": np.degrees(lat), "lon": np.degrees(lon)}
    return xr.Dataset(fields, places)


if __name__ == "__main__":
    flow = climate.run(
        "jablonowski_williamson", "T42", 12, initial=jet(), levels=20, viscosity=7e5
    )
    print(abs(flow["v"].isel(sigma=-1)).max(("lat", "lon")).values.round(2))
