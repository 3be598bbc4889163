"""Age of air: a tracer that grows by a day a day, and is renewed near the ground.

Run `sciprec run examples:age_of_air`, or from Python
`climate.run("held_suarez", "T21", 200, tracers={"age": 0.0}, forcing="examples:age_of_air.py")`.
"""

from sciprec import climate


@climate.forcing(
    parameters={"ageing": (1.0, "1/day"), "renewal": (8.0, "1/day"), "top": (0.7, "1")},
    tracers=("age",),
)
def age_of_air(fields, t, p, out):
    """Days since the air was near the ground, below the level `top` of sigma."""
    levels, nlat, nlon = fields.age.shape
    for k in range(levels):
        near = max(0.0, (fields.sigma[k] - p.top) / (1.0 - p.top))
        for j in range(nlat):
            for i in range(nlon):
                if near > 0.0:
                    out.age[k, j, i] -= p.renewal * near * fields.age[k, j, i]
                else:
                    out.age[k, j, i] += p.ageing
