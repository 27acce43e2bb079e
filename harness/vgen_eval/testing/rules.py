"""The checks: what each asks, what it builds on, and what cures its failure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

import msgspec

__all__ = ["KINDS", "RULES", "Kind", "Rule", "closure", "rules_of"]

Kind = Literal["package", "model", "card", "task", "codec", "metric"]
KINDS: tuple[Kind, ...] = ("package", "model", "task", "codec", "metric")
"""Those that every plugin is looked through for; `card`: a model that another stands for."""


class Rule(msgspec.Struct, frozen=True):
    """One check; the function of its name in `vgen_eval.testing.check_<kind>` makes it."""

    kind: Kind
    id: str
    asks: str
    cure: str
    needs: tuple[str, ...] = ()
    """Checks that must not have failed: without them this one would only say the same again."""
    after: tuple[str, ...] = ()
    """Checks that are made before it, whatever they come to."""


def _model(check: str, asks: str, cure: str, *needs: str, after: tuple[str, ...] = ()) -> Rule:
    return Rule("model", check, asks, cure, needs, after)


_PACKAGE = (
    Rule(
        "package", "imports", "The package is imported without an error or an exit.",
        "import what may be missing inside the method that needs it; never exit on import",
    ),
    Rule(
        "package", "hooks_strings",
        "Each name that a hook gives leads to an object with version, Options (views have none) "
        "and its methods.",
        "correct the string that the hook returns, or what its object lacks", ("imports",),
    ),
    Rule(
        "package", "import_silent",
        "Importing the package, and each module that a hook names, prints nothing.",
        "log through logging.getLogger(__name__); take the print out", ("imports",),
        ("hooks_strings",),
    ),
    Rule(
        "package", "import_cheap",
        "Importing the package takes under a second and loads no heavy library; the modules that "
        "hooks name load none of the heaviest.",
        'name the parts as "package.module:Object" in the hooks; import them in their modules',
        ("imports",), ("hooks_strings",),
    ),
    Rule(
        "package", "cards_valid", "Every card keeps to its schema, and names parts that exist.",
        "vgen-eval check CARD lists every problem with its line", ("imports",),
    ),
    Rule(
        "package", "licence_stated",
        "Licence, source and citation of every card say something; a placeholder says nothing.",
        "fill in licence (and source, citation of a data set; `citation: none` where there is "
        "none): readers must know the terms",
        ("imports",),
    ),
    Rule(
        "package", "parts_built",
        "Decoders, encoders, failure values and metrics are built with the options of each card.",
        "let __init__ take the options and nothing else, and raise nothing",
        ("hooks_strings",),
    ),
    Rule(
        "package", "names", "Names that a built-in has as well are told (a notice, no failure).",
        "choose another name", ("imports",),
    ),
)  # fmt: skip

_MODEL = (
    _model(
        "loads", "The adapter is built from its card and loads; its limits are whole numbers.",
        "raise MissingExtra, MissingKey or MissingData for what is not there, with the cure",
    ),
    _model(
        "answers", "An ordinary request of each form is answered, in time.",
        "generate() must yield one Output a request, and raise Refused or Transient otherwise",
        "loads",
    ),
    _model(
        "offline", "Without a network it works, or says that it cannot.",
        "raise NotRunnable or Transient, with a message, when a connection fails",
        after=("loads", "answers"),
    ),
    _model(
        "forms_honoured", "In each form something is answered, and in the form asked for.",
        "give what request.form names (see vgen_eval.types.Output), or take the form off the card",
        "answers",
    ),
    _model(
        "ids_echoed", "Each output carries its request's id, each request once, in any order.",
        "yield Output(id=request.id, ...), once for each request", "answers",
    ),
    _model(
        "determinism", "Declared deterministic: the same request twice gives the same bytes.",
        "seed a generator of your own from request.seed, or declare deterministic = False",
        "forms_honoured", "ids_echoed",
    ),
    _model(
        "seed_used", "Another seed in between leaves no trace: the first gives its answer again.",
        "make the random generator of each request from request.seed alone", "determinism",
    ),
    _model(
        "order_invariance", "The order of the requests changes no answer.",
        "draw from request.seed for each request; keep no state from one to the next",
        "determinism",
    ),
    _model(
        "batch_invariance", "Alone or in a batch, a request gets the same answer.",
        "draw from request.seed for each request, and share nothing with its neighbours in "
        "the call", "order_invariance",
    ),
    _model(
        "concurrency", "Two calls at once, as declared, give what one after the other gives.",
        "guard what calls share with a lock, or declare concurrency = 1", "determinism",
    ),
    _model(
        "picture_kinds", "Odd, tiny, wide and grey pictures, and several at once, are handled.",
        "resize or pad inside generate(); raise Refused for what the model cannot take",
        "forms_honoured",
    ),
    _model(
        "inputs_untouched", "Requests and their pictures are as they were.",
        "work on a copy: request.images[0].array.copy()", "answers",
    ),
    _model(
        "upright", "Answers that are pictures stand upright, and become 8-bit RGB.",
        "give arrays as height, width, RGB; let files carry their EXIF orientation",
        "forms_honoured",
    ),
    _model(
        "failure_kinds", "Odd prompts, and no picture, give an answer, None or an error of ours.",
        "take prompts as data (no str.format, no shell); raise Refused for what cannot be done",
        "forms_honoured",
    ),
    _model(
        "quiet", "Loading and generating print nothing.",
        "log through logging.getLogger(__name__); switch progress bars off", "answers",
    ),
    _model(
        "close_releases", "After close() nothing of it stays in memory.",
        "drop weights and caches in close(); keep no adapter or output in a global", "answers",
    ),
    _model(
        "reload", "It closes twice, loads again and answers as before.",
        "let close() set back what load() made, and check for None", "determinism",
    ),
    _model(
        "pickling", "Class, options, card, and the adapter before load() can be pickled.",
        "make locks, clients and functions in load(), not in __init__", "loads",
    ),
    _model(
        "no_secret", "No key's value stands in its options, its card or its repr.",
        "read the key from the environment inside load()", "loads",
    ),
)  # fmt: skip

_CARD = (
    Rule(
        "card", "accepted",
        "Its adapter takes its options and generation; another card of the adapter stands for the "
        "rest.",
        "correct options or generation of the card; a stub must make what fits the card it gets",
    ),
)  # fmt: skip

_TASK = (
    Rule(
        "task", "opens", "The reader is built and gives an index.",
        "raise MissingData, naming the file, for what is not there",
    ),
    Rule(
        "task", "unique_ids", "Every sample has an id of its own, which is text.",
        "build ids from what tells the samples apart, such as file and line", ("opens",),
    ),
    Rule(
        "task", "count_matches", "The index holds as many samples as the card's dataset.n.",
        "correct dataset.n, or the reader that leaves samples out", ("opens",),
    ),
    Rule(
        "task", "index_stable", "Index and fingerprint are equal each time and in each process.",
        "sort what a folder or a set gives; derive nothing from hash() or the time", ("opens",),
    ),
    Rule(
        "task", "loads", "Samples spread over the index load (20 at most).",
        "raise BadSample, naming the file, for a faulty sample", ("opens", "unique_ids"),
    ),
    Rule(
        "task", "sample_pictures", "Pictures are vgen_eval.imaging.Image: 8-bit RGB, not empty.",
        "read pictures with vgen_eval.imaging.read_image", ("loads",),
    ),
    Rule(
        "task", "load_pure", "Loading a sample twice gives the same sample.",
        "draw nothing at random in load(); copy what is cached before it is changed", ("loads",),
    ),
    Rule(
        "task", "fields_filled", "Every prompt of every protocol can be filled for every sample.",
        "give the field to each sample (Sample.fields), or to the decoder's fields()",
        ("loads", "sample_pictures"),
    ),
    Rule(
        "task", "oracle_ceiling",
        "The encoded truth scores within 1 % of the best value (errors without an upper bound: "
        "within 5 % of the floor's).",
        "compare encoder and decoder: what one writes the other must read", ("fields_filled",),
    ),
    Rule(
        "task", "blind_floor", "An answer that looks at no pixel scores, and worse than the truth.",
        "look at the metric's direction, and at samples that a constant answer solves",
        ("oracle_ceiling",),
    ),
)  # fmt: skip

_CODEC = (
    Rule(
        "codec", "encode_decode",
        "Truths come back through encoder, decoder and metric, at the seen size and at 0.5 and "
        "1.5 times it.",
        "go to the seen size with scene.geometry.project, back with scene.geometry.restore",
    ),
    Rule(
        "codec", "decoder_pure", "The same answer gives the same prediction, and stays unchanged.",
        "copy the answer before changing it; keep nothing on self", ("encode_decode",),
    ),
    Rule(
        "codec", "decoder_rejects",
        "Garbage raises Undecodable or gives a prediction on the target's grid, nothing else.",
        "look at type, dtype, shape and finiteness first; raise Undecodable with the reason",
        ("encode_decode",),
    ),
    Rule(
        "codec", "odd_sizes", "Answers of other sizes give predictions on the target's grid.",
        "bring every answer to the target's grid with scene.geometry.restore", ("encode_decode",),
    ),
    Rule(
        "codec", "failure_value", "The failure value reads no answer, and the metrics take it.",
        "build the failure value from scene.size alone", ("encode_decode",),
    ),
    Rule(
        "codec", "view",
        "The plugin's view of what is measured shows the truth, the prediction and the failure "
        "value.",
        "let panes() give vgen_eval.viewing.Pane of its roles, maps on the target's grid; change "
        "nothing it is given",
        ("encode_decode", "failure_value"),
    ),
)  # fmt: skip

_METRIC = (
    Rule(
        "metric", "scores", "True, wrong and failed predictions of real samples can be scored.",
        "let update() take what the decoders give; raise NoValidTarget where nothing is known",
    ),
    Rule(
        "metric", "statistics_plain", "Statistics are numbers and lists of them, and finite.",
        "keep sums and counts; divide in compute()", ("scores",),
    ),
    Rule(
        "metric", "statistics_small",
        "Statistics stay under 64 KiB and hold no more entries for a larger picture.",
        "sum over the pixels in update(); keep sums, counts or histograms", ("scores",),
    ),
    Rule(
        "metric", "merge_commutative", "merge(a, b) and merge(b, a) come to the same values.",
        "add statistics (vgen_eval.scoring.SumMetric); let none depend on the order", ("scores",),
    ),
    Rule(
        "metric", "merge_associative", "However statistics are bracketed, the values are the same.",
        "merge sums and counts, never means", ("scores",),
    ),
    Rule(
        "metric", "compute_of_merged",
        "Merged statistics give finite values in their range; the data twice over changes none "
        "that is pooled.",
        "divide by the merged count in compute(); declare low and high as they are", ("scores",),
    ),
    Rule(
        "metric", "values_declared", "compute() gives the keys that `values` declares, no others.",
        "declare each value, or drop it from compute()", ("scores",),
    ),
    Rule(
        "metric", "finite_or_none", "Every value of a sample is a finite number or None.",
        "return None where a value is undefined", ("scores",),
    ),
    Rule(
        "metric", "perfect", "A true prediction reaches the best value that is declared.",
        "correct low, high or higher_is_better of the value, or the formula", ("scores",),
    ),
    Rule(
        "metric", "direction", "The truth never scores worse than the failure value.",
        "correct higher_is_better of the value", ("scores",),
    ),
    Rule(
        "metric", "edge_cases",
        "Where no truth is known there is NoValidTarget; absent classes leave values finite.",
        "raise NoValidTarget when no pixel counts (valid, NaN, -1); guard divisions by zero",
        ("scores",),
    ),
    Rule(
        "metric", "inputs_untouched", "Predictions, truths and statistics are as they were.",
        "copy before changing in place: += on an array changes the caller's", ("scores",),
    ),
)  # fmt: skip

RULES: tuple[Rule, ...] = (*_PACKAGE, *_MODEL, *_CARD, *_TASK, *_CODEC, *_METRIC)


def rules_of(kind: Kind) -> dict[str, Rule]:
    """The checks of a kind of subject, by id, in the order they are made."""
    return {rule.id: rule for rule in RULES if rule.kind == kind}


def closure(kind: Kind, wanted: Iterable[str]) -> list[Rule]:
    """The wanted checks and those they build on, in the order they are made."""
    rules = rules_of(kind)
    found: set[str] = set()
    open_ids = list(wanted)
    while open_ids:
        check = open_ids.pop()
        if check not in found:
            found.add(check)
            open_ids += [*rules[check].needs, *rules[check].after]
    return [rule for rule in rules.values() if rule.id in found]
