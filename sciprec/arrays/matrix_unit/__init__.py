"""A matrix unit: tables in its formats, and products from what is stored of them."""
