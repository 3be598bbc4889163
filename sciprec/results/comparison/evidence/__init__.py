"""Evidence of runs beside the errors of single values."""
