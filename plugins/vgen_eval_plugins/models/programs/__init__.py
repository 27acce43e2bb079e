"""Programs for the adapter `command`: specialists that no other adapter drives, one a file.

They are started and never imported: in an environment of their own, with nothing of vgen-eval
but `speaking.py` beside them.
"""
