"""The elementary functions: branch-free binary64 code."""
