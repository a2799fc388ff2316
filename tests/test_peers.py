"""The benchmark of large calls beside other libraries: tiny runs, and what it makes of numbers."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))  # the benchmarks are not installed

from benchmarks import (  # noqa: E402
    ceiling,
    peer_cases,
    peer_libraries,
    peer_tables,
    peers,
    several_threads,
)
from benchmarks.peer_results import (  # noqa: E402
    CEILING,
    OURS,
    THEIRS,
    Asked,
    Result,
    contestants_in,
    slower,
    verdict,
    with_threads,
)
from tensoriter.timing import MALLOC_OFFSET, Ratio, Turns, at_line_offset  # noqa: E402

CELLS = peer_cases.all_cells()
SMALLER = [(case, size) for case, size in CELLS if size <= 10**6]


def run(*arguments):
    """Run the benchmark as its user does, from the repository's root."""
    command = [sys.executable, "-m", "benchmarks.peers", *map(str, arguments)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600)


def made_up(asked=None, moved=240, **times):
    """A result of three equal rounds, in ns per call."""
    turns = Turns({name: [float(time)] * 3 for name, time in times.items()})
    return Result(asked or Asked(2), turns, moved)


def test_the_labels_of_the_cases_are_unique():
    labels = peer_cases.labels(CELLS)
    assert len(set(labels)) == len(labels)
    assert peer_cases.CEILING_AT_LEAST.keys() <= set(labels)
    threads = {size for case, size in CELLS if several_threads.asked_of((case, size))}
    assert threads == several_threads.AT_LEAST.keys()


@pytest.mark.parametrize("cell", SMALLER, ids=peer_cases.labels(SMALLER))
def test_operands_lie_where_malloc_puts_large_arrays(cell):
    case, size = cell
    operands = case.operands(size)
    answer = np.add(operands.x1, operands.x2)
    assert ("out=" in case.name) == (operands.out is not None)
    for array in filter(lambda operand: operand is not None, operands):
        assert array.__array_interface__["data"][0] % 64 == MALLOC_OFFSET
    if operands.out is not None:
        layout = operands.out.shape, operands.out.strides, operands.out.dtype
        assert layout == (answer.shape, answer.strides, answer.dtype)


def test_each_stretch_of_memory_is_moved_once():
    line, column, square = np.ones(10), np.ones((10, 1)), np.ones((10, 10))
    assert ceiling.bytes_moved(line, line[:], line + line) == 160
    assert ceiling.bytes_moved(square, square.T, square + square) == 1600
    assert ceiling.bytes_moved(column, line, square) == 80 + 80 + 800
    assert ceiling.bytes_moved(square[::2], square[1::2], square[::2].copy()) == 720 + 720 + 400
    assert ceiling.bytes_moved(np.broadcast_to(line, (10, 10)), square, square) == 80 + 800


@pytest.fixture(scope="module")
def quick_run(tmp_path_factory):
    """One run of the quick cases of float64 + int32: what it printed, and its JSON."""
    folder = tmp_path_factory.mktemp("peers")
    files = folder / "peers.json", folder / "peers.png"
    done = run("--quick", "--rounds", "3", "--cases", "INT32", "--json", files[0], "--plot", files[1])
    assert done.returncode == 0, done.stderr
    assert files[1].read_bytes().startswith(b"\x89PNG")
    return done.stdout, json.loads(files[0].read_text("utf-8"))


def test_every_chosen_case_is_in_the_three_tables(quick_run):
    labels = [label for label in peer_cases.labels(SMALLER) if "int32" in label]
    assert len(labels) == 4
    for label in labels:
        assert quick_run[0].count(f"\n{label}  ") == 3
    assert "float16" not in quick_run[0]
    assert " of 4 cases are met." in quick_run[0]


