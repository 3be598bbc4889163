"""Traces of whole models: the line that makes the error, by copies in step, carried between
kernels.
"""
