"""Exit codes of commands, and their meaning."""

GOOD, NOT_MET, USAGE, INTERNAL, INTERRUPTED, UNREAD = 0, 1, 2, 3, 130, 141
"""Good; a bound or threshold not met, or a failed run; usage; internal; ended by Ctrl-C; a pipe
that nobody reads, as after `| head`, which shells count so.
"""
