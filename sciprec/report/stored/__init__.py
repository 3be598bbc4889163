"""What the folder of a batch holds."""
