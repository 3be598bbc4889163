"""Instructions that round one result."""
