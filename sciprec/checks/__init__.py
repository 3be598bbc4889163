"""What users give: of its kind and in its range, or one sentence that says so."""
