"""The arithmetic of each stage of the transforms, apart from that of the rest of a model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace

from sciprec.arrays.matrix_unit.unit import MatrixUnit, is_matrix_unit, resolve_matrix_unit
from sciprec.foundation.arguments import shown
from sciprec.foundation.errors import InputError, meant
from sciprec.precision.formats.backend import Backend, handed_as, resolve_backend


@dataclass(frozen=True)
class Stages:
    """The arithmetics of the stages of a transform; an omitted one is that of the model.

    Args:
        legendre: of the Legendre products and their sums; or a matrix unit that makes them, such as
            "matrix:table=int8,field=fp16".
        sums: of these sums alone, as a matrix unit has one for them; left out, that of `legendre`.
        fourier: of the fast Fourier transform.
        kept: of the Legendre products of the lowest orders and degrees; or a matrix unit, too.
        kept_orders: how many orders from m = 0 on are computed in `kept`.
        kept_degrees: how many degrees from l = 0 on are.
    """

    legendre: str | Backend | MatrixUnit | None = None
    sums: str | Backend | None = None
    fourier: str | Backend | None = None
    kept: str | Backend | MatrixUnit | None = None
    kept_orders: int = 0
    kept_degrees: int = 0

    def resolved(self, backend: str | Backend) -> dict[str, Backend | MatrixUnit]:
        """The arithmetics of `legendre`, `fourier` and `kept` in a model in this arithmetic.

        Raises:
            InputError: an unknown arithmetic, or one in fixed point or with random bits; a matrix
                unit beside sums of its own.
        """
        model = resolve_backend(backend)
        backends = {name: self._in_model(name, model) for name in ("legendre", "fourier", "kept")}
        legendre = backends["legendre"]
        if self.sums is not None:
            if isinstance(legendre, MatrixUnit):
                raise InputError(
                    f"stages have sums in {shown(self.sums)} beside '{legendre.text}', which has "
                    "its own; leave 'sums' out, and say accumulate= in the unit"
                )
            wide = _plain_floats("sums", self.sums)
            name = f"{legendre.name}, sums in {wide.compute.format.name}"
            sums = {"accumulate": wide.accumulate, "matmul": wide.accumulate}
            backends["legendre"] = replace(legendre, name=name, about="", **sums)
        return backends

    @property
    def on_unit_alone(self) -> bool:
        """Whether the Legendre products are a matrix unit's, and all else is the model's."""
        remaining = self.sums, self.fourier, self.kept
        return is_matrix_unit(self.legendre) and remaining == (None, None, None)

    @property
    def units(self) -> list[MatrixUnit]:
        """The matrix units among them."""
        arithmetics = (self.legendre, self.kept)
        return [resolve_matrix_unit(unit) for unit in arithmetics if is_matrix_unit(unit)]

    def _in_model(self, name: str, model: Backend) -> Backend | MatrixUnit:
        """Return the given arithmetic, or for an omitted one that of the model."""
        arithmetic = getattr(self, name)
        if name != "fourier" and is_matrix_unit(arithmetic):
            return resolve_matrix_unit(arithmetic)
        return handed_as(_plain_floats(name, model if arithmetic is None else arithmetic), model)


_MIXED = Stages("fp16", sums="fp32", kept="fp32")
STAGES: dict[str, Stages] = {
    "fp16": Stages("fp16", fourier="fp16"),
    "fp16-fourier": Stages(fourier="fp16"),
    "fp16-legendre": Stages("fp16"),
    "mixed": Stages("fp16", sums="fp32"),
    "mixed-m0": replace(_MIXED, kept_orders=1),
    "mixed-m3": replace(_MIXED, kept_orders=4),
    "mixed-m15": replace(_MIXED, kept_orders=16),
    "mixed-l3": replace(_MIXED, kept_degrees=4),
    "mixed-l10": replace(_MIXED, kept_degrees=11),
}
"""Name of a choice -> Stages. "mixed": Legendre products of binary16 factors with sums in binary32,
what a matrix unit does; m and l: the last order and degree that stay in fp32."""


def resolve_stages(stages: str | Stages | Mapping | None) -> Stages | None:
    """Return the stages of a name, or made of a table; None and "none": those of the model.

    Raises:
        InputError: an unknown name or key, or a number that is none.
    """
    if stages is None or isinstance(stages, Stages) or isinstance(stages, str) and stages == "none":
        return _checked(stages) if isinstance(stages, Stages) else None
    if isinstance(stages, Mapping):
        keys = [field.name for field in fields(Stages)]
        for name in stages:
            if name not in keys:
                raise InputError(
                    f"stages have the unknown key {name!r}; known: {', '.join(keys)}"
                    + meant(name, keys)
                )
        return _checked(Stages(**stages))
    if isinstance(stages, str) and stages in STAGES:
        return STAGES[stages]
    raise InputError(
        f"stages is {shown(stages)}; accepted: none, {', '.join(STAGES)}, or a table with some of "
        f"legendre, sums, fourier, kept, kept_orders and kept_degrees{meant(stages, STAGES)}"
    )


def require_stages(stages: Stages, backend: Backend, fourier: str, sums: bool) -> None:
    """Make sure that a model can have its transforms in these arithmetics.

    Args:
        stages: the arithmetics.
        backend: of the rest of the model.
        fourier: the Fourier stage that is asked for.
        sums: whether sums inside transforms are to be compensated.

    Raises:
        InputError: it cannot.
    """
    if fourier != "fft" or sums:
        other = "compensated sums" if sums else f"the Fourier stage {fourier!r}"
        raise InputError(
            f"stages were given beside {other}; accepted beside stages: fourier = 'fft' and a "
            "compensation without sums"
        )
    _plain_floats("backend", backend)
    stages.resolved(backend)


def _checked(stages: Stages) -> Stages:
    """The stages, where their numbers are such."""
    for name in ("kept_orders", "kept_degrees"):
        value = getattr(stages, name)
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            raise InputError(f"{name} of stages is {value!r}; accepted: a whole number >= 0")
    some = [name for name in ("kept_orders", "kept_degrees") if getattr(stages, name)]
    if stages.kept is not None and not some:
        raise InputError(
            f"stages have kept = {shown(stages.kept)} and neither kept_orders nor kept_degrees, so "
            "that nothing is computed in it; give one, such as kept_orders = 1, or leave 'kept' out"
        )
    if some and (stages.legendre, stages.sums, stages.kept) == (None, None, None):
        raise InputError(
            f"stages have {some[0]} = {getattr(stages, some[0])}, and Legendre products in the "
            "arithmetic of the run whatever their order and degree; give legendre, sums or kept, "
            f"or leave {some[0]} out"
        )
    return stages


def _plain_floats(role: str, arithmetic: str | Backend) -> Backend:
    """The arithmetic, where kernels in it have no state of their own."""
    try:
        backend = resolve_backend(arithmetic)
    except InputError:
        if isinstance(arithmetic, str):
            raise
        raise InputError(
            f"{role} of stages is {shown(arithmetic)}; accepted: the name of an arithmetic such as "
            "'fp16', a spec string, or a Backend"
        ) from None
    if backend.fixed or backend.random:
        kind = "in fixed point" if backend.fixed else "rounded at random"
        raise InputError(
            f"{role} is '{backend.name}' beside stages of the transforms, which is {kind}; "
            "accepted: floats that are rounded alike each time, such as 'fp16' or 'mlu370'"
        )
    return backend
