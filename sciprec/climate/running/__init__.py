"""From a request to a trajectory: checks, the loop over steps, checkpoints."""
