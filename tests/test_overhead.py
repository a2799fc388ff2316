"""tensoriter overhead: both collectors on a small loop, and what is made of what they write."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import tensoriter.overhead
from tensoriter.commands import UsageError
from tensoriter.overhead import buckets, callgrind, callgrind_dump, lines, perf, report, subjects
from tensoriter.overhead import measured as measured_process
from tensoriter.overhead.attribution import Attribution
from tensoriter.overhead.profile import Function, Place, Profile

CAN_COUNT = shutil.which("valgrind") is not None
CAN_SAMPLE = shutil.which("perf") is not None and perf.event() != ""
TABLE = buckets.load()


def run(*arguments, **variables):
    """Run the command as a user does."""
    command = [sys.executable, "-m", "tensoriter", "overhead", *map(str, arguments)]
    environment = {**subprocess.os.environ, **variables}
    return subprocess.run(command, capture_output=True, text=True, timeout=300, env=environment)


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    """One run with every collector that works here: what it printed, its JSON, the folder of its pictures."""
    folder = tmp_path_factory.mktemp("overhead")
    what = ["--subjects", "empty,np.add,bound,numba", "--mine", "tensoriter:add", "--seconds", 0.2]
    files = ["--json", folder / "facts.json", "--plot", folder / "bars.png"]
    done = run(*what, *files, "--functions", 5, "--lines", 5)
    if not (CAN_COUNT or CAN_SAMPLE):
        assert done.returncode == 2
        return done, {"collectors": {}}, folder
    assert done.returncode == 0, done.stderr
    return done, json.loads((folder / "facts.json").read_text("utf-8")), folder


def all_subjects(facts):
    """Label and facts of each subject of each collector."""
    for collector in facts["collectors"].values():
        yield from collector["subjects"].items()


def test_the_collectors_that_work_here_are_used(measured):
    done, facts, _ = measured
    assert ("callgrind" in facts["collectors"]) == CAN_COUNT
    assert ("perf" in facts["collectors"]) == CAN_SAMPLE
    assert (callgrind.MISSING in done.stderr) == (not CAN_COUNT)
    for sentence in ("counted by callgrind",) * CAN_COUNT + ("divided by perf's samples",) * CAN_SAMPLE:
        assert sentence in done.stdout


def test_buckets_add_up_to_the_total(measured):
    for label, facts in all_subjects(measured[1]):
        assert facts["total"] > 0
        assert sum(facts["buckets"].values()) == pytest.approx(facts["total"]), label
        assert sum(facts["shares"].values()) == pytest.approx(1), label
        assert sum(f["own"] for f in facts["functions"].values()) == pytest.approx(facts["total"]), label


def test_the_tables_know_almost_all_of_it(measured):
    for label, facts in all_subjects(measured[1]):
        assert facts["shares"]["unknown"] <= 0.1, (label, facts["functions"])


def test_an_add_is_what_the_empty_loop_has_not(measured):
    for collector in measured[1]["collectors"].values():
        found = collector["subjects"]
        assert set(found) >= {"empty loop", "np.add", "tensoriter.add, bound", "tensoriter:add"}
        for label, facts in found.items():
            assert facts["buckets"]["Python"] > 0
            assert (facts["buckets"]["computation"] > 0) == (label != "empty loop")
        assert found["empty loop"]["total"] < found["tensoriter:add"]["total"]


def test_what_is_not_installed_is_said(measured):
    done, facts, _ = measured
    for collector in facts["collectors"].values():
        there = any(label.startswith("numba") for label in collector["subjects"])
        assert there != ("numba" in collector["absent"])
        if not there:
            assert "numba: not measured (numba is not installed)" in done.stdout


def test_it_draws_png_and_svg(measured):
    folder = measured[2]
    if not measured[1]["collectors"]:
        assert not list(folder.iterdir())
        return
    assert (folder / "bars.png").read_bytes().startswith(b"\x89PNG")
    assert "<svg" in (folder / "bars.svg").read_text("utf-8")


def test_functions_and_lines_are_printed_where_asked_for(measured):
    printed = measured[0].stdout
    if not measured[1]["collectors"]:
        assert printed == ""
        return
    assert "per add, of the function alone and with what it calls" in printed
    inlined_known = lines.has_lines(tensoriter.core.op.__file__)
    assert ("per add of each source line" in printed) or not inlined_known
    assert ("was built without -g" in printed) == (not inlined_known)


def test_counts_repeat_with_and_without_client_requests(measured):
    counting = ["--subjects", "np.add", "--collector", "callgrind", "--json", measured[2] / "again.json"]
    for compiler in ("cc", "false"):  # without a compiler os.getppid marks the lengths
        done = run(*counting, CC=compiler)
        if not CAN_COUNT:
            assert (done.returncode, callgrind.MISSING in done.stderr) == (2, True)
            continue
        assert done.returncode == 0, done.stderr
        again = json.loads((measured[2] / "again.json").read_text("utf-8"))
        first, second = (
            facts["collectors"]["callgrind"]["subjects"]["np.add"] for facts in (measured[1], again)
        )
        assert second["total"] == pytest.approx(first["total"], rel=0.01)
        for bucket, cost in first["buckets"].items():
            assert second["buckets"].get(bucket, 0) == pytest.approx(cost, abs=0.01 * first["total"])


def test_without_the_tools_sentences_say_what_to_install(tmp_path):
    done = run("--subjects", "np.add", PATH=str(tmp_path))
    assert done.returncode == 2
    assert callgrind.MISSING in done.stderr
    assert perf.MISSING in done.stderr
    assert "Traceback" not in done.stderr


def test_a_forbidden_perf_is_said_in_a_sentence(monkeypatch, tmp_path):
    monkeypatch.setattr(shutil, "which", lambda name: name)
    monkeypatch.setattr(perf, "event", lambda: "")
    monkeypatch.setattr(perf, "PARANOID", tmp_path / "level")
    (tmp_path / "level").write_text("4\n")
    with pytest.raises(UsageError, match="kernel.perf_event_paranoid is 4"):
        perf.check()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--subjects", "no such"], "no subject has 'no such' in its name"),
        (["--mine", "module"], "--mine takes module:function, not 'module'"),
        (["--python", "no/such/python"], "there is no no/such/python"),
        (["--buckets", "no/such/table"], "cannot read no/such/table"),
        (["--n", "-1"], "-1 is negative"),
        (["--dtype", "U3"], "--dtype must be bool or numeric"),
        (["--json", "no/such/folder/x.json"], "folder does not exist"),
    ],
)
def test_it_refuses_in_a_sentence(arguments, sentence):
    done = run(*arguments)
    assert done.returncode == 2
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr


def test_another_interpreter_and_a_broken_op_are_absent_not_an_error(tmp_path):
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\necho '{\"absent\": \"it has no torch\"}'\n")
    python.chmod(0o755)
    options = ["--seconds", 0.1, "--json", tmp_path / "facts.json", "--subjects", "empty"]
    done = run("--python", python, "--mine", "no_such_module:add", *options)
    if not (CAN_COUNT or CAN_SAMPLE):
        assert done.returncode == 2
        return
    assert done.returncode == 0, done.stderr
    for collector in json.loads((tmp_path / "facts.json").read_text("utf-8"))["collectors"].values():
        assert collector["absent"]["torch +"] == "it has no torch"
        assert "no_such_module" in collector["absent"]["no_such_module:add"]
        assert set(collector["subjects"]) == {"empty loop"}


def test_every_subject_gives_the_sum():
    make_loop = measured_process.load_subjects()["make_loop"]
    for name, made in subjects.SUBJECTS.items():
        if made.library in ("numpy", "tensoriter"):
            try:
                answer = make_loop(name, 5, "float32")(3)
            finally:
                while tensoriter.operators.enabled:
                    tensoriter.operators.disable()
            assert answer.tolist() == [3.0] * 5, name
    assert make_loop("numpy:subtract", 5, "int64")(3).tolist() == [-3] * 5
    assert make_loop("empty loop", 5, "float32")(3) is None


def test_a_table_is_read_line_by_line():
    table = buckets.Table.parse(
        """
        # a comment
        [allocation]
        lib.so*   operator new(*   # blanks belong to the function's pattern
        [of mine]
        lib.so*   f[0]*
        *         g
        [caller]
        [vdso]    *
        """
    )
    assert table.bucket("/usr/lib/lib.so.1", "operator new(unsigned long)") == "allocation"
    assert table.bucket("lib.so", "f[0].x") == "of mine"
    assert table.bucket("lib.so", "f0.x") == buckets.UNKNOWN
    assert table.bucket("another", "g") == "of mine"
    assert table.bucket("[vdso]", "anything") == buckets.CALLER
    assert buckets.in_order(["of mine", "computation", "Python"]) == [
        "Python", "computation", "of mine", "unknown",
    ]  # fmt: skip


@pytest.mark.parametrize("text", ["lib.so  f", "[allocation]\nlib.so"])
def test_a_wrong_line_is_named(text):
    with pytest.raises(UsageError, match=f"my.txt, line {len(text.splitlines())}: "):
        buckets.Table.parse(text, "my.txt")


def test_a_users_table_comes_first(tmp_path):
    file = tmp_path / "mine.txt"
    file.write_text("[rounding]\nlibm.so*  rint*\n[dispatcher]\n* FLOAT_add*\n")
    table = buckets.load([str(file)])
    assert table.bucket("libm.so.6", "rintf") == "rounding"
    assert table.bucket("_multiarray_umath.x.so", "FLOAT_add") == "dispatcher"
    assert TABLE.bucket("_multiarray_umath.x.so", "FLOAT_add") == "computation"


def test_every_library_of_the_subjects_has_a_table():
    tables = {path.stem for path in buckets.FOLDER.glob("*.txt")}
    assert tables >= {made.library for made in subjects.SUBJECTS.values() if made.library}


DUMPS = """
events: Ir
ob=(1) /lib/one.so
fl=(1) one.c
fn=(1) loop
0x10 {loop}
+2 {loop}
cob=(2) /lib/two.so
cfi=(2) two.c
cfn=(2) add
calls={calls} 0x100
* {inclusive}
fn=(3) start
0x20 7
cfn=(1)
calls=1 0x10
+1 {all}

ob=(2)
fl=(2)
fn=(2)
0x100 {add}
cfn=(4) add'2
calls={calls} 0x100
+4 {again}
fn=(4)
-4 {again}
totals: {total}
"""


def dump(path, calls):
    """A dump of callgrind's in which a loop makes so many calls."""
    costs = {"loop": 2 * calls, "add": 10 * calls, "again": 3 * calls, "inclusive": 13 * calls}
    costs |= {"all": 17 * calls, "total": 17 * calls + 7}
    path.write_text(DUMPS.format(calls=calls, **costs))
    return path


def test_callgrinds_dumps_are_read(tmp_path):
    found = callgrind_dump.profile(dump(tmp_path / "d.1", 500), dump(tmp_path / "d.2", 1500), 1000)
    loop, add = Function("/lib/one.so", "loop"), Function("/lib/two.so", "add")
    assert found.total == 17
    sums = {}
    for place, cost in found.own.items():
        sums[place.compiled] = sums.get(place.compiled, 0) + cost
    assert sums == {loop: 4, add: 13}
    assert found.inclusive == {loop: 17, add: 13, Function("/lib/one.so", "start"): 17}
    assert {place.compiled for place in found.callers[add]} == {loop}
    assert loop not in found.callers  # called once in both lengths: no part of an add


def test_what_belongs_to_callers_is_divided_by_what_they_caused():
    table = buckets.Table.parse("[Python]\npy eval\n[allocation]\nnp *\n[caller]\npy *")
    evaluate, free, inner = (Place("py", (name,)) for name in ("eval", "free", "inner"))
    dealloc, alien = Place("np", ("dealloc",)), Place("other", ("f",))
    found = Profile(
        own={evaluate: 10, free: 8, inner: 4, dealloc: 5, alien: 1},
        callers={
            free.compiled: {evaluate: 3, dealloc: 9, inner: 100},
            inner.compiled: {free: 4},  # in a circle: who got it going is to pay
        },
    )
    sums = Attribution(found, table).by_bucket()
    assert sum(sums.values()) == pytest.approx(found.total) == 28
    assert sums["unknown"] == 1
    assert sums["Python"] == pytest.approx(10 + 12 / 4)
    assert sums["allocation"] == pytest.approx(5 + 12 * 3 / 4)


def test_inlined_functions_count_before_what_they_went_into():
    table = buckets.Table.parse("[allocation]\n* new_array\n[dispatcher]\n* call_binary")
    both = Place("op.so", ("is_of_kind", "new_array", "call_binary"), "freelist.pxd", 58)
    alone = Place("op.so", ("call_binary",))
    found = Profile(own={both: 3, alone: 2}, callers={})
    assert Attribution(found, table).by_bucket() == {"allocation": 3, "dispatcher": 2}
    assert report.lines(found) == {("freelist.pxd", 58): 3}
    assert report.functions(found, Attribution(found, table))["is_of_kind"]["bucket"] == "allocation"


SAMPLES = """
\t           8d391 add_float32 (/lib/table.so)
\t           19221 call_binary (/lib/op.so)
\t           fd9c2 _PyEval_EvalFrameDefault (/lib/libpython3.11.so.1.0)

\t           158ba _PyObject_Free (/lib/libpython3.11.so.1.0)
\t           19230 call_binary (/lib/op.so)
\t           fd9c2 _PyEval_EvalFrameDefault (/lib/libpython3.11.so.1.0)

\t  7f0000001000 at::native::add(at::Tensor const&, (anonymous namespace)::x) ([unknown])
"""


def test_perfs_samples_are_read():
    stacks = list(perf.read(SAMPLES))
    assert [len(stack) for stack in stacks] == [3, 3, 1]
    assert stacks[0][1] == lines.Site(Function("/lib/op.so", "call_binary"), 0x19220)
    assert stacks[2][0].function == Function(
        "[unknown]", "at::native::add(at::Tensor const&, (anonymous namespace)::x)"
    )
    found = perf.profile(SAMPLES, 300.0)
    assert (found.samples, found.total) == (3, 300)
    assert set(found.own.values()) == {100}
    free = Function("/lib/libpython3.11.so.1.0", "_PyObject_Free")
    assert [place.names for place in found.callers[free]] == [("call_binary",)]
    assert found.inclusive[Function("/lib/op.so", "call_binary")] == 200


def test_inlined_functions_and_lines_come_from_debug_information(tmp_path):
    source = tmp_path / "one.c"
    source.write_text(
        "static inline __attribute__((always_inline)) int inner(int x) {\n    return x * x + 3;\n}\n"
        "int outer(int x) {\n    return inner(x) * 5;\n}\n"
    )
    for flag, known in (("-g", True), ("-g0", False)):
        library = tmp_path / f"one{flag}.so"
        subprocess.run(["cc", "-O2", flag, "-shared", "-fPIC", "-o", library, source], check=True)
        symbols = subprocess.run(["nm", library], capture_output=True, text=True, check=True).stdout
        start = next(int(line.split()[0], 16) for line in symbols.splitlines() if line.endswith(" T outer"))
        sites = [lines.Site(Function(str(library), "outer"), start + k) for k in range(8)]
        places = set(lines.places(sites).values())
        assert {place.compiled.name for place in places} == {"outer"}
        assert (("inner", "outer") in {place.names for place in places}) == known
        assert ((str(source), 2) in {(place.file, place.line) for place in places}) == known


def test_what_is_installed_is_the_benchmarks_folder():
    benchmarks = Path(__file__).parents[1] / "benchmarks" / "overhead"
    installed = Path(tensoriter.overhead.__file__).parent  # a link to it; a copy in a wheel or an archive
    files = [path for path in benchmarks.rglob("*") if path.suffix in (".py", ".txt", ".c")]
    assert len(files) > 15
    for path in files:
        assert (installed / path.relative_to(benchmarks)).read_bytes() == path.read_bytes()
