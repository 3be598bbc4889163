"""What a shell user types and reads; nothing imports it."""
