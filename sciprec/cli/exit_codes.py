"""Exit codes of commands, and their meaning."""

GOOD, NOT_MET, USAGE, INTERNAL, INTERRUPTED = 0, 1, 2, 3, 130
"""Good; a bound or threshold not met, or a failed run; usage; internal; ended by Ctrl-C."""
