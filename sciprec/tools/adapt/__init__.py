"""Runs whose arithmetic follows a tolerance: which rung of a ladder each block of steps runs on."""
