"""The differential tester itself: it repeats, it finds what is wrong, it makes it small."""

import subprocess
import sys

import numpy as np
import pytest

import tensoriter
from tensoriter.verify import op_names, verify
from tensoriter.verify.cases import make_case
from tensoriter.verify.compare import canonical, outcome_of
from tensoriter.verify.operands import Alias, Array, Literal
from tensoriter.verify.shrink import simplifications


def wrong_for_reversed(x1, x2, /, *args, **kwargs):
    """np.add, but one too much where x1 is a reversed float array."""
    answer = np.add(x1, x2, *args, **kwargs)
    reversed_x1 = isinstance(x1, np.ndarray) and any(stride < 0 for stride in x1.strides)
    if reversed_x1 and np.asarray(answer).dtype.kind == "f":
        answer += 1
    return answer


def test_add_agrees_with_numpy():
    report = verify(seed=2, cases=2000)
    assert report.mismatch is None, str(report.mismatch)
    assert report.cases == 2000
    assert set(report.paths) == {"contiguous", "strided", "numpy", "refused by both"}
    assert report.paths["contiguous"] > 200


def test_every_op_agrees_with_numpy():
    report = verify(seed=40, cases=2000, ops=op_names())
    assert report.mismatch is None, str(report.mismatch)
    assert report.cases == 2000
    assert set(report.paths) == {"contiguous", "strided", "numpy", "refused by both"}


def test_there_are_cases_for_all_sorts_of_ops():
    names = op_names()
    assert {"add", "exp", "less", "divmod", "frexp", "isnan", "ldexp"} <= set(names)
    assert "matmul" not in names
    cases = [make_case(3, k, names) for k in range(3000)]
    assert {case.op for case in cases} == set(names)
    for case in cases:
        op = getattr(tensoriter, case.op)
        assert (case.x2 is None) == (op.nin == 1)
        assert op.nout == 1 or case.out is None


def test_a_wrong_op_is_found_and_made_small():
    report = verify(seed=3, cases=5000, op=wrong_for_reversed)
    text = str(report.mismatch)
    assert report.cases < 5000
    assert report.mismatch.case.x1.owned is False
    assert min(report.mismatch.case.x1.steps) < 0
    assert np.prod(report.mismatch.case.x1.shape) <= 4
    assert report.mismatch.case.out is None
    assert "values" in report.mismatch.sides.differences
    assert f"tensoriter verify --seed 3 --case {report.mismatch.case.index}" in text
    for part in ("x1 ", "x2 ", "strides", "NumPy: ", "tensoriter: "):
        assert part in text


def test_a_case_can_be_rerun_alone():
    first = verify(seed=3, cases=5000, op=wrong_for_reversed)
    again = verify(seed=3, case=first.mismatch.case.index, op=wrong_for_reversed)
    assert again.cases == 1
    assert str(again.mismatch) == str(first.mismatch)


# Each of these is wrong in one way only; what differs must be named.
def returns_a_copy_for_out(*args, **kwargs):
    answer = np.add(*args, **kwargs)
    return answer.copy() if isinstance(answer, np.ndarray) else answer


def gives_arrays_for_scalars(*args, **kwargs):
    return np.asarray(np.add(*args, **kwargs))


def swallows_warnings(*args, **kwargs):
    with np.errstate(all="ignore"):
        return np.add(*args, **kwargs)


def raises_another_exception(*args, **kwargs):
    try:
        return np.add(*args, **kwargs)
    except Exception as error:
        raise RuntimeError from error


def answers_in_c_order(*args, **kwargs):
    answer = np.add(*args, **kwargs)
    given = kwargs.get("out") is not None or len(args) > 2
    return answer if given or np.ndim(answer) == 0 else np.ascontiguousarray(answer)


def answers_in_wide_integers(*args, **kwargs):
    answer = np.add(*args, **kwargs)
    return answer.astype("q") if getattr(answer, "dtype", None) == np.int8 else answer


def writes_beside_its_output(*args, **kwargs):
    answer = np.add(*args, **kwargs)
    out = kwargs.get("out")
    if isinstance(out, np.ndarray) and out.base is not None and out.base.dtype == np.uint8:
        start = np.lib.array_utils.byte_bounds(out)[0] - out.base.ctypes.data
        out.base[start - 1] = 0
    return answer


def writes_into_an_input(*args, **kwargs):
    answer = np.add(*args, **kwargs)
    if isinstance(args[1], np.ndarray) and args[1].flags.writeable and args[1].size:
        args[1].flat[0] = 3
    return answer


@pytest.mark.parametrize(
    ("op", "difference"),
    [
        (returns_a_copy_for_out, "kind"),
        (gives_arrays_for_scalars, "kind"),
        (swallows_warnings, "warnings"),
        (raises_another_exception, "exception"),
        (answers_in_c_order, "strides"),
        (answers_in_wide_integers, "dtype"),
        (writes_beside_its_output, "memory"),
        (writes_into_an_input, "memory"),
    ],
)
def test_every_kind_of_difference_is_seen(op, difference):
    report = verify(seed=5, cases=5000, op=op)
    assert report.mismatch is not None
    assert difference in report.mismatch.sides.differences


