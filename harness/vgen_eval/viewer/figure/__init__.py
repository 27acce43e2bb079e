"""Figures of samples, as papers have them: what is in their cells, and how they are drawn."""
