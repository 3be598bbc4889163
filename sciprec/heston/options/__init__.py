"""What an option pays, and what of a path it has to know."""
