"""Options: their payments, and the facts about a path that these need."""
