"""Comparison of a run with its truth: pairing, metrics and verdicts, on datasets only."""

from sciprec.results.comparison.pointwise.error_metrics import metric, metrics
from sciprec.results.comparison.rows import Comparison, ComparisonRow, compare

__all__ = ["Comparison", "ComparisonRow", "compare", "metric", "metrics"]
