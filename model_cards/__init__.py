"""Model cards, as package data."""
