"""Units of lifted fixed point, found by profiles."""
