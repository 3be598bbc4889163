"""What a user may write in TOML, in words and limits; nothing is computed here."""
