"""What people see of results at a prompt and in a notebook."""
