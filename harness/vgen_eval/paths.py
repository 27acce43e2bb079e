"""Paths that data and cards name: confined to the folder that they are said to lie in."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

__all__ = ["confined"]


def confined(folder: Path, name: str) -> Path:
    """The file `name` below `folder`; ValueError, with the reason, for one that leads out of it.

    `name` has forward slashes; absolute paths, `..` and symbolic links out are refused. Whether
    the file exists is not asked.
    """
    pure = PurePosixPath(name)
    if not name or "\0" in name or pure == PurePosixPath("."):
        raise ValueError(f"{name!r} names no file")
    if pure.is_absolute() or ".." in pure.parts or "\\" in name:
        raise ValueError(f"'{name}' leads out of {folder}: a path below it is wanted")
    root = folder.resolve()
    path = (root / pure).resolve()
    if not path.is_relative_to(root):
        raise ValueError(f"'{name}' is a link that leads out of {folder}")
    return path
