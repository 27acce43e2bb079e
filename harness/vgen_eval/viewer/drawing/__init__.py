"""Panes made visible: colours, ranges, pictures, fields of numbers, thumbnails."""
