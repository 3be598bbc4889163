"""A matrix unit: tables stored in its formats, and products with them."""
