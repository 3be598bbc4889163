"""Arithmetics in words: the table of backends, and one of them in a line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sciprec.foundation.listing import Listing
from sciprec.precision.formats.fixed_format import FixedFormat

if TYPE_CHECKING:
    from sciprec.precision.formats.backend import Arithmetic, Backend

_ROLES = ("storage", "compute", "accumulate", "matmul")


def backends_listing(rows: Sequence[dict[str, Any]]) -> Listing:
    """One line per backend.

    Args:
        rows: of sciprec.precision.formats.backend.table.
    """
    lines = []
    for row in rows:
        fixed = row["max_finite"] is None  # every place has a unit, and so a range, of its own
        lines.append((
            row["name"], row["rounding"], row["subnormals"] or "–", row["overflow"],
            str(row["significand_bits"]), "–" if fixed else f"{row['emin']} … {row['emax']}",
            f"{row['unit_roundoff']:.2g}", "–" if fixed else f"{row['max_finite']:.3g}",
            row["about"],
        ))  # fmt: skip
    return Listing(
        ("name", "rounding", "subnormals", "overflow"),
        ("bits", "exponents", "unit roundoff", "largest"),
        lines,
        ("about",),
        droppable=("about", "overflow", "largest", "unit roundoff", "subnormals"),
    )


def in_words(backend: Backend) -> str:
    """The arithmetic of a backend in a line: that of its operators, and which roles have another
    one.
    """
    said, others = [_arithmetic(backend.compute)], dict[str, list[str]]()
    for role, own in zip(_ROLES, backend.roles, strict=True):
        if own != backend.compute:
            others.setdefault(_arithmetic(own), []).append(role)
    said += [f"{' and '.join(roles)} in {words}" for words, roles in others.items()]
    if backend.compute.aligned:
        said.append("sums aligned first, without guard bits")
    if backend.noise is not None:
        least, most = backend.noise
        said.append(f"a relative perturbation of {least:g} to {most:g} on each store")
    return "; ".join(said)


def _arithmetic(own: Arithmetic) -> str:
    fmt, rounding = own.format, own.rule.words
    if isinstance(fmt, FixedFormat):
        return f"integers of {fmt.bits} bits, a unit for each place, {rounding}"
    flushed = "" if fmt.subnormals else ", subnormals flushed"
    return (
        f"{fmt.significand_bits} significant bits, exponents {fmt.emin} to {fmt.emax}, "
        f"{rounding}{flushed}"
    )
