"""Benchmarks: each runs as ``python -m benchmarks.NAME`` from the repository's root.

The ``bench_*.py`` files are the same measurements as runs of pytest-benchmark:
``pytest benchmarks --benchmark-json=FILE``.
"""
