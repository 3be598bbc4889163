"""Seeded regressions: functions in binary32 by NumPy's scalars, and what goes wrong with them.

Run as a program it counts how many are found over many inputs, false alarms of clean checks, and
how often inputs a unit apart, in place of another machine, would be blamed.
"""

from __future__ import annotations

import itertools
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from sciprec.regression.baselines import values
from sciprec.regression.baselines.checking import checked
from sciprec.regression.baselines.costs import REPEATS, growth, ratios_of, reference_seconds
from sciprec.regression.baselines.keeping import METRICS
from sciprec.regression.baselines.noise import SAMPLES, spread
from sciprec.regression.baselines.records import read_record
from sciprec.regression.baselines.saving import write_new
from sciprec.regression.baselines.values import values_answers, values_request

SOURCES = {
    "diffuse": '''
def diffuse(u, alpha):
    for _ in range(30):
        v = u.copy()
        for i in range(1, u.size - 1):
            u[i] = v[i] + alpha * (v[i - 1] - 2.0 * v[i] + v[i + 1])
    return None
''',
    "carried": '''
def carried(u, alpha):
    total, carry = np.float32(0.0), np.float32(0.0)
    sums = np.zeros(u.size, np.float32)
    for _ in range(20):
        for i in range(u.size):
            y = np.abs(u[i]) * alpha - carry
            t = total + y
            carry = (t - total) - y
            total = t
            sums[i] = total
    return sums
''',
    "paths": '''
def paths(u, alpha):
    state, mean = 12345, np.zeros(u.size, np.float32)
    for i in range(u.size):
        s = u[i]
        for _ in range(20):
            state = (1103515245 * state + 12345) % 2147483648
            s += alpha * np.float32(state / 2147483648 - 0.5)
        mean[i] = s
    return mean
''',
    "norms": '''
def norms(u, alpha):
    out = np.zeros(3, np.float32)
    for x in u:
        out[0] += x * x
        out[1] += np.sqrt(np.abs(x) + alpha)
        out[2] += np.expm1(alpha * x * np.float32(0.001))
    return np.sqrt(out[0]), out[1], out[2]
''',
    "horner": '''
def horner(u, alpha):
    out = np.zeros(u.size, np.float32)
    for i in range(u.size):
        x, p = u[i], np.float32(0.0)
        for c in (1.0, -3.0, 0.1, 2.0, -0.7):
            p = p * x + c
        out[i] = p / 3.0
    return out
''',
}
REGRESSIONS = (
    ("a product distributed", "diffuse", "alpha * (v[i - 1] - 2.0 * v[i] + v[i + 1])",
     "alpha * v[i - 1] - alpha * 2.0 * v[i] + alpha * v[i + 1]"),
    ("one rounding to binary16", "diffuse", "u[i] = v[i] +",
     "u[i] = np.float32(np.float16(v[i])) +"),
    ("one rounding toward zero", "diffuse", "return None", "u[:] = truncated(u)"),
    ("an update in place", "diffuse", "v = u.copy()", "v = u"),
    ("a step too few", "diffuse", "range(30)", "range(29)"),
    ("the last point left out", "diffuse", "u.size - 1)", "u.size - 2)"),
    ("a NaN", "diffuse", "return None", "u[3] = np.nan"),
    ("a carry dropped", "carried", "(t - total) - y", "np.float32(0.0)"),
    ("a carry of the other sign", "carried", "(t - total) - y", "y - (t - total)"),
    ("another order of the sum", "carried", "range(u.size)", "range(u.size - 1, -1, -1)"),
    ("a start that is not zero", "carried", "total, carry = np.float32(0.0)",
     "total, carry = np.float32(1e-3)"),
    ("another seed", "paths", "12345, np", "12346, np"),
    ("another generator", "paths", "1103515245", "1103515249"),
    ("draws that are not centred", "paths", "- 0.5", "- 0.4999"),
    ("an overflow", "norms", "out[0] += x * x", "out[0] += (x * np.float32(1e25)) ** 2"),
    ("a cancellation", "norms", "np.expm1(alpha * x * np.float32(0.001))",
     "(np.exp(alpha * x * np.float32(0.001)) - np.float32(1.0))"),
    ("a square root of what is negative", "norms", "np.abs(x) + alpha", "x + alpha"),
    ("a constant with fewer digits", "horner", "-0.7", "-0.69999"),
    ("a quotient as a product", "horner", "p / 3.0", "p * np.float32(0.33333)"),
    ("a slower loop", "horner", "for c in (", "for c in 15 * (0.0,) + ("),
)  # fmt: skip
"""The fault, its function, and how it is planted: a text and what stands in its place."""


