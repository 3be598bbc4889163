"""The backend `dd`: kernels whose numbers are unevaluated sums of two binary64 numbers, whose own
values decide.

Operations, programs and arrays are those of numbers with companions, without rows.
"""
