"""The benchmarks of small calls: tiny runs of both commands, and what they make of the numbers."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import tensoriter

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))  # the benchmarks are not installed

from benchmarks import cases, instructions, operators, small  # noqa: E402
from tensoriter.timing import Ratio  # noqa: E402


def run(module, *arguments):
    """Run a benchmark as its user does, from the repository's root."""
    command = [sys.executable, "-m", f"benchmarks.{module}", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600)


@pytest.mark.parametrize("case", cases.CASES, ids=lambda case: case.name)
def test_a_case_has_operands_of_its_size_and_dtype(case):
    for size in case.at_least:
        assert size in case.sizes
        x1, x2, out, where = case.operands(size)
        with np.errstate(all="raise"):
            answer = np.add(x1, x2, out=out, where=True if where is None else where)
        assert answer.dtype == case.dtype
        if len(case.sizes) > 1:
            assert answer.shape == (size,)


def test_labels_are_unique_and_bound_cases_are_there_with_bind():
    labels = [case.label(size) for case, size in cases.target_cells()]
    assert len(set(labels)) == len(labels)
    bound = {case.name for case in cases.CASES if case.bound}
    available = {case.name for case in cases.available_cases()}
    assert bound <= available if hasattr(tensoriter.add, "bind") else not bound & available


def test_the_contestants_share_their_operands():
    case = cases.CASES[1]
    operands = case.operands(3)
    first, second = (loop(case, operands)(1) for loop in (cases.numpy_loop, cases.tensoriter_loop))
    assert first is second is operands.out


@pytest.fixture(scope="module")
def quick_run(tmp_path_factory):
    """One run of small --quick: what it printed, and its JSON."""
    folder = tmp_path_factory.mktemp("small")
    files = folder / "small.json", folder / "small.png"
    done = run("small", "--quick", "--rounds", "3", "--json", files[0], "--plot", files[1])
    assert done.returncode == 0, done.stderr
    assert files[1].read_bytes().startswith(b"\x89PNG")
    return done.stdout, json.loads(files[0].read_text("utf-8"))


def test_small_prints_every_case_in_both_tables(quick_run):
    targets, sizes = quick_run[0].split("Times as fast as np.add, by number of elements:")
    for case in cases.available_cases():
        rows = [line for line in sizes.splitlines() if line.startswith(f"{case.name}  ")]
        assert len(rows) == 1
        for size in case.at_least:
            assert f"\n{case.label(size)}  " in targets


def test_small_writes_json_of_the_documented_form(quick_run):
    facts = quick_run[1]
    assert facts["machine"]["numpy"] == np.__version__
    assert facts["parameters"]["rounds"] == 3
    assert set(facts["cases"]) == {case.name for case in cases.available_cases()}
    cell = facts["cases"]["fresh output"]["100"]
    assert cell["asked"] == 7
    assert facts["cases"]["fresh output"]["1"]["asked"] is None
    assert facts["cases"]["0-d + 0-d"].keys() == {small.OWN_SHAPE}
    for name in (small.THEIRS, small.OURS, small.NO_OP_NAME):
        assert len(cell["ns_per_call"][name]) == 3
        assert cell["summary"][name]["median_ns"] > 0
    speed = cell["summary"][small.OURS]["speed"]
    assert speed["low"] <= speed["median"] <= speed["high"]


@pytest.mark.parametrize(
    ("speed", "text"),
    [
        (Ratio(1.0, 0.9, 1.1), "1.00"),
        (Ratio(0.98, 0.9, 1.1), "0.98!"),
        (Ratio(0.5, 0.4, 0.6), "0.50!!"),
    ],
)
def test_losing_cells_are_marked(speed, text):
    assert small.mark(speed) == text


def test_small_refuses_a_file_it_could_not_write():
    done = run("small", "--json", "no-such-folder/small.json")
    assert done.returncode == 2
    assert "folder does not exist" in done.stderr


def test_without_valgrind_a_sentence_says_what_to_install(monkeypatch, capsys):
    monkeypatch.setattr(shutil, "which", lambda name: None)
    assert instructions.main([]) == 2
    assert capsys.readouterr().err.strip() == instructions.NO_VALGRIND


