"""Pictures as SVG, and the templates that everything is written into."""
