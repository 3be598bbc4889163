"""Arrays in an arithmetic: quantised arrays, matrix products, sums, and norms of their errors."""

from typing import TYPE_CHECKING

from sciprec.foundation.later import names_of

if TYPE_CHECKING:
    from sciprec.arrays import sums as sums
    from sciprec.arrays.integers.fixed_point import adaptive_quantize as adaptive_quantize
    from sciprec.arrays.integers.fixed_point import dequantize as dequantize
    from sciprec.arrays.integers.matrix_products import fixed_matmul as fixed_matmul

__all__, __getattr__, __dir__ = names_of("sciprec.arrays")
