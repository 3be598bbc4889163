"""Matrix units: Legendre products as a matrix unit computes them, from tables in its formats.

A unit (`unit.py`), its tables and its products are in `arrays/matrix_unit/`, the Legendre stage on
it in `climate/stages/matrix_legendre.py`, and its modelled speed in `cost/matrix_rates.py`. A
scenario names one as the arithmetic of a stage.
"""