def test_a_seed_gives_the_same_cases():
    once, twice, other = ([repr(make_case(seed, k)) for k in range(300)] for seed in (7, 7, 8))
    assert once == twice
    assert once != other


def test_a_case_builds_the_same_memory_each_time():
    for k in range(300):
        case = make_case(9, k)
        first, second = case.build(), case.build()
        for mine, yours in zip(first.arrays, second.arrays, strict=True):
            assert mine.array is not yours.array
            assert mine.array.strides == yours.array.strides
            assert mine.array.flags.aligned == yours.array.flags.aligned
            assert canonical(mine.array) == canonical(yours.array)


def test_the_cases_cover_what_add_can_be_asked():
    cases = [make_case(11, k) for k in range(3000)]
    arrays = [case.x1 for case in cases if isinstance(case.x1, Array)]
    built = [array.build().array for array in arrays]
    assert {array.dtype.newbyteorder("=").char for array in built} >= set("?bBhHiIqQefdgFDG")
    assert any(not array.dtype.isnative for array in built)
    assert any(not array.flags.aligned for array in built)
    assert any(min(array.strides, default=0) < 0 for array in built)
    assert any(0 in array.strides and array.size > 1 for array in built)
    assert any(array.size == 0 for array in built)
    assert any(array.ndim == 0 for array in built)
    assert any(isinstance(case.x2, Literal) and type(case.x2.value) is int for case in cases)
    assert {case.out.kind for case in cases if isinstance(case.out, Alias)} == {
        "same", "shifted", "reversed",
    }  # fmt: skip
    assert {name for case in cases for name in case.keywords} == {"dtype", "casting", "order"}
    assert {way for case in cases for way in case.errstate.values()} == {
        "warn", "ignore", "raise", "call",
    }  # fmt: skip
    assert any(case.where is not None and case.out is None for case in cases)
    assert any(case.strided for case in cases)


def test_nan_payloads_are_set_aside_and_signs_of_zero_are_not():
    nans = np.array([0x7FC00000, 0xFFC12345], "u4").view("f4")
    assert canonical(nans[:1]) == canonical(nans[1:])
    assert canonical(np.array([0.0])) != canonical(np.array([-0.0]))


def test_values_that_where_leaves_unwritten_are_not_compared():
    case = next(
        case
        for case in (make_case(13, k) for k in range(5000))
        if isinstance(case.where, Array) and case.out is None and case.where.dtype == "?"
        and outcome_of(np.add, case)[0].exception == ""
    )  # fmt: skip
    assert outcome_of(np.add, case)[0] == outcome_of(np.add, case)[0]


def test_every_simplification_can_be_built():
    for k in range(200):
        for simpler in simplifications(make_case(15, k)):
            simpler.build()


def test_an_explanation_that_fails_names_its_case(monkeypatch):
    def fail(*args, **kwargs):
        raise KeyError

    monkeypatch.setattr(tensoriter, "explain", fail)
    with pytest.raises(RuntimeError, match="of seed 17"):
        verify(seed=17, cases=50)


def test_an_explanation_that_writes_is_seen(monkeypatch):
    explain = tensoriter.explain

    def explain_and_write(x1, *args, **kwargs):
        if isinstance(x1, np.ndarray) and x1.flags.writeable:
            x1[...] = 1
        return explain(x1, *args, **kwargs)

    monkeypatch.setattr(tensoriter, "explain", explain_and_write)
    report = verify(seed=17, cases=500)
    assert report.mismatch is not None
    assert "memory" in report.mismatch.sides.differences


def run_verify(*options):
    command = [sys.executable, "-m", "tensoriter", "verify", *options]
    return subprocess.run(command, capture_output=True, text=True, timeout=300)


def test_the_command_reports_and_repeats():
    first = run_verify("--seed", "19", "--cases", "300")
    again = run_verify("--seed", "19", "--cases", "300")
    assert first.returncode == 0, first.stdout + first.stderr
    assert first.stdout.startswith("seed 19\n300 cases in ")
    assert "No difference from NumPy." in first.stdout
    assert first.stdout.splitlines()[2:] == again.stdout.splitlines()[2:]


def test_the_command_stops_when_its_time_is_up():
    done = run_verify("--seconds", "0.2")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith("seed ")
    assert " a second" in done.stdout


def test_the_command_runs_one_case_alone():
    done = run_verify("--seed", "19", "--case", "123456")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "seed 19\n1 cases in " in done.stdout


def test_the_command_ends_with_1_and_the_case_on_a_difference():
    script = (
        "import sys, numpy as np, tensoriter, tensoriter.verify as verify\n"
        "from tensoriter.commands import verify as command\n"
        "from tensoriter.__main__ import main\n"
        "wrong = lambda *args, **kwargs: np.asarray(np.add(*args, **kwargs))\n"
        "command.verify = lambda *args, **kwargs: verify.verify(*args, op=wrong, **kwargs)\n"
        "sys.exit(main(['verify', '--seed', '21', '--cases', '5000']))\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "of seed 21, a call of add, differs in kind" in done.stdout
    assert "Repeat with: tensoriter verify --seed 21 --case " in done.stdout
