"""The parts of the page, a module each."""
