"""A paper's table beside our own numbers: what it needs, what is there, and how they compare."""
