"""Equation sets: their kernels, their state, and its way to SI fields and back."""
