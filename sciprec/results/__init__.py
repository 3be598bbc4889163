"""Results: labelled datasets and their files, and their comparison with the truth."""
