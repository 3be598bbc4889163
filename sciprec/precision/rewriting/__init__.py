"""From the source of a kernel to a generated module of the backend's operations."""
