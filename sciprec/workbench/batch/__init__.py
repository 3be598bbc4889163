"""Batches: a plan is pure data, one run is one function, and one module alone executes on dask."""
