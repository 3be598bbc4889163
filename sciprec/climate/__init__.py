"""A spectral model of the atmosphere whose every operation can run in any arithmetic."""
