"""Scaling: scales of a model's places, powers of two that move the range of a format.

The work is done in `instruments/assigning/scaling.py` (the arithmetic), `scaled.py` (rounding by a
table of ranges) and `scaled_in_format.py` (its fast form); the climate makes profiles and changes
scales in `climate/stages/scales.py` and `climate/running/dynamic_scales.py`.
"""

SCALED = "sciprec_scaling"
"""The attribute of a file with the scales of a model's places and their changes, as JSON."""