SLOWER = 1.5
"""How many times longer a call may take."""
_CALLS = 20
"""The number that is timed at once."""


def truncated(x):
    """Eight bits of the significand cut off."""
    return (x.view(np.int32) & ~0xFF).view(np.float32)


def made(name: str, old: str = "", new: str = ""):
    """A function, its source changed."""
    source = SOURCES[name]
    assert old in source
    names = {"np": np, "truncated": truncated}
    exec(source.replace(old, new) if old else source, names)
    return names[name]


def arguments(rng: np.random.Generator) -> tuple:
    """Random numbers of both signs, (40,), and a number."""
    return rng.standard_normal(40).astype(np.float32), np.float32(rng.uniform(0.1, 0.4))


def outcome(folder: Path, name: str, args: tuple, function):
    """The check of a function against the baseline of the clean one."""
    with np.errstate(all="ignore"):
        if not (folder / name).exists():
            clean = made(name)
            answers = values_answers(clean, args, noisy=True)
            write_new(values_request(name, clean, args), name, folder, answers, "")
        record, request = read_record(name, folder), values_request(name, function, args)
        return checked(record, request, values_answers(function, args)[0])


def pace(function, args: tuple, count: int) -> dict[str, float]:
    """Median and least of so many calls, beside the reference kernel."""
    seconds = []
    for _ in range(count):
        begun = time.thread_time()
        with np.errstate(all="ignore"):
            for _ in range(_CALLS):
                function(args[0].copy(), args[1])
        seconds.append(time.thread_time() - begun)
    return ratios_of(seconds, reference_seconds())


def found_with(seed: int) -> tuple[list[str], list[str], int]:
    """Regressions that a check fails for, those that it calls noise, and alarms of clean checks."""
    args = arguments(np.random.default_rng(seed))
    failing, noise, alarms = [], [], 0
    with TemporaryDirectory() as made_here:
        folder = Path(made_here)
        paces = {name: pace(made(name), args, 1 + SAMPLES) for name in SOURCES}

        def is_slower(name: str, function) -> bool:
            return growth(paces[name], pace(function, args, REPEATS)) > SLOWER

        for words, name, old, new in REGRESSIONS:
            function = made(name, old, new)
            check = outcome(folder, name, args, function)
            if not check.within or (check.identical and is_slower(name, function)):
                failing.append(words)
            elif not check.identical:
                noise.append(words)
        for name in SOURCES:
            check = outcome(folder, name, args, made(name))
            alarms += not check.identical or is_slower(name, made(name))
    return failing, noise, alarms


def blamed_elsewhere(seed: int, machines: int = 32) -> dict[str, int]:
    """How many of 5 x `machines` results whose inputs are one unit apart are beyond the noise,
    as it is (the spread of any two runs) and were it the distance from the undisturbed run.
    """
    args = arguments(np.random.default_rng(seed))
    blamed = {"any two": 0, "from the undisturbed": 0}
    for name in SOURCES:
        inputs = values._inputs(made(name), args)
        runs = [values._answer(made(name), inputs)]
        runs += values.perturbed(made(name), inputs, SAMPLES + machines)
        first, *others = [(one.values, one.fingerprints) for one in map(values._answer_of, runs)]
        mine, elsewhere = others[:SAMPLES], others[SAMPLES:]
        every = [spread([first, one]) for one in mine]
        limits = {
            "any two": spread([first, *mine]),
            "from the undisturbed": {
                v: {m: max(one[v][m] for one in every) for m in METRICS} for v in every[0]
            },
        }
        for (one, limit), other in itertools.product(limits.items(), elsewhere):
            apart = spread([first, other])
            blamed[one] += any(apart[v][m] > limit[v][m] for v in apart for m in METRICS)
    return blamed


if __name__ == "__main__":
    counts, alarms, missed, elsewhere = [], 0, {}, {}
    for seed in range(10):
        failing, noise, wrong = found_with(seed)
        counts.append(len(failing))
        alarms += wrong
        for words in {one[0] for one in REGRESSIONS} - set(failing):
            missed.setdefault(words, []).append("noise" if words in noise else "identical")
        for definition, count in blamed_elsewhere(seed).items():
            elsewhere[definition] = elsewhere.get(definition, 0) + count
    print(f"of {len(REGRESSIONS)} regressions found: {counts}, seed by seed, {sum(counts)} in all")
    print(f"not beyond the noise: {missed}")
    print(f"false alarms of {10 * len(SOURCES)} clean checks: {alarms}")
    print(f"of {10 * 32 * len(SOURCES)} results of inputs a unit apart blamed: {elsewhere}")