def test_two_counts_of_one_case_agree(tmp_path):
    files = tmp_path / "first.json", tmp_path / "second.json"
    runs = [run("instructions", "--cases", "0-d", "--json", file) for file in files]
    if not shutil.which("valgrind"):
        assert [done.returncode for done in runs] == [2, 2]
        assert all(instructions.NO_VALGRIND in done.stderr for done in runs)
        return
    assert [done.returncode for done in runs] == [0, 0], runs[0].stderr + runs[1].stderr
    assert "0-d + 0-d" in runs[0].stdout
    first, second = (json.loads(file.read_text("utf-8"))["instructions"] for file in files)
    assert first.keys() == second.keys() == {"empty loop", "no-op call", "0-d + 0-d"}
    for label, counts in first.items():
        assert counts == pytest.approx(second[label], rel=0.01)
    assert 0 < first["empty loop"]["loop"] < first["no-op call"]["no-op"]
    assert first["no-op call"]["no-op"] < first["0-d + 0-d"]["tensoriter"]


COUNTS = {instructions.LOOP: 200.0, instructions.NO_OP: 400.0, ("tensoriter", "a case"): 1_000.0}


def test_counts_within_their_budget_pass(capsys):
    assert instructions.check(COUNTS, instructions.as_budgets(COUNTS)) == 0
    assert instructions.check({**COUNTS, ("tensoriter", "a case"): 1_029.0}, budgets()) == 0
    assert "0 above" in capsys.readouterr().out


def test_a_count_above_its_budget_is_named(capsys):
    assert instructions.check({**COUNTS, ("tensoriter", "a case"): 1_031.0}, budgets()) == 1
    assert (
        "a case: 1,031 instructions, +3.1% against its budget of 1,000" in capsys.readouterr().out
    )


def test_a_case_without_a_budget_is_named(capsys):
    assert instructions.check({**COUNTS, ("tensoriter", "new"): 1.0}, budgets()) == 1
    assert "new: has no budget" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("counts", "conditions", "sentence"),
    [
        (COUNTS, {"python": "3.0"}, "python was 3.0 there"),
        (COUNTS, {"numpy": "1.0"}, "numpy was 1.0 there"),
        ({**COUNTS, instructions.LOOP: 100.0}, {}, "the empty loop took 200 instructions there"),
    ],
)
def test_under_other_conditions_it_says_that_it_did_not_check(counts, conditions, sentence, capsys):
    file = budgets()
    file["conditions"] |= conditions
    assert instructions.check({**counts, ("tensoriter", "a case"): 9e9}, file) == 0
    printed = capsys.readouterr().out
    assert "Not checked" in printed
    assert sentence in printed


def budgets():
    """A file of budgets for COUNTS."""
    return json.loads(json.dumps(instructions.as_budgets(COUNTS)))


def test_the_committed_budgets_name_cases_that_exist():
    file = json.loads(instructions.BUDGETS.read_text("utf-8"))
    assert file["conditions"].keys() == instructions.conditions().keys()
    labels = {case.label(size) for case in cases.CASES for size in case.at_least}
    assert file["budgets"].keys() <= labels


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--cases", "no such case"], "no case has 'no such case' in its name"),
        (["--update", "--cases", "0-d"], "leave out --cases"),
    ],
)
def test_instructions_refuses_what_it_cannot_do(arguments, sentence, monkeypatch, capsys):
    monkeypatch.setattr(shutil, "which", lambda name: name)
    with pytest.raises(SystemExit) as stopped:
        instructions.main(arguments)
    assert stopped.value.code == 2
    assert sentence in capsys.readouterr().err


def test_operators_times_every_line_with_them_on_and_off(tmp_path):
    path = tmp_path / "operators.json"
    result = run("operators", "--rounds", "1", "--json", str(path))
    assert result.returncode == 0, result.stderr
    rows = json.loads(path.read_text())
    assert [row["line"] for row in rows] == operators.LINES
    assert all(row["numpy"] > 0 and row["ours"] > 0 and row["speed"] > 0 for row in rows)
