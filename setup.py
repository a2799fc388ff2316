"""The compiled parts: one extension for each .pyx of the core (the C loops in one of them) and the profiler.

TENSORITER_BUILD chooses a build other than the ordinary one (see CONTRIBUTING.md for the commands):
debug, coverage (line tracing), sanitize (address and undefined behaviour), frames (frame pointers, for
profilers), no-openmp (one thread only), or warnings, where a compiler warning in our own code is an error.
"""

import os
import sys
from pathlib import Path

import numpy
from Cython.Build import cythonize
from Cython.Compiler import Options
from setuptools import Extension, setup

BUILD = os.environ.get("TENSORITER_BUILD", "")
FLAGS = {
    "": [],
    "debug": ["-O0", "-g3"],
    "coverage": ["-O0", "-g", "--coverage"],
    "sanitize": ["-O1", "-g", "-fno-omit-frame-pointer", "-fsanitize=address,undefined",
                 "-fno-sanitize-recover=undefined"],
    "frames": ["-g", "-fno-omit-frame-pointer"],
    "no-openmp": [],
    # What is turned off again is what Cython's own boilerplate contains.
    "warnings": ["-Wall", "-Wextra", "-Werror", "-Wno-unused-parameter", "-Wno-unused-function",
                 "-Wno-unused-const-variable", "-Wno-unused-variable", "-Wno-cast-function-type",
                 "-Wno-missing-field-initializers"],
}
LINK = {"coverage": ["--coverage"], "sanitize": ["-fsanitize=address,undefined"]}

if BUILD not in FLAGS:
    sys.exit(f"TENSORITER_BUILD={BUILD} is none of {', '.join(filter(None, FLAGS))}")

# Contraction would fuse x1 + alpha * x2 into one rounding on CPUs that can, and change bits by CPU.
# That errno is left alone lets square roots be computed in vectors; no value depends on it.
UNIX = ["-O3", "-std=c11", "-ffp-contract=off", "-fno-math-errno", "-fvisibility=hidden", *FLAGS[BUILD]]
WINDOWS = ["/O2", "/std:c11", "/fp:precise"]

Options.warning_errors = BUILD == "warnings"

CORE = Path("tensoriter", "core")
LOOPS = CORE / "loops"
PROFILER = Path("tensoriter", "profiler")


# OpenMP is one extension's own. Where it cannot be built, tensoriter computes on one thread.
OPENMP = "/openmp" if sys.platform == "win32" else "-fopenmp"


def extension(source: Path) -> Extension:
    parallel = source.stem == "openmp"
    openmp = [OPENMP] if parallel and BUILD != "no-openmp" else []
    c_sources = sorted(LOOPS.glob("*.c")) if source.parent == LOOPS else []
    return Extension(
        ".".join(source.with_suffix("").parts),
        [str(path) for path in (source, *(c for c in c_sources if c.stem != source.stem))],
        include_dirs=[numpy.get_include(), str(LOOPS), str(CORE)],
        depends=[str(path) for path in (*LOOPS.glob("*.h" if c_sources else "loops.h"), *CORE.glob("*.h"))],
        define_macros=[("NPY_NO_DEPRECATED_API", "NPY_2_0_API_VERSION"),
                       ("NPY_TARGET_VERSION", "NPY_2_0_API_VERSION"),
                       *([("CYTHON_TRACE_NOGIL", "1")] if BUILD == "coverage" else [])],
        libraries=[] if sys.platform == "win32" else ["m"],
        extra_compile_args=[*(WINDOWS if sys.platform == "win32" else UNIX), *openmp],
        extra_link_args=[*LINK.get(BUILD, []), *(openmp if sys.platform != "win32" else [])],
        optional=parallel,
    )


setup(
    ext_modules=cythonize(
        [extension(path) for path in (LOOPS / "table.pyx", *sorted([*CORE.glob("*.pyx"),
                                                                    *PROFILER.glob("*.pyx")]))],
        language_level=3,
        force=BUILD in ("coverage", "frames"),
        emit_linenums=BUILD == "frames",
        compiler_directives={
            "infer_types": True, "boundscheck": False, "wraparound": False, "cdivision": True,
            "binding": True, "linetrace": BUILD == "coverage",
        },
    )
)
