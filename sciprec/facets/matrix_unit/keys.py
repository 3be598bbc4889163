"""Values of keys that take a matrix unit: legendre = "matrix:table=int8,field=fp16"."""

from typing import Annotated

from pydantic import AfterValidator

from sciprec.arrays.matrix_unit.unit import is_matrix_unit, resolve_matrix_unit
from sciprec.facets.tables import KnownArithmetic, known_arithmetic


def _arithmetic_or_unit(name: str) -> str:
    return resolve_matrix_unit(name).text if is_matrix_unit(name) else known_arithmetic(name)


ArithmeticOrUnit = Annotated[str, AfterValidator(_arithmetic_or_unit), KnownArithmetic]
"""An arithmetic, or the spec string of a matrix unit."""
