"""Random models of a user's own: what a monitor and a ladder of arithmetics do to their bits.

    python -m tests.models.random_watched 0 50

runs the models of seeds 0 to 49 and prints a line for each.
"""

from __future__ import annotations

import random
import runpy
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sciprec.tools.adapt.control import COLUMNS, SHARE
from sciprec.workbench.models import ModelArithmetic

BACKENDS = ("fp64", "fp32", "fp16", "bf16", "e5m2", "mlu370", "float:p=8,round=sr")
NARROW_TO_WIDE = ("e5m2", "bf16", "fp16", "float:p=13,round=ru", "mlu370", "fp32")
FORMS = ("({0} + {1})", "({0} - {1})", "({0} * {1})", "math.sqrt(abs({0}))",
         "({0} / (1.0 + abs({1})))", "max({0}, {1})", "math.sin({0})")  # fmt: skip


@dataclass(frozen=True)
class Model:
    """A model's kernel, and how a run of it goes.

    Args:
        kernel: function (rates, *arrays, *slopes).
        shapes: of the arrays of the state, all of one size, by name.
        steps: of a run.
        rng: goes on drawing.
    """

    kernel: Callable[..., Any]
    shapes: dict[str, tuple[int, ...]]
    steps: int
    rng: random.Random

    def state(self) -> dict[str, np.ndarray]:
        """The initial state."""
        draw = np.random.default_rng(self.steps)
        return {name: draw.uniform(-2.0, 2.0, shape) for name, shape in self.shapes.items()}

    def increments(self, lift: Callable[..., Any], state: dict[str, np.ndarray]) -> list:
        """What a step adds to each array, in binary64."""
        slopes = [np.zeros(array.size) for array in state.values()]
        rates = np.linspace(0.1, 1.0, slopes[0].size)
        lift(self.kernel)(rates, *(array.reshape(-1) for array in state.values()), *slopes)
        return [2.0**-5 * one.reshape(array.shape)
                for one, array in zip(slopes, state.values(), strict=True)]  # fmt: skip

    def step(self, lift: Callable[..., Any], **state: np.ndarray) -> None:
        """One step of `arithmetic.advance`."""
        for array, increment in zip(state.values(), self.increments(lift, state), strict=True):
            array += increment


def _expression(rng: random.Random, given: list[str], depth: int) -> str:
    if depth == 0 or rng.random() < 0.2:
        return rng.choice(given)
    return rng.choice(FORMS).format(*(_expression(rng, given, depth - 1) for _ in range(2)))


def drawn(seed: int, folder: Path) -> Model:
    """The model of a seed, whose kernel is written into a folder."""
    rng = random.Random(seed)
    names = ["x", "y", "z"][: rng.randint(1, 3)]
    shape = rng.choice([(1,), (7,), (40,), (4, 3), (2, 3, 5)])
    lines = ["import math", f"def slopes(rates, {', '.join(names)}, "
             f"{', '.join(f'd{name}' for name in names)}):",
             f"    for i in range({names[0]}.size):"]  # fmt: skip
    given = [f"{name}[{at}]" for name in names for at in ("i", "i - 1")] + ["rates[i]", "0.3"]
    for name in names:
        made = _expression(rng, given, rng.randint(1, 3))
        lines.append(f"        d{name}[i] = rates[i] * ({made} - {name}[i])")
    file = folder / f"random_model_{seed}.py"
    file.write_text("\n".join([*lines, ""]), encoding="utf-8")
    kernel = runpy.run_path(str(file))["slopes"]
    return Model(kernel, {name: shape for name in names}, rng.randint(1, 60), rng)


def watched(model: Model) -> str:
    """No bit depends on a monitor; whole arrays are what each watched step has left."""
    rng = model.rng
    backend, compensation = rng.choice(BACKENDS), rng.choice([None, "carry"])
    plain, _ = _run(model, backend, compensation, None)
    for level in range(4):
        names = rng.sample(list(model.shapes), rng.randint(1, len(model.shapes)))
        every = rng.randint(1, 2 * model.steps)
        monitor = {"watch": names, "level": level, "every": every}
        states, observer = _run(model, backend, compensation, monitor)
        about = f"{backend} {compensation} {monitor} {model.steps} steps"
        assert _bits(states) == _bits(plain), about
        if level == 0:
            assert observer is None
            continue
        seen = observer.observed_at_end()
        steps = list(range(every, model.steps + 1, every)) or [model.steps]
        assert seen.history.steps.tolist() == steps, about
        for name in names if level == 3 else ():
            whole = [states[step - 1][name].reshape(-1) for step in steps]
            np.testing.assert_array_equal(seen.history.whole(name), whole, about)
    return f"{backend} {compensation} watched"


