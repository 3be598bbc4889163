"""The chemistry of the terminator: what an arithmetic does with a sum that nature keeps.

Sunlight splits Cl2 into two Cl, which join again in the dark: each changes by day and night, and
Cl + 2 Cl2 never. Run it as a script, as `sciprec run examples:terminator_chemistry`, or give
`forcing="examples:terminator_chemistry.py"` to `climate.run` with `TRACERS`.

Source: Lauritzen et al. (2015), Geosci. Model Dev. 8, 1299, eqs 6 to 10 and appendix.
Differs from the source: amounts are in units of 1e-6 and rates per minute, so that half precision
holds them; the difference of a square root and r, which would cancel, is multiplied out; and
negative amounts, which advection on waves makes, do not join in the dark: they would run away.
"""

import numpy as np

from sciprec import climate

TRACERS = {"cl": (0.0, "1e-6"), "cl2": (2.0, "1e-6")}
MIDDAY = {"north": (20.0, "degrees"), "east": (300.0, "degrees")}


@climate.forcing(
    parameters=MIDDAY | {"split": (1.0, "1"), "join": (1e-6, "1"), "minutes": (20.0, "1")},
    tracers=("cl", "cl2"),
)
def terminator_chemistry(fields, t, p, out):
    """The exact change in a step of `minutes`; `split` k1 and `join` k2 are rates per second."""
    for k in range(fields.cl.shape[0]):
        for j in range(fields.cl.shape[1]):
            for i in range(fields.cl.shape[2]):
                angle = fields.longitude[i] - p.east
                light = np.cos(fields.latitude[j]) * np.cos(p.north) * np.cos(angle)
                light = max(0.0, light + np.sin(fields.latitude[j]) * np.sin(p.north))
                cl = fields.cl[k, j, i]
                total = cl + 2.0 * fields.cl2[k, j, i]
                joined = 60.0 * p.join * p.minutes * max(0.0, cl)
                change = -2.0 * joined * cl / (1.0 + 2.0 * joined)
                if light > 0.0:
                    share = 4.0 * p.join / (p.split * light)
                    root = np.sqrt(max(0.0, 1.0 + 2.0 * share * total))
                    left = np.exp(-(60.0 * p.split * p.minutes * light * root))
                    steady = 2.0 * total / (1.0 + root)
                    change = (1.0 - left) * (steady - cl) * (1.0 + root + share * cl)
                    change /= (1.0 + left) * root + (1.0 - left) * (1.0 + share * cl)
                out.cl[k, j, i] += change * (1440.0 / p.minutes)
                out.cl2[k, j, i] -= 0.5 * change * (1440.0 / p.minutes)


def told(flow):
    """The largest error of Cl + 2 Cl2 against 4, and the share of negative amounts in per cent."""
    last = flow.isel(time=-1)
    negative = ((last["cl"] < 0.0).mean() + (last["cl2"] < 0.0).mean()) / 2.0
    return float(abs(last["cl"] + 2.0 * last["cl2"] - 4.0).max()), 100.0 * float(negative)


if __name__ == "__main__":
    for backend in ("fp64", "fp32", "fp16", "bf16"):
        flow = climate.run(
            "rossby_haurwitz", "T21", 12, step_seconds=1200.0, time_scheme="rk4",
            backend=backend, tracers=TRACERS, forcing=terminator_chemistry, output_hours=288,
        )  # fmt: skip
        print(backend, *told(flow))
