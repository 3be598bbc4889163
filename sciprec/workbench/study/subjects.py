"""The subject of a study: a kernel with its inputs, and which of its results count."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from sciprec.foundation.arguments import names, refused
from sciprec.foundation.definitions import digest_of
from sciprec.foundation.errors import InputError, meant
from sciprec.precision.formats.backend import TRUTH, resolve_backend
from sciprec.precision.lifting.lifted import Lifted
from sciprec.precision.lifting.lifting import lift
from sciprec.precision.lifting.written import stored_arrays, written_arrays
from sciprec.precision.rewriting.syntax import LiftError, plain_function
from sciprec.tools.calls.inputs import Inputs, inputs_of
from sciprec.tools.calls.outputs import CallOutputs, called, dataset_of, todays_name

RESERVED = ("health", "quantization_info")
"""Names of variables that every file of a run has."""


@dataclass(frozen=True)
class StudySubject:
    """A kernel with its inputs.

    Args:
        kernel: the plain function.
        members: what its calls are given; the first one is shown in pictures.
        outputs: names of the results that count, the main one first.
        axes: names of the axes of results.
    """

    kernel: Callable[..., Any]
    members: tuple[Inputs, ...]
    outputs: tuple[str, ...]
    axes: Mapping[str, tuple[str, ...]]

    @cached_property
    def identity(self) -> str:
        """The digest of the subject, as 64 hexadecimal digits."""
        return digest_of(
            self.kernel, [(m.values, m.dims, m.coordinates) for m in self.members],
            self.outputs, dict(self.axes),
        )  # fmt: skip

    def run(self, inputs: Inputs, backend: str) -> tuple[Lifted, xr.Dataset]:
        """Lift the kernel to an arithmetic, and return it with the results of its first call."""
        lifted = lift(self.kernel, backend)
        call, arithmetic = called(lifted, inputs), resolve_backend(backend)
        return lifted, dataset_of(call, inputs, self.outputs, self.axes, arithmetic)

    def ranges(self) -> tuple[int, int]:
        """Exponents of the smallest and the largest number that binary64 meets in any member.

        Raises:
            InputError: they are not known.
        """
        kernel = lift(self.kernel, TRUTH)
        profiles = [kernel.profile(*inputs.values.values()) for inputs in self.members]
        large = max(float(np.max(profile.largest, initial=0.0)) for profile in profiles)
        small = min(float(np.min(profile.smallest, initial=math.inf)) for profile in profiles)
        if not (math.isfinite(small) and 0.0 < large < math.inf):
            raise InputError("no finite number but zero was met")
        return math.frexp(small)[1] - 1, math.frexp(large)[1] - 1

    @property
    def place(self) -> str:
        """The kernel's definition: the name of its file and the line."""
        code = self.kernel.__code__
        return f"{Path(code.co_filename).name}, line {code.co_firstlineno}"


_open: dict[str, StudySubject] = {}


@contextlib.contextmanager
def opened(subject: StudySubject) -> Iterator[None]:
    """Let runs find a subject by its identity: a scenario holds plain data."""
    _open[subject.identity] = subject
    try:
        yield
    finally:
        _open.pop(subject.identity, None)


def subject_of(identity: str) -> StudySubject:
    """The open subject of an identity."""
    return _open[identity]


def subject(
    kernel: Any, args: Any, output: str | Sequence[str] | None, axes: Mapping[str, Any] | None
) -> StudySubject:
    """Make the subject of a study, checked by a run in binary64.

    Args:
        kernel: a Python function, an `@njit` function or a lifted kernel.
        args: as for `inputs_of`, or a list of such.
        output: names of the results that count; None: all.
        axes: result -> the name of its axis, or names.

    Raises:
        InputError: the kernel cannot be lifted or fails on its inputs, an argument is missing or
            no number, or a result is not there.
    """
    function = kernel.kernel if isinstance(kernel, Lifted) else plain_function(kernel)
    if function is None:
        accepted = "a Python function, an @njit function, or what lift gave"
        raise refused("the kernel", kernel, accepted)
    calls = list(args) if isinstance(args, list) else [args]
    if not calls:
        raise refused("args", args, "the arguments of at least one call")
    several = len(calls) > 1
    members = tuple(
        inputs_of(function, call_args, f"the arguments, number {n}" if several else "the arguments")
        for n, call_args in enumerate(calls)
    )
    call = _truth(function, members[0])
    chosen = _chosen(function, members[0], call, output)
    axis_names = _axes(axes, members[0], call, chosen)
    if output is None:  # what somebody has described is what he looks at
        chosen = tuple(sorted(chosen, key=lambda name: name not in axis_names))
    return StudySubject(function, members, chosen, axis_names)


