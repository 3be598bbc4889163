"""Models of a user's own: a decorated function becomes a kind of scenario."""
