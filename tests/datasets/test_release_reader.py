"""What readers of releases do alike, on one that has nothing of its own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec
import numpy as np
import pytest
from releasekit import item_of, photo, write_npy, write_png
from vgen_eval.errors import BadSample
from vgen_eval.imaging import decode_depth
from vgen_eval.types import Sample
from vgen_eval_plugins.datasets.draw import Draw
from vgen_eval_plugins.datasets.release_reader import Entry, ReleaseReader, check_size, make_sample


class Toy(ReleaseReader[Entry]):
    """`NAME.png` with `NAME.npy`."""

    title = "Toy"

    class Options(msgspec.Struct, frozen=True):
        """None."""

    def find_entries(self) -> Iterator[Entry]:
        for path in self._release.scan("pictures", "*.png"):
            files = (f"pictures/{path.name}", f"truths/{path.stem}.npy")
            yield Entry(item_of(path.stem), files)

    def read_entry(self, entry: Entry) -> Sample:
        picture = self._release.picture(entry.files[0])
        truth = self._release.decode(entry.files[1], decode_depth)
        check_size(truth, picture, what=entry.files[1])
        return make_sample(entry.item, picture, truth, valid=truth > 0)


def open_toy(root: Path) -> Toy:
    return Toy(Toy.Options(), root=root, folder=root)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for seed, name in enumerate("ba"):
        write_png(tmp_path / f"pictures/{name}.png", photo(4, 6, seed))
        write_npy(tmp_path / f"truths/{name}.npy", np.full((4, 6), 1 + seed, np.float32))
    return tmp_path


def test_samples_come_in_the_order_in_which_they_were_found(root: Path) -> None:
    assert [item.id for item in open_toy(root).index()] == ["a", "b"]


def test_a_truth_known_everywhere_needs_no_map_of_what_is(root: Path) -> None:
    assert open_toy(root).load(item_of("a")).valid is None
    write_npy(root / "truths/a.npy", np.eye(4, 6, dtype=np.float32))
    assert np.array_equal(open_toy(root).load(item_of("a")).valid, np.eye(4, 6, dtype=bool))


def test_a_sample_that_is_not_there_is_a_bad_one(root: Path) -> None:
    with pytest.raises(BadSample, match="no sample 'c'"):
        open_toy(root).load(item_of("c"))


def test_every_file_of_a_sample_is_looked_for(root: Path) -> None:
    data = open_toy(root)
    items = data.index()
    (root / "pictures/a.png").write_bytes(b"")
    (root / "truths/b.npy").unlink()
    assert [(problem.path, problem.message) for problem in data.look(items)] == [
        ("a", "is empty"),
        ("b", f"no file 'truths/b.npy' in {root}"),
    ]
    assert [problem.path for problem in data.verify(items)] == ["a", "b"]


def test_a_truth_of_another_size_than_its_picture_is_named(root: Path) -> None:
    write_npy(root / "truths/a.npy", np.ones((4, 5), np.float32))
    with pytest.raises(BadSample, match=r"truths/a\.npy is 5x4, the picture 6x4"):
        open_toy(root).load(item_of("a"))


def test_the_fingerprint_is_of_ids_and_truths_not_of_pictures(root: Path) -> None:
    first = open_toy(root).fingerprint()
    write_png(root / "pictures/a.png", photo(4, 6, 7))
    assert open_toy(root).fingerprint() == first
    write_npy(root / "truths/a.npy", np.full((4, 6), 9, np.float32))
    second = open_toy(root).fingerprint()
    write_png(root / "pictures/c.png", photo(4, 6, 8))
    assert len({first, second, open_toy(root).fingerprint()}) == 3


def test_a_draw_larger_than_what_there_is_is_refused() -> None:
    with pytest.raises(ValueError, match=r"[Ss]ample larger"):
        Draw(seed=1, count=3).take(["a", "b"])
