"""What runs tell beside the errors of single values."""
