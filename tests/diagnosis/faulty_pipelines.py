"""Random kernels of harmless lines, into which a fault can be planted."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np

_HARMLESS = (
    "{new} = 0.7 * {a} + 0.3 * {b}",
    "{new} = {a} * {b} / ({a} + {b})",
    "{new} = math.sqrt({a} * {b} + 0.1)",
    "{new} = {a} / (1.0 + {b})",
    "{new} = max({a}, {b})",
    "{new} = math.exp(-{a}) + {b}",
)
_FAULTS = (
    ("moved = {a} + {big}", "{new} = moved - {big}"),
    ("wide = {a} * {a} + {big}", "{new} = math.sqrt(wide - {big} + 0.01)"),
    ("high = {big} * (1.0 + {b} / {big})", "{new} = high - {big} + {a}"),
)


def pipeline(seed: int, folder: Path, faulty: bool):
    """(kernel, arguments, lines of the fault): elementwise, 8 to 20 lines, positive numbers. The
    last line takes what the fault gives.
    """
    rng = np.random.default_rng(seed)
    names, body = ["x[i]", "y[i]"], []
    count, at = int(rng.integers(8, 20)), 0
    place, fault = int(rng.integers(2, 7)), _FAULTS[seed % len(_FAULTS)]
    big = float(rng.choice([256.0, 512.0, 700.0]))
    planted = []
    for n in range(count):
        words = {"a": rng.choice(names), "b": rng.choice(names), "new": f"v{n}", "big": big}
        if n == place:
            lines = fault if faulty else (_HARMLESS[0],)
            planted = range(len(body), len(body) + len(lines))
            body += [line.format(**words) for line in lines]
            at = n
        else:
            body.append(str(rng.choice(_HARMLESS)).format(**words))
        names.append(f"v{n}")
    body.append(f"out[i] = 0.9 * v{at} + 0.01 * v{count - 1}")
    text = "import math\n\n\ndef kernel(x, y, out):\n    for i in range(x.size):\n"
    text += "".join(f"        {line}\n" for line in body)
    path = folder / f"pipeline_{seed}_{int(faulty)}.py"
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    args = rng.uniform(0.2, 1.5, 40), rng.uniform(0.2, 1.5, 40), np.zeros(40)
    return module.kernel, args, [6 + n for n in planted]
