"""The bad plugins: what each changes in the good one, and which check must catch it."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["ANIMALS", "Animal"]

INIT, PARTS, MODEL, TASK = "__init__.py", "parts.py", "cards/model.yaml", "cards/task.yaml"


class Animal(NamedTuple):
    """A plugin with one fault."""

    only: str
    """The subjects to check."""
    file: str
    old: str
    new: str
    caught: str
    """The one check that fails."""
    says: str
    """Part of what it says."""
    cure: str = ""
    """Part of the cure, where that is not the check's own."""


ANSWER = "yield Output(id=request.id, answer=self.paint(request))"
PAINT = "        bright = request.images[0].array"
IMPORT = "from vgen_eval.hookspecs import hookimpl\n"
COMPUTE = '        return {"iou": statistics["both"] / union if union else 1.0}\n'
STATISTICS = '{"n": 1, "both": int((pred & target).sum()), "any": int((pred | target).sum())}'

ENCODER = (
    "class White:\n    version = 1\n    Options = NoOptions\n\n"
    "    def __init__(self, options):\n        pass\n"
)

ANIMALS = {
    # the package
    "prints at import": Animal(
        "package", INIT, IMPORT, IMPORT + 'print("loading ...")\n', "import_silent", "loading ...",
    ),
    "writes to stderr at import": Animal(
        "package", INIT, IMPORT, IMPORT + 'import os\nos.write(2, b"low level")\n',
        "import_silent", "low level",
    ),
    "imports torch at import": Animal(
        "package", INIT, IMPORT, IMPORT + "import torch\n", "import_cheap", "toyplug loads torch",
    ),
    "is slow to import": Animal(
        "package", INIT, IMPORT,
        IMPORT + "import time\nwhile time.process_time() < 1.3: pass\n", "import_cheap", "s of CPU",
    ),
    "exits at import": Animal(
        "package", INIT, IMPORT, IMPORT + "import sys\nsys.exit(3)\n", "imports", "sys.exit(3)",
    ),
    "ends the process at import": Animal(
        "*", INIT, IMPORT, IMPORT + "import os\nos._exit(5)\n", "imports", "exit status 5",
    ),
    "raises at import": Animal(
        "package", INIT, IMPORT, IMPORT + "import no_such_module_here\n", "imports",
        "no_such_module_here",
    ),
    "prints in a component's module": Animal(
        "package", PARTS, "import hashlib\n", "import hashlib\nprint('loading ...')\n",
        "import_silent", "importing toyplug.parts printed 'loading ...'",
    ),
    "imports torch in a component's module": Animal(
        "package", PARTS, "import hashlib\n", "import hashlib\nimport torch\n", "import_cheap",
        "importing toyplug.parts loads torch", "inside the method",
    ),
    "lacks a library": Animal(
        "*", PARTS, "import hashlib\n", "import hashlib\nimport no_such_library\n",
        "hooks_strings",
        "importing toyplug.parts (adapter 'rules', dataset 'discs', decoder 'bright', decoder "
        "'nothing', encoder 'bright', metric 'overlap', view 'disc'): ModuleNotFoundError: No "
        "module named 'no_such_library' (toyplug/parts.py:6)",
        "add no_such_library to the dependencies",
    ),
    "cannot be parsed": Animal(
        "*", PARTS, "class Rules(BaseAdapter):", "class Rules(BaseAdapter)", "hooks_strings",
        "SyntaxError: expected ':' (toyplug/parts.py:16)", "mend that line",
    ),
    "ends the process in a component's module": Animal(
        "*", PARTS, "import hashlib\n", "import hashlib\nimport os\nos._exit(7)\n",
        "hooks_strings", "exit status 7, importing toyplug.parts", "instead of ending the process",
    ),
    "exits in a component's module": Animal(
        "package", PARTS, "import hashlib\n", "import hashlib, sys\nsys.exit('no GPU')\n",
        "hooks_strings", "SystemExit: no GPU (toyplug/parts.py:6)", "instead of ending the process",
    ),
    "declares options of a type that is not there": Animal(
        "*", PARTS, "    max_batch = 4\n",
        "    class Options(NoOptions, frozen=True):\n        size: Size = 1\n\n    max_batch = 4\n",
        "hooks_strings",
        "adapter 'rules': toyplug.parts.Rules.Options cannot be read: name 'Size' is not defined",
        "correct the annotations of its Options",
    ),
    "cannot build its encoder": Animal(
        "*", PARTS, ENCODER, ENCODER.replace("pass", "self.level = options.level"), "parts_built",
        "encoder 'bright' cannot be built: AttributeError: 'NoOptions' object has no attribute "
        "'level' (toyplug/parts.py:",
    ),
    "cannot build its metric": Animal(
        "*", PARTS, "class Overlap(SumMetric):\n",
        "class Overlap(SumMetric):\n    def __init__(self):\n        pass\n\n", "parts_built",
        "metric 'overlap' cannot be built: TypeError",
    ),
    "misspells an adapter in a card": Animal(
        "*", MODEL, "adapter: rules", "adapter: rulez", "cards_valid", "no adapter 'rulez'",
    ),
    "misspells an encoder in a card": Animal(
        "*", TASK, "encoder: bright", "encoder: brigth", "cards_valid", "no encoder 'brigth'",
    ),
    "keeps the place of a licence": Animal(
        "package", TASK, "  licence: CC0-1.0", '  licence: "unknown: fill in"', "licence_stated",
        "task.yaml:8: dataset.licence: 'unknown: fill in' is a placeholder", "`citation: none`",
    ),
    "has yet to say the model's licence": Animal(
        "package", MODEL, "licence: CC0-1.0", "licence: TODO", "licence_stated",
        "model.yaml:5: licence: 'TODO' is a placeholder",
    ),
    "names what is not there": Animal(
        "package::hooks*", INIT, "toyplug.parts:Overlap", "toyplug.parts:Overlapp",
        "hooks_strings", "Nearest: Overlap",
    ),
    "has no version": Animal(
        "package::hooks*", PARTS, "class Nothing:\n    version = 1\n", "class Nothing:\n",
        "hooks_strings", "version",
    ),
    "misspells a key of a card": Animal(
        "package", MODEL, "title:", "titel:", "cards_valid", "did you mean 'title'",
    ),
    "says nothing of the licence": Animal(
        "package", MODEL, "licence: CC0-1.0\n", "", "licence_stated", "licence",
    ),
    "leaves the citation empty": Animal(
        "package", TASK, "citation: none", 'citation: " "', "licence_stated", "citation",
    ),
    # the model
    "cannot be loaded": Animal(
        "model:*", PARTS, "self.level = 128", "self.level = self.card.level", "loads",
        "AttributeError",
    ),
    "declares no number": Animal(
        "model:*", PARTS, "max_batch = 4", "max_batch = 0", "loads", "max_batch is 0",
    ),
    "raises on everything": Animal(
        "model:*", PARTS, ANSWER, "raise KeyError('mask')", "answers", "sample 'disc': raised KeyE",
    ),
    "gives another form": Animal(
        "model:*", PARTS, ANSWER, 'yield Output(id=request.id, answer="a disc")',
        "forms_honoured", "text instead of an image",
    ),
    "gives nothing": Animal(
        "model:*", PARTS, ANSWER, "yield Output(id=request.id, answer=None)", "forms_honoured",
        "form image: 4 requests, and no answer to any: 4 times None", "a stub answer",
    ),
    "declines everything": Animal(
        "model:*", PARTS, ANSWER,
        "from vgen_eval.errors import Refused; raise Refused('no people in it')",
        "forms_honoured", "no answer to any: 4 times Refused: no people in it (toyplug/parts.py:",
    ),
    "puts everything off": Animal(
        "model:*", PARTS, ANSWER,
        "from vgen_eval.errors import Transient; raise Transient('come back later')",
        "forms_honoured", "4 times Transient: come back later",
    ),
    "forgets an import": Animal(
        "model:*", PARTS, PAINT, "        cv2.blur(request.images[0].array)\n" + PAINT,
        "answers", "raised NameError: name 'cv2' is not defined (toyplug/parts.py:",
        "define or import cv2 (toyplug/parts.py:",
    ),
    "fails inside a library": Animal(
        "model:*", PARTS, PAINT, "        np.stack([])\n" + PAINT, "answers",
        "ValueError: need at least one array to stack (toyplug/parts.py:", "mend that line",
    ),
    "makes outputs without an id": Animal(
        "model:*", PARTS, "id=request.id, ", "", "answers", "Missing required argument 'id'",
        "yield Output(id=request.id, answer=...)",
    ),
    "yields answers alone": Animal(
        "model:*", PARTS, ANSWER, "yield self.paint(request)", "answers",
        "generate gave ndarray, no Output", "yield Output(id=request.id, answer=...)",
    ),
    "returns nothing": Animal(
        "model:*", PARTS, ANSWER, "self.paint(request)", "answers",
        "generate() gave NoneType, no outputs", "yield Output(id=request.id, answer=...)",
    ),
    "gives floats": Animal(
        "model:*", PARTS, "return np.repeat((bright * 150 + draw).astype(np.uint8), 3, axis=2)",
        "return np.repeat(bright * 0.6, 3, axis=2)", "forms_honoured", "float64 (48, 64, 3) seen",
        "multiply by 255 and round",
    ),
    "puts the channels first": Animal(
        "model:*", PARTS, "return np.repeat((bright * 150 + draw).astype(np.uint8), 3, axis=2)",
        "return np.repeat((bright * 150.0 + draw), 3, axis=2).transpose(2, 0, 1)",
        "forms_honoured", "float64 (3, 48, 64) seen",
        "put the channels last: picture.transpose(1, 2, 0); give uint8 0..255: picture.round()",
    ),
    "draws from a global generator": Animal(
        "model:*", PARTS, "draw = np.random.default_rng(request.seed).integers(0, 64)",
        "draw = np.random.randint(0, 64)", "determinism", "two equal requests",
    ),
    "gives no id": Animal(
        "model:*", PARTS, "id=request.id", "id=request.sample", "ids_echoed", "was not asked",
    ),
    "answers twice": Animal(
        "model:*", PARTS, ANSWER, f"{ANSWER}\n            {ANSWER}", "ids_echoed",
        "answered 2 times",
    ),
    "leaves one out": Animal(
        "model:*", PARTS, "for request in requests:\n            yield",
        "for request in requests[:3]:\n            yield", "ids_echoed",
        "no output for 'noise#0' in a call of 4",
    ),
    "draws at random": Animal(
        "model:*", PARTS, "default_rng(request.seed)", "default_rng()", "determinism",
        "two equal requests (max ",
    ),
    "keeps its first seed": Animal(
        "model:*", PARTS, "draw = np.random.default_rng(request.seed).integers(0, 64)",
        "draw = self.most = max(getattr(self, 'most', 0), request.seed)", "seed_used",
        "seed 0 before and after seed 1",
    ),
    "hangs on the order": Animal(
        "model:*", PARTS, "answer=self.paint(request)",
        "answer=self.paint(request) + np.uint8(7 * list(requests).index(request))"
        " if request.images else None",
        "order_invariance", "one order of the requests and the reverse (max",
    ),
    "hangs on the batch": Animal(
        "model:*", PARTS, "answer=self.paint(request)",
        "answer=self.paint(request) + np.uint8(len(requests)) if request.images else None",
        "batch_invariance", "sample 'disc' differs between batch 1 and 4 (max 3 levels)",
    ),
    "shares state between threads": Animal(
        "model:*", PARTS, PAINT,
        "        import time\n        self.now = request\n        time.sleep(0.005)\n"
        "        request = self.now\n" + PAINT,
        "concurrency", "one call at a time and two at once",
    ),
    "divides by the height": Animal(
        "model:*", PARTS, PAINT,
        "        1 / (request.images[0].height - 1)\n" + PAINT, "picture_kinds",
        "picture one pixel: raised ZeroDivisionError",
    ),
    "paints on its input": Animal(
        "model:*", PARTS, PAINT,
        "        array = request.images[0].array\n        array.flags.writeable = True\n"
        "        array[0] = 255\n" + PAINT,
        "inputs_untouched", "'disc' was painted on",
    ),
    "turns its answer": Animal(
        "model:*", PARTS, "return np.repeat((bright * 150 + draw).astype(np.uint8), 3, axis=2)",
        "return np.rot90((bright * 150 + draw).astype(np.uint8).repeat(3, axis=2))",
        "upright", "is 48x64 and its answer 64x48",
    ),
    "formats the prompt": Animal(
        "model:*", PARTS, PAINT, '        request.prompt.format(query="")\n' + PAINT,
        "failure_kinds", "prompt with braces: raised",
    ),
    "prints as it goes": Animal(
        "model:*", PARTS, PAINT, '        print("step 1/40")\n' + PAINT, "quiet", "step 1/40",
    ),
    "keeps itself": Animal(
        "model:*", PARTS, "self.level = 128", "self.level = 128\n        KEPT.append(self)",
        "close_releases", "still holds the adapter: list",
    ),
    "keeps its weights": Animal(
        "model:*", PARTS, "self.level = 128",
        "self.level = 128\n        KEPT.append(np.ones((2048, 1024)))", "close_releases",
        "memory grew by",
    ),
    "closes for good": Animal(
        "model:*", PARTS, "    def generate",
        "    def close(self):\n        del self.level\n\n    def generate", "reload",
        "a second close() raised AttributeError",
    ),
    "cannot be pickled": Animal(
        "model:*", PARTS, "    def load(self):",
        "    def __init__(self, options, **more):\n        super().__init__(options, **more)\n"
        "        self.turn = lambda array: array\n\n    def load(self):",
        "pickling", "the adapter before load() cannot be pickled",
    ),
    "calls home": Animal(
        "model:*", PARTS, PAINT,
        "        import urllib.request\n"
        '        urllib.request.urlopen("http://telemetry.invalid/")\n' + PAINT,
        "offline", "tried telemetry.invalid",
    ),
    "never answers": Animal(
        "model:*", PARTS, PAINT, "        import time\n        time.sleep(600)\n" + PAINT,
        "answers", "not done after 2 s, in toyplug/parts.py:", "a time limit of its own",
    ),
    "ends the process on a wide picture": Animal(
        "model:*", PARTS, PAINT,
        "        import os\n        if request.images[0].width > 300: os._exit(9)\n" + PAINT,
        "picture_kinds", "exit status 9",
    ),
    # the task
    "has an id twice": Animal(
        "task:*", PARTS, '"e", "f"]', '"e", "e"]', "unique_ids", "2 samples have the id 'e'",
    ),
    "counts wrongly": Animal(
        "*", TASK, "n: 6", "n: 7", "count_matches", "7 samples, the index holds 6",
    ),
    "lacks a field": Animal(
        "task:*", PARTS, '{"query": "the disc"}', "{}", "fields_filled", "'query'",
    ),
    "orders by hash": Animal(
        "task:*", PARTS, "for name in self.names]", "for name in sorted(self.names, key=hash)]",
        "index_stable", "differs in another process",
    ),
    "draws its samples": Animal(
        "task:*", PARTS, "picture[target] = 220",
        "picture[target] = 220\n        picture[0] = np.random.default_rng().integers(0, 99)",
        "load_pure", "its images differs",
    ),
    "gives arrays for pictures": Animal(
        "*", PARTS, "images=(Image(picture),)", "images=(picture,)",
        "sample_pictures", "ndarray, no Image",
    ),
    "reads what it did not write": Animal(
        "task:*", PARTS, "(mask * 255)", "(mask * 100)", "oracle_ceiling",
        "the encoded truth has iou 0, 1 is the best",
    ),
    "is solved blindly": Animal(
        "task:*", PARTS, "target = (rows - 24) ** 2 + (columns - 30) ** 2 < radius**2",
        "target = (abs(rows - 23.5) < 12) & (abs(columns - 31.5) < 16)", "blind_floor",
        "the floor has iou 1, the ceiling 1",
    ),
    # decoder and encoder
    "misspells a name in its encoder": Animal(
        "*", PARTS, "mask = scene.geometry.project", "mask = scean.geometry.project",
        "encode_decode", "cannot be encoded: NameError: name 'scean' is not defined (toyplug/parts",
        "define or import scean (toyplug/parts.py:",
    ),
    "misspells a name in its decoder": Animal(
        "*", PARTS, "mask = answer.max(axis=2) > 127", "mask = anwser.max(axis=2) > 127",
        "encode_decode", "NameError: name 'anwser'", "define or import anwser (toyplug/parts.py:",
    ),
    "misspells a name in its metric": Animal(
        "*", PARTS, "pred, target = pred & valid, target & valid",
        "pred, target = pred & valid, target & valid\n        pred = perd", "scores",
        "NameError: name 'perd'", "define or import perd (toyplug/parts.py:",
    ),
    "cannot write every truth": Animal(
        "codec:*", PARTS, "mask = scene.geometry.project",
        "if target.sum() > 700: raise ValueError('too large')\n"
        "        mask = scene.geometry.project",
        "encode_decode", "cannot be encoded: ValueError: too large",
    ),
    "forgets the grid": Animal(
        "codec:*", PARTS, 'value=scene.geometry.restore(mask, "labels")',
        'value=mask if mask.shape == (37, 53) else scene.geometry.restore(mask, "labels")',
        "odd_sizes", "37x53: the prediction does not lie on the target's grid (48, 64)",
    ),
    "changes the answer": Animal(
        "codec:*", PARTS, "mask = answer.max(axis=2) > 127",
        "answer[answer < 20] = 1\n        mask = answer.max(axis=2) > 127", "decoder_pure",
        "decode() changed the answer",
    ),
    "takes garbage": Animal(
        "codec:*", PARTS, "if answer.ndim != 3 or answer.shape[2] != 3:", "if answer.ndim == 9:",
        "decoder_rejects", "raised",
    ),
    "fails on failures": Animal(
        "codec:*", PARTS, "value=np.zeros(scene.size, bool)", "value=np.zeros((4, 4), bool)",
        "failure_value", "target's grid",
    ),
    # the view
    "shows another size": Animal(
        "codec:*", PARTS, "ids=mask.astype(int) - 1", "ids=mask[::2].astype(int) - 1", "view",
        "pane 'disc': it is (24, 64), the target's grid (48, 64)",
    ),
    "shows what is no class": Animal(
        "codec:*", PARTS, "ids=mask.astype(int) - 1", "ids=mask.astype(int)", "view",
        "class 1 of 1 class",
    ),
    "shows the answer itself": Animal(
        "codec:*", PARTS, 'role="prediction"', 'role="answer"', "view", "its role is 'answer'",
    ),
    "paints over the truth": Animal(
        "codec:*", PARTS, "        shown = [Pane(",
        "        seen.sample.target[:] = True\n        shown = [Pane(", "view", "changed",
    ),
    "shows nothing where nothing was scored": Animal(
        "codec:*", PARTS, "if seen.prediction is not None:", "if True:", "view",
        "panes() raised AttributeError",
    ),
    "asks for options of a view": Animal(
        "package", PARTS, "    def panes(self, seen):",
        "    def __init__(self, options): ...\n\n    def panes(self, seen):", "hooks_strings",
        "view 'disc' cannot be built: TypeError", "without arguments",
    ),
    # the metric
    "hangs on the order of merging": Animal(
        "metric:*", PARTS, "    def compute(self, statistics):",
        "    def merge(self, a, b):\n"
        '        return {**super().merge(a, b), "both": b["both"], "any": b["any"]}\n\n'
        "    def compute(self, statistics):",
        "merge_commutative", "merge(a, b) gives iou",
    ),
    "takes means of means": Animal(
        "metric:*", PARTS, "    def compute(self, statistics):",
        "    def merge(self, a, b):\n"
        "        return {key: (a[key] + b[key]) / 2 for key in a}\n\n"
        "    def compute(self, statistics):",
        "merge_associative", "(a + b) + c gives iou",
    ),
    "adds up what is no sum": Animal(
        "metric:*", PARTS, COMPUTE,
        COMPUTE.replace("/ union", "/ union * 0.9 ** (statistics['n'] - 1)"),
        "compute_of_merged", "of the same data twice over",
    ),
    "keeps the pixels": Animal(
        "metric:*", PARTS, STATISTICS,
        STATISTICS[:-1] + ', "map": (pred == target)[::8, ::8].astype(int).ravel().tolist()}',
        "statistics_small", "when its picture is twice as high and wide",
    ),
    "keeps too much": Animal(
        "metric:*", PARTS, STATISTICS, STATISTICS[:-1] + ', "table": [123456] * 9999}',
        "statistics_small", "over 65536",
    ),
    "keeps NaN": Animal(
        "metric:*", PARTS, STATISTICS, STATISTICS[:-1] + ', "extra": float("nan")}',
        "statistics_plain", "statistics.extra is nan",
    ),
    "reports what it does not declare": Animal(
        "metric:*", PARTS, COMPUTE,
        COMPUTE.replace("1.0}", '1.0, "dice": 0.5}'), "values_declared", "['dice']",
    ),
    "gives NaN": Animal(
        "metric:*", PARTS, COMPUTE,
        COMPUTE.replace('"iou": ', '"iou": float("nan") if statistics["both"] == 0 else '),
        "finite_or_none", "failed: iou is nan",
    ),
    "is the wrong way round": Animal(
        "metric:*", PARTS, "higher_is_better=True, low=0.0, high=1.0", "higher_is_better=False",
        "direction", "lower is declared better",
    ),
    "never reaches its best": Animal(
        "metric:*", PARTS, COMPUTE,
        COMPUTE.replace('statistics["both"] / union', '0.8 * statistics["both"] / union'),
        "perfect", "of the truth is 0.8, its best 1",
    ),
    "scores where nothing is known": Animal(
        "metric:*", PARTS, "if not valid.any():", "if False:", "edge_cases",
        "raises no NoValidTarget",
    ),
    "adds in place": Animal(
        "metric:*", PARTS, '        return {"n": 1,',
        '        pred |= target\n        return {"n": 1,',
        "inputs_untouched", "update() changed the prediction",
    ),
    "changes the statistics": Animal(
        "metric:*", PARTS, '        union = statistics["any"]',
        '        statistics["any"] = union = float(statistics["any"])',
        "inputs_untouched", "changed the statistics",
    ),
}  # fmt: skip
