"""The doors by which code registers itself: others' by entry points, upper rooms' by name."""
