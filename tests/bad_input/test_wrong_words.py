"""Words that mean nothing: exit 2, one line that says which and what is near, nothing touched."""

from __future__ import annotations

import pytest
from badkit import COUNTING, Shell, snapshot, write

RUN = (*COUNTING, "--model", "copy")
NAMES = {
    "task": (("--tasks", "samples/countin", "--model", "copy"),
             "no task 'samples/countin'", "Nearest: samples/counting", "vgen-eval list tasks"),
    "family": (("--tasks", "depth", "--model", "copy"),
               "no task 'depth'. Nearest: samples/depth, depth/", "vgen-eval list tasks"),
    "suite": (("--tasks", "suite:sampels", "--model", "copy"),
              "no suite 'sampels'", "Nearest: samples", "vgen-eval list suites"),
    "distribution": (("--tasks", "plug-bat:x", "--model", "copy"),
                     "no plugin 'plug-bat'", "Nearest: plug-bad", "vgen-eval list plugins"),
    "glob": (("--tasks", "sampels/*", "--model", "copy"),
             "no task matches 'sampels/*'", "Nearest: samples/", "vgen-eval list tasks"),
    "protocol": (("--tasks", "samples/counting@standart", "--model", "copy"),
                 "no protocol 'standart'", "Nearest: standard", "it has: standard, white_dots"),
    "model": ((*COUNTING, "--model", "copi"),
              "no model 'copi'", "Nearest: copy", "vgen-eval list models"),
    "qualified model": ((*COUNTING, "--model", "plug-bad:god"),
                        "no model 'plug-bad:god'", "Nearest: good"),
    "verb": (("rum", "--tasks", "x"), "no verb 'rum'", "Nearest: run, runs", "--help"),
    "shown": (("show", "samples/countin"), "'samples/countin'", "Nearest: samples/counting"),
    "run": (("score", "0123abcd"), "no run '0123abcd' in results/runs", "vgen-eval runs list"),
    "option": ((*RUN, "--limitt", "3"), "no option '--limitt'", "Nearest: --limit", "--help"),
    "extra word": ((*RUN, "surplus"), "unexpected extra argument (surplus)", "--help"),
    "answer form": ((*RUN, "--answer", "imag"), "--answer: 'imag' is not one of", "'image'"),
    "sample": ((*RUN, "--samples", "coinz"), "no sample 'coinz'", "Nearest: coins"),
    "samples file": ((*RUN, "--samples", "@gone"),
                     "--samples @gone: cannot be read: No such file", "one id a line"),
    "card key": ((*RUN, "--set", "generatio.seed=1"),
                 "generatio: unknown key (did you mean 'generation'?)", "known here: "),
    "protocol key": ((*RUN, "--set", "protocol.input.long_sid=1"),
                     "input.long_sid: unknown key (did you mean 'long_side'?)"),
    "set value": ((*RUN, "--set", "protocol.input.long_side=big"),
                  "input.long_side: wanted a whole number, got text 'big'"),
    "adapter option": ((*COUNTING, "--model", "flaky", "-M", "hang=1"),
                       "model flaky: options.hang: unknown key (did you mean 'hang_s'?)"),
    "adapter that has none": ((*RUN, "-M", "strength=1"), "options.strength: unknown key"),
    "kind of failure": ((*RUN, "--retry-failed=eror"),
                        "--retry-failed: 'eror' is not one of", "did you mean 'error'?"),
    "keep": ((*RUN, "--keep", "some"), "--keep: 'some' is not one of all, failed, none"),
    "log level": ((*RUN, "--log-level", "loud"), "--log-level: 'loud' is not one of", "--help"),
    "limit 0": ((*RUN, "--limit", "0"), "--limit: 0 must be at least 1"),
    "limit below 0": ((*RUN, "--limit", "-1"), "--limit: -1 must be at least 1"),
    "share above 1": ((*RUN, "--fail-over", "2"), "--fail-over: 2.0 must be at most 1"),
    "no task": (("--model", "copy"), "no task given", "--tasks NAME"),
    "no model": (("--tasks", "all"), "no model given", "--model NAME"),
    "no predictions": (("score", "--task", "samples/counting"), "--predictions is missing"),
}  # fmt: skip
CONFIGS = {
    "key": ("tasks: [samples/counting]\nlimitt: 3\n",
            "run.yaml:2: limitt: unknown key (did you mean 'limit'?)"),
    "value": ("tasks: [samples/counting]\nmodels: [copy]\nlimit: 0\n",
              "run.yaml:3: limit: 0 must be at least 1"),
    "several": ("limit: 0\nkeep: some\n", "run.yaml:1: limit: 0 must be at least 1 (and 1 more)"),
    "type": ("limit: many\n", "run.yaml:1: limit: wanted a whole number, got text 'many'"),
    "twice": ("limit: 3\nlimit: 4\n", "run.yaml:2: limit: key stands twice (first on line 1)"),
    "yaml": ("tasks: [a\nlimit: 0\n", "run.yaml:2: not YAML"),
    "tag": ("limit: !!python/name:os.system 1\n", "run.yaml:1: limit: tag !!python/name:os.system"),
    "list": ("- a\n", "run.yaml:1: wanted a mapping, got a list"),
    "empty": ("", "run.yaml: the file is empty"),
    "binary": ("\0\1", "run.yaml: not YAML: control characters"),
}  # fmt: skip
TRICKS = (
    "/etc/passwd", "/dev/zero", "..", "samples/../samples/counting", "../samples/counting",
    "samples/counting/", "/", "samples/\u202ecounting\x1b[31m", "%s%n", "x" * 5000,
)  # fmt: skip


