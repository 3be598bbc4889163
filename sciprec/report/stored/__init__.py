"""The folder of a batch, read back: its runs, their comparison, the digests of its files."""
