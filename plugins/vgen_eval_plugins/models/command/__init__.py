"""command: a program in its own environment that speaks JSON lines."""
