"""Every example in a docstring and in the README runs and prints what it says."""

import doctest
import importlib
from pathlib import Path

import numpy as np
import pytest

import tensoriter

MODULES = [
    "tensoriter",
    "tensoriter.core.bound",
    "tensoriter.core.freelist",
    "tensoriter.core.iterator",
    "tensoriter.core.loops.table",
    "tensoriter.core.op",
    "tensoriter.core.paths",
    "tensoriter.core.signatures",
    "tensoriter.explain",
    "tensoriter.graph.calls",
    "tensoriter.graph.capture",
    "tensoriter.graph.containers",
    "tensoriter.graph.debug",
    "tensoriter.graph.display",
    "tensoriter.graph.elementwise",
    "tensoriter.graph.graph",
    "tensoriter.graph.keys",
    "tensoriter.graph.passes",
    "tensoriter.graph.passes.common",
    "tensoriter.graph.passes.buffers",
    "tensoriter.graph.passes.parallel",
    "tensoriter.graph.passes.fuse",
    "tensoriter.graph.reference",
    "tensoriter.graph.shapes",
    "tensoriter.graph.trace",
    "tensoriter.headers",
    "tensoriter.operators",
    "tensoriter.overhead.buckets",
    "tensoriter.profiler",
    "tensoriter.profiler.objects",
    "tensoriter.profiler.scopes",
    "tensoriter.profiler.session",
    "tensoriter.timing",
    "tensoriter.verify",
]
OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def run(examples: doctest.DocTest) -> None:
    runner = doctest.DocTestRunner(optionflags=OPTIONS)
    runner.run(examples)
    assert runner.summarize(verbose=False).failed == 0


@pytest.mark.parametrize("name", MODULES)
def test_docstrings(name):
    module = importlib.import_module(name)
    names = {"np": np, "tensoriter": tensoriter, **vars(module)}
    # `exclude_empty` keeps classes without examples out; Cython's functions carry their docstrings, too.
    found = [test for test in doctest.DocTestFinder(exclude_empty=True).find(module, name) if test.examples]
    assert found
    for test in found:
        test.globs = dict(names)
        run(test)


def test_readme():
    text = (Path(__file__).parents[1] / "README.md").read_text()
    test = doctest.DocTestParser().get_doctest(text, {"__name__": "__main__"}, "README.md", "README.md", 0)
    assert test.examples
    run(test)
