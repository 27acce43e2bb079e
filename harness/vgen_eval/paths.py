"""Paths that data and cards name: confined to the folder that they are said to lie in."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

__all__ = ["confined"]

MOST_SHOWN = 200
"""Characters of a name in a message."""


def confined(folder: Path, name: str) -> Path:
    """The file `name` below `folder`; ValueError, with the reason, for one that leads out of it.

    `name` has forward slashes; absolute paths, `..` and symbolic links out are refused, and so is
    what no file can be called: too long a name, a loop of links. Whether the file exists is not
    asked.
    """
    pure = PurePosixPath(name)
    if not name or "\0" in name or pure == PurePosixPath("."):
        raise ValueError(f"{_clip(name)!a} names no file")
    if pure.is_absolute() or ".." in pure.parts or "\\" in name:
        raise ValueError(f"'{_clip(name)}' leads out of {folder}: a path below it is wanted")
    root = folder.resolve()
    try:
        path = (root / pure).resolve()
        path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        pass
    except UnicodeEncodeError as exc:
        raise ValueError(f"{_clip(name)!a} is no name of a file") from exc
    except (OSError, ValueError, RuntimeError) as exc:
        raise ValueError(f"'{_clip(name)}': {getattr(exc, 'strerror', None) or exc}") from exc
    if not path.is_relative_to(root):
        raise ValueError(f"'{_clip(name)}' is a link that leads out of {folder}")
    return path


def _clip(name: str) -> str:
    return name if len(name) <= MOST_SHOWN else f"{name[:MOST_SHOWN]}..."
