"""What an installed tensoriter gives to C and Cython: modules are built against one and run."""

import ctypes
import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import numpy as np
import pytest

import tensoriter

ROOT = Path(__file__).parents[1]
PACKAGE = Path(tensoriter.__file__).parent

SOURCE = '''
from cpython.object cimport PyObject
from tensoriter cimport (
    Arguments, clear, for_each, Iterator, LoopTable, parse_arguments, prepare, set_up, write_back,
)


def apply(LoopTable table, x1, x2, out):
    """Runs the table's loop over x1 and x2 into out; False where the call would be NumPy's."""
    cdef Iterator it
    cdef Arguments arguments
    cdef PyObject* operands[3]
    operands[0], operands[1], operands[2] = <PyObject*>x1, <PyObject*>x2, <PyObject*>out
    arguments.nin = 2
    arguments.nout = 1
    if not parse_arguments(&arguments, operands, 3, NULL) or not set_up(&it, &arguments, table):
        return False
    try:
        prepare(&it, &arguments)
        with nogil:
            for_each(&it, it.loop.data)
        write_back(&it)
    finally:
        clear(&it)
    return True
'''

SETUP = '''
import numpy, tensoriter
from Cython.Build import cythonize
from setuptools import Extension, setup

headers = [numpy.get_include(), tensoriter.get_include()]
setup(ext_modules=cythonize([Extension("user", ["user.pyx"], include_dirs=headers)], language_level=3))
'''

C_SOURCE = '''
#include "loops/loops.h"

void squares(char **args, npy_intp const *dimensions, npy_intp const *steps, void *data)
{
    for (npy_intp i = 0; i < dimensions[0]; i++) {
        double x = *(double *)(args[0] + i * steps[0]), y = *(double *)(args[1] + i * steps[1]);
        double z = *(double *)(args[2] + i * steps[2]);
        *(double *)(args[3] + i * steps[3]) = x * x + y * y + z * z;
    }
}
loop_function checked = squares;
'''

PROGRAM = '''
import numpy as np, tensoriter, user

x, row, out = np.arange(12.0).reshape(3, 4), np.arange(4, dtype=">i2"), np.zeros((3, 4))
assert user.apply(tensoriter.add, x, row, out)
assert not user.apply(tensoriter.add, x, [1, 2, 3, 4], out)
assert np.array_equal(out, x + row)
y = np.arange(10.0)
assert user.apply(tensoriter.add, y[:-1], 1, y[1:])        # overlapping
assert y.tolist() == [0, *range(1, 10)]
'''


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """A directory with what a wheel holds: the files that setuptools puts there, and the extensions."""
    site = tmp_path_factory.mktemp("site")
    work = tmp_path_factory.mktemp("work")
    run(site, ROOT, "setup.py", "-q", "egg_info", "--egg-base", str(work),
        "build_py", "--build-lib", str(site))
    for extension in PACKAGE.rglob("*.so"):
        shutil.copy(extension, site / extension.relative_to(PACKAGE.parent))
    return site


def run(site, directory, *command):
    """Runs Python in a directory, with what is installed in `site`."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(site), str(directory)])}
    ran = subprocess.run([sys.executable, *command], cwd=directory, env=environment,
                         capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_headers_and_declarations_are_installed(installed):
    for pattern in ("*.pxd", "*.h"):
        ours = {path.relative_to(PACKAGE) for path in PACKAGE.rglob(pattern)}
        assert ours == {path.relative_to(installed / "tensoriter") for path in installed.rglob(pattern)}
    sources = {path.name for pattern in ("*.c", "*.pyx") for path in installed.rglob(pattern)}
    assert sources == {"client_requests.c"}  # which `tensoriter overhead` compiles


def test_iterator_from_cython(installed, tmp_path):
    (tmp_path / "user.pyx").write_text(SOURCE)
    (tmp_path / "setup.py").write_text(SETUP)
    run(installed, tmp_path, "setup.py", "-q", "build_ext", "--inplace")
    run(installed, tmp_path, "-c", PROGRAM)


def test_example_of_an_op(installed, tmp_path):
    """examples/hypot3: built, and tested by its own tests."""
    example = tmp_path / "hypot3"
    shutil.copytree(ROOT / "examples" / "hypot3", example,
                    ignore=shutil.ignore_patterns("build", "*.c", "*.so"))
    run(installed, example, "setup.py", "-q", "build_ext", "--inplace")
    run(installed, example, "-m", "pytest", "-q", "test_hypot3.py")


def test_op_of_a_c_function(installed, tmp_path):
    """A shared library that ctypes loads; its compiler checks the signature against the header."""
    source, library = tmp_path / "squares.c", tmp_path / "squares.so"
    source.write_text(C_SOURCE)
    headers = [installed / "tensoriter" / "core", np.get_include(), sysconfig.get_path("include")]
    compiler = shlex.split(sysconfig.get_config_var("CC"))
    subprocess.run([*compiler, "-Werror", "-shared", "-fPIC", *(f"-I{path}" for path in headers), source,
                    "-o", library], check=True)
    squares = tensoriter.Op.from_loops("squares", {"ddd->d": ctypes.CDLL(str(library)).squares})
    x, y = np.arange(12).reshape(3, 4), np.arange(4, dtype=">f4")
    assert np.array_equal(squares(x, y, 3), x * x + y * y + 9.0)
    out = np.zeros((3, 4))
    squares(x, y, 3, out=out, where=x > 5)
    assert np.array_equal(out, np.where(x > 5, x * x + y * y + 9.0, 0))
