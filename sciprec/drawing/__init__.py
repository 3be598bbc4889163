"""Pictures as SVG, and what templates are written with."""
