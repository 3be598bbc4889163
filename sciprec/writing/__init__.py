"""The one door for every write: a file is there whole or not at all, and nothing else is lost."""
