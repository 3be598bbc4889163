"""The decorator by which a function becomes a model: a kind of scenario like sciprec's own."""

from __future__ import annotations

import inspect
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal, TypeVar

import xarray as xr
from pydantic import BaseModel, ValidationError, create_model

from sciprec.facets.adaptive.attributes import with_adapted
from sciprec.facets.adaptive.keys import WithAdaptive
from sciprec.facets.monitor.attributes import with_monitor
from sciprec.facets.tables import key
from sciprec.foundation.arguments import shown
from sciprec.foundation.definitions import digest_of, is_installed
from sciprec.foundation.errors import InputError, meant
from sciprec.foundation.loading import by_path
from sciprec.precision.lifting.lifted import idle_roles
from sciprec.results.output.dataset import (
    fixed_point_attributes,
    idle_roles_attributes,
    timing_attributes,
)
from sciprec.results.output.stated import stated
from sciprec.scenario.complaints import complaint
from sciprec.scenario.loading import Scenario
from sciprec.scenario.variant import Variant
from sciprec.workbench.kinds.kind import Kind, Member, Surroundings, kind_called, register
from sciprec.workbench.models.arithmetic import ModelArithmetic
from sciprec.workbench.models.parameters import as_given, parameters_of, table_of
from sciprec.workbench.models.results import stored_form
from sciprec.workbench.models.timing import processor_seconds, timing_of

ModelFunction = Callable[[Any, ModelArithmetic], xr.Dataset]
Carried = Callable[[Any], Mapping[str, tuple[int, int]]]
_M = TypeVar("_M", bound=ModelFunction)

_NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")
_COMPILE_SECONDS = 5.0
"""Seconds that compiling a model's kernels is taken to need, roughly."""
_REPEATED_SECONDS, _MOST_REPEATED = 0.5, 5
_ROUNDED = (
    "Every operation of the kernels that the model lifts, and every update that it makes by its "
    "arithmetic, is rounded{residuals}; what it computes beside them is binary64."
)
_ROUNDED_BY_BLOCK = (
    "Every operation of the kernels that a step lifts is rounded in the arithmetic of its block; "
    "what it computes beside them is binary64."
)


class ModelScenario(WithAdaptive, Scenario):
    """A scenario of a user's model. Other processes find its class by the name of its kind."""

    takes_compensation: ClassVar[bool] = True

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, (self.kind, self.model_dump(mode="json"))


def _again(kind: str, content: dict[str, Any]) -> Scenario:
    """A scenario that another process has sent.

    Raises:
        InputError: its model is not known here.
    """
    model_kind = kind_called(kind)
    if model_kind is None:
        raise InputError(
            f"the model '{kind}' is not known here; give the file that defines it with --plugin, "
            f"or plugins= of sciprec.run"
        )
    return model_kind.scenario.model_validate(content)


def model(
    name: str,
    *,
    perturbs: Sequence[str] = (),
    variables: Sequence[str] | None = None,
    brief: Mapping[str, Any] | None = None,
    carried: Carried | None = None,
) -> Callable[[_M], _M]:
    """Make a function a model: scenarios with `kind = "name"` run it in their arithmetics.

    The function takes (parameters, arithmetic) and returns an xarray.Dataset. Its first argument is
    annotated with a dataclass or a pydantic model, whose fields are the keys of the scenario's
    table [name]: types, limits and descriptions become the sentences of what is wrong with a file.
    The second one is a ModelArithmetic: `lift`, `quantize`, `update` and `perturb` compute in the
    arithmetic of the run. Every variable of the Dataset has a unit; its attributes may say further
    `primary` (the variable that summaries show first), `budgets` (variables along time alone whose
    drift is watched), `pictures` (of growth, map, lines, spectrum; left out, by the axes) and
    `blow_up` (a phrase, of a run that ended before its time).

    Args:
        name: of the kind and of its table: lower-case letters, digits and '_'.
        perturbs: parameters that tell the members of an ensemble apart: each is multiplied by
            1 + amplitude xi, xi uniform in (-1, 1). Left out, the model calls
            `arithmetic.perturb` on its initial state, or asks for `arithmetic.member`.
        variables: names of the Dataset's variables, so that a tolerance on another one is refused
            before anything runs; left out, after the first run.
        brief: parameters of a run that calls the same kernels and takes next to no time, by which
            kernels are compiled ahead, several at a time.
        carried: function of the parameters -> {variable: (elements, levels)}, the states that a
            compensation gives residuals: their memory is that of
            `sciprec.machine.compensation_footprint`, and coefficients of other variables are
            refused before anything runs.

    Returns:
        A decorator, which gives the function back as it is.

    Raises:
        InputError: the name cannot be one or is taken, the function takes other arguments, or its
            parameters are of types that no scenario file can hold.
    """
    if not isinstance(name, str) or not _NAME.fullmatch(name) or hasattr(Scenario, name):
        raise InputError(
            f"a model cannot be called {shown(name)}; accepted: lower-case letters, digits and "
            "'_', beginning with a letter, at most 40, and no key that every scenario has"
        )
    if name in Scenario.model_fields:
        raise InputError(f"a model cannot be called '{name}', a key of every scenario; rename it")

    def decorate(function: _M) -> _M:
        register(_declared(name, function, perturbs, variables, brief, carried).kind)
        return function

    return decorate