def test_the_json_has_the_documented_form(quick_run):
    facts = quick_run[1]
    assert facts.keys() == {"machine", "peers", "parameters", "cases", "busy"}
    assert facts["machine"]["numpy"] == facts["peers"][THEIRS] == np.__version__
    assert facts["parameters"]["rounds"] == 3
    assert facts["parameters"]["threads"] == min(2, several_threads.available_cores())
    assert facts["busy"] == {}
    case = facts["cases"]["int32 + float64, out=, n = 1,000,000"]
    assert case["asked"] == {"times_numpy": 2.4, "of_ceiling": None}
    assert case["bytes_moved"] == 20_000_000
    assert {THEIRS, OURS} <= case["ns_per_call"].keys() == case["summary"].keys()
    assert all(len(times) == 3 for times in case["ns_per_call"].values())
    took_part = case["ns_per_call"].keys() & peer_libraries.PEERS.keys()
    assert facts["peers"].keys() == took_part | case["absent"].keys()
    assert case["best_peer"] in case["ns_per_call"]
    speed = case["speed_over_best_peer"]
    assert 0 < speed["low"] <= speed["median"] <= speed["high"]
    assert (case["of_ceiling"] is None) == (ceiling.find_compiler() is None)
    assert case["verdict"].startswith(("met", "NOT MET"))


def test_what_is_asked_and_reached_is_met():
    result = made_up(numpy=200, torch=150, jax=50, tensoriter=100)
    assert result.unmet() == []
    assert verdict(result.unmet()) == "met"
    assert result.best_rival == "torch"  # jax only stands beside


def test_what_is_missing_is_named():
    asked = Asked(2, of_ceiling=0.9)
    result = made_up(asked, numpy=150, torch=80, tensoriter=100, ceiling=85)
    missing = ["1.50 of 2 x numpy", "torch is faster", "0.85 of 0.9 of the ceiling"]
    assert result.unmet() == missing
    assert verdict(missing) == "NOT MET: " + "; ".join(missing)
    assert result.facts()["verdict"] == verdict(missing)


def test_the_fraction_of_the_ceiling_is_of_rates_and_the_rate_is_in_gigabytes():
    result = made_up(numpy=200, tensoriter=100, ceiling=80, moved=1_600)
    assert result.of_ceiling.median == pytest.approx(0.8)
    assert result.ceiling_rate == pytest.approx(20)
    assert made_up(numpy=200, tensoriter=100).of_ceiling is None
    assert made_up(Asked(2, 0.9), numpy=200, tensoriter=100).unmet() == []


def test_slower_is_slower_beyond_noise():
    assert slower(Ratio(0.9, 0.8, 0.99))
    assert not slower(Ratio(0.9, 0.8, 1.0))
    turns = Turns({THEIRS: [100.0] * 4, OURS: [101.0, 102.0, 99.0, 98.0]})
    assert Result(Asked(peer_cases.NOT_SLOWER), turns, 1).unmet() == []


def test_what_a_busy_machine_measures_is_called_unsteady(capsys):
    turns = Turns({THEIRS: [100.0, 100.0, 900.0, 900.0], OURS: [50.0] * 4})
    result = Result(Asked(2), turns, 1)
    assert result.unsteady
    assert not made_up(numpy=200, tensoriter=100).unsteady
    assert peer_tables.target_row("", result)[-1] == "met (unsteady)"
    peer_tables.print_targets({out_cell(10**6): result})
    assert "Unsteady: 1," in capsys.readouterr().out


def test_contestants_have_an_order_of_their_own():
    result = made_up(ceiling=1, tensoriter=1, torch=1, numpy=1)
    many = made_up(**{with_threads(2): 1, "jax": 1})
    assert contestants_in([many, result]) == [THEIRS, "torch", "jax", OURS, with_threads(2), CEILING]


def test_a_target_is_a_line_with_its_ratios():
    row = peer_tables.target_row("a case", made_up(numpy=150, tensoriter=100, ceiling=50))
    ratio = "1.50 (1.50 to 1.50)"
    assert row == ["a case", ratio, "2", THEIRS, ratio, "0.50 (0.50 to 0.50)", "NOT MET: 1.50 of 2 x numpy"]
    asked_little = made_up(Asked(peer_cases.NOT_SLOWER), numpy=100, tensoriter=100)
    assert peer_tables.target_row("", asked_little)[2] == ""


