"""Files of a data set: below their folder, there, and fast to find by the ten thousand."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import msgspec
from vgen_eval.paths import confined

__all__ = ["File", "Folder"]


class File(msgspec.Struct, frozen=True):
    """A file that is there."""

    path: str
    size: int
    """Bytes."""


class Folder:
    """Finds files below a folder; what was resolved once is not resolved again."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.root = path.resolve()
        self._parents: dict[str, str] = {"": str(self.root)}

    def find(self, name: str) -> File:
        """The file of that name; ValueError, with the reason, for one that is not there.

        Refused as well: absolute paths, `..`, links that lead out, folders, pipes and devices.
        """
        try:
            place = self._place(name)
            info = os.lstat(place)
            if stat.S_ISLNK(info.st_mode):
                place = str(confined(self.root, name))
                info = os.stat(place)  # noqa: PTH116
        except UnicodeEncodeError:
            raise ValueError(f"{name!a} is no name of a file") from None
        except (FileNotFoundError, NotADirectoryError):
            raise ValueError(f"no file '{name}' in {self.path}") from None
        except (OSError, RuntimeError) as exc:  # a loop of links, a name that is too long
            raise ValueError(f"'{name}': {getattr(exc, 'strerror', None) or exc}") from exc
        if not stat.S_ISREG(info.st_mode):
            raise ValueError(f"'{name}' is {_kind(info.st_mode)}, no file")
        return File(place, info.st_size)

    def _place(self, name: str) -> str:
        """Its path, with every folder on the way resolved and inside."""
        parent, _, last = name.rpartition("/")
        if last in ("", ".", "..") or name[0] == "/" or "\\" in name or "\0" in name:
            return str(confined(self.root, name))
        if parent not in self._parents:
            self._parents[parent] = str(confined(self.root, parent))
        return f"{self._parents[parent]}{os.sep}{last}"


def _kind(mode: int) -> str:
    return "a folder" if stat.S_ISDIR(mode) else "a pipe, a socket or a device"
