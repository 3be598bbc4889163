"""Sets of equations on the sphere that are written at random, each with a case."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sciprec.climate.catalogue import CASES, EQUATIONS
from sciprec.foundation.loading import load_files

FORMS = ("({0} + {1})", "({0} - {1})", "({0} * {1})", "({0} * {1})", "(-{0})", "abs({0})",
         "({0} * {2})", "({0} / (abs({1}) + 1.0))", "math.sqrt(abs({0}))")  # fmt: skip


def _expression(rng: random.Random, given: list[str], depth: int) -> str:
    """Sums and products, now and then a quotient or root, of what is given."""
    if depth == 0 or rng.random() < 0.2:
        return rng.choice(given)
    one, two = (_expression(rng, given, depth - 1) for _ in range(2))
    factor = rng.choice([0.3, -1.7, 0.5, 1.0 / 3.0])
    return rng.choice(FORMS).format(one, two, repr(factor))


def source_of(seed: int) -> str:
    """A module with a set of equations and a case of it, both named after the seed."""
    rng = random.Random(f"equations {seed}")
    variables = rng.randint(1, 3)
    fields, products = rng.randint(variables, 3), rng.randint(1, 3)
    lines = ["import math", "import numpy as np", "from typing import ClassVar",
             "from sciprec.climate.cases.registry import case",
             "from sciprec.climate.equations.registry import equation_set", "",
             "def spectra(state, constants, out):",
             "    for i in range(state.shape[0]):"]  # fmt: skip
    for f in range(fields):
        turned = rng.random() < 0.3  # real and imaginary parts in turn, as a derivative has them
        for part in range(2):
            of = f"state[i, {2 * (f % variables) + (part ^ turned)}]"
            sign = "-" if turned and part == 0 else ""
            lines.append(f"        out[i, {2 * f + part}] = {sign}constants[{f % 2}][i] * {of}")
    lines += ["", "def products(fields, constants, work, out):",
              "    for i in range(fields.shape[1]):",
              "        for j in range(fields.shape[2]):"]  # fmt: skip
    lines += [f"            x{f} = fields[{f}, i, j]" for f in range(fields)]
    given = [f"x{f}" for f in range(fields)] + ["constants[2][j]"]
    for p in range(products):
        lines.append(f"            out[{p}, i, j] = {_expression(rng, given, rng.randint(1, 4))}")
    lines += ["", "@equation_set(",
              f"    'equations {seed}', conversion=Conversion, spectra=spectra,",
              "    products=products, fields=NAMES, source='nobody (2026)',",
              "    prognostic=tuple((name, 1) for name in NAMES),", ")",
              "def tendency(state, spectra, constants, out):",
              "    for i in range(state.shape[0]):"]  # fmt: skip
    for v in range(variables):
        for part in range(2):
            p, q = (2 * rng.randrange(products) + part for _ in range(2))
            fading = f"constants[1][i] * (state[i, {2 * v + part}] - spectra[i, {q}])"
            lines.append(
                f"        out[i, {2 * v + part}] = constants[0][i] * (spectra[i, {p}] - {fading})"
            )
    head, _, rest = "\n".join(lines).partition("\ndef spectra")
    return f'''{head}
NAMES = {tuple(f"v{n}" for n in range(variables))!r}


class Conversion:
    transformed: ClassVar = ({fields}, {products})
    vertical: ClassVar = {{}}

    def __init__(self, transform, units):
        self.transform, self.units = transform, units
        truncation, rng = transform.grid.truncation, np.random.default_rng({seed})
        held, size = transform.degree <= truncation.number, transform.degree.size
        weights = rng.uniform(0.5, 4.0, size), rng.uniform(0.5, 2.0, size)
        self.constants = (*(np.where(held, w, 0.0) for w in weights),
                          rng.uniform(-1.0, 1.0, truncation.nlat))

    @classmethod
    def of(cls, initial, transform, units, implicit_time):
        return cls(transform, units)

    def to_state(self, initial):
        return self.transform.to_spectrum(initial)

    def to_fields(self, state):
        made = self.transform.to_grid(state)
        return {{n: self.transform.grid.to_output(x) for n, x in zip(NAMES, made, strict=True)}}

    def budgets(self, fields):
        return {{}}


@case("of seed {seed}", source="nobody (2026)", equations="equations {seed}")
def initial(lon, lat):
    rng = np.random.default_rng({seed} + 1)
    size = 10.0 ** rng.uniform(-1.5, 0.7, len(NAMES))[:, None, None]
    waves = rng.integers(0, 3, len(NAMES))[:, None, None]
    return size * (np.cos(waves * lon) * np.cos(lat) ** 2 + 0.3 * np.sin(lat))


def spectra{rest}
'''


@contextmanager
def registered(seed: int, folder: Path) -> Iterator[str]:
    """The case of a seed and its equations are known, as the name says; afterwards nobody knows of
    them.
    """
    before = [dict(registry) for registry in (CASES, EQUATIONS)]
    try:
        file = folder / f"equations_{seed}.py"
        file.write_text(source_of(seed), encoding="utf-8")
        load_files(file)
        yield f"of seed {seed}"
    finally:
        for registry, kept in zip((CASES, EQUATIONS), before, strict=True):
            registry.clear()
            registry.update(kept)
        sys.modules.pop(f"sciprec_plugin_equations_{seed}", None)