@pytest.mark.parametrize(
    ("size", "gain", "word"),
    [
        (100_000, Ratio(2.5, 2.4, 2.6), "met"),
        (100_000, Ratio(2.4, 2.3, 2.6), "NOT MET: 2.40 of 2.5"),
        (4_000, Ratio(0.99, 0.98, 1.01), "met"),
        (4_000, Ratio(0.9, 0.8, 0.95), "NOT MET: 0.90 of 1"),
    ],
)
def test_a_gain_by_threads_is_held_against_what_is_asked(size, gain, word):
    assert several_threads.gain_row(out_cell(size), gain)[-1] == word


def test_on_busy_cores_threads_may_cost_half_as_much_again():
    cell = out_cell(10**6)
    assert several_threads.busy_row(cell, Ratio(1.5, 1, 2))[-1] == "met"
    assert several_threads.busy_row(cell, Ratio(1.6, 1, 2))[-1] == "NOT MET: 1.60, not 1.5"


def out_cell(size):
    """The cell of that size in which threads are compared."""
    return next((case, n) for case, n in CELLS if (case.name, n) == (several_threads.NAME, size))


def test_threads_are_measured_on_busy_cores(monkeypatch):
    monkeypatch.setattr(several_threads, "BUSY_TURN_SECONDS", 0.002)
    turns = several_threads.measure_busy(out_cell(100_000), rounds=2, threads=2)
    assert turns.nanoseconds.keys() == {OURS, with_threads(2)}
    assert [len(times) for times in turns.nanoseconds.values()] == [2, 2]


