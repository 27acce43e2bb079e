"""The data that tasks need: is it there, is it whole, and making it so."""
