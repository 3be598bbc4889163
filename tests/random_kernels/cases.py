"""A random kernel with its arguments, and a trial: the kernel in one backend."""

from __future__ import annotations

import dataclasses
import json
import re
from dataclasses import dataclass

ELEMENTARY = re.compile(
    r"\bcmath\.|\bspecial\.|\b(?:math|np)\.(?:exp|log|sin|cos|tan|asin|acos|atan|arc\w+|sinh|cosh|tanh|erf|expm1"
    r"|log1p|pow|power|hypot|exp2|log2|log10|cbrt|gamma|lgamma|sinc)\w*\("
    r"|\*\* (?!\(?-?\d+\b(?!\.))"
)
LIBRARY = re.compile(
    r"linalg|np\.(?:var|std|median|ptp|nan\w+|diff|outer|cross|trace|eye|identity|linspace|clip"
    r"|quantile|percentile|interp|trapezoid|finfo|searchsorted)\(|List\(|smoothed\(|swept\("
    r"|\.(?:var|std)\(|radians|degrees|deg2rad|rad2deg|\bround\(|divmod\("
)


@dataclass(frozen=True)
class Argument:
    """One argument of a kernel.

    Args:
        name: of the parameter.
        kind: "array", "number", "integer" or "object" (of the class Tank).
        dtype: of the array, of the number, or of the field `level`.
        shape: of the array.
        layout: "plain", "strided" (every other element), "reversed", "transposed" or "offset"
            (a part of a larger array); of integers, how large they are: "small" or "large".
    """

    name: str
    kind: str
    dtype: str = "float64"
    shape: tuple[int, ...] = ()
    layout: str = "plain"


@dataclass(frozen=True)
class Case:
    """A module whose function `kernel` takes the arguments."""

    seed: int
    source: str
    arguments: tuple[Argument, ...]

    @property
    def is_elementary(self) -> bool:
        """Whether it uses functions that wide formats take from the platform, within an ulp."""
        return ELEMENTARY.search(self.source) is not None

    @property
    def is_complex(self) -> bool:
        """Whether it is given complex numbers."""
        return any(a.dtype.startswith("complex") for a in self.arguments)

    @property
    def has_object(self) -> bool:
        """Whether it takes an object of a jitclass."""
        return any(a.kind == "object" for a in self.arguments)

    @property
    def calls_library(self) -> bool:
        """Whether it calls functions that the engine has kernels for, but no oracle in fixed
        point.
        """
        return LIBRARY.search(self.source) is not None

    @property
    def calls_ufuncs(self) -> bool:
        """Whether it calls functions of `@vectorize` or `@guvectorize` on arrays."""
        return "smoothed(" in self.source or "swept(" in self.source

    @property
    def is_parallel(self) -> bool:
        return "prange(" in self.source


@dataclass(frozen=True)
class Trial:
    """A case in one backend.

    Args:
        case: the kernel.
        backend: its name or spec string.
        path: "auto" or "software".
        trust: whether arguments are in the storage format already, and said to be.
        seed: chooses the values of the arguments.
        calls: how often it is called, each time with other values.
    """

    case: Case
    backend: str
    path: str = "auto"
    trust: bool = False
    seed: int = 0
    calls: int = 3

    def as_json(self) -> str:
        """One line."""
        return json.dumps(dataclasses.asdict(self))

    @classmethod
    def from_json(cls, line: str) -> Trial:
        given = json.loads(line)
        case = given.pop("case")
        arguments = tuple(
            Argument(**{**a, "shape": tuple(a["shape"])}) for a in case.pop("arguments")
        )
        return cls(Case(**case, arguments=arguments), **given)

    def text(self) -> str:
        """The trial as a person reads it."""
        given = ", ".join(
            f"{a.name}: {a.dtype}{list(a.shape) if a.kind == 'array' else ''} {a.layout}"
            for a in self.case.arguments
        )
        more = f"path={self.path!r}, trust_inputs={self.trust}"
        return (
            f"kernel of seed {self.case.seed} in '{self.backend}' ({more}), {self.calls} calls "
            f"with values of seed {self.seed}\narguments: {given}\n\n{self.case.source}"
        )
