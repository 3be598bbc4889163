"""Observers: calls beside the statements of a lifted kernel, which round nothing.

    observed              lifted kernels with such calls
    noting, noted_values  values that variables and lines take
    watching, watch       every access to memory
"""
