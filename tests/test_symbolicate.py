"""tensoriter symbolicate: from handles to source, without the source and the process that knew them."""

import json
import subprocess
import sys
import zipfile

import numpy as np
import pytest

import tensoriter
from tensoriter.graph.debug import MEMBER, DebugMap
from tensoriter.graph.trace import trace


def inner(x):
    return x / 2


def step(x):
    return inner(x + 1)


@pytest.fixture
def infos():
    return trace(step, (np.ones(3),)).graph.debug


def run(*arguments):
    command = [sys.executable, "-m", "tensoriter", "symbolicate", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=300)


def handle_of(infos, op):
    return next(handle for handle, info in infos.items() if info.op.endswith(f":{op}"))


def test_source_and_chain_or_one_of_them(infos, tmp_path):
    path, handle = tmp_path / "map.json", handle_of(infos, "divide")
    infos.save(path)
    both = run(path, handle)
    assert both.returncode == 0, both.stderr
    assert both.stdout == infos.describe([handle]) + "\n"
    assert both.stdout.index("return inner(x + 1)") < both.stdout.index("return x / 2")
    source = run(path, handle, "--show", "source").stdout
    line = inner.__code__.co_firstlineno + 1
    column = ":12" if sys.version_info >= (3, 11) else ""
    assert source == f"{handle}: {__file__}:{line}{column}  return x / 2\n"
    chain = run(path, hex(handle), "--show", "chain").stdout
    assert chain == f"{handle}: {__name__}.step > {__name__}.inner > divide\n"


def test_several_handles_and_one_that_was_never_issued(infos, tmp_path):
    path, handle = tmp_path / "map.json", handle_of(infos, "add")
    infos.save(path)
    unknown = max(infos) + 1000
    for more in ((), ("--show", "source"), ("--show", "chain")):
        done = run(path, handle, unknown, *more)
        assert done.returncode == 1
        assert done.stdout.splitlines()[-1] == f"no debug information for handle {unknown}"
        assert "test_symbolicate" in done.stdout.splitlines()[0]


def test_the_map_of_a_plans_archive(infos, tmp_path):
    path = tmp_path / "plan"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(MEMBER, json.dumps(infos.to_data()))
    assert run(path, handle_of(infos, "add")).returncode == 0
    assert dict(DebugMap.load(path)) == dict(infos)


def test_a_saved_plan(tmp_path):
    captured = tensoriter.capture(step)
    plan = captured.plan(np.ones(3))
    plan.save(tmp_path / "plan")
    handle = handle_of(captured.graph.debug, "divide")
    done = run(tmp_path / "plan", handle, "--show", "source")
    assert done.returncode == 0, done.stderr
    assert "return x / 2" in done.stdout
    plan.save(tmp_path / "bare", debug=False)
    assert "holds no debug information" in run(tmp_path / "bare", handle).stderr


def test_a_plan_without_debug_information_says_so(tmp_path):
    path = tmp_path / "plan"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("plan", "")
    done = run(path, 1)
    assert done.returncode == 2
    assert "holds no debug information" in done.stderr


@pytest.mark.parametrize("content", [b"", b"{}", b"\xff\xfe", b"[1, 2]", b'{"strings": 3}'])
def test_a_file_of_another_kind_is_refused_in_a_sentence(content, tmp_path):
    path = tmp_path / "file"
    path.write_bytes(content)
    done = run(path, 1)
    assert done.returncode == 2
    assert "no debug information" in done.stderr and "Traceback" not in done.stderr


def test_what_cannot_be_read(tmp_path):
    done = run(tmp_path / "missing", 1)
    assert done.returncode == 2
    assert "cannot read" in done.stderr and "No such file" in done.stderr
    assert run(tmp_path / "missing", "x").returncode == 2
