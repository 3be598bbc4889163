"""Monitor: variables of a run that are watched as it goes, at little cost, with alerts.

The work is done in `tools/monitor/`: summaries of each step (`observed.py`, `summaries.py`,
`history.py`), the rules (`alerts.py`) and the estimate of how far rounding has moved a run
(`drift.py`). A model calls it after every step: the climate in `climate/running/observing.py`,
models of users in `models.py`. Of a single kernel, `tools/monitor/monitored.py`
watches results and variables (`instruments/observing/noting.py`).
"""
