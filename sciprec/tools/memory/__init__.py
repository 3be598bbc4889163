"""`check_memory`: accesses of a kernel outside of its arrays, and reads of unwritten memory."""
