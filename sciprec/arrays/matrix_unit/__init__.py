"""A matrix unit: its formats, tables stored in its formats, and products with them."""