def _declared(
    name: str, function: ModelFunction, perturbs: Sequence[str], variables: Sequence[str] | None,
    brief: Mapping[str, Any] | None, carried: Carried | None,
) -> Declared:  # fmt: skip
    """Check the arguments of the decorator; return the declared model.

    Raises:
        InputError: as `model`.
    """
    if not inspect.isfunction(function):
        raise InputError(f"model '{name}' is a {type(function).__name__}; decorate a function")
    parameters = parameters_of(function, name)
    table = table_of(parameters, name)
    perturbs = (perturbs,) if isinstance(perturbs, str) else tuple(perturbs)
    numbers = [n for n, field in table.model_fields.items() if field.annotation is float]
    for perturbed in perturbs:
        if perturbed not in numbers:
            raise InputError(
                f"model '{name}': perturbs names '{perturbed}'; accepted: its parameters that are "
                f"numbers of type float: {', '.join(numbers) or 'none'}{meant(perturbed, numbers)}"
            )
    for perturbed in brief or {}:
        if perturbed not in table.model_fields:
            fields = tuple(table.model_fields)
            raise InputError(
                f"model '{name}': brief names '{perturbed}'; its parameters are "
                f"{', '.join(fields)}{meant(perturbed, fields)}"
            )
    names = (variables,) if isinstance(variables, str) else variables
    names = None if names is None else tuple(names)
    return Declared(
        name, function, parameters, table, perturbs, names, dict(brief or {}), carried
    )


