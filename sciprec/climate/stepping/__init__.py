"""Time schemes, and how increments are added to a state."""
