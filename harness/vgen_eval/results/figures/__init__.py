"""Figures of runs: what each shows is read first, as a record, and drawn from that alone."""
