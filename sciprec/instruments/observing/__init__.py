"""Observers: calls beside the statements of a lifted kernel, which round nothing.

    instrumented      lifted kernels with such calls
    noting_program, noted_values  values that variables and lines take
    watched_program, watch        every access to memory
"""
