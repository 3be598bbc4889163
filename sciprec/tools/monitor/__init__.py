"""What is seen of a run as it goes: summaries of watched variables, their errors, and alerts."""
