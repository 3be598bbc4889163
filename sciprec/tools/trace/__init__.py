"""What goes wrong inside a kernel, and where: runs of an instrumented copy of it."""
