"""Tools, a folder each: trace, tune, monitor, adapt, bound and memory, for kernels and models."""
