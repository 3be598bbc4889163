"""Adaptive runs: blocks of steps in arithmetics as narrow as a tolerance allows.

The work is done in `tools/adapt/`: the decisions (`control.py`), which a model asks for block by
block (`blocks.py`): the climate in `climate/running/adapting.py`, models of users in `models.py`.
"""
