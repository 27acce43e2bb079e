"""`vgen-eval data`: what is there, what is wrong with it, and fetching what the Hub may give."""

from __future__ import annotations

import hashlib
import json

import pytest
from datakit import FILES, HUB, run, write_card, write_data
from hub import SHA, serve


def test_the_list_says_where_each_data_set_is_looked_for(tmp_path):
    done = run("list", "--data-root", tmp_path, "--json")
    assert done.returncode == 0
    records = {record["task"].partition("@")[0]: record for record in json.loads(done.stdout)}
    assert records["samples/depth"]["state"] == "built in"
    nyu = records["depth/nyuv2"]
    assert (nyu["state"], nyu["expected"], nyu["root"]) == ("not found", 654, "nyuv2")
    assert all(record["licence"] for record in records.values())
    table = run("list", "--data-root", tmp_path, "--missing").stdout
    assert "depth/nyuv2" in table
    assert "samples/depth" not in table


def test_one_task_is_told_whole_with_its_layout(tmp_path):
    done = run("list", "depth/nyuv2", "--data-root", tmp_path)
    assert "nyu_depth_v2_labeled.mat" in done.stdout
    assert str(tmp_path / "nyuv2") in "".join(done.stdout.split())  # a long path is folded
    assert "licence" in done.stdout


def test_data_that_is_whole_is_sound(tmp_path):
    write_data(tmp_path)
    card = write_card(tmp_path)
    done = run("verify", card, "--data-root", tmp_path)
    assert (done.returncode, done.stdout) == (0, "my/cats: 3 samples read, sound\n")


def test_every_fault_is_named_and_the_exit_code_says_so(tmp_path):
    write_data(tmp_path)
    (tmp_path / "cats/0.png").write_bytes(FILES["0.png"][:40])
    sums = {name: hashlib.sha256(data).hexdigest() for name, data in FILES.items()}
    card = write_card(tmp_path, n=4, hashes=sums, sizes={"2.png": 5, "absent.zip": 1})
    done = run("verify", card, "--data-root", tmp_path, "--json")
    (record,) = json.loads(done.stdout)
    told = "\n".join(record["faults"])
    assert done.returncode == 3
    assert "4 samples expected, 3 found" in told
    assert "0.png: its sha256 is not that of the release" in told
    assert f"2.png: {len(FILES['2.png'])} bytes, not 5" in told
    assert "absent.zip: No such file" in told
    assert "manifest.jsonl:1: s0" in told


def test_samples_alone_may_be_verified(tmp_path):
    write_data(tmp_path)
    (tmp_path / "cats/0.png").write_bytes(b"cut")
    card = write_card(tmp_path)
    assert run("verify", card, "--samples", "s1,s2", "--data-root", tmp_path).returncode == 0
    assert run("verify", card, "--samples", "s0", "--data-root", tmp_path).returncode == 3


def test_a_data_root_that_is_no_folder_is_said_so(tmp_path):
    (tmp_path / "cats").write_text("a file")
    done = run("verify", write_card(tmp_path), "--data-root", tmp_path)
    assert done.returncode == 3
    assert "is no folder" in done.stdout


def test_what_the_hub_may_give_is_fetched_at_its_commit_and_written_down(tmp_path):
    card = write_card(tmp_path, hub=HUB)
    with serve({**FILES, "README.md": b"not asked for"}) as hub:
        done = run("prepare", card, "--data-root", tmp_path / "d", hub=hub, home=tmp_path)
        assert (done.returncode, done.stdout) == (0, "my/cats: ready, 3/3 samples\n")
        assert not (tmp_path / "d/cats/README.md").exists()
        record = json.loads((tmp_path / "d/cats/fetched.json").read_text())
        assert (record["repo"], record["revision"]) == ("owner/set", SHA)
        hub.asked.clear()
        again = run("prepare", card, "--data-root", tmp_path / "d", hub=hub, home=tmp_path)
        assert again.returncode == 0
        assert hub.asked == []


def test_terms_are_accepted_or_nothing_is_fetched(tmp_path):
    card = write_card(tmp_path, hub=HUB, terms="For cats alone.")
    with serve(FILES) as hub:
        done = run("prepare", card, "--data-root", tmp_path / "d", hub=hub, home=tmp_path)
        assert done.returncode == 2
        assert "For cats alone." in done.stderr
        assert "--accept-terms" in done.stderr
        assert hub.asked == []
        words = ("prepare", card, "--accept-terms", "--data-root", tmp_path / "d")
        assert run(*words, hub=hub, home=tmp_path).returncode == 0
    assert "For cats alone." in (tmp_path / "d/cats/fetched.json").read_text()


@pytest.mark.parametrize("revision", [None, "main", "abc"])
def test_a_commit_that_can_move_is_none(tmp_path, revision):
    card = write_card(tmp_path, hub={**HUB, "revision": revision})
    done = run("prepare", card, "--data-root", tmp_path / "d")
    assert done.returncode == 2
    assert "--revision SHA" in done.stderr


def test_a_commit_may_be_named_on_the_command_line(tmp_path):
    card = write_card(tmp_path, hub={**HUB, "revision": None})
    with serve(FILES) as hub:
        words = ("prepare", card, "--revision", SHA, "--data-root", tmp_path / "d")
        assert run(*words, hub=hub, home=tmp_path).returncode == 0
        other = ("prepare", card, "--revision", "f" * 40, "--data-root", tmp_path / "e")
        done = run(*other, hub=hub, home=tmp_path)
    assert done.returncode == 3
    assert f"owner/set has no commit {'f' * 40}" in done.stderr


def test_a_gated_data_set_says_where_its_terms_are(tmp_path):
    card = write_card(tmp_path, hub=HUB)
    with serve(FILES, gated=True) as hub:
        done = run("prepare", card, "--data-root", tmp_path / "d", hub=hub, home=tmp_path)
    assert done.returncode == 3
    assert "HF_TOKEN" in done.stderr


def test_a_file_that_would_lie_outside_is_refused(tmp_path):
    card = write_card(tmp_path, hub={**HUB, "files": ["*"]})
    with serve({"../outside.png": b"x", **FILES}) as hub:
        done = run("prepare", card, "--data-root", tmp_path / "d", hub=hub, home=tmp_path)
    assert done.returncode == 3
    assert "leads out of" in done.stderr
    assert not (tmp_path / "d/outside.png").exists()


def test_a_service_that_is_not_there_is_an_error_that_keeps_what_is(tmp_path):
    card = write_card(tmp_path, hub=HUB)
    done = run("prepare", card, "--data-root", tmp_path / "d", home=tmp_path)
    assert done.returncode == 3
    assert "run the same command again" in done.stderr
    with serve(FILES, drop="1.png") as hub:
        run("prepare", card, "--data-root", tmp_path / "d", hub=hub, home=tmp_path)
        done = run("prepare", card, "--data-root", tmp_path / "d", hub=hub, home=tmp_path)
    assert done.returncode == 0
    assert (tmp_path / "d/cats/1.png").read_bytes() == FILES["1.png"]


def test_data_that_comes_by_hand_says_how(tmp_path):
    done = run("prepare", "depth/kitti", "--data-root", tmp_path)
    assert done.returncode == 3
    assert "vgen-eval data list" in done.stderr
