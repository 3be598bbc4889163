"""The one door by which code from outside sciprec registers itself."""
