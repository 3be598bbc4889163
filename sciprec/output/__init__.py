"""What a run leaves behind: labelled datasets with CF metadata, and their netCDF files."""
