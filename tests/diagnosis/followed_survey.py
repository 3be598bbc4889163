"""Whether a trace knows where its exact values end: random kernels against 1,200 bits.

    python -m tests.diagnosis.followed_survey FOLDER FIRST LAST

Of every seed a kernel: a random iteration, one that is known to lose or to keep its digits, or an
expression of arrays. *Missed* are errors that are told and more than a tenth wrong, a *false alarm*
is of some that would have been right. What a seed found is in FOLDER/seed_N.json as soon as it is
complete.
"""

from __future__ import annotations

import math
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import mpmath
import numpy as np

import sciprec
from sciprec.foundation.errors import InputError
from tests.diagnosis import bound_kernels
from tests.diagnosis.bound_survey import FMA
from tests.diagnosis.kept_seeds import kept
from tests.oracles.reals import BITS, real_kernel
from tests.random_kernels.trials import kernel_in

ARITHMETICS = ("fp64", "fp32", "fp64", "bf16", "fp64", "float:p=40,round=rz")
STATES = "a b c".split()
STEPS = (
    "{} = {l} * {} + {m} * {}", "{} = {} - {l} * {} * {}", "{} = {l} * {} * (1.0 - {})",
    "{} = {} / ({l} + {} * {})", "{} = {m} - ({l} - {m} / {}) / {}", "{} = math.sin({}) + {l} * {}",
    "{} = math.sqrt(abs({})) - {l} * {}", "{} = math.exp(-abs({})) + {m} * {}",
    "{} = {} * {} - {l}", "{} = {} + {l} * ({} - {})", "{} = 2.0 * {} * {} - 1.0",
    "{} = {l} / {} - {m} * {}", "{} = 0.5 * ({} + {l} / {})",
)  # fmt: skip
LIMIT = "    a = (p * p + q * q) / (p + q)\n    b = (p * p * p + q * q * q) / (p * p + q * q)\n"
"""Of which p or q is the limit, but for rounding, which leads to r."""
KNOWN = {
    "limit of three": ("c = (p + q + r) - (p * q + q * r + r * p - p * q * r / a) / b\n"
                       "a = b\nb = c", 60),
    "smallest solution": ("c = (p + 1.0 / p) * b - a\na = b\nb = c", 200),
    "doubling": ("a = 4.0 * a * (1.0 - a)\nc = a", 140),
    "factorials": ("a = (i + 1) * a - 1.0\nc = a", 40),
    "root": ("b = b - (b * b - p) / (2.0 * b)\nc = b", 40),
    "series": ("b = -b * q / (i + 1)\na = a + b\nc = a", 200),
    "mean and variance": ("d = x[i] - a\na = a + d / (i + 1)\nb = b + d * (x[i] - a)\nc = b", 200),
    "recurrence of Legendre": ("c = ((2 * i + 3) * q / 8.0 * b - (i + 1) * a) / (i + 2)\n"
                               "a = b\nb = c", 200),
    "damped": ("c = b + 0.01 * a\na = a - 0.02 * (b + a)\nb = c", 200),
    "sums of powers": ("a = a + x[i]\nb = b + x[i] * x[i]\nc = b - a * a / (i + 1)", 200),
    "filter": ("a = a + p * (x[i] - a) / 8.0\nc = a * 1.5 - x[i] * 0.5", 200),
    "distance to the start": ("a = a * (1.0 + q / 64.0)\nb = a / (1.0 + q / 64.0)\nc = b - a", 100),
}  # fmt: skip


