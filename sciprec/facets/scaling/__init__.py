"""Scaling: scales of a model's places, powers of two that move the range of a format.

The work is done in `instruments/assigning/scaling.py` (the arithmetic) and `scaled.py` (rounding by
a table of ranges). The climate has its places in `climate/stages/scales.py`, runs them in
`climate/running/scaled_model.py` and changes scales in `climate/running/dynamic_scales.py`.
"""
