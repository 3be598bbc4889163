"""The verbs of prices, and the tables that they print."""
