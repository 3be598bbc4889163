"""Options: their payments, and what of a path these have to know."""