def test_threads_are_contestants_where_there_are_cores(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(several_threads, "BUSY_TURN_SECONDS", 0.002)
    monkeypatch.setattr(several_threads, "available_cores", lambda: 2)
    monkeypatch.setattr(peer_libraries, "find_spec", lambda name: name == "numpy" or None)
    file = tmp_path / "peers.json"
    peers.main(["--quick", "--rounds", "2", "--cases", "float64, out=, n = 100,000", "--json", str(file)])
    printed = capsys.readouterr().out
    assert "2 threads against one:" in printed
    assert "nothing but spin" in printed
    facts = json.loads(file.read_text("utf-8"))
    assert facts["parameters"]["threads"] == 2
    label = "float64, out=, n = 100,000"
    assert facts["cases"][label]["ns_per_call"].keys() == {THEIRS, OURS, with_threads(2)}
    assert facts["busy"][label]["summary"].keys() == {OURS, with_threads(2)}


def test_cores_are_busy_only_meanwhile():
    with several_threads.busy_cores(2) as spinning:
        assert [process.poll() for process in spinning] == [None, None]
    assert all(process.returncode is not None for process in spinning)


def test_the_thread_tables_and_the_sentence_without_cores(capsys):
    cell, many = out_cell(100_000), with_threads(2)
    results = {cell: made_up(**{OURS: 100, many: 40, THEIRS: 200})}
    busy = {cell: Turns({OURS: [100.0] * 2, many: [160.0] * 2})}
    peer_tables.print_threads(results, busy, 2, 2)
    printed = capsys.readouterr().out
    assert "2.50 (2.50 to 2.50)    2.5      met" in printed
    assert "NOT MET: 1.60, not 1.5" in printed
    peer_tables.print_threads(results, {}, 2, 1)
    assert "2 threads are not measured" in capsys.readouterr().out


def test_the_stream_like_add_adds():
    if not ceiling.find_compiler():
        with pytest.raises(ceiling.NoCeiling, match="needs a C compiler"):
            ceiling.compile_stream_add()
        return
    stream_add = ceiling.compile_stream_add()
    for count in (1, 2, 7, 1000):
        a, b = np.arange(count, dtype=float), np.full(count, 0.5)
        c = at_line_offset(np.zeros(count), 0)
        stream_add(a.ctypes.data, b.ctypes.data, c.ctypes.data, count)
        np.testing.assert_array_equal(c, a + b)
    assert ceiling.ceiling_loop(stream_add, 2400)(2) is None


def test_without_a_compiler_a_sentence_says_what_to_install(monkeypatch, capsys):
    monkeypatch.setattr(shutil, "which", lambda name: None)
    assert peers.ceiling_or_sentence() is None
    assert capsys.readouterr().out.startswith(ceiling.NO_COMPILER)


def test_a_compiler_that_refuses_is_quoted(monkeypatch, tmp_path, capsys):
    compiler = tmp_path / "cc"
    compiler.write_text("#!/bin/sh\necho no such luck >&2\nexit 1\n")
    compiler.chmod(0o755)
    monkeypatch.setenv("CC", str(compiler))
    assert peers.ceiling_or_sentence() is None
    assert "no such luck" in capsys.readouterr().out


def test_without_peers_and_compiler_numpy_is_compared(monkeypatch, capsys):
    monkeypatch.setattr(shutil, "which", lambda name: None)
    monkeypatch.setattr(peer_libraries, "find_spec", lambda name: name == "numpy" or None)
    peers.main(["--quick", "--rounds", "2", "--cases", "[::2], out=, n = 1,000,000", "--threads", "1"])
    printed = capsys.readouterr().out
    assert f"Peers: numpy {np.__version__}.\nNot installed: torch, numexpr, numba, mkl_umath, jax" in printed
    assert "GB/s" not in printed
    assert "threads" not in printed


SWAPPED = next(case for case in peer_cases.CASES if case.name == "byte-swapped float64, out=")


@pytest.mark.parametrize(
    ("loop", "reason"),
    [
        (None, "has no such call"),
        (lambda steps: 1 / 0, "raises ZeroDivisionError"),
        (lambda steps: np.zeros(3, np.float32), "answers float32"),
        (lambda steps: np.zeros(3), "answers with other values"),
        (lambda steps: np.zeros((1, 3)), "answers with other values"),
    ],
)
def test_a_peer_that_answers_otherwise_takes_no_part(loop, reason, monkeypatch):
    monkeypatch.setitem(peer_libraries.PEERS, "numpy", lambda case, operands: loop)
    monkeypatch.setattr(peer_libraries, "find_spec", lambda name: name == "numpy" or None)
    operands = SWAPPED.operands(3)
    assert peers.peer_loops(SWAPPED, operands, np.ones(3)) == ({}, {"numpy": reason})


def test_the_last_contestants_output_is_nobodys_answer():
    operands = SWAPPED.operands(3)
    expected = np.add(operands.x1, operands.x2, out=operands.out).copy()
    with pytest.raises(peers.TakesNoPart, match="other values"):
        peers.checked_loop(lambda case, given: lambda steps: given.out, SWAPPED, operands, expected)


def test_a_wrong_answer_of_tensoriter_ends_the_run():
    operands = SWAPPED.operands(3)
    with pytest.raises(AssertionError, match="byte-swapped float64, out=: tensoriter answers with other"):
        peers.our_loops(SWAPPED, operands, np.zeros(3), threads=1)


@pytest.mark.parametrize("case", peer_cases.CASES[:2], ids=lambda case: case.name)
def test_every_installed_peer_can_add_float32(case):
    operands = case.operands(4_000)
    loops, absent = peers.peer_loops(case, operands, np.add(operands.x1, operands.x2))
    assert loops.keys() | absent.keys() == peer_libraries.installed_peers().keys()
    assert absent.keys() <= ({"jax"} if "out=" in case.name else set())


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--cases", "no such case"], "no case has 'no such case' in its name; there are: float32"),
        (["--quick", "--cases", "10,000,000"], "no case has '10,000,000' in its name"),
        (["--rounds", "0"], "0 is less than 1"),
        (["--threads", "-1"], "-1 is less than 1"),
        (["--json", "no-such-folder/peers.json"], "folder does not exist"),
    ],
)
def test_it_refuses_what_it_cannot_do(arguments, sentence, capsys):
    with pytest.raises(SystemExit) as stopped:
        peers.main(arguments)
    assert stopped.value.code == 2
    assert sentence in capsys.readouterr().err
