"""Policies of mixed precision: which stages of a model are narrow and which are wide.

The work is done in `instruments/assigning/policies.py`, which makes an arithmetic by place of a
policy and of the stages of a model: of the climate (`climate/stages/policies.py`) and of Heston's
paths (`heston/schemes/stages.py`). Files and pages show its runs as those of any other arithmetic,
whose description `words.py` makes.
"""
