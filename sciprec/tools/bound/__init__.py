"""`bound`: a proven bound of a kernel's rounding error."""
