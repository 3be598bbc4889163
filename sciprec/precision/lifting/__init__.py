"""From a kernel to what `lift` gives."""
