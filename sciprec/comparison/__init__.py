"""Comparison of a run with its truth: pairing, metrics and verdicts, on datasets only.

The package can be called like its main function: `sciprec.compare(golden, actual)`.
"""

import sys
import types
from typing import Any

from sciprec.comparison.pointwise.error_metrics import metric, metrics
from sciprec.comparison.rows import Comparison, Row, compare

__all__ = ["Comparison", "Row", "compare", "metric", "metrics"]


class _CallablePackage(types.ModuleType):
    """`sciprec.compare` names this package as soon as it is imported, so it answers calls too."""

    def __call__(self, *datasets: Any, **options: Any) -> Comparison:
        """See `compare`."""
        return compare(*datasets, **options)


sys.modules[__name__].__class__ = _CallablePackage
