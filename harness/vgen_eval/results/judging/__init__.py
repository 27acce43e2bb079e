"""Whether a judge can be trusted: its numbers beside what people said of the same answers."""
