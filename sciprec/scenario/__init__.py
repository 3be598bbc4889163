"""Keys that a user may write in TOML, with words and limits; nothing is computed here."""
