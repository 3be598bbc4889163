"""Where a result comes from: the code behind it, the machine, and the time it took."""
