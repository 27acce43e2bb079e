"""The viewer: pages over runs, the one-file report, figures; the numbers are the runs' own."""
