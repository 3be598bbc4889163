"""The operations of a backend as intrinsics that decide by type."""
