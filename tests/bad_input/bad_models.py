"""Adapters that break their contract in one way each: the text of the plugin `plug-bad`."""

from __future__ import annotations

from badkit import model_card

__all__ = ["FORMS", "files"]

FORMS = {
    "wrong_size": "image", "constant": "image", "words": "image", "garbage": "image",
    "cut_file": "image", "html": "image", "foreign_object": "image",
    "nothing": "text", "raises": "text", "foreign_id": "text", "twice": "text", "silent": "text",
    "exits": "text", "cancels": "text", "no_output_object": "text", "no_iterator": "text",
    "load_raises": "text", "load_exits": "text", "close_raises": "text", "close_exits": "text",
    "megabyte": "text", "ansi": "text", "ansi_raises": "text", "ansi_refuses": "text",
    "good": "text", "slow": "text", "slow_load": "text",
}  # fmt: skip
"""Adapter -> the answer form it gives, or pretends to."""

MODELS = '''
import asyncio, io, os, sys, time
from vgen_eval.adapters import BaseAdapter
from vgen_eval.errors import Refused
from vgen_eval.types import Output

EVIL = "\\x1b]0;title\\x07\\x1b[31mred\\x1b[2J\\r\\x9b5m\\u202egnp \\x00"


class Good(BaseAdapter):
    """Right in every way."""

    def generate(self, requests):
        for request in requests:
            yield Output(id=request.id, answer=self.answer(request))

    def answer(self, request):
        return "3"


class WrongSize(Good):
    def answer(self, request):
        return request.images[0].array[:7, :5]


class Constant(Good):
    def answer(self, request):
        import numpy as np

        return np.full_like(request.images[0].array, 128)


class Words(Good):
    def answer(self, request):
        return "I am sorry, I cannot paint."


class Garbage(Good):
    def answer(self, request):
        return b"no picture at all"


class CutFile(Good):
    def answer(self, request):
        data = request.images[0].png()
        return data[: len(data) // 2]


class Html(Good):
    def answer(self, request):
        return b"<html><body>502 Bad Gateway</body></html>"


class ForeignObject(Good):
    def answer(self, request):
        return {"image": object()}


class Nothing(Good):
    def answer(self, request):
        return None


class Raises(Good):
    def answer(self, request):
        raise ValueError("out of ideas")


class ForeignId(Good):
    def generate(self, requests):
        for request in requests:
            yield Output(id="somebody-else#7", answer="3")


class Twice(Good):
    def generate(self, requests):
        for request in requests:
            yield Output(id=request.id, answer="3")
            yield Output(id=request.id, answer="4")


class Silent(Good):
    def generate(self, requests):
        return iter(())


class Exits(Good):
    def answer(self, request):
        sys.exit("enough")


class Cancels(Good):
    def answer(self, request):
        raise asyncio.CancelledError


class NoOutputObject(Good):
    def generate(self, requests):
        return iter(["3"] * len(requests))


class NoIterator(Good):
    def generate(self, requests):
        return None


class LoadRaises(Good):
    def load(self):
        raise OSError("no weights here")


class LoadExits(Good):
    def load(self):
        sys.exit(0)


class CloseRaises(Good):
    def close(self):
        raise RuntimeError("will not close")


class CloseExits(Good):
    def close(self):
        sys.exit(0)


class Megabyte(Good):
    def answer(self, request):
        print("A line that nobody asked for. " * 35000)
        return "3"


class Ansi(Good):
    def answer(self, request):
        return EVIL


class AnsiRaises(Good):
    def answer(self, request):
        raise ValueError(EVIL)


class AnsiRefuses(Good):
    def answer(self, request):
        raise Refused(EVIL)


class SlowLoad(Good):
    def load(self):
        open("loading", "w").close()
        time.sleep(0.4)


class Slow(Good):
    def answer(self, request):
        time.sleep(0.08)
        return "3"
'''


def files() -> dict[str, str]:
    """The files of the distribution."""
    names = {name: f"plug_bad.models:{name.title().replace('_', '')}" for name in FORMS}
    hooks = (
        "from vgen_eval.hookspecs import hookimpl\n\n\n"
        f"@hookimpl\ndef vgen_adapters():\n    return {names!r}\n"
    )
    return {
        "plug_bad/__init__.py": hooks,
        "plug_bad/models.py": MODELS,
        **{f"plug_bad/cards/{n}.yaml": model_card(n, form) for n, form in FORMS.items()},
    }
