"""Path schemes, a module each, and the moments that they keep."""