def source(seed: int) -> str:
    """The kernel of a seed: its source."""
    rng = np.random.default_rng(seed)
    if seed % 4 == 3:
        return bound_kernels.source(3 * seed + 1)
    stored = "out[i] = c" if rng.integers(2) else "out[0] = c"
    if name := known(seed):
        body, most = KNOWN[name]
        lines, passes = [*body.split("\n"), stored], int(rng.integers(most // 6, most))
        return _iteration(lines, passes, LIMIT if name == "limit of three" else "")
    while True:
        lines = []
        for target in STATES:
            form = str(rng.choice(STEPS))
            operands = rng.choice([*STATES, *STATES, "x[i]"], form.count("{}") - 1)
            l, m = rng.uniform(0.1, 4.0), rng.uniform(-1.5, 1.5)  # noqa: E741
            lines.append(form.format(target, *operands, l=l, m=m))
        text = _iteration([*lines, stored], int(rng.integers(5, 160)))
        if stays(text, arguments(seed)):
            return text


def known(seed: int) -> str:
    """The name of a seed's kernel among those that are known; "" of others."""
    of_them = list(KNOWN)[(seed // 4 * 2 + seed % 4) % len(KNOWN)]
    return of_them if seed % 4 < 2 else ""


def _iteration(lines: list[str], passes: int, before: str = "") -> str:
    inner = "\n".join(f"        {line}" for line in lines)
    head = "import math\nimport numpy as np\n\n\ndef kernel(x, y, out):\n"
    states = f"    a, b, c = y[0], y[1], y[0]\n    p, q, r = y[2], y[3], y[4]\n{before}"
    return f"{head}{states}    for i in range({passes}):\n{inner}\n"


def arguments(seed: int) -> tuple[np.ndarray, ...]:
    """Arguments of a seed's kernel."""
    rng = np.random.default_rng(seed + 1)
    if seed % 4 == 3:
        x, y = bound_kernels.numbers(seed, 12, "fp64")
        usual = np.isfinite(x) & np.isfinite(y) & (abs(x) < 1e6) & (abs(y) < 1e6)
        x, y = (np.where(usual, a, rng.uniform(0.5, 1.5, 12)) for a in (x, y))
        return x, y, np.zeros(12)
    x, y = rng.normal(2.0, 0.5, 200), np.array([*rng.uniform(0.1, 0.9, 2), 0.0, 0.0, 0.0])
    y[2:] = sorted(rng.uniform(2.0, 60.0, 3))
    name = known(seed)
    if name == "smallest solution":
        y[2] = float(rng.choice([0.25, 0.5, 0.7]))
        y[:2] = 1.0, y[2]
    if name == "factorials":
        y[0] = math.e - 1.0
    if name in ("series", "mean and variance", "sums of powers"):
        y[:2] = (1.0, 1.0) if name == "series" else (0.0, 0.0)
    return x, y, np.zeros(200)


def stays(text: str, args: tuple) -> bool:
    """Whether the states of an iteration stay within the range where 1,200 bits are few."""
    check = "        assert abs(a) + abs(b) + abs(c) < 1e30\n"
    guarded = text.replace("        out[", f"{check}        out[")
    own: dict[str, Any] = {}
    exec(guarded, own)
    try:
        own["kernel"](*(a.copy() for a in args))
    except (ArithmeticError, AssertionError, ValueError):
        return False
    return True


def surveyed(seed: int) -> dict[str, Any]:
    """Claims of a trace about a seed's kernel, and the facts."""
    backend = ARITHMETICS[(seed // 4 + seed // 24) % len(ARITHMETICS)]
    text, args = source(seed), arguments(seed)
    with tempfile.TemporaryDirectory() as folder, np.errstate(all="ignore"):
        kernel = kernel_in(text, Path(folder))
        try:
            found = sciprec.trace(kernel, backend, args, output="out", samples=1)
            exact = real_kernel(kernel, FMA)(args)[1][2].tolist()
        except (InputError, OverflowError) as error:
            return {"why": str(error)[:200], "what": "refused"}
    whole = found._work.split.total
    (result,), (usable,) = found._work.split.results, whole.usable
    told, tested = whole.errors[0][usable], result.tested[usable]
    real = [exact[n] for n in np.flatnonzero(usable.ravel())]
    if not all(map(mpmath.isfinite, real)) or not real:
        return {"what": "no real numbers"}
    with mpmath.workprec(BITS):
        pairs = list(zip(tested.tolist(), told.tolist(), real, strict=True))
        true = float(mpmath.norm([mpmath.mpf(t) - e for t, _, e in pairs]))
        apart = float(mpmath.norm([mpmath.mpf(t) - mpmath.mpf(d) - e for t, d, e in pairs]))
        size = float(mpmath.norm(real))
    known, split = found.outcome.followed, found._work.split
    parts = float(sum(np.linalg.norm(p[0][usable]) for p in split.parts))
    least = max(2.0**-24 * parts, split.least * float(np.linalg.norm(tested)))
    right = apart <= max(0.1 * true, least)
    if result.name not in known.absolute and not known.lost:
        said = found.outputs["out"]
        right &= abs(said - true / (size or 1.0)) <= max(0.1 * said, least / (size or 1.0))
    what = {(True, False): "right", (True, True): "false alarm", (False, False): "missed"}
    return {"what": what.get((right, bool(known.lost)), "noticed"), "backend": backend,
            "error": true, "apart": apart, "size": size}  # fmt: skip


def survey(folder: Path, first: int, last: int) -> dict[str, Any]:
    """Run every seed that the folder does not hold yet; counts over all that it holds."""
    every = kept(folder, range(first, last), surveyed)
    seeds = {what: [one["seed"] for one in every if one["what"] == what]
             for what in ("missed", "false alarm")}  # fmt: skip
    return {"kernels": len(every)} | Counter(one["what"] for one in every) | {"seeds": seeds}


if __name__ == "__main__":
    print(survey(Path(sys.argv[1]), *map(int, sys.argv[2:4])))
