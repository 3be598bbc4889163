"""What is typed about prices, and the tables that answer it."""
