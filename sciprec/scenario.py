"""Scenarios: a TOML file becomes a frozen, validated description of what to run.

The only place that checks what a user wrote. Every complaint names the file and the key, says what
was given, what is accepted and what to write instead; all complaints of a file come at once.
"""

from __future__ import annotations

import difflib
import tomllib
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    field_validator,
    model_validator,
)

from sciprec.errors import InputError
from sciprec.precision.backend import resolve_backend

LARGEST_FILE_BYTES = 1_000_000
TRUTH = "fp64"


def _as_tuple(value: Any) -> Any:
    """TOML arrays arrive as lists; frozen scenarios hold tuples."""
    return tuple(value) if isinstance(value, list) else value


def _key(description: str, example: str, **limits: Any) -> Any:
    """A scenario key: what it accepts in words, how to write it in TOML, and its limits."""
    return Field(description=description, examples=[example], **limits)


Numbers = Annotated[tuple[float, ...], BeforeValidator(_as_tuple)]
Names = Annotated[tuple[str, ...], BeforeValidator(_as_tuple)]


class Section(BaseModel):
    """A table of the file: frozen, strict about types, no unknown keys, no NaN."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)


class Tolerance(Section):
    """The largest error against the truth at which a variable is good enough."""

    variable: str = _key("the name of a variable of the run's file", 'variable = "height"')
    metric: str = _key("the name of an error metric", 'metric = "relative_l2"')
    at_most: float = _key("a number >= 0", "at_most = 1.0e-3", ge=0)
    reason: str = _key("a sentence saying where the number comes from", 'reason = "..."')


class ClimateRun(Section):
    """One integration of a global model."""

    case: str = _key("the name of a registered initial state", 'case = "williamson_5"')
    truncation: int = _key("a triangular truncation: 21, 31, 42, 63 or 85", "truncation = 42")
    days: float = _key("a number of days > 0, at most 10000", "days = 5.0", gt=0, le=10_000)
    step_seconds: float | None = Field(
        default=None, gt=0, le=86_400, examples=["step_seconds = 600.0"],
        description="a number of seconds > 0; left out, the model chooses",
    )  # fmt: skip
    output_hours: float = Field(
        default=24.0, gt=0, examples=["output_hours = 6.0"], description="a number of hours > 0"
    )
    time_scheme: str = Field(
        default="rk4", examples=['time_scheme = "rk4"'],
        description="the name of a registered time scheme",
    )  # fmt: skip
    parameters: dict[str, float] = Field(
        default_factory=dict, examples=["parameters = { angle_degrees = 45.0 }"],
        description="a table of numbers that the case or the equations know",
    )  # fmt: skip

    @field_validator("truncation")
    @classmethod
    def _known_truncation(cls, value: int) -> int:
        if value not in (21, 31, 42, 63, 85):
            raise ValueError("not among the known truncations")
        return value


class HestonModel(Section):
    """Parameters of Heston (1993); sigma is the volatility of variance."""

    spot: float = _key("a price > 0", "spot = 100.0", gt=0)
    v0: float = _key("an initial variance >= 0", "v0 = 0.04", ge=0)
    kappa: float = _key("a rate of mean reversion > 0, per year", "kappa = 1.5", gt=0)
    theta: float = _key("a long-run variance > 0", "theta = 0.04", gt=0)
    sigma: float = _key("a volatility of variance > 0", "sigma = 0.5", gt=0)
    rho: float = _key("a correlation in [-1, 1]", "rho = -0.7", ge=-1, le=1)
    rate: float = _key("an interest rate per year, continuously compounded", "rate = 0.02")
    dividend_yield: float = Field(
        default=0.0, examples=["dividend_yield = 0.01"],
        description="a dividend yield per year, continuously compounded",
    )  # fmt: skip


class HestonPayoffs(Section):
    """A grid of European options."""

    kind: Literal["call", "put"] = _key('"call" or "put"', 'kind = "call"')
    strikes: Numbers = _key("an array of prices > 0", "strikes = [90.0, 100.0]", min_length=1)
    maturities_years: Numbers = _key(
        "an array of years > 0", "maturities_years = [0.5, 1.0]", min_length=1
    )

    @field_validator("strikes", "maturities_years")
    @classmethod
    def _increasing(cls, values: tuple[float, ...]) -> tuple[float, ...]:
        if values[0] <= 0 or any(b <= a for a, b in zip(values, values[1:], strict=False)):
            raise ValueError("the numbers must be positive and increasing")
        return values


class HestonSimulation(Section):
    """How the paths are drawn."""

    scheme: str = Field(
        default="quadratic_exponential_martingale",
        description="the name of a registered path scheme",
        examples=['scheme = "quadratic_exponential_martingale"'],
    )
    n_paths: int = _key("a number of paths from 2 to 1e9", "n_paths = 65536", ge=2, le=10**9)
    steps_per_year: int = _key("a number from 1 to 100000", "steps_per_year = 32", ge=1, le=10**5)
    seed: int = Field(
        default=0, ge=0, lt=2**63, examples=["seed = 1"], description="a whole number >= 0"
    )
    block_paths: int = Field(
        default=4096, ge=1, le=10**7, examples=["block_paths = 4096"],
        description="a number of paths simulated together, from 1 to 1e7; changes no result",
    )  # fmt: skip


class HestonRun(Section):
    """One Monte Carlo pricing of a grid of options."""

    model: HestonModel = _key("the table [heston.model]", "[heston.model]")
    payoffs: HestonPayoffs = _key("the table [heston.payoffs]", "[heston.payoffs]")
    simulation: HestonSimulation = _key("the table [heston.simulation]", "[heston.simulation]")


class Scenario(Section):
    """What every scenario says, whatever its kind."""

    name: str = _key(
        "lower-case letters, digits, '_' and '-', at most 60", 'name = "mountain_t42"',
        pattern=r"^[a-z0-9][a-z0-9_-]{0,59}$",
    )  # fmt: skip
    title: str = _key("a line for the page", 'title = "Flow over a mountain"', min_length=1)
    source: str = _key("author, year and case", 'source = "Williamson et al. (1992), case 5"')
    kind: str = _key('"climate" or "heston"', 'kind = "climate"')
    backends: Names = _key(
        "an array of backend names or spec strings", 'backends = ["fp32", "fp16"]', min_length=1
    )
    tolerance: Annotated[tuple[Tolerance, ...], BeforeValidator(_as_tuple)] = Field(
        default=(), description="tables [[tolerance]]", examples=["[[tolerance]]"]
    )

    @field_validator("backends")
    @classmethod
    def _known_backends(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        for name in names:
            resolve_backend(name)
        if len(set(names)) < len(names):
            raise ValueError("a backend is named twice")
        return names

    @model_validator(mode="after")
    def _tolerances_once(self) -> Scenario:
        pairs = [(t.variable, t.metric) for t in self.tolerance]
        if len(set(pairs)) < len(pairs):
            raise ValueError("two [[tolerance]] tables have the same variable and metric")
        return self


class ClimateScenario(Scenario):
    """A scenario of kind "climate"."""

    kind: Literal["climate"] = _key('"climate"', 'kind = "climate"')
    climate: ClimateRun = _key("the table [climate]", "[climate]")


class HestonScenario(Scenario):
    """A scenario of kind "heston"."""

    kind: Literal["heston"] = _key('"heston"', 'kind = "heston"')
    heston: HestonRun = _key("the table [heston]", "[heston.model]")


KINDS: dict[str, type[Scenario]] = {"climate": ClimateScenario, "heston": HestonScenario}


def load_scenario(path: str | Path) -> Scenario:
    """Read and validate one scenario file.

    Args:
        path: a TOML file.

    Returns:
        A frozen ClimateScenario or HestonScenario.

    Raises:
        InputError: the file cannot be read or something in it cannot be used; one line per
            complaint, each naming the file and the key.
    """
    path = Path(path)
    return parse_scenario(_read(path), origin=str(path))


def parse_scenario(content: dict[str, Any], origin: str = "scenario") -> Scenario:
    """Validate a scenario that is already a dictionary; `origin` is named in the complaints."""
    kind = content.get("kind")
    if not isinstance(kind, str) or kind not in KINDS:
        given = "is missing" if kind is None else f"was given {kind!r}"
        raise InputError(
            f"{origin}: the key 'kind' {given}; accepted: {', '.join(KINDS)}{_nearest(kind, KINDS)}"
        )
    try:
        return KINDS[kind].model_validate(content)
    except ValidationError as error:
        complaints = [_complaint(KINDS[kind], dict(e)) for e in error.errors()]
        raise InputError("\n".join(f"{origin}: {c}" for c in complaints)) from None


def _read(path: Path) -> dict[str, Any]:
    """The dictionary that a TOML file holds."""
    if not path.is_file():
        what = "is a folder" if path.is_dir() else "does not exist"
        raise InputError(
            f"scenario file '{path}' {what}; give the path of a TOML file, "
            "such as scenarios/quickstart_climate.toml"
        )
    if path.stat().st_size > LARGEST_FILE_BYTES:
        raise InputError(
            f"{path}: holds {path.stat().st_size} bytes; a scenario has at most "
            f"{LARGEST_FILE_BYTES}: is this a scenario file?"
        )
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except UnicodeDecodeError as error:
        raise InputError(
            f"{path}: is not UTF-8 text (byte {error.start}); a scenario is a TOML file: "
            "save it as UTF-8"
        ) from None
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise InputError(
            f"{path}: is not valid TOML: {error}; write keys as `days = 5.0` and tables as "
            "`[climate]`"
        ) from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}); check permissions") from None


def _nearest(given: Any, known: Any) -> str:
    """"; did you mean 'x'?" for the nearest known name, or nothing."""
    near = difflib.get_close_matches(str(given), list(known), n=1, cutoff=0.6)
    return f"; did you mean '{near[0]}'?" if near else ""


def _section_at(model: type[Section], location: tuple) -> tuple[type[Section], Any]:
    """The section that holds a key, and the key's own declaration (None for a whole table)."""
    field = None
    for name in location:
        if isinstance(name, int) or name not in model.model_fields:
            continue
        field = model.model_fields[name]
        nested = _nested_section(field.annotation)
        if nested is not None:
            model = nested
    return model, field