@dataclass(frozen=True)
class Declared:
    """A model as it was declared.

    Args:
        name: of the kind.
        function: of the user.
        parameters_class: the user's own.
        table: the schema of the scenario's table.
        perturbs: names of parameters that tell members apart.
        variables: names of what it returns; None where it does not say.
        brief: parameters of a short run; empty where there are none.
        carried: parameters -> sizes of the states that are compensated; None where it does not say.
    """

    name: str
    function: ModelFunction
    parameters_class: type
    table: type[BaseModel]
    perturbs: tuple[str, ...]
    variables: tuple[str, ...] | None
    brief: Mapping[str, Any]
    carried: Carried | None

    @property
    def kind(self) -> Kind:
        """The record by which every part of sciprec knows the model."""
        name, names = self.name, self.variables or ()
        required = any(field.is_required() for field in self.table.model_fields.values())
        default: dict[str, Any] = {} if required else {"default_factory": self.table}
        fields: dict[str, Any] = {
            "kind": (Literal[name], key(f'"{name}"', f'kind = "{name}"')),
            name: (self.table, key(f"the table [{name}]", f"[{name}]", **default)),
        }
        scenario = create_model(
            f"{self.table.__name__}Scenario", __base__=ModelScenario, **fields
        )
        scenario.__doc__ = inspect.getdoc(self.function)
        return Kind(
            name,
            scenario,
            self.run,
            check=self._check,
            attributes=stated(auxiliary="", rounded=_ROUNDED),
            variables=None if self.variables is None else lambda table: names,
            kernels=lambda table, variant: digest_of(self.function),
            compile_seconds=_COMPILE_SECONDS,
            brief=self._brief if self.brief else None,
            sources=lambda table: (self.function, self.parameters_class, self.perturbs),
            ensembles=True,
            residuals=None if self.carried is None else self._residuals,
            watched=lambda table: (),
            same_axes=True,
            file=_file_of(self.function),
            origin=(self.function.__module__, self.function.__qualname__),
        )

    def _residuals(self, table: BaseModel) -> list[tuple[str, int, int]]:
        """Name, elements of a level and levels of each state that is compensated."""
        sizes = {} if self.carried is None else self.carried(as_given(table))
        return [(name, elements, levels) for name, (elements, levels) in sizes.items()]

    def _check(self, table: BaseModel, variant: Variant) -> None:
        """Refuse a compensation of a variable that is not carried.

        Raises:
            InputError: there is one.
        """
        chosen = variant.compensation.resolved()
        if self.carried is None or not isinstance(chosen, dict):
            return
        names = [name for name, *_ in self._residuals(table)]
        for variable in chosen:
            if variable not in names:
                raise InputError(
                    f"compensation of '{variable}': model '{self.name}' carries "
                    f"{', '.join(names)}{meant(variable, names)}"
                )

    def _brief(self, table: BaseModel) -> BaseModel:
        return self._with(table, self.brief)

    def _with(self, table: BaseModel, changed: Mapping[str, Any]) -> BaseModel:
        """A table with other values.

        Raises:
            InputError: they are not accepted.
        """
        try:
            return self.table.model_validate(table.model_dump() | dict(changed))
        except ValidationError as error:
            message = "; ".join(complaint(self.table, dict(entry)) for entry in error.errors())
            raise InputError(f"model '{self.name}': {message}") from None

    def run(self, table: BaseModel, variant: Variant, around: Surroundings) -> xr.Dataset:
        """The model in one arithmetic, as one member, as it is stored."""
        begun, spent = time.perf_counter(), []
        while True:
            arithmetic = _arithmetic(variant, around)
            parameters = as_given(self._disturbed(table, arithmetic, around.member))
            with processor_seconds() as clock:
                result = self._called(parameters, arithmetic, variant.label)
            spent.append(clock.seconds)
            long = time.perf_counter() - begun > _REPEATED_SECONDS
            is_single = not around.timed or around.member is not None
            if is_single or long or len(spent) == _MOST_REPEATED:
                break
        arithmetic.require_used(self.name)
        dataset = stored_form(result, self.name, variant.is_truth, self.variables)
        dataset.attrs |= timing_attributes(timing_of(spent))
        if arithmetic.observer is not None:
            dataset = with_monitor(dataset, arithmetic.observer.observed_at_end())
        adapted = arithmetic.adapted
        if adapted is not None:
            dataset = with_adapted(dataset, adapted, _ROUNDED_BY_BLOCK)
            dataset.attrs["blow_up"] = dataset.attrs.get("blow_up") or adapted.ended
        dataset.attrs |= idle_roles_attributes(idle_roles(arithmetic.lifted))
        return dataset.assign_attrs(fixed_point_attributes(arithmetic.fixed_point))

    def _called(self, parameters: Any, arithmetic: ModelArithmetic, label: str) -> Any:
        """Call the function; return what it returns.

        Raises:
            InputError: it ends with an error.
        """
        try:
            return self.function(parameters, arithmetic)
        except (InputError, MemoryError):
            raise
        except Exception as error:
            raise InputError(
                f"model '{self.name}' ended in {label} with {type(error).__name__}: {error} "
                f"({_place(error, self.function)}); mend it there"
            ) from error

    def _disturbed(
        self, table: BaseModel, arithmetic: ModelArithmetic, member: Member | None
    ) -> BaseModel:
        """The parameters of a member."""
        if member is None or not self.perturbs:
            return table
        return self._with(
            table, {n: arithmetic.perturb(float(getattr(table, n))) for n in self.perturbs}
        )


def _arithmetic(variant: Variant, around: Surroundings) -> ModelArithmetic:
    """The arithmetic of a run."""
    member = around.member or Member(0, 2.0**-52, 0)
    return ModelArithmetic(
        variant.backend, variant.compensation.resolved(), member=member.member,
        amplitude=member.amplitude, seed=member.seed, threads=around.threads,
        monitor=around.monitor,
        adaptive=None if variant.adaptive is None else variant.adaptive.plan(),
    )  # fmt: skip


def _place(error: Exception, function: ModelFunction) -> str:
    """The line of a model's own code that has raised an error."""
    file, line = function.__code__.co_filename, function.__code__.co_firstlineno
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == file:
            line = trace.tb_lineno
        trace = trace.tb_next
    return f"{Path(file).name}, line {line}"


def _file_of(function: ModelFunction) -> str:
    """The file by which other processes learn of a model; empty where an installed package brings
    it, or no file has it.
    """
    file = inspect.getsourcefile(function) or ""
    installed = is_installed(function) and not by_path(function.__module__)
    if not Path(file).is_file() or installed:
        return ""
    return str(Path(file).resolve())


