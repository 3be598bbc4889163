"""Slow exact reference arithmetic.

It shares no code with the engine and reads only the attributes of its formats and backends.
"""