def _run(model: Model, backend: str, compensation: str | None, monitor: Any) -> tuple[list, Any]:
    """The states after each step, and what has looked at them."""
    arithmetic = ModelArithmetic(backend, compensation, monitor=monitor)
    state = {name: arithmetic.quantize(array) for name, array in model.state().items()}
    states = []
    for _ in range(model.steps):
        increments = model.increments(arithmetic.lift, state)
        for array, increment in zip(state.values(), increments, strict=True):
            arithmetic.update(array, increment)
        arithmetic.watch(**state)
        states.append({name: array.copy() for name, array in state.items()})
    return states, arithmetic.observer


def _bits(states: list) -> list:
    return [{name: array.tobytes() for name, array in state.items()} for state in states]


def adaptive(model: Model) -> str:
    """A run on a ladder has the bits of the steps of its history, each by the plain arithmetic of
    its rung; blocks follow one another, and those that are kept keep to their share.
    """
    rng = model.rng
    size = rng.randint(2, 4)
    ladder = sorted(rng.sample(NARROW_TO_WIDE, size), key=NARROW_TO_WIDE.index)
    plan: dict[str, Any] = {"ladder": ladder, "every": rng.randint(1, 12)}
    if rng.random() < 0.5:
        plan["variable"] = rng.choice(list(model.shapes))
    judged = [plan["variable"]] if "variable" in plan else list(model.shapes)
    truth = _uniform(model, "fp64")
    usual = _error(_uniform(model, rng.choice(ladder)), truth, judged)
    plan["tolerance"] = float(np.clip(usual * 10.0 ** rng.uniform(-0.5, 1.5), 1e-12, 0.9))
    ends = sorted({*(rng.randint(1, model.steps) for _ in range(rng.randint(0, 3))), model.steps})
    made, adapted = _advanced(model, plan, ends)
    again, other = _advanced(model, plan, ends)
    assert _bits([made]) == _bits([again])
    assert adapted.history.tobytes() == other.history.tobytes()
    _require_in_order(adapted.history, plan, ends)
    lifts = [ModelArithmetic(name).lift for name in ladder]
    replayed = model.state()
    for _, count, rung, kept, *_ in adapted.history.tolist():
        for _ in range(int(count) if kept else 0):
            model.step(lifts[int(rung)], **replayed)
    assert _bits([replayed]) == _bits([made]), plan
    error = _error(made, truth, judged)
    told = "ended" if adapted.ended else "met" if error <= plan["tolerance"] else "missed"
    repeated = int((adapted.history[:, COLUMNS.index("kept")] == 0.0).sum())
    rungs = "".join(f"{rung:.0f}" for rung in adapted.history[:, COLUMNS.index("rung")])
    return f"{told}: {error:.1e} of {plan['tolerance']:.1e}, {rungs}, {repeated} repeated"


def _uniform(model: Model, name: str) -> dict[str, np.ndarray]:
    """The last state where all steps are on one arithmetic."""
    state, lift = model.state(), ModelArithmetic(name).lift
    for _ in range(model.steps):
        model.step(lift, **state)
    return state


def _error(state: dict, truth: dict, judged: list[str]) -> float:
    wrong = [np.linalg.norm(state[n] - truth[n]) / np.linalg.norm(truth[n]) for n in judged]
    return float(np.nan_to_num(max(wrong), nan=1.0, posinf=1.0))


def _advanced(model: Model, plan: dict[str, Any], ends: list[int]) -> tuple[dict, Any]:
    """The last state of a run in some calls, and what it has done."""
    arithmetic = ModelArithmetic(plan["ladder"][-1], adaptive=plan)
    state, before = model.state(), 0
    for end in ends:
        arithmetic.advance(model.step, end - before, of=model.steps, **state)
        before = end
    return state, arithmetic.adapted


def _require_in_order(history: np.ndarray, plan: dict[str, Any], ends: list[int]) -> None:
    """Each block begins where the last one that was kept has ended, and ends at a multiple of
    `every` or where a call does; one that is repeated is so on the next rung.
    """
    done, last, repeated = 0, len(plan["ladder"]) - 1, -1
    for row in history:
        first, count, rung, kept, estimate, _ = row.tolist()
        assert first == done + 1 and count >= 1, history
        end = done + count
        assert end % plan["every"] == 0 or end in ends, history
        assert not any(done < one < end for one in ends), history
        assert repeated < 0 or rung == repeated + 1, history
        share = SHARE * plan["tolerance"] * end / ends[-1]
        assert kept == (rung == last or estimate <= share), history
        done, repeated = (end, -1) if kept else (done, rung)
    assert done == ends[-1] and history.shape[1] == len(COLUMNS)


def trial(seed: int, folder: Path) -> str:
    """All that is required of the model of a seed; what it was."""
    model = drawn(seed, folder)
    with np.errstate(all="ignore"):
        return f"{model.steps} steps, {watched(model)}; {adaptive(model)}"


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        for number in range(*map(int, sys.argv[1:3])):
            print(number, trial(number, Path(place)), flush=True)
