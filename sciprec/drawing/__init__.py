"""Pictures as SVG, and the environment of templates."""
