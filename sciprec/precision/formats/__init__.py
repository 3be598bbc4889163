"""Number formats and backends as data; no machine code."""
