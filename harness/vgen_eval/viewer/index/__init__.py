"""The viewer's index: runs and samples in SQLite, made from the runs and never the truth."""

from vgen_eval.viewer.index.index import Index
from vgen_eval.viewer.index.places import view_folder

__all__ = ["Index", "view_folder"]
