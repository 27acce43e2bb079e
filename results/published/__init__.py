"""Published numbers, as package data."""
