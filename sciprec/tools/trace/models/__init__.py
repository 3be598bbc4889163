"""Which line of a whole model makes its error: copies of it in step, carried between kernels."""
