"""Compensation: what rounding loses of a state's update is kept, and added to a later one.

The work is done in `arrays/sums/compensation.py`; the climate carries residuals in its schemes
(`climate/stepping/`), and Heston's paths do in theirs (`heston/schemes/`), where `heston/bounds/`
also removes the mean error of a price. The page shows what it gains in the drift of budgets.
"""

PLAIN = "none"
"""The name of no compensation."""
