"""Writes docs/ceilings.md: what an answer that is perfect comes to through each protocol's codec.

python docs/ceilings.py     a minute; look-alikes of the releases, scenes with known geometry
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import vgen_eval
import vgen_eval.cards

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

QUALITIES = (95, 75)

HEAD = """# Codec ceilings

What an answer that is perfect comes to, once it is painted by the protocol's encoder and read
back by its decoder: how much of a score the code itself costs, and how much more a service costs
that answers in JPEG. Where a stray class counts as a 0, as in macro F1 and mean IoU pooled over
few pictures, compression alone takes a quarter of the score and more: `max_distance` leaves such
pixels open, an oracle's list keeps strays out, and so does a picture that has nearly every class.
Normals of NYUv2 stem from 8 bits, which a picture gives back as they are; those of DIODE do not.

Made by `python docs/ceilings.py`, on two look-alikes of each release's samples, in its layout, size
and number formats: a room, or a street below the sky, with known geometry. What JPEG costs hangs on
how many edges a scene has; on the releases themselves the ceiling stands in every result card.

| task@protocol | answer | value | ceiling | JPEG 95 | JPEG 75 |
|---|---|---|---|---|---|
"""


def main() -> None:
    """Runs the oracle under every protocol and answer form."""
    from lookalikes.releases import ids_there, protocols

    lines = []
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder, "data")
        for ref in protocols():
            ids = ids_there(ref, data)
            protocol = vgen_eval.cards.protocol(ref.card, ref.protocol)
            for place, answer in enumerate(protocol.answers):
                ways: list[str | None] = [None]
                if answer.form == "image":
                    ways += [f"jpeg:{quality}" for quality in QUALITIES]
                cells = []
                for way in ways:
                    card = vgen_eval.evaluate(
                        tasks=ref.label, model="oracle", answer=answer.form, samples=ids,
                        attempts=1, bounds=False, data_root=str(data), output=f"{folder}/out",
                        set={f"protocol.answers.{place}.reencode": way} if way else {},
                    )[0]  # fmt: skip
                    score = card.score()
                    cells.append("-" if score.value is None else f"{score.value:.4g}")
                cells += ["-"] * (1 + len(QUALITIES) - len(cells))
                told = f"{score.metric}{f' ({score.unit})' if score.unit else ''}"
                lines.append(f"| `{ref.label}` | {answer.form} | {told} | {' | '.join(cells)} |")
                sys.stderr.write(f"{lines[-1]}\n")
    (ROOT / "docs" / "ceilings.md").write_text(HEAD + "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