def _nested_section(annotation: Any) -> type[Section] | None:
    """The section class inside an annotation such as HestonModel or tuple[Tolerance, ...]."""
    for candidate in (annotation, *getattr(annotation, "__args__", ())):
        if isinstance(candidate, type) and issubclass(candidate, Section):
            return candidate
    return None


def _complaint(model: type[Section], error: dict[str, Any]) -> str:
    """One sentence for one entry of a ValidationError: given, accepted, what to write."""
    location = tuple(error["loc"])
    key = ".".join(str(part) for part in location)
    _, field = _section_at(model, location)
    if error["type"] == "extra_forbidden":
        parent, _ = _section_at(model, location[:-1])
        known = list(parent.model_fields)
        return f"unknown key '{key}'; known: {', '.join(known)}{_nearest(location[-1], known)}"
    if field is None:
        return str(error["ctx"]["error"]) if "ctx" in error else error["msg"]
    example = f"; write for example `{field.examples[0]}`"
    if error["type"] == "missing":
        return f"the key '{key}' is missing; accepted: {field.description}{example}"
    reason = error.get("ctx", {}).get("error")
    if isinstance(reason, InputError):
        return f"key '{key}': {reason}"
    why = f" ({reason})" if reason else ""
    given = f"{error['input']!r:.80} ({_type_in_words(error['input'])})"
    return f"key '{key}' was given {given}{why}; accepted: {field.description}{example}"


def _type_in_words(value: Any) -> str:
    """A TOML type in words."""
    names = {bool: "true or false", int: "a whole number", float: "a number", str: "a string",
             tuple: "an array", list: "an array", dict: "a table"}  # fmt: skip
    return names.get(type(value), type(value).__name__)