@pytest.mark.parametrize("case", sorted(NAMES))
def test_a_word_that_means_nothing_is_named_with_what_is_near(home: Shell, case: str) -> None:
    words, *said = NAMES[case]
    before = snapshot(home.folder)
    log = home(*words).refuses(2, *said)
    assert log is None
    assert snapshot(home.folder) == before


@pytest.mark.parametrize("case", ["task", "answer form", "limit 0"])
def test_under_json_an_error_leaves_stdout_empty(home: Shell, case: str) -> None:
    words, *said = NAMES[case]
    home(*words, "--json").refuses(2, *said)


def test_a_prompt_variant_that_the_task_lacks_is_refused_with_those_it_has(home: Shell) -> None:
    """Cards name their own variants, so this is a pair that cannot run and no misspelt word."""
    done = home(*RUN, "--prompt", "middle")
    assert done.code == 3
    (line,) = done.err.splitlines()
    assert line.startswith("error: samples/counting@standard cannot run with copy: ")
    assert "no prompt variant 'middle' for image (there is: short, mid, long)" in line
    again = home(*RUN, "--prompt", "middle", "--json")
    assert again.code == again.document["exit_code"] == 3
    assert again.document["results"] == []


@pytest.mark.parametrize("case", sorted(CONFIGS))
def test_a_config_file_is_refused_with_its_line(home: Shell, case: str) -> None:
    text, said = CONFIGS[case]
    write(home.folder / "run.yaml", text)
    home("--config", "run.yaml", *RUN).refuses(2, said)


@pytest.mark.parametrize(("path", "said"), [("gone.yaml", "No such file"), (".", "Is a directory")])
def test_a_config_that_is_no_file_says_so(home: Shell, path: str, said: str) -> None:
    home("--config", path).refuses(2, f"{path}: cannot be read: {said}")


@pytest.mark.parametrize(
    ("option", "number"),
    [("--tasks", n) for n in range(len(TRICKS))] + [("--model", n) for n in range(3)],
)
def test_a_name_full_of_tricks_opens_nothing(home: Shell, option: str, number: int) -> None:
    other = ("--model", "copy") if option == "--tasks" else ("--tasks", "samples/counting")
    before = snapshot(home.folder)
    done = home(option, TRICKS[number], *other)
    done.refuses(2)
    assert len(done.err) < 2500
    assert snapshot(home.folder) == before


@pytest.mark.parametrize("name", ["../../evil", "a\x1b[31m"])
def test_a_model_name_for_predictions_is_no_path(home: Shell, name: str) -> None:
    write(home.folder / "answers.jsonl", '{"id": "coins", "output": "24"}\n')
    words = ("score", "--task", "samples/counting", "--predictions", "answers.jsonl")
    home(*words, "--model-name", name).refuses(2, "--model-name")
    assert not (home.folder / "results/runs").exists()
