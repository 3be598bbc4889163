"""NumPy's functions as kernels: a lifted kernel calls these in their place."""
