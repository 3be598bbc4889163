"""Where a result comes from: the code behind it, the machine, time steps and the time they took."""
