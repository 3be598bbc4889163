"""The command line: its verbs, what it prints, its exit codes; nothing imports it."""
