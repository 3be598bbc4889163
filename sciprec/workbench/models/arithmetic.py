"""The arithmetic of a model's run: its kernels, roundings and updates."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from sciprec.arrays.quantization import quantize
from sciprec.arrays.sums.compensation import (
    CarriedUpdate,
    Compensation,
    resolve_compensation,
)
from sciprec.facets.adaptive.models import Advancing, ModelStep, checked_state
from sciprec.facets.monitor.models import ModelObserver
from sciprec.foundation.arguments import Range, integer, shown
from sciprec.foundation.errors import ModelError
from sciprec.foundation.limits import THREADS
from sciprec.foundation.time_steps import (
    state_was_updated,
    step_begins,
    step_was_shown,
    steps_end,
)
from sciprec.precision.formats.backend import Backend, resolve_backend
from sciprec.precision.lifting.fixed_lifting import fixed_point_summary
from sciprec.precision.lifting.lifted import Lifted
from sciprec.precision.lifting.lifting import lift
from sciprec.precision.streams import symmetric_uniform
from sciprec.tools.adapt.blocks import Adapted
from sciprec.tools.adapt.plan import AdaptivePlan
from sciprec.tools.adapt.plan import plan_from as adaptive_from
from sciprec.tools.monitor.plan import WatchPlan, plan_from

_hands_on_arrays = True
"""Traces of models take no line of this file for the place where a model rounds."""
_STREAM = 0x6D6F64  # the last word of the counter: no other use of the same seed has it
_AMPLITUDE = Range("a number from 0 to 0.1, such as 1.0e-14", least=0, most=0.1)
_MOST_STATES = 256
"""Arrays that a model updates; more are new ones made at each step, whose residuals are lost."""


class ModelArithmetic:
    """An arithmetic as a model meets it. A run makes one; to call a model by hand, make your own.

    Args:
        backend: name or spec string.
        compensation: of `update`: None, a name, a Compensation, or one of these by variable.
        member: number of the ensemble's member; 0 is the undisturbed one.
        amplitude: the largest relative change that `perturb` makes.
        seed: of the ensemble.
        threads: how many the model may use inside; they must change no bit.
        monitor: what is watched of what the model shows, such as {"watch": ["x"]}, or None.
        adaptive: what `advance` is to keep, on a ladder whose widest rung is the backend, such as
            {"tolerance": 1e-4, "ladder": ["fp16", "fp32"]}; or None.

    Attributes:
        backend: name of the arithmetic.
        member, amplitude, seed, threads: as given.
        observer: takes down what the model shows; None where nothing is watched.
    """

    _further: tuple[ModelArithmetic, ...] = ()
    _compensates = _by_ranges = False

    def __init__(
        self, backend: str | Backend = "fp64",
        compensation: str | Compensation | dict[str, Any] | None = None, *,
        member: int = 0, amplitude: float = 2.0**-52, seed: int = 0, threads: int = 1,
        monitor: WatchPlan | Mapping[str, Any] | None = None,
        adaptive: AdaptivePlan | Mapping[str, Any] | None = None,
    ) -> None:  # fmt: skip
        self._resolved = resolve_backend(backend)
        self._resolved.require_taken_by("a model")
        self.backend = self._resolved.name
        self.amplitude = _AMPLITUDE.number("amplitude", amplitude)
        self.seed = integer("seed", seed, 0, 2**64 - 1)
        self.threads = integer("threads", threads, *THREADS)
        integer("member", member, 0, 2**32 - 1)
        watched, adaptive_plan = plan_from(monitor), adaptive_from(adaptive)
        self._member, self._disturbs = member, member == 0
        self._compensation = resolve_compensation(compensation)
        self._lifted: dict[tuple[Any, ...], Lifted] = {}
        self._updates: dict[int, tuple[np.ndarray, CarriedUpdate]] = {}
        self._drawn = self._steps_made = 0
        self.observer = None if watched is None else ModelObserver(watched, self._resolved)
        self._advancing = None if adaptive_plan is None else self._on_ladder(adaptive_plan)

    @property
    def member(self) -> int:
        """Number of the ensemble's member; a model that asks for it makes the members differ."""
        self._disturbs = True
        return self._member

    def lift(self, kernel: Callable[..., Any], **options: Any) -> Lifted:
        """The kernel in this arithmetic, as `sciprec.lift` makes it; the same one when asked again.

        Args:
            kernel: as in `sciprec.lift`.
            options: its other arguments. Left out, random bits are chosen by seed and member, and
                differ from kernel to kernel.

        Raises:
            LiftError: as `sciprec.lift`.
        """
        name = (kernel, repr(sorted(options.items())))
        lifted = self._lifted.get(name)
        if lifted is None:
            lifted = lift(kernel, self._resolved, **{"seed": self._new_seed()} | options)
            self._lifted[name] = lifted
            self._by_ranges |= options.get("ranges") is not None
        return lifted

    def quantize(self, x: Any) -> Any:
        """Numbers rounded to the storage format, as `sciprec.quantize` does."""
        return quantize(x, self._resolved, seed=self._new_seed(0))

    def update(
        self, state: np.ndarray, increment: np.ndarray | float, variable: str = ""
    ) -> np.ndarray:
        """state <- state + increment in this arithmetic, in place; where the scenario asks for a
        compensation, what the rounding loses is kept and added later.

        Args:
            state: floating-point array of any shape, contiguous; changed. It is the same array at
                each step: its residual belongs to it.
            increment: of that shape, or one number.
            variable: name by which a compensation may be chosen; left out, that of all.

        Returns:
            The state.

        Raises:
            ModelError: the state is no such array, or the increment has another shape.
        """
        fits = isinstance(state, np.ndarray) and state.dtype.kind == "f" and state.ndim > 0
        if not (fits and state.flags.c_contiguous):
            description = (
                f"a {type(state).__name__}" if not fits else "an array that is not contiguous"
            )
            raise ModelError(
                f"arithmetic.update was given a state that is {description}; give a contiguous "
                "floating-point array, which is changed in place"
            )
        step = np.asarray(increment, float)
        if step.shape not in ((), state.shape):
            raise ModelError(
                f"arithmetic.update was given a state of shape {state.shape} and an increment of "
                f"shape {step.shape}; give them the same shape, or one number"
            )
        flat = np.ascontiguousarray(np.broadcast_to(step, state.shape)).reshape(-1)
        update, observer = self._updating(state, variable), self.observer
        if observer is not None:
            observer.update_begins(state)
        update(state.reshape(-1), flat)
        if observer is not None:
            observer.update_ends(state, variable, flat, update.residual)
        state_was_updated(variable or id(state))
        return state

    def compensation_of(self, variable: str = "") -> Compensation | None:
        """The compensation of a variable, for a model whose own kernels add the increments: its
        `alpha`, `beta` and `reset_every`; None where the run asks for none.

        Args:
            variable: name by which a compensation may be chosen; left out, that of all.
        """
        self._compensates = True
        chosen = self._compensation
        return chosen.get(variable) if isinstance(chosen, dict) else chosen

    def perturb(self, x: Any) -> Any:
        """x (1 + amplitude xi), xi uniform in (-1, 1) and addressed by seed, member, the number of
        this call and the element; in member 0 the very same values.

        Args:
            x: number or array.
        """
        self._disturbs = True
        self._drawn += 1
        if self._member == 0:
            return x
        values = np.asarray(x, np.float64)
        noise = symmetric_uniform(values.size, self.seed, self._member, self._drawn - 1, _STREAM)
        result = values * (1.0 + self.amplitude * noise.reshape(values.shape))
        return result if isinstance(x, np.ndarray) else float(result)

    def advance(
        self, step: ModelStep, steps: int, *, of: int | None = None, **state: np.ndarray
    ) -> None:
        """Make so many steps of a state; where the scenario has a table [adaptive], in blocks whose
        arithmetic follows its tolerance.

        Args:
            step: function (lift, **state) that makes one: `lift(kernel)` is the kernel in the
                arithmetic of the step, as of `lift` of this arithmetic. It changes the arrays in
                place, adds increments in binary64, and depends on nothing else that changes.
            steps: how many.
            of: of the whole run, the same in each call; left out, this is the only call.
            state: arrays of float64 by name, changed in place.

        Raises:
            ModelError: the state is none, or a number of steps does not fit.
        """
        checked_state(state)
        integer("steps", steps, 0, 2**62, "a whole number of steps")
        total = steps if of is None else integer("of", of, 1, 2**62, "a whole number of steps")
        if self._advancing is not None:
            self._advancing.advance(step, state, steps, total)
            return
        for _ in range(steps):
            self._steps_made += 1
            step_begins(self._steps_made)
            step(self.lift, **state)
        steps_end()

    @property
    def adapted(self) -> Adapted | None:
        """The history of steps whose arithmetic follows a tolerance; None where there are none."""
        return None if self._advancing is None else self._advancing.adapted

    def _on_ladder(self, plan: AdaptivePlan) -> Advancing:
        """Arithmetics of the narrower rungs and of fp64, beside this one."""
        self._further = tuple(
            ModelArithmetic(name, seed=self.seed) for name in (*plan.ladder[:-1], "fp64")
        )
        *narrower, exact = (arithmetic.lift for arithmetic in self._further)
        return Advancing(plan, (*narrower, self.lift), exact)

    def watch(self, **values: Any) -> None:
        """Show the monitor the state after a step; nothing where the scenario has none.

        Args:
            values: numbers or arrays by name, the same names and shapes at each step. They are not
                changed.

        Raises:
            ModelError: what is to be watched is not among them, or is no array of real numbers.
        """
        step_was_shown()
        if self.observer is not None:
            self.observer.show(values)

    @property
    def lifted(self) -> tuple[Any, ...]:
        """All kernels that were lifted so far, those of updates included."""
        own_kernels = (*self._lifted.values(), *(u.lifted for _, u in self._updates.values()))
        return own_kernels + tuple(kernel for further in self._further for kernel in further.lifted)

    @property
    def fixed_point(self) -> dict[str, Any] | None:
        """The summary of fixed point; None in floats. Where a model gives ranges no profile tells
        which places are short of bits.
        """
        summary = fixed_point_summary(self.lifted)
        if summary is not None and self._by_ranges:
            summary["places_short_of_bits"] = None
        return summary

    def require_used(self, model: str) -> None:
        """Make sure that the model has used the requests of its run beside the arithmetic.

        Raises:
            ModelError: a compensation, and no update was made and nobody asked for it; or a member,
                and nothing tells it from the others.
        """
        if self.observer is not None and not self.observer.steps:
            raise ModelError(
                f"model '{model}': the scenario has a table [monitor], and the model shows "
                "nothing; call arithmetic.watch(x=x) at the end of each step, or remove the table"
            )
        if self._advancing is not None and not self._advancing.steps:
            raise ModelError(
                f"model '{model}': the scenario has a table [adaptive], and the model makes no "
                "steps by arithmetic.advance(step, steps, x=x); do so, or remove the table"
            )
        if self._compensation and not self._compensates:
            raise ModelError(
                f"model '{model}': the scenario asks for a compensation, and the model adds no "
                "increment by arithmetic.update(state, increment), and does not ask for it by "
                "arithmetic.compensation_of(variable); do so, or remove 'compensation'"
            )
        if not self._disturbs:
            raise ModelError(
                f"model '{model}': the scenario has an ensemble, and all members are the same; "
                "let the model call arithmetic.perturb(x) on its initial state, name parameters "
                "in @sciprec.model(..., perturbs=[...]), or ask for arithmetic.member"
            )

    def _updating(self, state: np.ndarray, variable: str) -> CarriedUpdate:
        """The update of an array: it stays alive with its residual."""
        entry = self._updates.get(id(state))
        if entry is None:
            if len(self._updates) == _MOST_STATES:
                raise ModelError(
                    f"arithmetic.update was given {_MOST_STATES} different arrays; give it the "
                    "same array at each step, whose residual it keeps"
                )
            chosen, seed = self.compensation_of(variable), self._new_seed()
            update = CarriedUpdate(self._resolved, chosen, trust_inputs=False, seed=seed)
            entry = self._updates[id(state)] = (state, update)
        return entry[1]

    def _new_seed(self, number: int | None = None) -> int:
        """A seed for the random bits of the next kernel, or of the one of this number."""
        ordinal = 1 + len(self._lifted) + len(self._updates) if number is None else number
        return ((self.seed << 40) + (self._member << 12) + ordinal) % 2**63

    def __repr__(self) -> str:
        beside = "" if self._compensation is None else f", {shown(self._compensation)}"
        return f"<ModelArithmetic {self.backend}{beside}>"
