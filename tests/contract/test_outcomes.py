"""Skips are never passes, a process that ends is no end, and assert_conforms tells the cure."""

from __future__ import annotations

from pathlib import Path

import pytest
from contractkit import Make
from vgen_eval.conformance import Conformance
from vgen_eval.errors import UsageError
from vgen_eval.testing import assert_conforms, check_plugin
from vgen_eval.testing.children import run_subject
from vgen_eval.testing.subjects import Subject

LOAD = "self.level = 128"
NEEDS = "availability: code\nneeds: {key_env: TOY_PLUG_KEY}\n"


def outcomes(record: Conformance) -> dict[str, str]:
    return {check.check: check.outcome for check in record.checks}


def details(record: Conformance) -> dict[str, str]:
    return {check.check: check.detail for check in record.checks}


def test_a_missing_extra_skips_the_model_with_the_reason(toy: Make) -> None:
    error = "from vgen_eval.errors import MissingExtra\n        raise MissingExtra('diffusers')"
    record = check_plugin(toy("parts.py", LOAD, error), only="model:*")
    assert set(outcomes(record).values()) == {"skipped"}
    assert "pip install 'vgen-eval[diffusers]'" in details(record)["loads"]
    assert details(record)["batch_invariance"].startswith("needs ")


def test_data_that_is_not_here_skips_the_task(toy: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("VGEN_DATA", raising=False)
    record = check_plugin(toy("cards/task.yaml", "reader: discs", "reader: discs\n  root: discs"))
    assert record.failed == 0
    apart = [c for c in record.checks if c.subject.partition(":")[0] in ("task", "codec", "metric")]
    assert {check.outcome for check in apart} == {"skipped"}
    assert "data not found: discs" in details(record)["opens"]


def test_a_missing_key_skips_the_model(toy: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TOY_PLUG_KEY", raising=False)
    record = check_plugin(toy("cards/model.yaml", "availability: code\n", NEEDS), only="model:*")
    assert set(outcomes(record).values()) == {"skipped"}
    assert details(record)["loads"] == "it needs a key: TOY_PLUG_KEY is not set"


def test_a_key_in_the_adapters_repr_is_found(toy: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOY_PLUG_KEY", "sesame-open-73")
    name = toy("cards/model.yaml", "availability: code\n", NEEDS)
    assert outcomes(check_plugin(name, only="*::no_secret")) == {"no_secret": "passed"}
    _append_to_parts("""
import os
Rules.__repr__ = lambda self: f"Rules({os.environ['TOY_PLUG_KEY']})"
""")
    record = check_plugin(name, only="*::no_secret")
    assert outcomes(record) == {"no_secret": "failed"}
    assert "sesame" not in details(record)["no_secret"]


def _append_to_parts(text: str) -> None:
    import toyplug  # the fixture's copy

    path = Path(toyplug.__file__).with_name("parts.py")
    path.write_text(path.read_text(encoding="utf-8") + text, encoding="utf-8")


def test_a_stub_replaces_the_weights(toy: Make) -> None:
    options = (
        "    class Options(NoOptions, frozen=True):\n        weights: str = 'real'\n\n"
        "    stub = {'weights': 'none'}\n\n    def load(self):\n"
        "        assert self.options.weights == 'none'\n"
    )
    record = check_plugin(toy("parts.py", "    def load(self):\n", options), only="model:*")
    assert record.failed == 0
    assert details(record)["loads"] == "with the options of its stub"


def test_a_model_that_draws_is_held_to_what_it_declares(toy: Make) -> None:
    drawn = "max_batch = 4\n    deterministic = False"
    name = toy("parts.py", "max_batch = 4", drawn)
    _append_to_parts("\nRules.paint = lambda self, request: np.random.default_rng().integers(\n"
                     "    0, 256, (8, 8, 3), np.uint8)\n")  # fmt: skip
    record = check_plugin(name, only="model:*")
    assert record.failed == 0
    declared = "it declares deterministic = False"
    for check in ("determinism", "seed_used", "order_invariance", "batch_invariance"):
        assert (outcomes(record)[check], details(record)[check]) == ("skipped", declared)
    assert outcomes(record)["concurrency"] == "passed"


FILES = """
import io
import PIL.Image

def as_file(array, kind):
    picture = PIL.Image.fromarray(array)
    if kind == "exif":  # stored on its side, and the file says so
        picture = picture.transpose(PIL.Image.Transpose.ROTATE_90)
        exif = picture.getexif()
        exif[0x0112] = 6
        buffer = io.BytesIO()
        picture.save(buffer, "JPEG", exif=exif)
        return buffer.getvalue()
    if kind == "side":
        return picture.transpose(PIL.Image.Transpose.ROTATE_90)
    if kind == "alpha":
        picture.putalpha(128)
        return picture
    return PIL.Image.fromarray(array[..., 0].astype(np.uint16) * 257)

paint = Rules.paint
Rules.paint = lambda self, request: (
    as_file(paint(self, request), KIND) if request.images else None)
"""


@pytest.mark.parametrize(("kind", "fails"), [("exif", []), ("alpha", []), ("16 bit", []),
                                             ("side", ["upright"])])  # fmt: skip
def test_pictures_are_judged_as_they_are_read(toy: Make, kind: str, fails: list[str]) -> None:
    name = toy()
    _append_to_parts(f"{FILES}\nKIND = {kind!r}\n")
    record = check_plugin(name, only="model:*")
    assert [check.check for check in record.failures] == fails


def test_a_card_at_fault_is_told_once(toy: Make) -> None:
    record = check_plugin(toy("cards/model.yaml", "title:", "titel:"))
    assert [check.id for check in record.failures] == ["package::cards_valid"]
    (check,) = [check for check in record.checks if check.id == "model:rules::loads"]
    assert (check.outcome, "cards_valid" in check.detail) == ("skipped", True)


def test_a_model_may_decline_some_requests(toy: Make) -> None:
    declines = (
        "from vgen_eval.errors import Refused\n"
        "        if request.sample in ('disc', 'noise'): raise Refused('not my kind')\n"
    )
    paint = "        bright = request.images[0].array"
    record = check_plugin(toy("parts.py", paint, f"        {declines}{paint}"), only="model:*")
    assert record.failed == 0
    assert details(record)["forms_honoured"] == "form image: 2 of 4 not answered"
    assert outcomes(record)["batch_invariance"] == "passed"


def test_a_service_on_this_machine_that_is_down_skips_the_model(toy: Make) -> None:
    asks = (
        "        import socket\n        from vgen_eval.errors import Transient\n"
        "        try:\n            socket.create_connection(('127.0.0.1', 9), 5)\n"
        "        except OSError as exc:\n            raise Transient('no server') from exc\n"
    )
    paint = "        bright = request.images[0].array"
    record = check_plugin(toy("parts.py", paint, asks + paint), only="model:*")
    assert record.failed == 0
    assert "declines, Transient: no server" in details(record)["answers"]
    assert outcomes(record)["forms_honoured"] == "skipped"


def test_offline_passes_when_the_adapter_says_that_it_cannot(toy: Make) -> None:
    load = (
        "import socket\n        from vgen_eval.errors import Transient\n"
        "        try:\n            socket.create_connection(('models.invalid', 443), 5)\n"
        "        except OSError as exc:\n"
        "            raise Transient('models.invalid does not answer') from exc"
    )
    record = check_plugin(toy("parts.py", LOAD, load), only="model:*")
    assert record.failed == 0
    assert "says so: Transient" in details(record)["offline"]
    assert outcomes(record)["answers"] == "skipped"


def test_a_server_on_this_machine_is_no_network(toy: Make) -> None:
    load = (
        "import socket\n        server = socket.create_server(('127.0.0.1', 0))\n"
        "        socket.create_connection(server.getsockname(), 5).close()\n"
        "        server.close()\n        self.level = 128"
    )
    record = check_plugin(toy("parts.py", LOAD, load), only="model:rules::offline")
    assert [(c.outcome, c.detail) for c in record.checks] == [("passed", "")]


def test_after_a_check_that_ends_the_process_the_next_are_made(toy: Make) -> None:
    paint = "        bright = request.images[0].array"
    exits = "        import os\n        if request.images[0].width > 300: os._exit(9)\n"
    record = check_plugin(toy("parts.py", paint, exits + paint), only="model:*")
    assert [check.check for check in record.failures] == ["picture_kinds"]
    assert outcomes(record)["pickling"] == "passed"
    assert outcomes(record)["failure_kinds"] == "passed"


def test_a_hang_ends_its_subject_and_not_the_suite(toy: Make) -> None:
    name = toy("parts.py", "    def index(self):\n",
               "    def index(self):\n        import time\n        time.sleep(600)\n")  # fmt: skip
    record = check_plugin(name, only="*s", timeout_s=1.5)
    found = {check.id: (check.outcome, check.detail) for check in record.checks}
    assert found["task:toys/discs::opens"] == (
        "failed", "not done after 1.5 s, in toyplug/parts.py:45",
    )  # fmt: skip
    assert found["task:toys/discs::loads"][0] == "skipped"
    assert found["model:rules::loads"][0] == "passed"


@pytest.mark.parametrize(
    "mischief",
    [
        "import pathlib, shutil; shutil.rmtree(pathlib.Path.cwd().parent)",
        "import pathlib; pathlib.Path('../events.jsonl').open('a').write('no event\\n')",
    ],
    ids=["deletes", "scribbles"],
)
def test_what_a_plugin_does_to_the_folder_of_its_check_is_its_own_affair(
    toy: Make, mischief: str
) -> None:
    record = check_plugin(toy("parts.py", LOAD, f"{mischief}\n        {LOAD}"), only="model:*")
    assert "not made" not in " ".join(details(record).values())
    assert outcomes(record)["forms_honoured"] == "passed"


def test_threads_that_an_adapter_leaves_running_are_not_waited_for(toy: Make) -> None:
    load = (
        "import threading\n        self.level = 128\n"
        "        threading.Thread(target=threading.Event().wait).start()"
    )
    record = check_plugin(toy("parts.py", LOAD, load), only="model:*::answers", timeout_s=5.0)
    assert outcomes(record) == {"answers": "passed"}


def test_a_plugin_that_cannot_be_imported_has_no_passed_parts(toy: Make) -> None:
    record = check_plugin(toy("__init__.py", "from vgen_eval", "import no_such\nfrom vgen_eval"))
    assert [check.id for check in record.failures] == ["package::imports"]
    assert record.passed == 0
    assert {c.subject for c in record.checks} == {"package", "model:rules", "task:toys/discs"}


def test_assert_conforms_lists_each_failure_with_its_cure(toy: Make) -> None:
    name = toy("parts.py", "id=request.id", "id=request.sample")
    with pytest.raises(AssertionError) as caught:
        assert_conforms(name, only="model:*")
    first, second, third = str(caught.value).splitlines()
    assert first == "toy-plug 1.0: 1 of the checks failed"
    assert second.startswith("  model:rules::ids_echoed: form image: an output carries 'disc'")
    assert third == "    cure: yield Output(id=request.id, ...), once for each request"


def test_only_names_subjects_checks_or_both(toy: Make) -> None:
    name = toy()
    for only, wanted in (
        ("batch_*", {"model:rules::batch_invariance"}),
        ("metric:*::perfect", {"metric:overlap::perfect"}),
        ("*::opens", {"task:toys/discs::opens"}),
    ):
        assert {check.id for check in check_plugin(name, only=only).checks} == wanted
    with pytest.raises(UsageError, match="'nonsense' means no check of 'toy-plug'"):
        check_plugin(name, only="nonsense")
    with pytest.raises(UsageError, match="no plugin 'toy-plugg'"):
        check_plugin("toy-plugg")


def test_parts_that_no_card_uses_are_named_and_not_passed(toy: Make) -> None:
    name = toy("__init__.py", '{"overlap":', '{"spare": "toyplug.parts:Overlap", "overlap":')
    record = check_plugin(name)
    spare = [check for check in record.checks if check.subject == "metric:spare"]
    assert [(check.check, check.outcome) for check in spare] == [("used", "skipped")]


def test_adapters_and_readers_that_no_card_uses_are_named_too(toy: Make) -> None:
    name = toy("__init__.py", '{"rules":', '{"spare": "toyplug.parts:Rules", "rules":')
    record = check_plugin(name)
    idle = [(check.subject, check.detail) for check in record.checks if check.check == "used"]
    assert idle == [("adapter:spare", "no card of this plugin uses it")]


def test_a_plugin_that_brings_nothing_says_so(toy: Make) -> None:
    import shutil

    name = toy()
    import toyplug

    package = Path(toyplug.__file__).parent
    (package / "__init__.py").write_text("")
    shutil.rmtree(package / "cards")
    record = check_plugin(name)
    (idle,) = [check for check in record.checks if check.check == "used"]
    assert (idle.subject, idle.outcome) == ("package", "skipped")
    assert "nothing to try" in idle.detail


def test_a_name_that_a_built_in_has_is_a_notice(toy: Make) -> None:
    name = toy("__init__.py", '{"overlap":', '{"mask_iou": "toyplug.parts:Overlap", "overlap":')
    (check,) = check_plugin(name, only="package::names").checks
    assert check.outcome == "passed"
    assert "vgen-eval has metric 'mask_iou' too" in check.detail


def test_child_processes_see_no_gpu_and_the_parents_path(toy: Make) -> None:
    name = toy(
        "parts.py", LOAD, "import os\n        assert os.environ['CUDA_VISIBLE_DEVICES'] == ''"
    )
    _append_to_parts("\nRules.level = 128\n")
    subject = Subject(kind="model", label="model:rules", name="rules")
    (event,), _ = run_subject(name, subject, ["loads"], timeout_s=30.0)
    assert (event.outcome, event.detail) == ("passed", "")
