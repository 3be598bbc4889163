"""Numbers that carry their error in parts, and kernels of them."""
