"""The search for the cheapest format of every line, by runs of a kernel compiled once."""
