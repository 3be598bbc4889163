"""Stages: arithmetics of their own for the stages of a climate model's transforms.

Their names and parts are data in `facets/stages/arithmetics.py`; the climate's transforms in
`climate/stages/staged_transform.py` compute them.
"""