def _truth(kernel: Callable[..., Any], inputs: Inputs) -> CallOutputs:
    """A call in binary64."""
    try:
        return called(lift(kernel, TRUTH), inputs)
    except LiftError:
        raise
    except InputError as error:
        raise InputError(f"kernel '{kernel.__name__}' on {inputs.origin}: {error}") from None


def _chosen(
    kernel: Callable[..., Any],
    inputs: Inputs,
    call: CallOutputs,
    output: str | Sequence[str] | None,
) -> tuple[str, ...]:
    """Names of the results that count."""
    outputs = _results(kernel, inputs, call)
    if not outputs:
        raise InputError(
            f"kernel '{kernel.__name__}' writes no array that it is given and returns nothing, so "
            "that there is nothing to compare; let it write into an argument, or return something"
        )
    requested = () if output is None else names("output", output)
    chosen = tuple(dict.fromkeys(todays_name(name, outputs) for name in requested)) or outputs
    for name in chosen:
        if name in outputs:
            continue
        if name in call.results:
            raise InputError(
                f"kernel '{kernel.__name__}' never writes its argument '{name}'; its outputs: "
                f"{', '.join(outputs)}"
            )
        raise InputError(
            f"kernel '{kernel.__name__}' has no output '{name}'; its outputs: {', '.join(outputs)}"
            f"{meant(name, outputs)}"
        )
    for name in chosen:
        if name in RESERVED:
            raise InputError(
                f"an output of kernel '{kernel.__name__}' is called '{name}', as a variable of "
                "every file of a run; rename the argument"
            )
    return chosen


def _results(kernel: Callable[..., Any], inputs: Inputs, call: CallOutputs) -> tuple[str, ...]:
    """Names of the arrays that a kernel writes, and of its returned results."""
    writes = written_arrays(kernel)(tuple(inputs.values.values()))
    may = {name for name, is_written in zip(inputs.values, writes, strict=True) if is_written}
    stored = stored_arrays(kernel)
    arrays = [
        name
        for name, argument in call.argument_of.items()
        if argument in may and (argument in stored or call.changed(name, inputs))
    ]
    return (*arrays, *(name for name in call.results if name not in call.argument_of))


def _axes(
    axes: Mapping[str, Any] | None, inputs: Inputs, call: CallOutputs, outputs: Sequence[str]
) -> dict[str, tuple[str, ...]]:
    """Names of the axes of results: given ones, then those of a file of inputs."""
    if not isinstance(axes, (Mapping, type(None))):
        raise refused("axes", axes, 'a mapping such as {"path": "time"}')
    dims_of = {n: d for n, d in inputs.dims.items() if n in outputs}
    sizes: dict[str, int] = {}
    for key, axis_names in (axes or {}).items():
        name = todays_name(key, outputs)
        if name not in outputs:
            raise InputError(
                f"axes are given for '{name}'; outputs: {', '.join(outputs)}{meant(name, outputs)}"
            )
        dims_of[name] = tuple(names(f"the axes of '{name}'", axis_names))
    for name, dims in dims_of.items():
        shape = np.shape(call.results[name])
        if len(dims) != len(shape) or len(set(dims)) < len(dims):
            raise InputError(
                f"the axes of '{name}' are given as {', '.join(dims)}; it has {len(shape)}, with "
                f"{' x '.join(map(str, shape)) or 'no'} elements: give as many names, all different"
            )
        for dim, size in zip(dims, shape, strict=True):
            if sizes.setdefault(dim, size) != size:
                raise InputError(
                    f"the axis '{dim}' has {sizes[dim]} elements in one output and {size} in "
                    f"'{name}'; give the axes different names"
                )
            if dim in outputs and (dims != (dim,) or name != dim):
                raise InputError(
                    f"an axis of '{name}' is called '{dim}', as an output is; give it another name"
                )
    return dims_of
