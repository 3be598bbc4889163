"""Initial states of published test cases, a decorated function each."""
