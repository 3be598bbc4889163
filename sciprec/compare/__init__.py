"""Comparison of a run with its truth: pairing, metrics and verdicts, on datasets only."""

from sciprec.compare.comparison import Comparison, Row, compare
from sciprec.compare.metrics import metric, metrics

__all__ = ["Comparison", "Row", "compare", "metric", "metrics"]
