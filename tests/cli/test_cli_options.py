"""From words to settings: commas, pairs, ids, config files."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from vgen_eval.cli.options import build_settings, read_pairs, split_commas
from vgen_eval.errors import UsageError


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("a,b", ["a", "b"]),
        ("a, b ,", ["a", "b", ""]),
        ("seg/[a,b]*,c", ["seg/[a,b]*", "c"]),
        ('x="a,b",y=1', ['x="a,b"', "y=1"]),
        ("x=it's,y=1", ["x=it's", "y=1"]),
        ("x={a: 1, b: 2},y=[1,2]", ["x={a: 1, b: 2}", "y=[1,2]"]),
        ("]a,b", ["]a", "b"]),
        ("", [""]),
    ],
)
def test_commas_part_only_outside_of_brackets_and_quotes(text: str, parts: list[str]) -> None:
    assert split_commas(text) == parts


@given(st.lists(st.text("abc/*@:.-", min_size=1), min_size=1))
def test_plain_words_come_back_from_their_comma_list(words: list[str]) -> None:
    assert split_commas(",".join(words)) == words


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (["a=1,b=no"], {"a": 1, "b": "no"}),
        (["stop=x,y"], {"stop": "x,y"}),
        (["a=1,b=[1,2]"], {"a": 1, "b": [1, 2]}),
        (["lr=1e-3", "on=true", "none=null", "ratio=16:9"],
         {"lr": 1e-3, "on": True, "none": None, "ratio": "16:9"}),
        (["url=http://h/?q=1"], {"url": "http://h/?q=1"}),
    ],
)  # fmt: skip
def test_pairs_are_read_as_in_a_card(words: list[str], found: dict[str, object]) -> None:
    assert read_pairs(words, option="-M") == found


def test_options_become_settings_and_silence_leaves_the_defaults(tmp_path: Path) -> None:
    ids = tmp_path / "ids.txt"
    ids.write_text("three\n\n  four \n")
    settings = build_settings(
        {
            "tasks": ("a,b", "c"),
            "models": ("m",),
            "prompt": ("short,mid",),
            "samples": ("one,two", f"@{ids}"),
            "retry_failed": "error,refused",
            "limit": None,
            "bounds": None,
            "model_args": (),
        },
        None,
    )
    assert settings.tasks == ("a", "b", "c")
    assert settings.models == ("m",)
    assert settings.prompt == ("short", "mid")
    assert settings.samples == ("one", "two", "three", "four")
    assert settings.retry_failed == ("error", "refused")
    assert settings.limit is None
    assert settings.bounds is True
    assert settings.output == "results"


def test_the_command_line_wins_over_the_file_and_pairs_are_joined(tmp_path: Path) -> None:
    config = tmp_path / "run.yaml"
    config.write_text(
        "tasks: [a]\nlimit: 5\nbounds: false\noutput: there\nset: {generation.seed: 1}\n"
    )
    settings = build_settings(
        {"tasks": ("b",), "limit": 7, "bounds": None, "set": ("generation.steps=2",)}, str(config)
    )
    assert settings.tasks == ("b",)
    assert settings.limit == 7
    assert settings.bounds is False
    assert settings.output == "there"
    assert settings.set == {"generation.seed": 1, "generation.steps": 2}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("tasks: all\n", "run.yaml:1: tasks: wanted a list, got text 'all'; write [all]"),
        ("limit: 0\n", "run.yaml:1: limit: 0 must be at least 1"),
        ("a: [\n", "run.yaml:2: not YAML: "),
        ("limit: 1\nlimit: 2\n", "run.yaml:2: limit: "),
        ("- all\n", "run.yaml"),
    ],
)
def test_a_faulty_config_file_is_named_with_the_line(
    tmp_path: Path, text: str, message: str
) -> None:
    config = tmp_path / "run.yaml"
    config.write_text(text)
    with pytest.raises(UsageError) as caught:
        build_settings({}, str(config))
    assert message in str(caught.value)
    assert caught.value.cure is None


@pytest.mark.parametrize(
    ("given_options", "message"),
    [
        ({"output": ""}, "--output: '' is no folder"),
        ({"output": "--no-bounds"}, "--output: '--no-bounds' is no folder"),
        ({"data_root": ""}, "--data-root: '' is no folder"),
        ({"samples": ("",)}, "--samples names no sample"),
    ],
)
def test_what_an_empty_variable_leaves_is_refused(
    given_options: dict[str, object], message: str
) -> None:
    with pytest.raises(UsageError) as caught:
        build_settings(given_options, None)
    assert caught.value.what == message


def test_a_home_folder_is_expanded(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert build_settings({"output": "~/out"}, None).output == str(tmp_path / "out")
