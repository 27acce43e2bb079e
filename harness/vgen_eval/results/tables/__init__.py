"""Tables of several runs: what may stand in one column, which value is best, in four formats."""
