"""Random numbers of paths: from words of 32 bits to normal and other variates."""
